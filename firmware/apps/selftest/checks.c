#include "apps/selftest/checks.h"

#include <stddef.h>

#include <generated/soc.h>

#include "apps/idle.h"
#include "apps/selftest/record.h"
#include "apps/selftest/services.h"
#include "context.h"
#include "drivers/serial.h"
#include "drivers/timer.h"
#include "report.h"

enum {
    WORDS = 128,
    /* Enough for both services to run. */
    SERVICES_CYCLES = 1000,
    TIMER_CYCLES = 20000,
    /* From the timer's end to the service's look at the clock, and what starting it takes. */
    TIMER_TOLERANCE_CYCLES = 200,
    LOOP_BAUD = 115200
};

static uint32_t failures;

static void tell(const char *name, bool passed)
{
    record_begin("check", name);
    record_truth("passed", passed);
    failures += !passed;
}

/* --- memory ------------------------------------------------------------------------------------ */

static volatile uint32_t local_words[WORDS];
/* In main memory, if there is one. */
static volatile SET_BEFORE_RUN_LARGE uint32_t large_words[WORDS];

/* Each word holds something else, then its complement. */
static bool memory_holds(volatile uint32_t *words)
{
    for (uint32_t inverted = 0; inverted < 2; inverted++) {
        uint32_t mask = 0 - inverted;
        for (uint32_t i = 0; i < WORDS; i++) {
            words[i] = (i * 0x01010101u + 0x55aa33ccu) ^ mask;
        }
        for (uint32_t i = 0; i < WORDS; i++) {
            if (words[i] != ((i * 0x01010101u + 0x55aa33ccu) ^ mask)) {
                return false;
            }
        }
    }
    return true;
}

/* Bytes and halfwords go where they should, and nowhere else. */
static bool lanes_work(volatile uint32_t *words)
{
    volatile uint8_t *bytes = (volatile uint8_t *)words;
    volatile uint16_t *halves = (volatile uint16_t *)words;

    words[0] = 0x44332211;
    bytes[1] = 0xaa;
    halves[1] = 0xccbb;
    return words[0] == 0xccbbaa11 && bytes[3] == 0xcc && halves[0] == 0xaa11;
}

static void check_memory(const char *name, volatile uint32_t *words)
{
    tell(name, memory_holds(words) && lanes_work(words));
    record_number("address", (uint32_t)(uintptr_t)words);
    record_end();
}

/* --- processor --------------------------------------------------------------------------------- */

/* The compiler must not know them. */
static volatile uint32_t operands[] = {0x80000000, 0xffffffff, 0, 123456789, 1000};

static void check_arithmetic(void)
{
    uint32_t lowest = operands[0];
    uint32_t minus_one = operands[1];
    uint32_t zero = operands[2];
    uint32_t quotient;
    uint32_t remainder;

    /* The RISC-V Instruction Set Manual, volume I, chapter "M": what C does not define. */
    __asm__("div %0, %1, %2" : "=r"(quotient) : "r"(lowest), "r"(minus_one));
    __asm__("rem %0, %1, %2" : "=r"(remainder) : "r"(lowest), "r"(zero));
    bool passed = quotient == lowest && remainder == lowest;
    passed = passed && operands[3] / operands[4] == 123456 && operands[3] % operands[4] == 789;
    passed = passed && (uint64_t)operands[3] * minus_one == 123456789ull * 0xffffffffull;
    tell("arithmetic", passed);
    record_end();
}

static void check_services(void)
{
    uint32_t before = idle_clock();

    context_run_interrupt();
    context_run_protocol();
    while (idle_clock() - before < SERVICES_CYCLES) {
    }
    uint32_t first = services_seen.interrupt_cycle - before;
    uint32_t second = services_seen.protocol_cycle - before;
    tell("services", first < second && second < SERVICES_CYCLES);
    record_end();
}

/* --- devices ----------------------------------------------------------------------------------- */

static void check_timer(void)
{
    uint32_t ticks = services_seen.ticks;
    uint32_t start = idle_clock();
    uint32_t elapsed;

    timer_start_once(TIMER_CYCLES);
    do {
        if (CONTEXT_MUST_YIELD) {
            context_wait();
        }
        elapsed = idle_clock() - start;
    } while (services_seen.ticks == ticks && elapsed < 2 * TIMER_CYCLES);
    uint32_t cycles = services_seen.interrupt_cycle - start;
    bool passed = services_seen.ticks == ticks + 1;
    passed = passed && cycles - TIMER_CYCLES <= TIMER_TOLERANCE_CYCLES;
    tell("timer", passed);
    record_number("cycles", cycles);
    record_end();
}

#if UARTS > 0

/* The lowest byte goes first. As many of them as both FIFOs take. */
enum {
    LOOP_WORD = 0xaa55ff,
    LOOP_DEPTH = SERIAL_RECEIVE_DEPTH < SERIAL_TRANSMIT_DEPTH ? SERIAL_RECEIVE_DEPTH : SERIAL_TRANSMIT_DEPTH,
    LOOP_CHARACTERS = LOOP_DEPTH < SERIAL_BURST ? LOOP_DEPTH : SERIAL_BURST
};

/* Characters that went round inside of the port. */
static bool loop_back_works(serial_t *port)
{
    static const serial_format_t format = {
        .baud = LOOP_BAUD, .data_bits = 8, .parity = SERIAL_PARITY_EVEN, .stop_bits = 1};
    uint32_t character_cycles = CONFIG_CLOCK_FREQUENCY / LOOP_BAUD * 11;
    bool passed = serial_set_format(port, &format, NULL) == SERIAL_OK;

    serial_set_loop_back(port, true);
    serial_transmit(port, LOOP_WORD & ((1u << 8 * LOOP_CHARACTERS) - 1), LOOP_CHARACTERS);
    uint32_t start = idle_clock();
    while (serial_receive_level(port) < LOOP_CHARACTERS
           && idle_clock() - start < 2 * LOOP_CHARACTERS * character_cycles) {
    }
    for (uint32_t index = 0; index < LOOP_CHARACTERS; index++) {
        passed = passed && serial_receive(port) == (LOOP_WORD >> 8 * index & 0xff);
    }
    return passed && serial_receive(port) == -1 && serial_wait_idle(port, character_cycles) == SERIAL_OK;
}

static void check_serial_ports(void)
{
    for (uint32_t index = 0; index < UARTS; index++) {
        serial_t port;
        bool passed = serial_init(&port, index) == SERIAL_OK;

        serial_enable_events(&port, 0);
        passed = passed && loop_back_works(&port);
        serial_set_loop_back(&port, false);
        tell("serial port", passed);
        record_number("port", index);
        record_end();
    }
}

#else

static void check_serial_ports(void)
{
}

#endif

uint32_t run_checks(void)
{
    failures = 0;
    check_memory("local memory", local_words);
    check_memory("large memory", large_words);
    check_arithmetic();
    check_services();
    check_timer();
    check_serial_ports();
    return failures;
}
