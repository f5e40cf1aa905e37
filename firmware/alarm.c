#include "alarm.h"

#include <stddef.h>

#include <generated/soc.h>

#include "context.h"
#include "drivers/timer.h"
#include "irq.h"

#ifdef CONFIG_CPU_TYPE_TIERV
#elif UARTS > 0
#include "drivers/serial.h"
#else
#include "apps/idle.h"
#endif

/* In the order in which they ring. All tiers share it, under context_lock_all(). */
static alarm_t *first;

uint32_t alarm_clock(void)
{
#ifdef CONFIG_CPU_TYPE_TIERV
    return CSR_READ(CSR_MCYCLE);
#elif UARTS > 0
    return serial_now();
#else
    return idle_clock();
#endif
}

/* Sets the timer for the first alarm. */
static void program(void)
{
    if (first != NULL) {
        uint32_t left = first->due - alarm_clock();
        timer_start_once((int32_t)left > 0 ? left : 1);
    }
}

static void remove(alarm_t *alarm)
{
    alarm_t **link = &first;

    while (*link != NULL && *link != alarm) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = alarm->next;
    }
    alarm->is_set = false;
}

static void insert(alarm_t *alarm, uint32_t due)
{
    alarm_t **link = &first;

    while (*link != NULL && (int32_t)((*link)->due - due) <= 0) {
        link = &(*link)->next;
    }
    alarm->due = due;
    alarm->next = *link;
    alarm->is_set = true;
    *link = alarm;
    if (first == alarm) {
        program();
    }
}

static void set_at(alarm_t *alarm, uint32_t due)
{
    uint32_t before = context_lock_all();

    if (alarm->is_set) {
        remove(alarm);
    }
    insert(alarm, due);
    context_unlock_all(before);
}

void alarm_set(alarm_t *alarm, uint32_t cycles)
{
    set_at(alarm, alarm_clock() + cycles);
}

void alarm_repeat(alarm_t *alarm, uint32_t cycles)
{
    set_at(alarm, alarm->due + cycles);
}

void alarm_cancel(alarm_t *alarm)
{
    if (alarm->is_set) {
        uint32_t before = context_lock_all();
        remove(alarm);
        context_unlock_all(before);
    }
}

/* Takes the first alarm out if it is due, or else sets the timer for it. */
static alarm_t *take_due(void)
{
    uint32_t before = context_lock_all();
    alarm_t *alarm = first;

    if (alarm != NULL && (int32_t)(alarm->due - alarm_clock()) <= 0) {
        first = alarm->next;
        alarm->is_set = false;
    } else {
        program();
        alarm = NULL;
    }
    context_unlock_all(before);
    return alarm;
}

/* Longest path: all alarms at once. */
static void serve(void *context, bool pending)
{
    alarm_t *alarm;

    (void)context;
    if (timer_has_called(pending)) {
        timer_acknowledge();
        while ((alarm = take_due()) != NULL) {
            alarm->ring(alarm);
        }
    }
}

void alarm_init(uint32_t priority)
{
    (void)irq_register(TIMER0_INTERRUPT, "timer0", serve, NULL, priority);
    program();
}
