/* A trial that another side interrupts once: behind its first instruction, its second, and so on. Include it where
 * there is a single-step trap. */
#ifndef TIERV_TESTS_EACH_STEP_H
#define TIERV_TESTS_EACH_STEP_H

#include <signal.h>
#include <stdio.h>

#include "single_step.h"

/* Fewer would say that the trap does not come. */
enum { LEAST_STEPS = 10 };

static volatile unsigned step, last_step;
static void (*other_side)(void);

static void run_other_side(int signal_number)
{
    (void)signal_number;
    step = step + 1;
    if (step == last_step) {
        other_side();
    }
}

/* True if the trial, called with `given`, is true wherever the other side comes; otherwise a line on stderr that begins
 * with `failure`. What it does between single_step(true) and single_step(false) is interrupted. */
static bool survives_each_step(const char *failure, bool (*trial)(const void *), const void *given,
                               void (*other)(void))
{
    other_side = other;
    signal(SIGTRAP, run_other_side);
    for (last_step = 1;; last_step = last_step + 1) {
        step = 0;
        bool survived = trial(given);
        if (step < last_step) {
            break;
        }
        if (!survived) {
            fprintf(stderr, "%s before step %u\n", failure, last_step);
            return false;
        }
    }
    if (last_step < LEAST_STEPS) {
        fprintf(stderr, "the trap came %u times only\n", step);
        return false;
    }
    return true;
}

#endif
