/* Benchmark: what an interrupt costs. The interrupt service lowers the external line that rose; the
 * application waits, or computes. */
#include <generated/soc.h>

#include "apps/compute.h"
#include "context.h"
#include "report.h"

enum { EXTERNAL_LINES_MASK = 1u << LINE0_INTERRUPT };

/* 0: the application waits; 1: it computes. */
SET_BEFORE_RUN uint32_t application_computes = 1;

/* Tier 2: one store. */
void interrupt_service(uint32_t lines)
{
    acknowledge_lines(lines);
}

void protocol_service(void)
{
}

__attribute__((noinline)) void application(void)
{
    uint32_t value = 0;

    for (;;) {
        if (application_computes) {
            value = compute(value);
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
