/* The CPU's trap after every instruction, SIGTRAP, by which another side runs between any two of them. */
#ifndef TIERV_TESTS_SINGLE_STEP_H
#define TIERV_TESTS_SINGLE_STEP_H

#include <stdbool.h>

/* The exit status of a driver whose case needs the trap, on a host without it. */
enum { NOT_HERE = 77 };

#ifdef __x86_64__

/* Sets or clears the trap flag of EFLAGS. */
__attribute__((noinline)) static void single_step(bool on)
{
    if (on) {
        __asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
    } else {
        __asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
    }
}

#endif

#endif
