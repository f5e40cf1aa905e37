/* Alarms: functions that are called at a cycle to come, all by one timer (LiteX's timer0).
 *
 * alarm_set() and alarm_cancel() may be called wherever, but not within context_lock_all(), which they use themselves,
 * nor by a service that is apart (irq_set_apart()). An alarm rings in the tier that serves the timer's line, and mostly
 * kicks the line that is concerned (irq_kick()).
 */
#ifndef TIERV_ALARM_H
#define TIERV_ALARM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct alarm {
    struct alarm *next;
    uint32_t due; /* by alarm_clock() */
    bool is_set;
    void (*ring)(struct alarm *alarm); /* the owner's */
} alarm_t;

/* Longest time of an alarm. */
enum { ALARM_MAX_CYCLES = 1 << 30 };

/* Registers the timer's line; before irq_start(). */
void alarm_init(uint32_t priority);

/* Has the alarm ring in `cycles`, at the most ALARM_MAX_CYCLES; if it was set, no longer when it was to. */
void alarm_set(alarm_t *alarm, uint32_t cycles);

/* Has an alarm that has just rung ring again, `cycles` after it was due. */
void alarm_repeat(alarm_t *alarm, uint32_t cycles);

/* It won't ring; it may be ringing, and is set again if it then sets itself. */
void alarm_cancel(alarm_t *alarm);

/* Cycles, modulo 2^32. */
uint32_t alarm_clock(void);

#endif
