/* One line, one handler: HANDLER_LEAF, or one that calls a function and so must save all registers
 * that a function may change. Its first store, to ANSWER, lowers the line or goes to the output. */
#include "bench.h"

void background(uint32_t *memory) __attribute__((noreturn));

#ifdef BACKGROUND_MISSES
static uint32_t memory[4096];
#else
static uint32_t memory[16];
#endif
#ifndef HANDLER_LEAF
static uint32_t served;
#endif

#ifdef HANDLER_LEAF
#define SERVICE __attribute__((always_inline)) static inline
#else
#define SERVICE __attribute__((noinline, section(".handler")))
#endif

SERVICE void service(void)
{
    bench_write(ANSWER, 1u << LINE);
#ifndef HANDLER_LEAF
    served++;
#endif
}

#include "serve.h"

int main(void)
{
    start();
    background(memory);
}
