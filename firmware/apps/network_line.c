#include "apps/network_line.h"

#include <generated/soc.h>

#include "alarm.h"
#include "apps/network.h"
#include "context.h"
#include "irq.h"
#include "net/compiler.h"

/* After so many bytes of frames a line that is more urgent comes first. */
enum { MOST_BYTES = 512 };

static void wake(void)
{
    irq_kick(ETHMAC_INTERRUPT);
}

#if NETWORK_MAC_IN_PROTOCOL

enum { REFILL_CYCLES = CONFIG_CLOCK_FREQUENCY / 1000000 * NETWORK_REFILL_US };

static void ring_refill(alarm_t *alarm)
{
    (void)alarm;
    context_post_protocol();
}

static alarm_t refill = {.ring = ring_refill};

/* Frames that had come when the MAC had no room left, and the alarm was set. */
static uint32_t received_before;
static bool waits;

/* Refills the MAC if nothing has come for as long as the alarm takes. */
static inline void keep_room(void)
{
    if (LIKELY(!net_lacks_room(&network)) || refill.is_set) {
        return;
    }
    if (waits && ethmac_received(&network_mac) == received_before) {
        net_refill(&network);
        waits = false;
    } else {
        received_before = ethmac_received(&network_mac);
        waits = true;
        alarm_set(&refill, REFILL_CYCLES);
    }
}

/* Passes the line on to tier 1, which works the MAC. */
static void serve(void *context, bool pending)
{
    (void)context;
    if (network_interrupt(pending ? 1u << ETHMAC_INTERRUPT : 0)) {
        context_post_protocol();
    }
}

#else

static inline void keep_room(void)
{
}

/* Longest path: network_interrupt() with MOST_BYTES; shares the network's rings with tier 1. */
static void serve(void *context, bool pending)
{
    (void)context;
    context_share_slots();
    if (network_interrupt(pending ? 1u << ETHMAC_INTERRUPT : 0)) {
        context_post_protocol();
    }
    context_keep_slots();
    if (ethmac_has_work(&network_mac)) {
        wake();
    }
}

#endif

static uint32_t frames_received(const void *context)
{
    return ethmac_received(context);
}

static void tick(alarm_t *alarm)
{
    alarm_repeat(alarm, NETWORK_SECOND_CYCLES);
    network_tick();
    context_post_protocol();
}

static alarm_t second = {.ring = tick};

void network_line_init(uint32_t priority)
{
#if !NETWORK_MAC_IN_PROTOCOL
    network_mac.most_bytes = MOST_BYTES;
#endif
    (void)irq_register(ETHMAC_INTERRUPT, "ethmac", serve, &network_mac, priority);
#if NETWORK_MAC_IN_PROTOCOL
    irq_set_brief(ETHMAC_INTERRUPT);
#endif
    irq_describe(ETHMAC_INTERRUPT, ETHMAC_RECEIVE_FRAMES, frames_received);
    alarm_set(&second, NETWORK_SECOND_CYCLES);
}

void network_line_protocol(void)
{
    network_protocol(wake);
    keep_room();
}
