/* A tier for each service. */
#include "context.h"

enum { STACK_BYTES = 2048 };

static _Alignas(16) uint8_t interrupt_stack[STACK_BYTES];
static _Alignas(16) uint8_t protocol_stack[STACK_BYTES];

bool context_protocol_active;
bool context_is_locked;
uint32_t context_ceiling = TIERV_TIERS - 1;

/* tier_entry (start.S) takes these from the top of the new stack. */
typedef struct {
    void (*function)(void *);
    void *argument;
    uint32_t padding[2];
} tier_frame_t;

_Static_assert(sizeof(tier_frame_t) == 16, "start.S expects this size");

void tier_entry(void);

/* CSR numbers are part of the instruction. */
#define START_TIER(n)                                                                              \
    case n:                                                                                        \
        CSR_WRITE(CSR_MTIERPC##n, &tier_entry);                                                    \
        CSR_WRITE(CSR_MTIERARG##n, frame);                                                         \
        break

void tier_start(uint32_t tier, void (*function)(void *), void *argument, void *stack)
{
    tier_frame_t *frame = (tier_frame_t *)stack - 1;

    frame->function = function;
    frame->argument = argument;
    switch (tier) {
        START_TIER(1);
        START_TIER(2);
#if TIERV_TIERS > 3
        START_TIER(3);
#endif
#if TIERV_TIERS > 4
        START_TIER(4);
#endif
#if TIERV_TIERS > 5
        START_TIER(5);
#endif
#if TIERV_TIERS > 6
        START_TIER(6);
#endif
#if TIERV_TIERS > 7
        START_TIER(7);
#endif
    default:
        return;
    }
    CSR_SET(CSR_MTIERRUN, 1u << tier);
}

/* Tier 2. Longest path: the application's interrupt_service(). */
static INTERRUPT_ENTRY void interrupt_tier(void *lines)
{
    tier_set_lines((uint32_t)(uintptr_t)lines);
    tier_enable_wake();
    tier_buffer_bus();
    tier_share_slots();
    for (;;) {
        uint32_t pending = tier_wait();
        tier_clear_post(TIER_INTERRUPT);
        interrupt_service(pending);
    }
}

/* Tier 1. */
static void protocol_tier(void *unused)
{
    (void)unused;
    tier_enable_wake();
    tier_buffer_bus();
    for (;;) {
        tier_sleep();
        tier_clear_post(TIER_PROTOCOL);
        context_protocol_active = true;
        COMPILER_BARRIER();
        protocol_service();
        COMPILER_BARRIER();
        context_protocol_active = false;
    }
}

void context_start_loop(void (*loop)(void *), void *argument)
{
    tier_set_lines(0);
    tier_enable_wake();
    tier_buffer_bus();
    tier_start(TIER_PROTOCOL, protocol_tier, 0, protocol_stack + STACK_BYTES);
    tier_start(TIER_INTERRUPT, loop, argument, interrupt_stack + STACK_BYTES);
}

void context_start(uint32_t lines)
{
    context_start_loop(interrupt_tier, (void *)(uintptr_t)lines);
}

void context_wait(void)
{
    tier_sleep();
    tier_clear_post(TIER_APPLICATION);
}

void context_run_protocol(void)
{
    /* The tier is more urgent: it runs to completion before the application goes on. */
    tier_post(TIER_PROTOCOL);
}

void context_run_interrupt(void)
{
    tier_post(TIER_INTERRUPT);
}
