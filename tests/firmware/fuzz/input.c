/* The whole receive path with its state: frames, ticks and what an application does, in any order.
 *
 * Input: steps. A step's first byte says in its lowest three bits what it is (`step_t`), in the others
 * how; what follows is that step's. Received frames lie in memory of just their length. At the end all
 * packets must be at home or accounted for, and every frame counted once.
 */
#include "../../../firmware/net/checksum.h"
#include "../../../firmware/net/dhcp_client.h"
#include "../../../firmware/net/stack.h"
#include "../../../firmware/net/udp_socket.h"
#include "../../../firmware/net/wire/ipv4.h"
#include "../../../firmware/net/wire/udp.h"
#include "../datagram.h"
#include "bytes_in.h"

typedef enum {
    STEP_FRAME,       /* length in two bytes, the frame */
    STEP_FRAME_TO_US, /* likewise; its destination is made our MAC address */
    STEP_TICK,        /* seconds in a byte */
    STEP_TAKE,        /* the application takes a datagram: socket */
    STEP_SEND,        /* it sends: socket, last byte of the address, bytes of payload in a half */
    STEP_RELEASE,     /* it gives the oldest back, or replies in it */
    STEP_SWITCH,      /* something is switched: which */
    STEP_STALL        /* the driver stops or begins to send */
} step_t;

/* How a frame is made better than it came, and what the driver and its hardware do. */
enum { FIX_SUMS = 0x08, FIX_XID = 0x10, SUMMED = 0x20, CHECKED = 0x40 };

/* How a datagram is sent: in the oldest packet taken, or with a payload copied from an offset. */
enum { REUSE = 0x20, COPY = 0x40, OFFSET_SHIFT = 3 };

/* How a datagram is given back: as a reply, with another payload that may be too long. */
enum { REPLY = 0x08, REWRITE = 0x10, EXCESS_SHIFT = 5 };

enum { SOCKETS = 5, FIRST_PORT = 4, OURS_LAST = 1, FIRST_GROUP = 3 };
enum { UDP_OFFSET = 34, XID_OFFSET = PACKET_PAYLOAD_OFFSET + 4 };

static net_t net;
static dhcp_client_t dhcp;
static packet_t packets[NET_PACKETS];
static _Alignas(4) uint8_t buffers[NET_PACKETS * NET_BUFFER_BYTES];
static udp_socket_t sockets[SOCKETS];
static packet_t *taken[NET_PACKETS];
static uint32_t takens;
static uint32_t frames;
static bool stalled;

static uint8_t *own_buffer(const packet_t *packet)
{
    return buffers + (packet - packets) * NET_BUFFER_BYTES;
}

/* The packet's memory is its own buffer again; the frame in it stays. */
static void restore(packet_t *packet)
{
    uint8_t *own = own_buffer(packet);

    if (packet->frame != own) {
        memcpy(own, packet->frame, packet->length_bytes);
        free(packet->frame);
        packet->frame = own;
    }
}

static udp_verdict_t verdict(udp_socket_t *socket, packet_t *packet)
{
    udp_verdict_t verdict = (udp_verdict_t)(uintptr_t)socket->context;

    if (verdict == UDP_REPLY) {
        /* It writes into the packet, which has the whole buffer. */
        restore(packet);
        packet->payload_bytes /= 2;
    }
    return verdict;
}

static void begin(void)
{
    static const ethernet_address_t mac = {{BE16(0x0200), BE16(0x0000), BE16(0x0001)}};
    static const uint32_t counts[] = {[PACKET_HOME_RECEIVE] = NET_RECEIVE_PACKETS,
                                      [PACKET_HOME_PROTOCOL] = NET_PROTOCOL_PACKETS,
                                      [PACKET_HOME_APPLICATION] = NET_APPLICATION_PACKETS};
    static const dhcp_address_t fallback = {IPV4_ADDRESS(10, 0, 0, OURS_LAST),
                                            IPV4_ADDRESS(255, 255, 255, 0),
                                            IPV4_ADDRESS(10, 0, 0, 254)};
    uint32_t first = 0;

    net_init(&net, &mac);
    for (packet_home_t home = PACKET_HOME_RECEIVE; home <= PACKET_HOME_APPLICATION; home++) {
        MUST(net_add_packets(&net, home, packets + first, buffers + first * NET_BUFFER_BYTES,
                             counts[home]));
        first += counts[home];
    }
    net_configure(&net, fallback.address, fallback.netmask, fallback.gateway);
    MUST(dhcp_init(&dhcp, &net, &fallback));
    udp_init(&sockets[0], NULL, NULL);
    udp_init(&sockets[1], NULL, NULL);
    udp_init(&sockets[2], verdict, (void *)(uintptr_t)UDP_DONE);
    udp_init(&sockets[3], verdict, (void *)(uintptr_t)UDP_ECHO);
    udp_init(&sockets[4], verdict, (void *)(uintptr_t)UDP_REPLY);
    for (uint32_t socket = 0; socket < SOCKETS; socket++) {
        MUST(udp_bind(&net, &sockets[socket], FIRST_PORT + socket) == UDP_OK);
    }
    takens = 0;
    frames = 0;
    stalled = false;
}

/* The driver's transmit side. */
static void transmit(void)
{
    packet_t *packet;

    while (!stalled && (packet = RING_POP(&net.transmit)) != NULL) {
        MUST(packet->length_bytes >= ETHERNET_HEADER_BYTES
             && packet->length_bytes <= ETHERNET_MAX_BYTES);
        restore(packet);
        MUST(RING_PUSH(&net.sent, packet));
    }
}

static void service(uint32_t most)
{
    (void)net_service(&net, most);
    transmit();
    (void)net_service(&net, 0);
}

/* Makes all checksums right that the frame's lengths allow. */
static void fix_sums(uint8_t *frame, uint32_t bytes)
{
    uint8_t *ip = frame + ETHERNET_HEADER_BYTES;

    if (bytes < UDP_OFFSET || get_be16(frame + 12) != ETHERNET_TYPE_IPV4) {
        return;
    }
    uint32_t header_bytes = (ip[0] & 15u) * 4;
    uint32_t total_bytes = get_u16(ip + 2);
    if (header_bytes < IPV4_HEADER_BYTES || total_bytes < header_bytes + UDP_HEADER_BYTES
        || total_bytes > bytes - ETHERNET_HEADER_BYTES) {
        return;
    }
    uint8_t *content = ip + header_bytes;
    uint32_t content_bytes = total_bytes - header_bytes;
    put_be16(ip + 10, 0);
    put_be16(ip + 10, checksum_field(checksum_sum(ip, header_bytes)));
    if (ip[9] == IPV4_PROTOCOL_UDP) {
        put_be16(content + 6, 0);
    } else if (ip[9] == IPV4_PROTOCOL_ICMP || ip[9] == IPV4_PROTOCOL_IGMP) {
        put_be16(content + 2, 0);
        put_be16(content + 2, checksum_field(checksum_sum(content, content_bytes)));
    }
}

static void receive(bytes_in_t *in, uint32_t step, uint32_t how)
{
    packet_t *packet = RING_POP(&net.free);
    uint32_t bytes;
    uint8_t *frame = take_copy(in, take_half(in), &bytes);

    if (packet == NULL || bytes > NET_BUFFER_BYTES) {
        if (packet != NULL) {
            net_release(&net, packet);
        }
        free(frame);
        return;
    }
    if (step == STEP_FRAME_TO_US && bytes >= 6) {
        ethernet_put_address(frame, &net.mac);
    }
    if ((how & FIX_XID) != 0 && bytes >= XID_OFFSET + 4) {
        put_be32(frame + XID_OFFSET, dhcp.xid);
    }
    if ((how & FIX_SUMS) != 0) {
        fix_sums(frame, bytes);
    }
    restore(packet);
    if ((how & SUMMED) != 0) {
        packet_fill(packet, frame, bytes);
        if ((how & CHECKED) != 0 && datagram_is_good(frame, bytes)) {
            packet->flags |= PACKET_DATAGRAM;
        }
        free(frame);
    } else {
        packet->flags = 0;
        packet->frame = frame;
        packet->length_bytes = (uint16_t)bytes;
    }
    frames++;
    MUST(RING_PUSH(&net.received, packet));
    service(1);
}

static void take(uint32_t socket)
{
    packet_t *packet = udp_receive(&sockets[socket % 2]);

    if (packet != NULL) {
        MUST(PACKET_PAYLOAD_OFFSET + packet->payload_bytes <= packet->length_bytes);
        restore(packet);
        taken[takens++] = packet;
    }
}

static packet_t *take_oldest(void)
{
    packet_t *packet = taken[0];

    takens--;
    memmove(taken, taken + 1, takens * sizeof(taken[0]));
    return packet;
}

static void release(uint32_t how)
{
    if (takens == 0) {
        return;
    }
    packet_t *packet = take_oldest();
    if ((how & REWRITE) != 0) {
        packet->payload_bytes = (uint16_t)(PACKET_PAYLOAD_BYTES - 3 + (how >> EXCESS_SHIFT));
    }
    if ((how & REPLY) == 0 || udp_reply(&net, packet) != UDP_OK) {
        udp_release(&net, packet);
    }
    service(0);
}

static void send(bytes_in_t *in, uint32_t how)
{
    static const uint8_t payload[PACKET_PAYLOAD_BYTES + 8];
    const udp_socket_t *socket = &sockets[take_byte(in) % SOCKETS];
    be32_t address = IPV4_ADDRESS(10, 0, 0, take_byte(in));
    uint32_t bytes = take_half(in) % (PACKET_PAYLOAD_BYTES + 2);
    packet_t *packet = (how & REUSE) != 0 && takens != 0 ? take_oldest() : udp_reserve(&net);

    if (packet == NULL) {
        return;
    }
    packet->flags = 0;
    packet->payload_bytes = (uint16_t)bytes;
    if ((how & COPY) != 0) {
        bool fits = packet_write(packet, payload + (how >> OFFSET_SHIFT & 3u), bytes);
        MUST(fits == (bytes <= PACKET_PAYLOAD_BYTES));
    }
    if (udp_send_to(&net, socket, packet, address, 9) != UDP_OK) {
        udp_release(&net, packet);
    }
    service(0);
}

static void change(uint32_t what)
{
    be32_t group = IPV4_ADDRESS(239, 1, 2, what);

    switch (what % 6) {
    case 0:
        dhcp_start(&dhcp);
        break;
    case 1:
        dhcp_stop(&dhcp);
        break;
    case 2:
        net_configure(&net, 0, 0, 0);
        break;
    case FIRST_GROUP:
        (void)groups_join(&net, group);
        break;
    case FIRST_GROUP + 1:
        (void)groups_leave(&net, group - IPV4_ADDRESS(0, 0, 0, 1));
        break;
    default:
        net_stir(&net, what);
        break;
    }
    transmit();
    (void)net_service(&net, 0);
}

static void tick(uint32_t seconds)
{
    for (uint32_t second = 0; second < seconds; second++) {
        (void)net_tick(&net);
        transmit();
        (void)net_service(&net, 0);
    }
}

/* Everything that can go home does; the rest waits in ARP entries. */
static void end(void)
{
    uint32_t at_home;

    stalled = false;
    while (takens != 0) {
        release(0);
    }
    for (uint32_t socket = 0; socket < 2; socket++) {
        for (uint32_t slot = 0; slot < UDP_SOCKET_SLOTS; slot++) {
            take(socket);
            release(0);
        }
    }
    service(0);
    at_home = RING_COUNT(&net.free) + RING_COUNT(&net.supply);
    for (const packet_t *packet = net.spare; packet != NULL; packet = packet->next) {
        at_home++;
    }
    for (uint32_t entry = 0; entry < ARP_ENTRIES; entry++) {
        at_home += net.arp.entries[entry].waiting != NULL;
    }
    MUST(at_home == NET_PACKETS);
    MUST(net.held == 0);
    MUST(net.counters.counts[COUNT_FAULT_RING_FULL] == 0);
    MUST(net_counter_sum(&net.counters, NET_COUNTER_FRAME) == frames);
    for (uint32_t packet = 0; packet < NET_PACKETS; packet++) {
        restore(&packets[packet]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes_in_t in = {data, size};

    begin();
    while (in.left != 0) {
        uint32_t first = take_byte(&in);
        step_t step = (step_t)(first & 7u);
        switch (step) {
        case STEP_FRAME:
        case STEP_FRAME_TO_US:
            receive(&in, step, first);
            break;
        case STEP_TICK:
            tick(take_byte(&in));
            break;
        case STEP_TAKE:
            take(take_byte(&in));
            break;
        case STEP_SEND:
            send(&in, first);
            break;
        case STEP_RELEASE:
            release(first);
            break;
        case STEP_SWITCH:
            change(take_byte(&in));
            break;
        case STEP_STALL:
            stalled = !stalled;
            service(0);
            break;
        }
    }
    end();
    return 0;
}
