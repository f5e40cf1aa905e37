/* An order of lines by what each can wait: the rate-monotonic one, with a buffer's time to run full in the
 * place of the period (Liu and Layland, 1973). No device is used here.
 *
 * Units are counted modulo 2^32, since reset or `irqtune -c`: a serial port at 921,600 bit/s without a gap comes
 * round in 13 hours, and then the order is wrong. */
#ifndef TIERV_APPS_IRQTUNE_SUGGEST_H
#define TIERV_APPS_IRQTUNE_SUGGEST_H

#include <stdint.h>

typedef struct {
    uint32_t line;
    uint32_t units;    /* that came while the line was watched: bytes, frames, or interrupts */
    uint32_t room;     /* units that the device takes after it has raised its line; not 0 */
    uint32_t priority; /* found: 15 is the most urgent */
} suggestion_t;

/* Sorts: what can wait least, `room` divided by the rate, comes first and gets priority 15, the next 14
 * and so on down to 0. Equals share a priority, in the order of their lines. What has not been heard of is
 * last, with priority 0. */
void suggest_order(suggestion_t *lines, uint32_t count);

/* How long a line can wait, in clock cycles, if `units` came in `cycles`; UINT32_MAX for longer than
 * that, and if nothing came. */
uint32_t suggest_slack_cycles(const suggestion_t *line, uint64_t cycles);

#endif
