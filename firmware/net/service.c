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
                                      [PACKET_HOME_SERIAL] = NET_SERIAL_PACKETS,
                                      [PACKET_HOME_COPY] = NET_COPY_PACKETS};

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

INLINE void check_stored(net_t *net, bool stored)
{
    if (UNLIKELY(!stored)) {
        net_count(net, COUNT_FAULT_RING_FULL);
    }
}

/* To whoever gets packets of this home, unless the port has taken it. */
static __attribute__((noinline)) void release_home(net_t *net, packet_t *packet)
{
    switch ((packet_home_t)packet->home) {
    case PACKET_HOME_RECEIVE:
        check_stored(net, RING_PUSH(&net->free, packet));
        break;
    case PACKET_HOME_APPLICATION:
        net->to_application = true;
        check_stored(net, RING_PUSH(&net->supply, packet));
        break;
    case PACKET_HOME_COPY:
        net->copy = packet;
        break;
    case PACKET_HOME_PROTOCOL:
        packet->next = net->spare;
        net->spare = packet;
        break;
    default:
        packet->next = net->serial;
        net->serial = packet;
        break;
    }
}

INLINE void release(net_t *net, net_port_t *port, packet_t *packet)
{
    if (UNLIKELY(packet->home != PACKET_HOME_RECEIVE)) {
        release_home(net, packet);
    } else if (!NET_HAS_PORT) {
        check_stored(net, RING_PUSH(&net->free, packet));
    } else if (UNLIKELY(port == NULL || !net_port_give_room(port, packet))) {
        release_home(net, packet);
    }
}

void net_release(net_t *net, packet_t *packet)
{
    release(net, net_port(net), packet);
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

static __attribute__((noinline)) void send_later(net_t *net, packet_t *packet)
{
    check_stored(net, RING_PUSH(&net->transmit, packet));
}

/* Frames leave in the order in which they come here. */
INLINE void transmit(net_t *net, net_port_t *port, packet_t *packet)
{
    if (!NET_HAS_PORT) {
        check_stored(net, RING_PUSH(&net->transmit, packet));
    } else if (UNLIKELY(port == NULL || RING_COUNT(&net->transmit) != 0
                        || !net_port_send(port, packet))) {
        send_later(net, packet);
    }
}

INLINE void dispose(net_t *net, net_port_t *port, packet_t *packet, net_verdict_t verdict)
{
    if (verdict == NET_TRANSMIT) {
        transmit(net, port, packet);
    } else if (verdict != NET_KEPT) {
        if (LIKELY(verdict == NET_FREE)) {
            release(net, port, packet);
        } else {
            packet->next = net->parked;
            net->parked = packet;
        }
    }
}

void net_dispose(net_t *net, packet_t *packet, net_verdict_t verdict)
{
    dispose(net, net_port(net), packet, verdict);
}

/* The application has let go of a packet. */
static void unhold(net_t *net, const packet_t *packet)
{
    net->held -= packet->home == PACKET_HOME_RECEIVE;
}

/* Whether something has been left for the application since that was last told. */
INLINE bool take_post(net_t *net)
{
    bool post = net->to_application;

    net->to_application = false;
    return post;
}

static COLD void send_waiting(net_t *net, net_port_t *port)
{
    net_send_waiting(net, port);
}

/* What the application holds has left the port no room: it gets the rest, which is for everybody else. */
static COLD void fill(net_t *net, net_port_t *port)
{
    net_give_free(net, port);
}

COLD void net_refill(net_t *net)
{
    net_port_t *port = net_port(net);
    packet_t *packet;

    net->excess_left = NET_EXCESS_DROPS;
    while ((packet = take_first(&net->parked)) != NULL) {
        release(net, port, packet);
    }
}

INLINE void take_back_from_port(net_t *net, net_port_t *port)
{
    packet_t *packet;

    while ((packet = net_port_take_sent(port)) != NULL) {
        release(net, port, packet);
    }
    if (UNLIKELY(RING_COUNT(&net->transmit) != 0)) {
        send_waiting(net, port);
    }
}

/* What the application has sent goes out. */
INLINE void send_outbox(net_t *net, net_port_t *port)
{
    packet_t *packet;

    while ((packet = RING_POP(&net->outbox)) != NULL) {
        unhold(net, packet);
        dispose(net, port, packet, udp_output(net, packet));
    }
}

static __attribute__((noinline)) packet_t *next_of_ring(net_t *net)
{
    return RING_POP(&net->received);
}

INLINE packet_t *next_frame(net_t *net, net_port_t *port)
{
    if (!NET_HAS_PORT) {
        return RING_POP(&net->received);
    }
    return LIKELY(port != NULL) ? net_port_receive(port) : next_of_ring(net);
}

/* Only a port finds datagrams. */
INLINE net_verdict_t input(net_t *net, packet_t *packet)
{
    return NET_HAS_PORT && LIKELY((packet->flags & PACKET_DATAGRAM) != 0)
               ? udp_input_datagram(net, packet)
               : net_input(net, packet);
}

/* What others give back. */
static __attribute__((noinline)) void take_back_from_rings(net_t *net)
{
    net_port_t *port = net_port(net);
    packet_t *packet;

    while ((packet = RING_POP(&net->sent)) != NULL) {
        release(net, port, packet);
    }
    while ((packet = RING_POP(&net->returned)) != NULL) {
        unhold(net, packet);
        release(net, port, packet);
    }
}

bool net_service(net_t *net, uint32_t frames)
{
    net_port_t *port = net_port(net);
    uint32_t most = frames < net->allowance ? frames : net->allowance;
    uint32_t left = most;
    packet_t *packet;

    if (port != NULL) {
        take_back_from_port(net, port);
    }
    if ((RING_COUNT(&net->sent) | RING_COUNT(&net->returned)) != 0) {
        take_back_from_rings(net);
    }
    send_outbox(net, port);
    for (; left != 0 && (packet = next_frame(net, port)) != NULL; left--) {
        dispose(net, port, packet, input(net, packet));
    }
    if (port != NULL && UNLIKELY(!net_port_has_room(port))) {
        fill(net, port);
    }
    if (UNLIKELY(net->metered)) {
        net->allowance -= most - left;
    }
    return take_post(net);
}

bool net_tick(net_t *net)
{
    net->errors = ICMP_ERRORS_PER_S;
    arp_tick(net);
    claim_tick(net);
    groups_tick(net);
    for (net_timer_t *timer = net->timers; timer != NULL; timer = timer->next) {
        timer->tick(timer);
    }
    return take_post(net);
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

bool net_is_held(const net_t *net)
{
    return net->allowance == 0 && net_frames_wait(net);
}
