/* One context without interrupts: the application runs the services while it waits. */
#include "context.h"

context_posts_t context_posts;
uint32_t context_patient_lines;

#if !TIER_HAS_CSRS
uint32_t tier_served_lines;
#endif

void context_start(uint32_t lines)
{
#ifdef CONFIG_CPU_TYPE_TIERV
    tier_buffer_bus();
#endif
    tier_set_lines(lines);
}

/* Lines that do not wait until the application does, which may always have something for the protocol service. A
 * CPU that can't see which lines pend asks the devices when the driver is wanted. */
static inline uint32_t urgent_lines(void)
{
#if TIER_HAS_CSRS
    return tier_lines() & ~context_patient_lines;
#else
    return 0;
#endif
}

void context_run_protocol(void)
{
    do {
        context_posts.protocol = false;
        protocol_service();
        uint32_t lines = urgent_lines();
        if (lines != 0 || context_posts.interrupt) {
            context_posts.interrupt = false;
            interrupt_service(lines);
        }
    } while (context_posts.protocol);
}

/* Longest path: both services. */
void context_wait(void)
{
    uint32_t lines = tier_lines();
    if (lines != 0) {
        interrupt_service(lines);
    }
    if (context_posts.protocol) {
        context_run_protocol();
    }
    context_posts.application = false;
}

void context_run_interrupt(void)
{
    interrupt_service(tier_lines());
}
