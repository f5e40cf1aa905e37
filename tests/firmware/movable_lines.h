/* Two tiers for the table of lines, which let go of a line at once, or not at all. */
#ifndef TIERV_TESTS_MOVABLE_LINES_H
#define TIERV_TESTS_MOVABLE_LINES_H

#include "../../firmware/irq/table.h"

static bool is_busy;

bool irq_tier_serves(uint32_t tier)
{
    return tier == TIER_PROTOCOL || tier == TIER_INTERRUPT;
}

bool irq_move(uint32_t line, uint32_t tier)
{
    if (!is_busy) {
        irq_table[line + 1].tier = (uint8_t)tier;
    }
    return !is_busy;
}

#endif
