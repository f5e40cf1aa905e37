#include "irq.h"

#include <string.h>

#include "context.h"
#include "irq/table.h"
#include "net/compiler.h"

irq_line_t irq_table[IRQ_LINES + 1];

static char names[IRQ_LINES][IRQ_NAME_BYTES];

/* The number of a line is its place less one. */
static irq_line_t *entry_of(uint32_t line)
{
    return line < IRQ_LINES && irq_table[line + 1].service != NULL ? &irq_table[line + 1] : NULL;
}

const irq_line_t *irq_line(uint32_t line)
{
    return entry_of(line);
}

const char *irq_name(uint32_t line)
{
    return entry_of(line) != NULL ? names[line] : "";
}

uint32_t irq_find(const char *name)
{
    uint32_t line = 0;

    while (line < IRQ_LINES && (entry_of(line) == NULL || strcmp(names[line], name) != 0)) {
        line++;
    }
    return line;
}

bool irq_register(uint32_t line, const char *name, irq_service_t service, void *context,
                  uint32_t priority)
{
    if (line >= IRQ_LINES || priority >= IRQ_PRIORITIES || entry_of(line) != NULL) {
        return false;
    }
    irq_line_t *entry = &irq_table[line + 1];
    *entry = (irq_line_t){.service = service,
                          .context = context,
                          .room = 1,
                          .tier = TIER_INTERRUPT,
                          .priority = (uint8_t)priority,
                          .usual_priority = (uint8_t)priority};
    strncpy(names[line], name, IRQ_NAME_BYTES - 1);
    return true;
}

void irq_describe(uint32_t line, uint32_t room, irq_units_t units)
{
    irq_line_t *entry = entry_of(line);

    if (entry != NULL) {
        entry->room = room != 0 ? room : 1;
        entry->units = units;
    }
}

void irq_set_apart(uint32_t line)
{
    irq_line_t *entry = entry_of(line);

    if (entry != NULL) {
        entry->apart = true;
    }
}

void irq_set_brief(uint32_t line)
{
    irq_line_t *entry = entry_of(line);

    if (entry != NULL) {
        entry->brief = true;
    }
}

uint32_t irq_lines_of(uint32_t tier)
{
    uint32_t lines = 0;

    for (uint32_t line = 0; line < IRQ_LINES; line++) {
        if (entry_of(line) != NULL && irq_table[line + 1].tier == tier) {
            lines |= 1u << line;
        }
    }
    return lines;
}

uint32_t irq_most_urgent(uint32_t lines)
{
    uint32_t others = lines & (lines - 1);

    if (LIKELY(others == 0)) {
        return (uint32_t)__builtin_ctz(lines);
    }
    uint32_t most = (uint32_t)__builtin_ctz(lines);
    for (lines = others; lines != 0; lines &= lines - 1) {
        uint32_t line = (uint32_t)__builtin_ctz(lines);
        if (irq_table[line + 1].priority > irq_table[most + 1].priority) {
            most = line;
        }
    }
    return most;
}

irq_result_t irq_assign(uint32_t line, uint32_t tier, uint32_t priority)
{
    irq_line_t *entry = entry_of(line);

    if (entry == NULL) {
        return IRQ_NO_LINE;
    }
    if (!irq_tier_serves(tier)) {
        return IRQ_BAD_TIER;
    }
    if (priority >= IRQ_PRIORITIES) {
        return IRQ_BAD_PRIORITY;
    }
    if (entry->tier != tier && !irq_move(line, tier)) {
        return IRQ_BUSY;
    }
    entry->priority = (uint8_t)priority;
    irq_apply_priorities();
    return IRQ_OK;
}

irq_result_t irq_assign_usual(void)
{
    irq_result_t result = IRQ_OK;

    for (uint32_t line = 0; line < IRQ_LINES; line++) {
        const irq_line_t *entry = entry_of(line);
        if (entry != NULL) {
            irq_result_t one = irq_assign(line, TIER_INTERRUPT, entry->usual_priority);
            result = result == IRQ_OK ? one : result;
        }
    }
    return result;
}

void irq_clear_counts(void)
{
    for (uint32_t line = 0; line < IRQ_LINES; line++) {
        irq_table[line + 1].count = 0;
        irq_table[line + 1].worst_cycles = 0;
    }
}
