/* A serial port's received characters, with a user that runs between two instructions of the service, as a less
 * urgent tier may where the service has to wait: the CPU's single-step trap calls it. Exit status 0 if the
 * user is told of all that comes, otherwise a line on stderr; 77 on a host without such a trap.
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
#define SERIAL_BURST_COUNT(burst) ((burst) >> 24)
#define SERIAL_BURST_FLAGS(burst) ((burst) >> 28)

enum { SERIAL_BURST = 3, SERIAL_EVENT_RECEIVE = 1 };

typedef uint16_t serial_character_t;
typedef struct {
    uint32_t events;
} serial_t;

/* Characters in its FIFO. */
static uint32_t fifo_level;

static uint32_t serial_receive_burst(const serial_t *serial)
{
    uint32_t count = fifo_level < SERIAL_BURST ? fifo_level : SERIAL_BURST;

    (void)serial;
    fifo_level -= count;
    return count << 24;
}

static void serial_enable_events(serial_t *serial, uint32_t events)
{
    serial->events = events;
}

#include "drivers/serial_ring.c"
#include "single_step.h"

#ifdef __x86_64__

#include "each_step.h"

static serial_t serial;
static serial_ring_t ring;
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
    return survives_each_step("not woken if it ran", survives, NULL, use) ? 0 : 1;
}

#else

int main(void)
{
    fprintf(stderr, "no single-step trap on this host\n");
    return NOT_HERE;
}

#endif
