/* Alarms, driven by lines of text; the timer and the clock are here. A processor that can't see its line asks it each
 * time.
 *
 *   set ALARM CYCLES, cancel ALARM
 *   repeat ALARM CYCLES             when it rings it is set again, from now on
 *   waits ALARM                     whether it is set
 *   pass CYCLES                     what rings meanwhile, each time with the cycle
 *   late CYCLES                     the same, but nobody serves the line
 *   look                            the timer's service, though nothing has happened: how often it accesses the timer
 */
#include <stdio.h>
#include <string.h>

#include <generated/csr.h>

#include "alarm.h"
#include "apps/idle.h"
#include "context.h"
#include "irq.h"
#include "mmio.h"
#include "text.h"

enum { ALARMS = 4, PRIORITY = 8 };

/* It comes round soon. */
static uint32_t cycle = UINT32_MAX - 1000;
static uint32_t accesses;
static irq_service_t service;

/* --- the timer ----------------------------------------------------------------------------------- */

static uint32_t load;
static uint32_t left; /* 0: it stands */
static bool is_enabled;
static bool is_pending;

uint32_t mmio_read(uintptr_t address)
{
    accesses++;
    if (address != CSR_TIMER0_EV_PENDING_ADDR) {
        text_fail("not read otherwise");
    }
    return is_pending;
}

void mmio_write(uintptr_t address, uint32_t value)
{
    accesses++;
    if (address == CSR_TIMER0_LOAD_ADDR) {
        load = value;
    } else if (address == CSR_TIMER0_EN_ADDR) {
        left = value != 0 ? load : 0;
    } else if (address == CSR_TIMER0_EV_PENDING_ADDR && (value & 1) != 0) {
        is_pending = false;
    } else if (address == CSR_TIMER0_EV_ENABLE_ADDR) {
        is_enabled = value != 0;
    }
}

uint32_t idle_clock(void)
{
    return cycle;
}

/* --- what is around ------------------------------------------------------------------------------ */

uint32_t context_lock_all(void)
{
    return 0;
}

void context_unlock_all(uint32_t before)
{
    (void)before;
}

bool irq_register(uint32_t line, const char *name, irq_service_t given, void *context, uint32_t priority)
{
    (void)name;
    (void)context;
    service = given;
    return line == TIMER0_INTERRUPT && priority == PRIORITY;
}

/* --- the driver ---------------------------------------------------------------------------------- */

static alarm_t alarms[ALARMS];
static uint32_t periods[ALARMS];

static void ring(alarm_t *alarm)
{
    uint32_t number = (uint32_t)(alarm - alarms);

    printf(" %u@%u", number, cycle + 1000 + 1);
    if (periods[number] != 0) {
        alarm_repeat(alarm, periods[number]);
    }
}

static void pass(uint32_t cycles, bool is_served)
{
    while (cycles-- != 0) {
        cycle++;
        if (left != 0 && --left == 0) {
            is_pending = true;
        }
        if (is_pending && is_enabled && is_served) {
            service(NULL, true);
            if (is_pending) {
                text_fail("the line does not fall");
            }
        }
    }
    printf("\n");
}

static void look(void)
{
    accesses = 0;
    service(NULL, true);
    printf("%u\n", accesses);
}

static void run(const char *command)
{
    if (strcmp(command, "set") == 0) {
        alarm_set(&alarms[text_number(1)], text_number(2));
    } else if (strcmp(command, "cancel") == 0) {
        alarm_cancel(&alarms[text_number(1)]);
    } else if (strcmp(command, "repeat") == 0) {
        periods[text_number(1)] = text_number(2);
    } else if (strcmp(command, "pass") == 0) {
        pass(text_number(1), true);
    } else if (strcmp(command, "late") == 0) {
        pass(text_number(1), false);
    } else if (strcmp(command, "waits") == 0) {
        printf("%d\n", alarms[text_number(1)].is_set);
    } else if (strcmp(command, "look") == 0) {
        look();
    } else {
        text_fail("no such command");
    }
}

int main(void)
{
    for (uint32_t number = 0; number < ALARMS; number++) {
        alarms[number].ring = ring;
    }
    alarm_init(PRIORITY);
    text_serve(run);
    return 0;
}
