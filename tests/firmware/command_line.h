/* A command line of the firmware, whose answer is printed. */
#ifndef TIERV_TESTS_COMMAND_LINE_H
#define TIERV_TESTS_COMMAND_LINE_H

#include <stdio.h>

#include "../../firmware/apps/command.h"

static void print_answer(void *context, const char *text, uint32_t bytes)
{
    (void)context;
    (void)fwrite(text, 1, bytes, stdout);
}

/* Runs it to its end; `call` then says whether it failed. */
static void run_command_line(command_call_t *call, const char *line, uint32_t bytes)
{
    call->sink = print_answer;
    call->context = NULL;
    if (command_begin(call, line, bytes)) {
        while (command_step(call)) {
        }
    }
}

#endif
