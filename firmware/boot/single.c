/* One context: an ordinary trap handler, and the protocol service as a nested software interrupt. */
#include "context.h"

context_posts_t context_posts;

bool context_protocol_active;

/* Runs the protocol service until nobody has work for it, with interrupts enabled; called and left
 * with interrupts disabled. */
static void run_protocol(void)
{
    context_protocol_active = true;
    do {
        context_posts.protocol = false;
        __asm__ volatile("csrsi mstatus, %0" : : "i"(1 << MSTATUS_MIE_BIT) : "memory");
        protocol_service();
        __asm__ volatile("csrci mstatus, %0" : : "i"(1 << MSTATUS_MIE_BIT) : "memory");
        if (context_posts.interrupt) {
            context_posts.interrupt = false;
            interrupt_service(0);
        }
    } while (context_posts.protocol);
    context_protocol_active = false;
}

/* The same from the trap handler, which saves no registers for it. */
static __attribute__((noinline)) void interrupt_protocol(void)
{
    uint32_t pc;
    uint32_t status;

    __asm__ volatile("csrr %0, mepc" : "=r"(pc));
    __asm__ volatile("csrr %0, mstatus" : "=r"(status));
    run_protocol();
    __asm__ volatile("csrw mepc, %0" : : "r"(pc));
    __asm__ volatile("csrw mstatus, %0" : : "r"(status));
}

void unexpected_trap(uint32_t cause, uint32_t pc) __attribute__((noreturn));

/* Interrupts only; GCC saves the registers that the body may change. */
INTERRUPT_ENTRY __attribute__((interrupt("machine"))) void trap_handler(void)
{
    uint32_t cause;
    __asm__ volatile("csrr %0, mcause" : "=r"(cause));
    if ((int32_t)cause >= 0) {
        uint32_t pc;
        __asm__ volatile("csrr %0, mepc" : "=r"(pc));
        unexpected_trap(cause, pc);
    }
    interrupt_service(tier_lines());
    if (context_posts.protocol && !context_protocol_active) {
        interrupt_protocol();
    }
}

void context_start(uint32_t lines)
{
#ifdef CONFIG_CPU_TYPE_TIERV
    tier_buffer_bus();
#endif
    __asm__ volatile("csrw mtvec, %0" : : "r"(&trap_handler));
    __asm__ volatile("csrw mie, %0" : : "r"(1u << MIP_MEIP_BIT));
    tier_set_lines(lines);
    __asm__ volatile("csrsi mstatus, %0" : : "i"(1 << MSTATUS_MIE_BIT) : "memory");
}

void context_wait(void)
{
    uint32_t before = context_lock();
    if (!context_posts.application) {
        tier_sleep();
    }
    context_posts.application = false;
    context_unlock(before);
}

void context_run_protocol(void)
{
    uint32_t before = context_lock();
    if (context_protocol_active) {
        context_posts.protocol = true;
    } else {
        run_protocol();
    }
    context_unlock(before);
}

void context_run_interrupt(void)
{
    uint32_t before = context_lock();
    interrupt_service(tier_lines());
    if (context_posts.protocol && !context_protocol_active) {
        run_protocol();
    }
    context_unlock(before);
}
