/* What the firmware tells whoever runs it: the simulation's mailbox, if the SoC has one. */
#ifndef TIERV_REPORT_H
#define TIERV_REPORT_H

#include <stdint.h>

#include <generated/soc.h>

#include "mmio.h"

/* A variable that whoever runs the program may give another initial value: start-up code leaves it
 * alone, 0 or not. A large one without an initial value is SET_BEFORE_RUN_LARGE; it lies outside
 * local memory. */
#define SET_BEFORE_RUN __attribute__((section(".data.set_before_run")))
#define SET_BEFORE_RUN_LARGE __attribute__((section(".noinit")))

/* The program is ready for whatever it offers. */
enum { MARK_READY = 1 };

/* Ends the run with an exit code; without a mailbox, stays here. */
void exit_run(uint32_t code) __attribute__((noreturn));

/* Ends the run for a trap that nobody expects; the exit code is 64 plus the cause. */
void unexpected_trap(uint32_t cause, uint32_t pc) __attribute__((noreturn));

/* Tells the value of result `number`, whose meaning the program defines. */
static inline void report_result(uint32_t number, uint32_t value)
{
#ifdef MAILBOX_RESULT0_ADDR
    mmio_write(MAILBOX_RESULT0_ADDR + 4 * number, value);
#else
    (void)number;
    (void)value;
#endif
}

/* Marks a moment. */
static inline void report_mark(uint32_t mark)
{
#ifdef MAILBOX_MARK_ADDR
    mmio_write(MAILBOX_MARK_ADDR, mark);
#else
    (void)mark;
#endif
}

/* Lowers external lines that the simulation has raised. */
static inline void acknowledge_lines(uint32_t lines)
{
#ifdef MAILBOX_LINE_ACK_ADDR
    mmio_write(MAILBOX_LINE_ACK_ADDR, lines);
#else
    (void)lines;
#endif
}

#endif
