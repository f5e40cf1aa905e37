/* One context without interrupts: the application runs the services while it waits. */
#include "context.h"

context_posts_t context_posts;

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

void context_run_protocol(void)
{
    do {
        context_posts.protocol = false;
        protocol_service();
        if (context_posts.interrupt) {
            context_posts.interrupt = false;
            interrupt_service(0);
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
