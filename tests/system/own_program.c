/* What C keeps for each thread, in two tiers. Results: 0 and 1 errno after a number that is too large, in the
 * application and in the protocol service; 2 and 3 variables with initial values, 4 and 5 cleared ones, 6 their
 * neighbours. */
#include <errno.h>
#include <stdlib.h>

#include "context.h"
#include "report.h"

static _Thread_local volatile uint64_t first = 0x1122334455667788;
static _Thread_local volatile uint32_t second = 99;
static _Thread_local uint32_t cleared;
static _Thread_local uint32_t many_cleared[20];
static uint32_t neighbours[64];
static volatile bool done;

/* Not known to the compiler. */
static const char *volatile too_large = "99999999999999";

#ifdef WITH_CONSTRUCTOR
static __attribute__((constructor)) void construct(void)
{
    second = 0;
}
#endif

static uint32_t overflow(void)
{
    errno = 0;
    (void)strtol(too_large, NULL, 10);
    return (uint32_t)errno;
}

void interrupt_service(uint32_t lines)
{
    (void)lines;
}

void protocol_service(void)
{
    report_result(1, overflow());
    done = true;
    context_post_application();
}

int main(void)
{
    uint32_t sum = 0;

    report_result(2, (uint32_t)(first >> 32));
    report_result(3, second);
    report_result(4, cleared);
    for (uint32_t i = 0; i < 20; i++) {
        sum += many_cleared[i];
        many_cleared[i] = UINT32_MAX;
    }
    report_result(5, sum);
    context_start(0);
    report_result(0, overflow());
    context_run_protocol();
    while (!done) {
        context_wait();
    }
    sum = (uint32_t)first == 0x55667788 ? 0 : 1;
    for (uint32_t i = 0; i < 64; i++) {
        sum += neighbours[i];
    }
    report_result(6, sum);
    exit_run(0);
}
