/* Benchmark: devices on the external lines whose services keep the processor for a set time, as drivers do
 * that copy a sector or wait for their device. */
#ifndef TIERV_APPS_BLOCKERS_H
#define TIERV_APPS_BLOCKERS_H

#include <stdint.h>

enum { BLOCKERS = 4 };

/* How long each service takes, from its beginning to that of the next one that waits for it; set before
 * the run. */
extern uint32_t blocker_cycles[BLOCKERS];

/* Registers lines 0 to 3 with `priority`. */
void blockers_init(uint32_t priority);

/* What blockers_begin() reports: cycles between two services, and 0 or what went wrong. */
enum { RESULT_OVERHEAD_CYCLES, RESULT_ERROR };

/* Application, after irq_start(): marks that all is ready, waits until all lines were raised once,
 * together, and from then on takes what was between two services off the times. Reports `error`, and
 * one more if the lines do not come. */
void blockers_begin(uint32_t error);

#endif
