/* The table of lines, driven by lines of text; tiers let go of a line unless told otherwise.
 *
 *   register LINE NAME PRIORITY, assign LINE TIER PRIORITY, usual      the result
 *   busy YES                                whether tiers let go from now on
 *   apart LINE, brief LINE, describe LINE ROOM, serve LINE, clear
 *   find NAME, lines TIER                   a number
 *   line LINE                               "-", or name, tier, priority, room, 1 if it counts units, apart, brief,
 *                                           count, worst_cycles, and the priority that was last made to hold
 */
#include <stdio.h>
#include <string.h>

#include "movable_lines.h"
#include "text.h"

static uint8_t holding[IRQ_LINES];

void irq_apply_priorities(void)
{
    for (uint32_t line = 0; line < IRQ_LINES; line++) {
        holding[line] = irq_table[line + 1].priority;
    }
}

static void serve(void *context, bool pending)
{
    *(uint32_t *)context += pending;
}

static uint32_t units(const void *context)
{
    return *(const uint32_t *)context;
}

static void print_line(uint32_t number)
{
    const irq_line_t *line = irq_line(number);

    if (line == NULL) {
        printf("-%s\n", irq_name(number));
        return;
    }
    printf("%s %u %u %u %d %d %d %u %u %u\n", irq_name(number), line->tier, line->priority, line->room,
           line->units != NULL, line->apart, line->brief, line->count, line->worst_cycles, holding[number]);
}

/* Commands that answer with a number; false if this is none. */
static bool run_number(const char *command)
{
    static uint32_t context;
    uint32_t number;

    if (strcmp(command, "register") == 0) {
        number = irq_register(text_number(1), text_word(2), serve, &context, text_number(3));
    } else if (strcmp(command, "assign") == 0) {
        number = irq_assign(text_number(1), text_number(2), text_number(3));
    } else if (strcmp(command, "usual") == 0) {
        number = irq_assign_usual();
    } else if (strcmp(command, "find") == 0) {
        number = irq_find(text_word(1));
    } else if (strcmp(command, "lines") == 0) {
        number = irq_lines_of(text_number(1));
    } else {
        return false;
    }
    printf("%u\n", number);
    return true;
}

static void run(const char *command)
{
    if (strcmp(command, "busy") == 0) {
        is_busy = text_number(1) != 0;
    } else if (strcmp(command, "apart") == 0) {
        irq_set_apart(text_number(1));
    } else if (strcmp(command, "brief") == 0) {
        irq_set_brief(text_number(1));
    } else if (strcmp(command, "describe") == 0) {
        irq_describe(text_number(1), text_number(2), units);
    } else if (strcmp(command, "serve") == 0) {
        irq_table[text_number(1) + 1].count++;
        irq_table[text_number(1) + 1].worst_cycles = 7;
    } else if (strcmp(command, "clear") == 0) {
        irq_clear_counts();
    } else if (strcmp(command, "line") == 0) {
        print_line(text_number(1));
    } else if (!run_number(command)) {
        text_fail("no such command");
    }
}

int main(void)
{
    text_serve(run);
    return 0;
}
