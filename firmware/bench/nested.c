/* Interrupts that interrupt each other: each handler lowers its line and raises the next one, LEVELS
 * deep, and has something left to do when it is back. Line n is that of level n. */
#include "bench.h"
#include "context.h"

void background(uint32_t *memory) __attribute__((noreturn));

static uint32_t memory[16];
static uint32_t served[LEVELS + 1];

#ifdef CONTEXT_TIERS

/* Level n is tier n. */
void tier_main(uint32_t tier)
{
    uint32_t mine = 1u << tier;
    uint32_t next = tier < LEVELS ? mine << 1 : 0;

    tier_set_lines(mine);
    tier_enable_wake();
    tier_buffer_bus();
    for (;;) {
        tier_sleep();
        bench_write(DEVICE_LOWER, mine);
        bench_write(DEVICE_RAISE, next);
        served[tier]++;
    }
}

static void start(void)
{
    for (uint32_t tier = LEVELS; tier > 0; tier--) {
        context_start_tier(tier);
    }
}

#else

static volatile uint32_t depth, left;

/* Keeps what a nested trap would overwrite, and lets it come. */
INTERRUPT_HANDLER void handler(void)
{
    uint32_t level = depth + 1;

    depth = level;
    bench_write(DEVICE_LOWER, 1u << level);
    if (level < LEVELS) {
        uint32_t pc;
        uint32_t status;
        __asm__ volatile("csrr %0, mepc" : "=r"(pc));
        __asm__ volatile("csrr %0, mstatus" : "=r"(status));
        bench_write(DEVICE_RAISE, 2u << level);
        __asm__ volatile("csrsi mstatus, 8" : : : "memory");
        while (left != level + 1) {
        }
        __asm__ volatile("csrci mstatus, 8" : : : "memory");
        __asm__ volatile("csrw mepc, %0" : : "r"(pc));
        __asm__ volatile("csrw mstatus, %0" : : "r"(status));
    }
    served[level]++;
    left = level;
    depth = level - 1;
}

static void start(void)
{
    context_start((2u << LEVELS) - 2);
}

#endif

int main(void)
{
    start();
    background(memory);
}
