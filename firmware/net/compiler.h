/* Hints to the compiler: which way a branch goes, and what stays out of the fast path. */
#ifndef TIERV_NET_COMPILER_H
#define TIERV_NET_COMPILER_H

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* A function that runs rarely: not inlined, nor placed between instructions that run often. */
#define COLD __attribute__((cold, noinline))

/* A function that is inlined even where the compiler's size estimate is against it, because a
 * result struct then lives in registers. */
#define INLINE static inline __attribute__((always_inline))

/* A constant that is needed to talk to people alone: it goes where the linker puts their text (link.ld.in),
 * not into fast memory. */
#define FOR_PEOPLE __attribute__((section(".text_for_people")))

/* Loads and stores stay on their side of this. */
#define COMPILER_BARRIER() __asm__ volatile("" : : : "memory")

#endif
