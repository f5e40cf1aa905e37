/* A board's self-test, and what its processor takes for switches and kernels: told on the console after
 * reset, and again when somebody types something. */
#include <generated/soc.h>

#include "apps/selftest/checks.h"
#include "apps/selftest/measure.h"
#include "apps/selftest/record.h"
#include "apps/selftest/services.h"
#include "context.h"
#include "report.h"

static void tell_what_it_is(void)
{
    record_begin("selftest", "TierV SoC");
    record_number("clock_hz", CONFIG_CLOCK_FREQUENCY);
    record_number("contexts", CONTEXTS);
#ifdef CONFIG_CPU_TYPE_TIERV
    record_number("tiers", TIERV_TIERS);
    record_number("implementation", CSR_READ(CSR_MIMPID));
#endif
    record_end();
}

int main(void)
{
    record_init();
    services_start();
    report_mark(MARK_READY);
    for (;;) {
        tell_what_it_is();
        uint32_t failures = run_checks();
        measure_switches();
        measure_kernels();
        record_begin("end", failures == 0 ? "passed" : "failed");
        record_number("failures", failures);
        record_number("lines", record_count());
        record_truth("complete", true);
        record_end();
        record_wait_key();
    }
}
