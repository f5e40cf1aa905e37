#include "apps/serial_ports.h"

#include <stddef.h>
#include <stdio.h>

#include "context.h"
#include "irq.h"
#include "net/compiler.h"

static const serial_user_t *usual_user;

#if UARTS > 0

typedef struct {
    void (*serve)(uint32_t port, bool pending);
    const serial_user_t *user;
} slot_t;

serial_t serial_ports[UARTS];

static slot_t slots[UARTS];

/* Characters under the users before, less what the present one's count was then. */
static uint32_t received_before[UARTS];

/* The first service for a new user. */
static void begin(uint32_t port, bool pending)
{
    const serial_user_t *user = slots[port].user;

    (void)pending;
    slots[port].serve = user->serve;
    user->begin(port);
}

/* Longest path: the user's. */
static void serve(void *context, bool pending)
{
    slot_t *slot = context;

    slot->serve((uint32_t)(slot - slots), pending);
}

static uint32_t received_by(const serial_user_t *user, uint32_t port)
{
    return user->received != NULL ? user->received(port) : irq_count(irq_line(serial_line(port)));
}

/* Units of the line, whoever has had the port. */
static uint32_t received(const void *context)
{
    const slot_t *slot = context;
    uint32_t port = (uint32_t)(slot - slots);

    return received_before[port] + received_by(slot->user, port);
}

void serial_ports_init(const serial_user_t *user, uint32_t priority)
{
    usual_user = user;
    for (uint32_t port = 0; port < UARTS; port++) {
        char name[IRQ_NAME_BYTES];

        (void)snprintf(name, sizeof(name), "uart%u", (unsigned)port);
        slots[port].user = user;
        slots[port].serve = user->serve;
        user->begin(port);
        (void)irq_register(serial_line(port), name, serve, &slots[port], priority);
        irq_describe(serial_line(port), user->room, received);
    }
}

bool serial_ports_give(uint32_t port, const serial_user_t *user)
{
    if (port >= UARTS) {
        return false;
    }
    received_before[port] = received(&slots[port]) - received_by(user, port);
    /* The protocol service may be making settings for the user before. */
    uint32_t before = context_lock();
    slots[port].user = user;
    COMPILER_BARRIER();
    slots[port].serve = begin;
    context_unlock(before);
    irq_run(serial_line(port));
    irq_describe(serial_line(port), user->room, received);
    return true;
}

const serial_user_t *serial_ports_user(uint32_t port)
{
    return port < UARTS ? slots[port].user : NULL;
}

#else

void serial_ports_init(const serial_user_t *user, uint32_t priority)
{
    (void)priority;
    usual_user = user;
}

bool serial_ports_give(uint32_t port, const serial_user_t *user)
{
    (void)port;
    (void)user;
    return false;
}

const serial_user_t *serial_ports_user(uint32_t port)
{
    (void)port;
    return NULL;
}

#endif

const serial_user_t *serial_ports_usual_user(void)
{
    return usual_user;
}
