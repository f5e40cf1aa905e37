#include "apps/network_line.h"

#include <generated/soc.h>

#include "alarm.h"
#include "context.h"
#include "irq.h"
#include "net/compiler.h"

/* After so many bytes of frames a line that is more urgent comes first. */
enum { MOST_BYTES = 512 };

/* Between two of them there is time for what each asks for. */
_Static_assert(NETWORK_SECOND_CYCLES >= 10000 && NETWORK_SECOND_CYCLES <= ALARM_MAX_CYCLES,
              "NETWORK_SECOND_CYCLES must be from 10000 to 2^30, the longest time of an alarm");

enum { REFILL_CYCLES = CONFIG_CLOCK_FREQUENCY / 1000000 * NETWORK_REFILL_US };

#if NETWORK_MAC_IN_PROTOCOL

/* Passes the line on to tier 1, which works the MAC. */
static void serve(void *context, bool pending)
{
    (void)context;
    if (network_interrupt(pending ? 1u << ETHMAC_INTERRUPT : 0)) {
        context_post_protocol();
    }
}

#else

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
        network_line_wake_driver();
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

/* net_refill() is due: written by the interrupt service, and by the protocol service when it has been done. */
static volatile bool refill_is_due;

static void ring_refill(alarm_t *alarm)
{
    (void)alarm;
    refill_is_due = true;
    context_post_protocol();
}

static alarm_t refill = {.ring = ring_refill};

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
    net_refill(&network);
}

void network_line_protocol(void)
{
    if (UNLIKELY(refill_is_due)) {
        refill_is_due = false;
        net_refill(&network);
    }
    network_protocol(network_line_wake_driver);
    if (UNLIKELY(net_wants_refill(&network) || net_is_deaf(&network)) && !refill.is_set) {
        alarm_set(&refill, REFILL_CYCLES);
    }
}
