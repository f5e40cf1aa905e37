/* A serial port's received characters: with flags, and more than the ring has room for; and with a user that runs
 * between two instructions of the service, as a less urgent tier may where the service has to wait: the CPU's
 * single-step trap calls it. Exit status 0 if the user is told of all that comes, otherwise a line on stderr; 77 on a
 * host without such a trap.
 *
 * The user takes what it finds, and asks for service if the ring is blocked. It looks again when the service
 * has moved something.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The port, in the place of drivers/serial.h. */
#define TIERV_DRIVERS_SERIAL_H
#define UARTS 1
#define SERIAL_DATA(character) ((uint8_t)(character))
#define SERIAL_BURST_COUNT(burst) ((burst) >> 24 & 3)
#define SERIAL_BURST_FLAGS(burst) ((burst) >> 28)

enum { SERIAL_BURST = 3, SERIAL_EVENT_RECEIVE = 1 };

typedef uint16_t serial_character_t;
typedef struct {
    uint32_t events;
} serial_t;

/* Characters in its FIFO; the first of so many have flags, and come alone. */
static uint32_t fifo_level;
static uint32_t fifo_flagged;

enum { FLAG = 2 };

static uint32_t serial_receive_burst(const serial_t *serial)
{
    uint32_t count = fifo_level < SERIAL_BURST ? fifo_level : SERIAL_BURST;

    (void)serial;
    if (fifo_flagged != 0) {
        fifo_flagged--;
        fifo_level--;
        return 1u << 24 | (uint32_t)FLAG << 28;
    }
    fifo_level -= count;
    return count << 24;
}

static void serial_enable_events(serial_t *serial, uint32_t events)
{
    serial->events = events;
}

#include "check.h"
#include "drivers/serial_ring.c"
#include "single_step.h"

static serial_t serial;
static serial_ring_t ring;

/* The number of characters in the ring, the first of which have flags. */
static uint32_t take(uint32_t flagged)
{
    uint32_t taken = 0;
    int32_t character;

    while ((character = serial_ring_get(&ring)) >= 0) {
        CHECK(character >> 8 == (taken < flagged ? FLAG : 0));
        taken++;
    }
    return taken;
}

static void test_flags(void)
{
    serial_ring_init(&ring, &serial);
    fifo_level = 2 + SERIAL_BURST + 1;
    fifo_flagged = 2;
    CHECK(serial_ring_service(&ring) == 2 + SERIAL_BURST + 1 && fifo_level == 0);
    CHECK(take(2) == 2 + SERIAL_BURST + 1 && serial.events == SERIAL_EVENT_RECEIVE);
}

/* The port does not call while nothing can be moved. */
static void test_full(void)
{
    serial_ring_init(&ring, &serial);
    fifo_level = SERIAL_RING_CHARACTERS + SERIAL_BURST;
    uint32_t moved = serial_ring_service(&ring);
    CHECK(moved > SERIAL_RING_CHARACTERS - SERIAL_BURST && moved + fifo_level == SERIAL_RING_CHARACTERS + SERIAL_BURST);
    CHECK(ring.blocked && serial.events == 0 && serial_ring_service(&ring) == 0 && serial.events == 0);
    CHECK(take(0) == moved && ring.blocked);
    CHECK(serial_ring_service(&ring) == SERIAL_RING_CHARACTERS + SERIAL_BURST - moved && fifo_level == 0);
    CHECK(!ring.blocked && serial.events == SERIAL_EVENT_RECEIVE && take(0) != 0);
}

#ifdef __x86_64__

#include "each_step.h"

static volatile bool asked;

static void use(void)
{
    while (serial_ring_get(&ring) >= 0) {
    }
    asked = asked || ring.blocked;
}

/* The ring has no room for a burst, and more comes. False if the user would wait for ever. */
static bool survives(const void *given)
{
    (void)given;
    serial_ring_init(&ring, &serial);
    fifo_level = SERIAL_RING_CHARACTERS - 2;
    (void)serial_ring_service(&ring);
    fifo_level = SERIAL_BURST;
    asked = false;
    single_step(true);
    uint32_t moved = serial_ring_service(&ring);
    single_step(false);
    if (moved != 0) {
        use();
    }
    return asked || (serial.events & SERIAL_EVENT_RECEIVE) != 0;
}

int main(void)
{
    test_flags();
    test_full();
    return survives_each_step("not woken if it ran", survives, NULL, use) ? 0 : 1;
}

#else

int main(void)
{
    test_flags();
    test_full();
    fprintf(stderr, "no single-step trap on this host\n");
    return NOT_HERE;
}

#endif
