/* The self-test's check of serial ports, whose characters go round at once. Exit status 0 if all have passed, otherwise
 * a line on stderr.
 */
#include <stdio.h>
#include <string.h>

#include "apps/idle.h"
#include "apps/selftest/record.h"
#include "apps/selftest/services.h"
#include "context.h"
#include "drivers/serial.h"

void context_wait(void);
void context_run_interrupt(void);
void context_run_protocol(void);

#define CONTEXT_MUST_YIELD 1
/* This processor divides in its own way. */
#define __asm__(...) (quotient = minus_one, remainder = zero)
#include "../../firmware/apps/selftest/checks.c"
#undef __asm__

enum { STEP_CYCLES = 16 };

volatile services_seen_t services_seen;

static uint8_t fifo[SERIAL_RECEIVE_DEPTH];
static uint32_t received;
static bool is_serial_port;
static uint32_t ports_passed;

static void transmit(uint32_t word)
{
    uint32_t count = (word >> CSR_SERIAL_PORT0_TRANSMIT_MORE_OFFSET & 3) + 1;

    for (uint32_t index = 0; index < count && index < SERIAL_TRANSMIT_DEPTH; index++) {
        if (received < SERIAL_RECEIVE_DEPTH) {
            fifo[received++] = (uint8_t)(word >> 8 * index);
        }
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
    switch ((address - CSR_SERIAL_PORT0_RECEIVE_ADDR) % SERIAL_STRIDE_BYTES) {
    case SERIAL_REGISTER(RECEIVE):
        return receive();
    case SERIAL_REGISTER(LEVEL):
        return received;
    case SERIAL_REGISTER(STATUS):
        return 1u << CSR_SERIAL_PORT0_STATUS_IDLE_OFFSET;
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
    static uint32_t cycle;

    return cycle += STEP_CYCLES;
}

void record_begin(const char *kind, const char *name)
{
    (void)kind;
    is_serial_port = strcmp(name, "serial port") == 0;
}

void record_truth(const char *key, bool value)
{
    (void)key;
    ports_passed += is_serial_port && value;
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
    (void)cycles;
}

void context_wait(void)
{
}

void context_run_interrupt(void)
{
}

void context_run_protocol(void)
{
}

int main(void)
{
    (void)run_checks();
    if (ports_passed != UARTS) {
        fprintf(stderr, "%u of %d ports have passed\n", ports_passed, UARTS);
    }
    return ports_passed == UARTS ? 0 : 1;
}
