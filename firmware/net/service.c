/* The rings between tiers: packets go home, out and round. */
#include "neighbours.h"
#include "stack.h"
#include "udp_socket.h"

bool net_add_packets(net_t *net, packet_home_t home, packet_t *packets, uint8_t *buffers,
                     uint32_t count)
{
    static const uint32_t limits[] = {[PACKET_HOME_RECEIVE] = NET_RECEIVE_PACKETS,
                                      [PACKET_HOME_PROTOCOL] = NET_PROTOCOL_PACKETS,
                                      [PACKET_HOME_APPLICATION] = NET_APPLICATION_PACKETS,
                                      [PACKET_HOME_SERIAL] = NET_SERIAL_PACKETS};

    if (count > limits[home] - net->added[home]) {
        return false;
    }
    net->added[home] += count;
    for (uint32_t i = 0; i < count; i++) {
        packets[i] = (packet_t){.frame = buffers + i * NET_BUFFER_BYTES, .home = (uint8_t)home};
        net_release(net, &packets[i]);
    }
    return true;
}

void net_release(net_t *net, packet_t *packet)
{
    bool stored = true;

    switch ((packet_home_t)packet->home) {
    case PACKET_HOME_RECEIVE:
        if (net->port != NULL && net->port->give_room(net->port, packet)) {
            return;
        }
        stored = RING_PUSH(&net->free, packet);
        break;
    case PACKET_HOME_APPLICATION:
        stored = RING_PUSH(&net->supply, packet);
        break;
    case PACKET_HOME_PROTOCOL:
        packet->next = net->spare;
        net->spare = packet;
        break;
    case PACKET_HOME_SERIAL:
    default:
        packet->next = net->serial;
        net->serial = packet;
        break;
    }
    if (UNLIKELY(!stored)) {
        net_count(net, COUNT_FAULT_RING_FULL);
    }
}

static packet_t *take_first(packet_t **list)
{
    packet_t *packet = *list;

    if (packet != NULL) {
        *list = packet->next;
        packet->flags = 0;
        packet->payload_bytes = 0;
    }
    return packet;
}

packet_t *net_reserve(net_t *net)
{
    return take_first(&net->spare);
}

packet_t *net_reserve_serial(net_t *net)
{
    return take_first(&net->serial);
}

/* Frames leave in the order in which they come here. */
INLINE bool send_at_once(net_t *net, packet_t *packet)
{
    return net->port != NULL && RING_COUNT(&net->transmit) == 0 && net->port->send(net->port, packet);
}

INLINE void dispose(net_t *net, packet_t *packet, net_verdict_t verdict)
{
    if (verdict == NET_TRANSMIT) {
        if (!send_at_once(net, packet) && UNLIKELY(!RING_PUSH(&net->transmit, packet))) {
            net_count(net, COUNT_FAULT_RING_FULL);
        }
    } else if (verdict == NET_FREE) {
        net_release(net, packet);
    }
}

void net_dispose(net_t *net, packet_t *packet, net_verdict_t verdict)
{
    dispose(net, packet, verdict);
}

/* The application has let go of a packet. */
static void unhold(net_t *net, const packet_t *packet)
{
    if (packet->home == PACKET_HOME_RECEIVE) {
        net->held--;
    }
}

/* How much has been handed to other tiers. */
typedef struct {
    uint32_t transmitted;
    uint32_t freed;
    uint32_t supplied;
    uint32_t queued;
} handed_t;

INLINE handed_t handed_now(const net_t *net)
{
    handed_t handed = {.transmitted = net->transmit.ring.head,
                       .freed = net->free.ring.head,
                       .supplied = net->supply.ring.head,
                       .queued = net->counters.counts[COUNT_UDP_QUEUED]};

    return handed;
}

/* The NET_POST bits for what has been handed over since. */
INLINE uint32_t posts_since(const net_t *net, handed_t before)
{
    handed_t now = handed_now(net);
    bool to_driver = now.transmitted != before.transmitted || now.freed != before.freed;
    bool to_application = now.supplied != before.supplied || now.queued != before.queued;

    return (to_driver ? (uint32_t)NET_POST_DRIVER : 0)
           | (to_application ? (uint32_t)NET_POST_APPLICATION : 0);
}

/* What the port had no room for goes to it as far as there is some now. */
static COLD void give_to_port(net_t *net)
{
    while (RING_COUNT(&net->transmit) != 0
           && net->port->send(net->port, RING_FIRST(&net->transmit))) {
        (void)RING_POP(&net->transmit);
    }
    while (RING_COUNT(&net->free) != 0
           && net->port->give_room(net->port, RING_FIRST(&net->free))) {
        (void)RING_POP(&net->free);
    }
}

static void take_back_from_port(net_t *net)
{
    packet_t *packet;

    while ((packet = net->port->take_sent(net->port)) != NULL) {
        if (packet->home != PACKET_HOME_RECEIVE || !net->port->give_room(net->port, packet)) {
            net_release(net, packet);
        }
    }
    if (UNLIKELY(RING_COUNT(&net->transmit) != 0)) {
        give_to_port(net);
    }
}

INLINE packet_t *next_frame(net_t *net)
{
    return net->port != NULL ? net->port->receive(net->port) : RING_POP(&net->received);
}

uint32_t net_service(net_t *net, uint32_t frames)
{
    handed_t before = handed_now(net);
    packet_t *packet;

    if (net->port != NULL) {
        take_back_from_port(net);
    }
    while ((packet = RING_POP(&net->sent)) != NULL) {
        net_release(net, packet);
    }
    while ((packet = RING_POP(&net->returned)) != NULL) {
        unhold(net, packet);
        net_release(net, packet);
    }
    while ((packet = RING_POP(&net->outbox)) != NULL) {
        unhold(net, packet);
        net_dispose(net, packet, udp_output(net, packet));
    }
    while (frames != 0 && net->allowance != 0 && (packet = next_frame(net)) != NULL) {
        net->allowance -= net->metered;
        dispose(net, packet, net_input(net, packet));
        frames--;
    }
    return posts_since(net, before);
}

uint32_t net_tick(net_t *net)
{
    handed_t before = handed_now(net);

    net->errors = ICMP_ERRORS_PER_S;
    arp_tick(net);
    claim_tick(net);
    groups_tick(net);
    for (net_timer_t *timer = net->timers; timer != NULL; timer = timer->next) {
        timer->tick(timer);
    }
    return posts_since(net, before);
}

void net_add_timer(net_t *net, net_timer_t *timer)
{
    timer->next = net->timers;
    net->timers = timer;
}

void net_allow(net_t *net, uint32_t frames)
{
    net->metered = true;
    net->allowance = frames;
}

INLINE bool frames_wait(const net_t *net)
{
    return RING_COUNT(&net->received) != 0
           || (net->port != NULL && net->port->has_frame(net->port));
}

bool net_is_held(const net_t *net)
{
    return net->allowance == 0 && frames_wait(net);
}

bool net_pending(const net_t *net)
{
    return (net->allowance != 0 && frames_wait(net)) || RING_COUNT(&net->sent) >= NET_SENT_BATCH
           || RING_COUNT(&net->returned) != 0 || RING_COUNT(&net->outbox) != 0;
}
