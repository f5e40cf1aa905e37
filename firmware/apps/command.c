#include "command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool run_help(command_call_t *call);

static const command_t own_commands[] = {{"help", "[COMMAND]", 1, "this list", run_help}};
static command_table_t own_table = {own_commands, 1, NULL};

uint32_t command_errors;

void command_add(command_table_t *table)
{
    command_table_t **last = &own_table.next;

    while (*last != NULL && *last != table) {
        last = &(*last)->next;
    }
    *last = table;
}

/* The command in place `index` of all tables, or NULL behind the last. */
static const command_t *command_at(uint32_t index)
{
    for (const command_table_t *table = &own_table; table != NULL; table = table->next) {
        if (index < table->count) {
            return &table->commands[index];
        }
        index -= table->count;
    }
    return NULL;
}

static const command_t *find(const char *name)
{
    const command_t *command;

    for (uint32_t index = 0; (command = command_at(index)) != NULL; index++) {
        if (strcmp(command->name, name) == 0) {
            break;
        }
    }
    return command;
}

static void print_help(command_call_t *call, const command_t *command)
{
    command_print(call, "%s%s%s: %s\n", command->name, command->arguments[0] != '\0' ? " " : "",
                  command->arguments, command->help);
}

static bool run_help(command_call_t *call)
{
    const command_t *command = call->count > 1 ? find(call->words[1]) : command_at(call->step);

    if (call->count > 1) {
        if (command == NULL) {
            return command_error(call, "no command '%s'", call->words[1]);
        }
        print_help(call, command);
        return false;
    }
    if (command != NULL) {
        print_help(call, command);
    }
    return command != NULL;
}

static void print(command_call_t *call, const char *format, va_list arguments)
{
    char text[COMMAND_LINE_BYTES];
    int length = vsnprintf(text, sizeof(text), format, arguments);

    if (length > 0) {
        uint32_t bytes = (uint32_t)length;
        if (bytes >= sizeof(text)) {
            /* Cut, but still a line. */
            bytes = sizeof(text) - 1;
            text[bytes - 1] = '\n';
        }
        call->sink(call->context, text, bytes);
    }
}

void command_print(command_call_t *call, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print(call, format, arguments);
    va_end(arguments);
}

bool command_error(command_call_t *call, const char *format, ...)
{
    va_list arguments;
    char text[COMMAND_LINE_BYTES];

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    command_print(call, "error: %s\n", text);
    if (!call->failed) {
        command_errors++;
    }
    call->failed = true;
    return false;
}

bool command_ends(command_call_t *call, uint32_t words)
{
    return call->count <= words
           || command_error(call, "a word too many behind %s: '%s'", call->words[words - 1],
                            call->words[words]);
}

bool command_number(command_call_t *call, const char *what, const char *word, uint32_t least,
                    uint32_t most, uint32_t *value)
{
    bool hexadecimal = word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
    const char *digits = hexadecimal ? word + 2 : word;
    uint32_t base = hexadecimal ? 16 : 10;
    uint64_t number = 0;
    bool good = *digits != '\0';

    for (const char *digit = digits; *digit != '\0' && good; digit++) {
        char lower = (char)(*digit | 0x20);
        uint32_t figure = 99;
        if (*digit >= '0' && *digit <= '9') {
            figure = (uint32_t)(*digit - '0');
        } else if (lower >= 'a' && lower <= 'f') {
            figure = (uint32_t)(lower - 'a') + 10;
        }
        number = number * base + figure;
        good = figure < base && number <= UINT32_MAX;
    }
    if (!good || number < least || number > most) {
        return command_error(call, "%s must be from %lu to %lu, not '%s'", what,
                             (unsigned long)least, (unsigned long)most, word);
    }
    *value = (uint32_t)number;
    return true;
}

/* Cuts `text` into words; false if there are too many. */
static bool split(command_call_t *call)
{
    char *at = call->text;

    call->count = 0;
    for (;;) {
        while (*at == ' ' || *at == '\t') {
            *at++ = '\0';
        }
        if (*at == '\0') {
            return true;
        }
        if (call->count == COMMAND_WORDS) {
            return false;
        }
        call->words[call->count++] = at;
        while (*at != ' ' && *at != '\t' && *at != '\0') {
            at++;
        }
    }
}

/* Only what can be printed is a command. */
static bool take_text(command_call_t *call, const char *line, uint32_t bytes)
{
    if (bytes >= COMMAND_INPUT_BYTES) {
        return command_error(call, "a command has at most %u bytes, not %lu",
                             COMMAND_INPUT_BYTES - 1u, (unsigned long)bytes);
    }
    for (uint32_t place = 0; place < bytes; place++) {
        if ((line[place] < ' ' && line[place] != '\t') || line[place] > '~') {
            return command_error(call, "byte 0x%02x in a command", (unsigned char)line[place]);
        }
        call->text[place] = line[place];
    }
    call->text[bytes] = '\0';
    if (!split(call)) {
        return command_error(call, "a command has at most %u words", (unsigned)COMMAND_WORDS);
    }
    return true;
}

bool command_begin(command_call_t *call, const char *line, uint32_t bytes)
{
    call->command = NULL;
    call->step = 0;
    call->state = 0;
    call->failed = false;
    if (!take_text(call, line, bytes) || call->count == 0) {
        return false;
    }
    const command_t *command = find(call->words[0]);
    if (command == NULL) {
        return command_error(call, "no command '%s'; try help", call->words[0]);
    }
    if (!command_ends(call, 1 + command->most)) {
        return false;
    }
    call->command = command;
    return true;
}

bool command_step(command_call_t *call)
{
    if (call->command != NULL && call->command->run(call)) {
        call->step++;
        return true;
    }
    call->command = NULL;
    return false;
}
