/* The self-test's checks on a board whose serial characters go round at once, with the fault that the command line
 * names, if any. Prints what has not passed, and how many that were.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/idle.h"
#include "apps/selftest/record.h"
#include "apps/selftest/services.h"
#include "context.h"
#include "drivers/serial.h"
#include "single_step.h"

void context_start(uint32_t lines);
void context_wait(void);
void context_run_interrupt(void);
void context_run_protocol(void);

#define CONTEXT_MUST_YIELD 1
static const char *fault = "";

static bool has(const char *name)
{
    return strcmp(fault, name) == 0;
}

/* This processor divides in its own way. */
#define __asm__(...) (quotient = has("division") ? minus_one : lowest, remainder = lowest + zero)
#include "../../firmware/apps/selftest/checks.c"
#undef __asm__
#include "../../firmware/apps/selftest/services.c"

/* Later than the timer may be. */
enum { STEP_CYCLES = 16, LATE_CYCLES = 2 * TIMER_TOLERANCE_CYCLES };

static uint8_t fifo[SERIAL_RECEIVE_DEPTH];
static uint32_t received;
static uint32_t cycle;
static uint32_t timer_due; /* 0: it stands */
static bool timer_event;
static uint32_t served_lines;
static const char *check;

static void transmit(uint32_t word)
{
    uint32_t count = (word >> CSR_SERIAL_PORT0_TRANSMIT_MORE_OFFSET & 3) + 1;

    for (uint32_t index = 0; index < count && index < SERIAL_TRANSMIT_DEPTH; index++) {
        if (received < SERIAL_RECEIVE_DEPTH) {
            fifo[received++] = (uint8_t)(word >> 8 * index);
        }
    }
    if (has("a lost character") || has("a character too many")) {
        received += has("a lost character") ? UINT32_MAX : 1;
    } else if (has("a wrong character")) {
        fifo[count - 1] ^= 0x40;
    }
}

static uint32_t receive(void)
{
    if (received == 0) {
        return 0;
    }
    uint32_t word = 1u << CSR_SERIAL_PORT0_RECEIVE_VALID_OFFSET | fifo[0];
    received--;
    memmove(fifo, fifo + 1, received);
    return word;
}

uint32_t mmio_read(uintptr_t address)
{
    if (address == CSR_SERIAL_CYCLE_ADDR) {
        return idle_clock();
    }
    switch ((address - CSR_SERIAL_PORT0_RECEIVE_ADDR) % SERIAL_STRIDE_BYTES) {
    case SERIAL_REGISTER(RECEIVE):
        return receive();
    case SERIAL_REGISTER(LEVEL):
        return received;
    case SERIAL_REGISTER(STATUS):
        return has("a line that is never idle") ? 0 : 1u << CSR_SERIAL_PORT0_STATUS_IDLE_OFFSET;
    default:
        return 0;
    }
}

void mmio_write(uintptr_t address, uint32_t value)
{
    if ((address - CSR_SERIAL_PORT0_RECEIVE_ADDR) % SERIAL_STRIDE_BYTES == SERIAL_REGISTER(TRANSMIT)) {
        transmit(value);
    }
}

uint32_t idle_clock(void)
{
    return cycle += STEP_CYCLES;
}

void record_begin(const char *kind, const char *name)
{
    (void)kind;
    check = name;
}

void record_truth(const char *key, bool value)
{
    (void)key;
    if (!value) {
        printf("%s\n", check);
    }
}

void record_number(const char *key, uint32_t value)
{
    (void)key;
    (void)value;
}

void record_end(void)
{
}

void timer_start_once(uint32_t cycles)
{
    timer_due = cycle + cycles + (has("a late timer") ? LATE_CYCLES : 0);
    timer_due -= has("an early timer") ? STEP_CYCLES * 2 : 0;
}

bool timer_has_ticked(void)
{
    return timer_event;
}

void timer_acknowledge(void)
{
    timer_event = false;
}

/* Those that are pending; a CPU that can't see them has all that are served. */
static uint32_t lines(void)
{
    return !TIER_HAS_CSRS ? served_lines : timer_event ? TIMER_LINE : 0;
}

void context_start(uint32_t of)
{
    served_lines = of;
}

void context_wait(void)
{
    if (timer_due != 0 && (int32_t)(cycle - timer_due) >= 0 && !has("no timer")) {
        timer_due = 0;
        timer_event = true;
        services_seen.ticks += has("two ticks");
    }
    if (lines() != 0) {
        interrupt_service(lines());
    }
}

void context_run_interrupt(void)
{
    if (!has("services in the wrong order")) {
        interrupt_service(lines());
    }
}

void context_run_protocol(void)
{
    if (!has("no protocol service")) {
        protocol_service();
    }
    if (has("services in the wrong order")) {
        interrupt_service(lines());
    }
}

#ifdef __x86_64__

/* Between any two instructions. */
static void spoil_memory(int signal_number)
{
    (void)signal_number;
    if (has("a bit that is stuck")) {
        local_words[WORDS - 1] |= 4;
    } else if (large_words[0] == 0x4433aa11) {
        /* The byte has taken another one with it. */
        large_words[0] = 0x4433aa00;
    }
}

static uint32_t run_with_bad_memory(void)
{
    struct sigaction action = {.sa_handler = spoil_memory};

    (void)sigaction(SIGTRAP, &action, NULL);
    single_step(true);
    uint32_t failed = run_checks();
    single_step(false);
    return failed;
}

#else

static uint32_t run_with_bad_memory(void)
{
    fprintf(stderr, "no trap after each instruction here\n");
    exit(NOT_HERE);
}

#endif

int main(int count, char **arguments)
{
    if (count == 2) {
        fault = arguments[1];
    }
    services_start();
    bool is_memory = has("a bit that is stuck") || has("a byte that is not written alone");
    uint32_t failed = is_memory ? run_with_bad_memory() : run_checks();
    printf("%u\n", failed);
    return 0;
}
