/* irqtune and the commands' logic, driven by lines of text; each answer ends with a line ".".
 *
 *   rotate MASTER SLAVE, parse WORDS, suggest LINE:UNITS:ROOM.., slack UNITS ROOM CYCLES     irqtune's pure parts
 *   run HEX                                  a command line: what it prints, and whether it failed
 *   meet LINE                                one that another caller gives, too, after its first step:
 *                                            what both print, and whether each failed
 *   register LINE NAME PRIORITY ROOM         a line; one with ROOM counts units
 *   bring LINE COUNT UNITS WORST             what it has had
 *   clock CYCLES STEP                        mcycle, and how far each reading of its halves lets it go
 *   busy YES                                 tiers do not let go of lines from now on
 *   begin                                    the command irqtune
 *   line LINE                                tier and priority
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/irqtune/irqtune.h"
#include "apps/irqtune/request.h"
#include "apps/irqtune/rotation.h"
#include "apps/irqtune/suggest.h"
#include "command_line.h"
#include "context.h"
#include "movable_lines.h"

enum { LINE_BYTES = 1 << 16, WORDS = 64 };

static char line[LINE_BYTES];
static const char *words[WORDS];
static uint32_t count;

static void split(char *text)
{
    count = 0;
    for (char *next = strtok(text, " \n"); next != NULL && count < WORDS; next = strtok(NULL, " \n")) {
        words[count++] = next;
    }
}

static uint32_t number(uint32_t index)
{
    return (uint32_t)strtoul(words[index], NULL, 0);
}

static void rotate(void)
{
    uint8_t priority[ROTATION_IRQS] = {0};

    if (!rotation_priorities(number(0), number(1), priority)) {
        printf("no\n");
        return;
    }
    for (uint32_t irq = 0; irq < ROTATION_IRQS; irq++) {
        printf("%u%c", priority[irq], irq == ROTATION_IRQS - 1 ? '\n' : ' ');
    }
}

static void parse(void)
{
    irqtune_request_t request;

    if (!irqtune_parse(words, count, &request)) {
        printf("error %s\n", request.error);
        return;
    }
    printf("%d %d %u %u\n", (int)request.action, request.apply, request.master, request.slave);
    for (uint32_t index = 0; index < request.count; index++) {
        const irqtune_assignment_t *one = &request.assignments[index];
        printf("%s %d %d\n", one->line, (int)one->tier, (int)one->priority);
    }
}

/* Words: line:units:room */
static void suggest(void)
{
    suggestion_t lines[WORDS];

    for (uint32_t index = 0; index < count; index++) {
        lines[index] = (suggestion_t){0};
        (void)sscanf(words[index], "%u:%u:%u", &lines[index].line, &lines[index].units,
                     &lines[index].room);
    }
    suggest_order(lines, count);
    for (uint32_t index = 0; index < count; index++) {
        printf("%u %u\n", lines[index].line, lines[index].priority);
    }
}

/* Words: units, room, cycles */
static void slack(void)
{
    const suggestion_t one = {.units = number(0), .room = number(1)};

    printf("%u\n", suggest_slack_cycles(&one, strtoull(words[2], NULL, 0)));
}

/* --- lines ------------------------------------------------------------------------------------- */

static uint32_t units[IRQ_LINES];
static uint64_t clock_cycles;
static uint64_t clock_step;

void irq_apply_priorities(void)
{
}

#if IRQ_HAS_CLAIM

uint32_t fake_csr(uint32_t csr)
{
    uint64_t now = clock_cycles;

    clock_cycles += clock_step;
    return csr == CSR_MCYCLEH ? (uint32_t)(now >> 32) : (uint32_t)now;
}

#endif

static void serve(void *context, bool pending)
{
    (void)context;
    (void)pending;
}

static uint32_t units_of_line(const void *context)
{
    return *(const uint32_t *)context;
}

static void register_line(void)
{
    (void)irq_register(number(0), words[1], serve, &units[number(0)], number(2));
    if (number(3) != 0) {
        irq_describe(number(0), number(3), units_of_line);
    }
}

static void bring(void)
{
    irq_line_t *entry = &irq_table[number(0) + 1];

    entry->count = number(1);
    units[number(0)] = number(2);
    entry->worst_cycles = number(3);
}

static void print_line(void)
{
    const irq_line_t *entry = irq_line(number(0));

    printf("%u %u\n", entry->tier, entry->priority);
}

/* False if the command is none about lines. */
static bool run_lines(const char *command)
{
    if (strcmp(command, "register") == 0) {
        register_line();
    } else if (strcmp(command, "bring") == 0) {
        bring();
    } else if (strcmp(command, "clock") == 0) {
        clock_cycles = strtoull(words[0], NULL, 0);
        clock_step = number(1);
    } else if (strcmp(command, "busy") == 0) {
        is_busy = number(0) != 0;
    } else if (strcmp(command, "begin") == 0) {
        irqtune_init();
    } else if (strcmp(command, "line") == 0) {
        print_line();
    } else {
        return false;
    }
    return true;
}

/* --- commands ---------------------------------------------------------------------------------- */

/* Prints as many lines as its argument says, each with the words that it was called with; its state counts them. */
static bool run_say(command_call_t *call)
{
    uint32_t times = 1;

    if (call->state++ != call->step) {
        return command_error(call, "the state is %lu in step %lu", (unsigned long)call->state - 1,
                             (unsigned long)call->step);
    }
    if (call->count > 1 && !command_number(call, "COUNT", call->words[1], 1, 1000, &times)) {
        return false;
    }
    command_print(call, "%u:", (unsigned)call->step);
    for (uint32_t index = 0; index < call->count; index++) {
        command_print(call, " <%s>", call->words[index]);
    }
    command_print(call, "\n");
    return call->step + 1 < times;
}

static bool run_long(command_call_t *call)
{
    command_print(call, "%0500d\n", 7);
    return false;
}

static const command_t commands[] = {{"say", "[COUNT]", COMMAND_WORDS, "says it", run_say},
                                     {"long", "", 0, "a line that is too long", run_long}};
static command_table_t table = {commands, 2, NULL};

/* The rest of the line in hexadecimal digits. */
static void run(const char *digits)
{
    static command_call_t call;
    /* Not longer than it must be, so that the sanitizer sees a step too far. */
    uint32_t bytes = (uint32_t)strlen(digits) / 2;
    char *text = malloc(bytes != 0 ? bytes : 1);

    for (uint32_t index = 0; index < bytes; index++) {
        unsigned value;
        (void)sscanf(digits + 2 * index, "%2x", &value);
        text[index] = (char)value;
    }
    run_command_line(&call, text, bytes);
    free(text);
    printf("%s %u\n", call.failed ? "failed" : "done", command_errors);
}

static void print_end(const command_call_t *call)
{
    printf("%s\n", call->failed ? "failed" : "done");
}

static void meet(const char *text)
{
    static command_call_t first;
    static command_call_t second;
    uint32_t bytes = (uint32_t)strlen(text);

    first.sink = print_answer;
    if (command_begin(&first, text, bytes) && command_step(&first)) {
        run_command_line(&second, text, bytes);
        print_end(&second);
        while (command_step(&first)) {
        }
    }
    print_end(&first);
}

int main(void)
{
    command_add(&table);
    /* A second time changes nothing. */
    command_add(&table);
    while (fgets(line, sizeof(line), stdin) != NULL) {
        char *rest = strchr(line, ' ');
        char empty[] = "";
        if (rest != NULL) {
            *rest++ = '\0';
        } else {
            line[strcspn(line, "\n")] = '\0';
            rest = empty;
        }
        if (strcmp(line, "run") == 0) {
            rest[strcspn(rest, "\n")] = '\0';
            run(rest);
        } else if (strcmp(line, "meet") == 0) {
            rest[strcspn(rest, "\n")] = '\0';
            meet(rest);
        } else {
            split(rest);
            if (run_lines(line)) {
            } else if (strcmp(line, "rotate") == 0) {
                rotate();
            } else if (strcmp(line, "parse") == 0) {
                parse();
            } else if (strcmp(line, "suggest") == 0) {
                suggest();
            } else if (strcmp(line, "slack") == 0) {
                slack();
            }
        }
        printf(".\n");
        (void)fflush(stdout);
    }
    return 0;
}
