#include "suggest.h"

#include <stdbool.h>

/* Negative if `a` can wait less than `b`, 0 if as long. */
static int32_t compare_slack(const suggestion_t *a, const suggestion_t *b)
{
    if (a->units == 0 || b->units == 0) {
        return (a->units == 0) - (b->units == 0);
    }
    uint64_t left = (uint64_t)a->room * b->units;
    uint64_t right = (uint64_t)b->room * a->units;
    return (left > right) - (left < right);
}

static bool before(const suggestion_t *a, const suggestion_t *b)
{
    int32_t order = compare_slack(a, b);

    return order < 0 || (order == 0 && a->line < b->line);
}

void suggest_order(suggestion_t *lines, uint32_t count)
{
    for (uint32_t end = 1; end < count; end++) {
        suggestion_t moved = lines[end];
        uint32_t place = end;
        while (place != 0 && before(&moved, &lines[place - 1])) {
            lines[place] = lines[place - 1];
            place--;
        }
        lines[place] = moved;
    }
    uint32_t priority = 15;
    for (uint32_t place = 0; place < count; place++) {
        if (place != 0 && priority != 0 && compare_slack(&lines[place - 1], &lines[place]) != 0) {
            priority--;
        }
        lines[place].priority = lines[place].units == 0 ? 0 : priority;
    }
}

uint32_t suggest_slack_cycles(const suggestion_t *line, uint64_t cycles)
{
    if (line->units == 0) {
        return UINT32_MAX;
    }
    uint64_t per_unit = cycles / line->units;
    uint64_t slack = per_unit * line->room + cycles % line->units * line->room / line->units;
    return slack < UINT32_MAX ? (uint32_t)slack : UINT32_MAX;
}
