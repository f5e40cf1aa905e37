/* Benchmark: what an interrupt costs. The interrupt service lowers the external line that rose; the
 * application waits, or computes. */
#include <generated/soc.h>

#include "context.h"
#include "report.h"

enum { EXTERNAL_LINES_MASK = 1u << LINE0_INTERRUPT };

/* 0: the application waits; 1: it computes. */
SET_BEFORE_RUN uint32_t application_computes = 1;

/* What the application computes, so that it is not optimised away. */
uint32_t computed;

static uint32_t table[16];

/* Tier 2: one store. */
void interrupt_service(uint32_t lines)
{
    acknowledge_lines(lines);
}

void protocol_service(void)
{
}

/* A round: loads, stores, arithmetic, multiplications and two divisions, always as many cycles. */
__attribute__((noinline)) uint32_t compute(uint32_t value)
{
    for (uint32_t i = 0; i < 16; i++) {
        value = value * 1664525u + 1013904223u;
        table[i] ^= value >> 7;
        value += table[(value >> 16) & 15];
        if ((i & 7) == 0) {
            value /= (table[i] & 0xff) + 3;
        }
    }
    return value;
}

__attribute__((noinline)) void application(void)
{
    for (;;) {
        if (application_computes) {
            computed = compute(computed);
        } else {
            context_wait();
        }
    }
}

int main(void)
{
    context_start(EXTERNAL_LINES_MASK);
    report_mark(MARK_READY);
    application();
    return 0;
}
