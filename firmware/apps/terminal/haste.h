/* Which of the characters that wait in a serial port's FIFO go into the packet without a look at their own
 * times, several at once. */
#ifndef TIERV_APPS_TERMINAL_HASTE_H
#define TIERV_APPS_TERMINAL_HASTE_H

#include "apps/terminal/packer.h"

/* Longer than emptying a FIFO takes. */
enum { HASTE_EARLY_CYCLES = 16384 };

typedef struct {
    uint32_t doubted; /* of the newest ones: the packet may be due before them; may be more than there are */
    bool is_early;    /* those that come meanwhile are for this packet too */
} haste_t;

/* For `level` characters of `character_cycles` each, of which the newest was in the FIFO at `now`: up to a
 * tenth of a character before its time. The sender may be a tenth faster than the port is set, with a stop
 * bit less. */
static inline haste_t haste_for(const packer_t *packer, uint32_t character_cycles, uint32_t level,
                                uint32_t now)
{
    const packer_rules_t *rules = &packer->rules;
    int32_t late_cycles = (int32_t)(now - packer->first_time - rules->time_cycles);

    if (rules->idle_cycles != 0 || rules->delimiters != 0 || packer_bytes(packer) == 0) {
        return (haste_t){level, false};
    }
    if (rules->time_cycles == 0 || late_cycles < -HASTE_EARLY_CYCLES) {
        return (haste_t){0, true};
    }
    if (late_cycles < 0) {
        return (haste_t){1, false};
    }
    uint32_t late = (uint32_t)late_cycles < character_cycles ? 0 : (uint32_t)late_cycles / character_cycles;
    return (haste_t){2 + late + (late + 3) / 4, false};
}

#endif
