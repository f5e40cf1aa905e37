#include "apps/serial_echo.h"

#include <stdio.h>

#include "context.h"
#include "drivers/serial_rings.h"
#include "irq.h"

#if UARTS > 0

static serial_t ports[UARTS];
static serial_rings_t rings[UARTS] __attribute__((section(".noinit")));

/* The interrupt service has moved characters since the application last looked. */
static volatile bool has_moved;

/* Shares the rings with tier 0. */
static void serve(void *context, bool pending)
{
    (void)pending;
    if (serial_rings_service(context) != 0) {
        has_moved = true;
        context_post_application();
    }
}

void serial_echo_init(uint32_t priority)
{
    for (uint32_t port = 0; port < UARTS; port++) {
        char name[IRQ_NAME_BYTES];

        (void)snprintf(name, sizeof(name), "uart%u", (unsigned)port);
        (void)serial_init(&ports[port], port);
        serial_rings_init(&rings[port], &ports[port]);
        (void)irq_register(serial_line(port), name, serve, &rings[port], priority);
    }
}

bool serial_echo_service(void)
{
    uint8_t bytes[16];
    bool any = false;

    if (!has_moved) {
        return false;
    }
    has_moved = false;
    for (uint32_t port = 0; port < UARTS; port++) {
        uint32_t count = serial_rings_read(&rings[port], bytes, sizeof(bytes));
        if (count != 0) {
            (void)serial_rings_write(&rings[port], bytes, count);
            irq_run(serial_line(port));
            any = true;
        }
    }
    has_moved |= any;
    return any;
}

#else

void serial_echo_init(uint32_t priority)
{
    (void)priority;
}

bool serial_echo_service(void)
{
    return false;
}

#endif
