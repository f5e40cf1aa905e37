#include "apps/blockers.h"

#include <stdbool.h>
#include <stdio.h>

#include <generated/soc.h>

#include "apps/idle.h"
#include "context.h"
#include "irq.h"
#include "net/compiler.h"
#include "report.h"

SET_BEFORE_RUN uint32_t blocker_cycles[BLOCKERS] = {1, 1, 1, 1};

enum { CALIBRATION_CYCLES = 1000000 };

/* How often each was served. */
static uint32_t blocker_services[BLOCKERS];

static bool calibrated;
static uint32_t began[BLOCKERS];

/* Between two services that do nothing. */
static uint32_t overhead_cycles;

/* Longest path: blocker_cycles. */
static void serve(void *context, bool pending)
{
    uint32_t *services = context;
    uint32_t index = (uint32_t)(services - blocker_services);
    uint32_t start = idle_clock();

    (void)pending;
    acknowledge_lines(1u << (LINE0_INTERRUPT + index));
    if (calibrated && blocker_cycles[index] > overhead_cycles) {
        uint32_t cycles = blocker_cycles[index] - overhead_cycles;
        while (idle_clock() - start < cycles) {
        }
    }
    began[index] = start;
    (*services)++;
}

void blockers_init(uint32_t priority)
{
    for (uint32_t index = 0; index < BLOCKERS; index++) {
        char name[IRQ_NAME_BYTES];
        (void)snprintf(name, sizeof(name), "line%u", (unsigned)index);
        (void)irq_register(LINE0_INTERRUPT + index, name, serve, &blocker_services[index], priority);
    }
}

/* False if the lines were not raised within CALIBRATION_CYCLES. */
static bool calibrate(void)
{
    uint32_t start = idle_clock();
    uint32_t last = BLOCKERS - 1;

    for (;;) {
        COMPILER_BARRIER();
        if (blocker_services[last] != 0) {
            break;
        }
        if (idle_clock() - start > CALIBRATION_CYCLES) {
            return false;
        }
        if (CONTEXT_MUST_YIELD) {
            context_wait();
        }
    }
    overhead_cycles = (began[last] - began[0]) / last;
    calibrated = true;
    return true;
}

void blockers_begin(uint32_t error)
{
    report_mark(MARK_READY);
    bool good = calibrate();
    report_result(RESULT_OVERHEAD_CYCLES, overhead_cycles);
    report_result(RESULT_ERROR, error + !good);
}
