#include "apps/irqtune/irqtune.h"

#include <stdio.h>

#include <generated/soc.h>

#include "apps/command.h"
#include "apps/irqtune/request.h"
#include "apps/irqtune/rotation.h"
#include "apps/irqtune/suggest.h"
#include "context.h"
#include "irq.h"

#if defined(CONTEXT_TIERS)
#define OWNER "tier"
#elif defined(CONTEXT_SINGLE)
#define OWNER "trap"
#else
#define OWNER "poll"
#endif

enum { OWNER_BYTES = 8, COUNT_BYTES = 11, TIME_BYTES = 16 };

/* Since when rates are counted, and from which numbers of units. */
static uint64_t since_cycles;
static uint32_t units_before[IRQ_LINES];

/* The order found last, and the call that asked for it. */
static suggestion_t suggestions[IRQ_LINES];
static uint32_t suggested;
static const command_call_t *suggested_for;

/* Clock cycles since reset, or 0 on a CPU that does not count them. */
static uint64_t now_cycles(void)
{
#if IRQ_HAS_CLAIM
    uint32_t high;
    uint32_t low;

    do {
        high = CSR_READ(CSR_MCYCLEH);
        low = CSR_READ(CSR_MCYCLE);
    } while (CSR_READ(CSR_MCYCLEH) != high);
    return (uint64_t)high << 32 | low;
#else
    return 0;
#endif
}

static uint32_t units_of(const irq_line_t *line)
{
    return line->units != NULL ? line->units(line->context) : irq_count(line);
}

static void restart_rates(void)
{
    for (uint32_t line = 0; line < IRQ_LINES; line++) {
        const irq_line_t *entry = irq_line(line);
        units_before[line] = entry != NULL ? units_of(entry) : 0;
    }
    since_cycles = now_cycles();
}

static const char *owner(const irq_line_t *line, char text[OWNER_BYTES])
{
    if (CONTEXTS == 1) {
        return OWNER;
    }
    (void)snprintf(text, OWNER_BYTES, OWNER "%u", (unsigned)line->tier);
    return text;
}

/* Microseconds with two digits behind the point. */
static const char *time_text(uint32_t cycles, char text[TIME_BYTES])
{
    uint64_t hundredths = (uint64_t)cycles * 100000000u / CONFIG_CLOCK_FREQUENCY;

    (void)snprintf(text, TIME_BYTES, "%lu.%02lu", (unsigned long)(hundredths / 100),
                   (unsigned long)(hundredths % 100));
    return text;
}

static void print_line(command_call_t *call, uint32_t line)
{
    const irq_line_t *entry = irq_line(line);
    char owner_text[OWNER_BYTES];
    char count[COUNT_BYTES] = "-";
    char worst[TIME_BYTES] = "-";

    if (entry == NULL) {
        return;
    }
    if (TIER_HAS_CSRS) {
        (void)snprintf(count, sizeof(count), "%lu", (unsigned long)entry->count);
    }
    if (IRQ_HAS_CLAIM) {
        (void)time_text(entry->worst_cycles, worst);
    }
    command_print(call, "%4lu %-9s %-6s %8u %10s %12s\n", (unsigned long)line, irq_name(line),
                  owner(entry, owner_text), (unsigned)entry->priority, count, worst);
}

static bool run_list(command_call_t *call)
{
    if (call->step == 0) {
        command_print(call, "line name      owner  priority      count   worst (us)\n");
        return true;
    }
    print_line(call, call->step - 1);
    return call->step < IRQ_LINES;
}

/* True if it went well. */
static bool report(command_call_t *call, const char *name, uint32_t tier, irq_result_t result)
{
    switch (result) {
    case IRQ_OK:
        return true;
    case IRQ_NO_LINE:
        return command_error(call, "no line '%s'; try irqtune", name);
    case IRQ_BAD_TIER:
        return command_error(call, "no line can be served in tier%lu here", (unsigned long)tier);
    case IRQ_BAD_PRIORITY:
        return command_error(call, "no such priority for line '%s'", name);
    case IRQ_BUSY:
        break;
    }
    return command_error(call, "the tier that serves '%s' did not let go; nothing has changed", name);
}

/* The line of a name or number, or IRQ_LINES. */
static uint32_t find_line(const char *name)
{
    uint32_t line = 0;

    if (*name < '0' || *name > '9') {
        return irq_find(name);
    }
    while (*name >= '0' && *name <= '9' && line < IRQ_LINES) {
        line = line * 10 + (uint32_t)(*name++ - '0');
    }
    return *name == '\0' && irq_line(line) != NULL ? line : IRQ_LINES;
}

/* What is wrong with an assignment is found before any of the command is carried out. */
static bool check(command_call_t *call, const irqtune_assignment_t *assignment)
{
    if (find_line(assignment->line) == IRQ_LINES) {
        return report(call, assignment->line, 0, IRQ_NO_LINE);
    }
    if (assignment->tier != IRQTUNE_KEEP && !irq_tier_serves(assignment->tier)) {
        return report(call, assignment->line, assignment->tier, IRQ_BAD_TIER);
    }
    return true;
}

static bool assign(command_call_t *call, const irqtune_assignment_t *assignment)
{
    uint32_t line = find_line(assignment->line);
    const irq_line_t *entry = irq_line(line);
    uint32_t tier = assignment->tier != IRQTUNE_KEEP ? assignment->tier : entry->tier;
    uint32_t priority =
        assignment->priority != IRQTUNE_KEEP ? assignment->priority : entry->priority;

    return report(call, assignment->line, tier, irq_assign(line, tier, priority));
}

static bool run_assign(command_call_t *call, const irqtune_request_t *request)
{
    if (call->step == 0) {
        for (uint32_t index = 0; index < request->count; index++) {
            if (!check(call, &request->assignments[index])) {
                return false;
            }
        }
    }
    const irqtune_assignment_t *assignment = &request->assignments[call->step];
    if (!assign(call, assignment)) {
        return false;
    }
    print_line(call, find_line(assignment->line));
    return call->step + 1 < request->count;
}

static void apply_priority(command_call_t *call, uint32_t line, uint32_t priority)
{
    const irq_line_t *entry = irq_line(line);

    if (entry != NULL) {
        (void)report(call, irq_name(line), entry->tier, irq_assign(line, entry->tier, priority));
    }
}

/* In the form of the original: IRQ and priority, of which 0 is the most urgent. */
static bool run_rotation(command_call_t *call, const irqtune_request_t *request)
{
    uint8_t priority[ROTATION_IRQS];
    uint32_t irq = call->step;

    (void)rotation_priorities(request->master, request->slave, priority);
    if (call->step == 0 && request->apply) {
        for (uint32_t line = 0; line < IRQ_LINES; line++) {
            apply_priority(call, line, line < ROTATION_IRQS ? 15u - priority[line] : 0);
        }
    }
    command_print(call, "I%02lu/P%02u %s\n", (unsigned long)irq, (unsigned)priority[irq],
                  irq_name(irq));
    return irq + 1 < ROTATION_IRQS;
}

static void find_order(void)
{
    suggested = 0;
    for (uint32_t line = 0; line < IRQ_LINES; line++) {
        const irq_line_t *entry = irq_line(line);
        if (entry != NULL) {
            suggestions[suggested++] = (suggestion_t){
                .line = line, .units = units_of(entry) - units_before[line], .room = entry->room};
        }
    }
    suggest_order(suggestions, suggested);
}

/* The order is found and applied in the first step; times are those of the step. */
static bool run_suggest(command_call_t *call, const irqtune_request_t *request)
{
    char slack[TIME_BYTES] = "-";

    if (call->step == 0) {
        find_order();
        suggested_for = call;
        if (request->apply) {
            for (uint32_t place = 0; place < suggested; place++) {
                apply_priority(call, suggestions[place].line, suggestions[place].priority);
            }
        }
        command_print(call, "line name      priority      units   room   slack (us)\n");
        return suggested != 0;
    }
    if (suggested_for != call) {
        return command_error(call, "another order has been found meanwhile");
    }
    const suggestion_t *one = &suggestions[call->step - 1];
    if (IRQ_HAS_CLAIM && one->units != 0) {
        (void)time_text(suggest_slack_cycles(one, now_cycles() - since_cycles), slack);
    }
    command_print(call, "%4lu %-9s %8lu %10lu %6lu %12s\n", (unsigned long)one->line,
                  irq_name(one->line), (unsigned long)one->priority,
                  (unsigned long)one->units, (unsigned long)one->room, slack);
    return call->step < suggested;
}

static bool run_restore(command_call_t *call)
{
    if (call->step == 0 && !report(call, "every line", 0, irq_assign_usual())) {
        return false;
    }
    return run_list(call);
}

static bool run_clear(void)
{
    irq_clear_counts();
    restart_rates();
    return false;
}

static bool run_irqtune(command_call_t *call)
{
    irqtune_request_t request;

    if (!irqtune_parse(call->words + 1, call->count - 1, &request)) {
        return command_error(call, "%s", request.error);
    }
    switch (request.action) {
    case IRQTUNE_ROTATE:
        return run_rotation(call, &request);
    case IRQTUNE_ASSIGN:
        return run_assign(call, &request);
    case IRQTUNE_RESTORE:
        return run_restore(call);
    case IRQTUNE_SUGGEST:
        return run_suggest(call, &request);
    case IRQTUNE_CLEAR:
        return run_clear();
    case IRQTUNE_LIST:
        break;
    }
    return run_list(call);
}

static const command_t commands[] = {
    {"irqtune", "[LINE=tierN:P.. | [-n] MASTER [SLAVE] | --suggest [--apply] | -o | -c]",
     COMMAND_WORDS, "who is first", run_irqtune},
};

static command_table_t table = {commands, 1, NULL};

void irqtune_init(void)
{
    command_add(&table);
    restart_rates();
}
