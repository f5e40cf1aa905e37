/* Tier 0 runs from external memory; tier 2 answers line 0 from the local memories.
 *
 * Results: 0 and 1 are the cycles of the kernel in local memory for the first time and again, 2 and
 * 3 those in external memory; 4 is 1 if all of them gave the same. Then tier 0 misses all the time
 * until tier 2 has answered `answers` lines. */
#include "cached_kernel.h"
#include "mmio.h"
#include <generated/tierv.h>
#include <stdbool.h>

#define CSR_WRITE(csr, value) __asm__ volatile("csrw %0, %1" : : "i"(csr), "r"(value) : "memory")
#define LOCAL __attribute__((noinline, section(".text.kernel"), aligned(32)))
#define FAR(n) __attribute__((noinline, section(".far." #n), aligned(32)))
#define EXTERNAL_LINE 1u
#define ANSWERING_TIER 2u
/* Lines this far apart have the same place in both caches. */
#define CACHE_BYTES TIERV_ICACHE_BYTES
#define FAR_WORDS (4u * TIERV_DCACHE_BYTES / sizeof(uint32_t))

extern uint32_t far_start[], far_end[], far_load[];

uint32_t answers = 1;
volatile uint32_t answered;

static kernel_data_t local_data;
static kernel_data_t far_data __attribute__((section(".far.data"), aligned(32)));
static uint32_t far_words[FAR_WORDS] __attribute__((section(".far.words"), aligned(32)));

LOCAL static uint32_t kernel_local(void)
{
    return kernel(&local_data);
}

FAR(kernel) static uint32_t kernel_far(void)
{
    return kernel(&far_data);
}

/* One line of each pair of places that share one in the instruction cache. */
FAR(step0) static uint32_t step0(uint32_t value)
{
    return value * 5u + far_words[value % FAR_WORDS];
}

FAR(gap) __attribute__((used)) static void gap(void)
{
    __asm__ volatile(".space %0" : : "i"(CACHE_BYTES));
}

FAR(step1) static uint32_t step1(uint32_t value)
{
    far_words[(value >> 3) % FAR_WORDS] = value;
    return (value ^ value >> 7) + far_words[(value >> 9) % FAR_WORDS];
}

/* Tier 2: what takes from a line's rise to its fall is two accesses to the bus. */
__attribute__((naked, noreturn)) static void answer(void)
{
    __asm__ volatile("li   t0, %0\n\t"
                     "csrw %1, t0\n\t"
                     "li   t0, 0x800\n\t"
                     "csrw mie, t0\n\t"
                     "li   t2, %2\n\t"
                     "li   t1, %0\n\t"
                     "la   t3, answered\n\t"
                     ".globl answering\n"
                     "answering:\n\t"
                     "wfi\n\t"
                     "sw   t1, 0(t2)\n\t"
                     "lw   t0, 0(t3)\n\t"
                     "addi t0, t0, 1\n\t"
                     "sw   t0, 0(t3)\n\t"
                     "j    answering"
                     :
                     : "i"(EXTERNAL_LINE), "i"(CSR_MLINEMASK), "i"(MAILBOX_LINE_ACK_ADDR));
}

static uint32_t timed(uint32_t (*run)(void), uint32_t index)
{
    const uint32_t begin = cycle_read();
    const uint32_t sum = run();
    result_write(index, cycle_read() - begin);
    return sum;
}

int main(void)
{
    /* The model of the memory needs no initialization but the controller's. */
    mmio_write(CSR_SDRAM_DFII_CONTROL_ADDR, 1);
    for (uint32_t word = 0; far_start + word < far_end; word++)
        far_start[word] = far_load[word];
    __asm__ volatile("fence.i" : : : "memory");

    const uint32_t sum = timed(kernel_local, 0);
    bool same = timed(kernel_local, 1) == sum;
    same &= timed(kernel_far, 2) == sum;
    same &= timed(kernel_far, 3) == sum;
    result_write(4, same);

    CSR_WRITE(CSR_MTIERPC2, (uint32_t)(uintptr_t)answer);
    __asm__ volatile("csrs %0, %1" : : "i"(CSR_MTIERRUN), "r"(1u << ANSWERING_TIER));
    uint32_t value = 1;
    while (answered != answers)
        value = step1(step0(value));
    return 0;
}
