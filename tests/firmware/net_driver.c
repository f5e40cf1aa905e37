/* The stack with a driver and an application made of text commands; net_host.py speaks them.
 *
 * A command is a line of words; the answer is any number of lines and then a line with a dot.
 * Received frames are put into memory of exactly their length, so that the address sanitizer sees
 * every access outside.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../firmware/net/dhcp_client.h"
#include "../../firmware/net/stack.h"
#include "../../firmware/net/udp_socket.h"
#include "datagram.h"
#include "net_port.h"
#include "net_report.h"
#include "text.h"

enum { SOCKETS = 16 };

static net_t net;
static packet_t packets[NET_PACKETS];
static _Alignas(4) uint8_t buffers[NET_PACKETS * NET_BUFFER_BYTES];
static udp_socket_t sockets[SOCKETS];
static dhcp_client_t dhcp;
/* What the application has taken, a callback keeps, the driver holds back: oldest first. */
static packet_t *taken[NET_PACKETS];
static packet_t *kept[NET_PACKETS];
static packet_t *stalled[NET_PACKETS];
static uint32_t takens, kepts, stalleds;
static bool stall;
static uint8_t content[TEXT_HEX_BYTES];

static packet_t *take_oldest(packet_t **list, uint32_t *count)
{
    if (*count == 0) {
        text_fail("nothing to take");
    }
    packet_t *packet = list[0];
    --*count;
    memmove(list, list + 1, *count * sizeof(*list));
    return packet;
}

static uint8_t *own_buffer(const packet_t *packet)
{
    return buffers + (packet - packets) * NET_BUFFER_BYTES;
}

/* Takes the exact memory of a received frame away again. */
static void restore(packet_t *packet)
{
    if (packet->frame != own_buffer(packet)) {
        free(packet->frame);
        packet->frame = own_buffer(packet);
    }
}

/* A callback answers with the verdict that is its context; for UDP_REPLY it reverses the payload
 * and appends the byte '!'. */
static udp_verdict_t callback(udp_socket_t *socket, packet_t *packet)
{
    udp_verdict_t verdict = (udp_verdict_t)(uintptr_t)socket->context;
    uint8_t *payload = packet_payload(packet);
    uint32_t bytes = packet->payload_bytes;

    printf("callback %td ", socket - sockets);
    text_print_address(packet->peer_address);
    printf(" %" PRIu32 " ", be16_to_host(packet->peer_port));
    text_print_hex(payload, bytes);
    if (verdict == UDP_REPLY) {
        for (uint32_t i = 0; i < bytes / 2; i++) {
            uint8_t byte = payload[i];
            payload[i] = payload[bytes - 1 - i];
            payload[bytes - 1 - i] = byte;
        }
        payload[bytes] = '!';
        packet->payload_bytes = (uint16_t)(bytes + 1);
    }
    if (verdict == UDP_KEEP) {
        kept[kepts++] = packet;
    }
    return verdict;
}

/* The driver's transmit side. */
static void transmit_all(void)
{
    packet_t *packet;

    if (net.port != NULL) {
        return;
    }

    if (stall) {
        while ((packet = RING_POP(&net.transmit)) != NULL) {
            stalled[stalleds++] = packet;
        }
        return;
    }
    while (stalleds != 0 || (packet = RING_POP(&net.transmit)) != NULL) {
        if (stalleds != 0) {
            packet = take_oldest(stalled, &stalleds);
        }
        net_port_print(packet);
        if (!RING_PUSH(&net.sent, packet)) {
            text_fail("the ring of sent packets is full");
        }
    }
}

/* Ends every command: says whether there is something for the application, lets the driver send, takes back
 * what was sent. */
static void hand_over(bool for_application)
{
    printf("posts %d\n", for_application);
    transmit_all();
    (void)net_service(&net, 0);
}

static void service(uint32_t frames)
{
    hand_over(net_service(&net, frames));
}

static void do_reset(void)
{
    static const ethernet_address_t mac = {{BE16(0x0200), BE16(0x0000), BE16(0x0001)}};
    static const uint32_t counts[] = {[PACKET_HOME_RECEIVE] = NET_RECEIVE_PACKETS,
                                      [PACKET_HOME_PROTOCOL] = NET_PROTOCOL_PACKETS,
                                      [PACKET_HOME_APPLICATION] = NET_APPLICATION_PACKETS};
    uint32_t first = 0;

    for (uint32_t i = 0; i < NET_PACKETS && packets[i].frame != NULL; i++) {
        restore(&packets[i]);
    }
    takens = kepts = stalleds = 0;
    net_port_reset();
    stall = false;
    memset(sockets, 0, sizeof(sockets));
    memset(&net, 0xa5, sizeof(net));
    net_init(&net, &mac);
    for (packet_home_t home = PACKET_HOME_RECEIVE; home <= PACKET_HOME_APPLICATION; home++) {
        if (!net_add_packets(&net, home, packets + first, buffers + first * NET_BUFFER_BYTES,
                             counts[home])
            || net_add_packets(&net, home, packets, buffers, 1)) {
            text_fail("net_add_packets");
        }
        first += counts[home];
    }
}

/* frame plain|summed|checked exact|full HEX: a frame is received; summed by packet_fill(), or looked at by the
 * hardware too. */
static void do_frame(void)
{
    bool checked = strcmp(text_word(1), "checked") == 0;
    bool summed = checked || strcmp(text_word(1), "summed") == 0;
    bool exact = strcmp(text_word(2), "exact") == 0;
    uint32_t bytes = text_hex(content, 3);
    packet_t *packet = RING_POP(&net.free);

    if (packet == NULL) {
        puts("starved");
        return;
    }
    restore(packet);
    memset(packet->frame, 0xee, NET_BUFFER_BYTES);
    packet->flags = 0;
    packet->sum = 0xdeadbeef;
    if (exact) {
        /* What is summed is copied into a buffer, which is never longer than this. */
        packet->frame = malloc(summed && bytes > NET_BUFFER_BYTES ? NET_BUFFER_BYTES : bytes);
    } else if (bytes > NET_BUFFER_BYTES) {
        text_fail("too long for a buffer");
    }
    if (summed) {
        uint8_t *slot = malloc(bytes);
        memcpy(slot, content, bytes);
        packet_fill(packet, slot, bytes);
        free(slot);
        if (checked && datagram_is_good(content, bytes)) {
            packet->flags |= PACKET_DATAGRAM;
        }
    } else {
        memcpy(packet->frame, content, bytes);
        packet->length_bytes = (uint16_t)bytes;
    }
    if (net.port != NULL) {
        net_port_bring(packet);
    } else if (!RING_PUSH(&net.received, packet)) {
        text_fail("the ring of received packets is full");
    }
    service(1);
}

/* bind SOCKET PORT queue|done|echo|reply|keep */
static void do_bind(void)
{
    static const char *const modes[] = {"done", "echo", "reply", "keep"};
    udp_socket_t *socket = &sockets[text_number(1)];
    const char *mode = text_word(3);

    if (strcmp(mode, "again") != 0) {
        udp_init(socket, NULL, NULL);
    }
    for (uintptr_t verdict = UDP_DONE; verdict <= UDP_KEEP; verdict++) {
        if (strcmp(mode, modes[verdict]) == 0) {
            udp_init(socket, callback, (void *)verdict);
        }
    }
    printf("result %d\n", udp_bind(&net, socket, text_number(2)));
}

/* receive SOCKET: the application takes a datagram. */
static void do_receive(void)
{
    packet_t *packet = udp_receive(&sockets[text_number(1)]);

    if (packet == NULL) {
        puts("empty");
        return;
    }
    taken[takens++] = packet;
    printf("datagram ");
    text_print_address(packet->peer_address);
    printf(" %" PRIu32 " %d ", be16_to_host(packet->peer_port),
           (packet->flags & PACKET_BROADCAST) != 0);
    text_print_hex(packet_payload(packet), packet->payload_bytes);
}

/* send SOCKET copy|place|reuse|reply ADDRESS|connected PORT HEX: the application sends a datagram, copied
 * by packet_write(), put into the payload, or put into the oldest packet that it has taken; `reply` sends that
 * back to where it came from. */
static void do_send(void)
{
    udp_socket_t *socket = &sockets[text_number(1)];
    bool reply = strcmp(text_word(2), "reply") == 0;
    bool reuse = strcmp(text_word(2), "reuse") == 0 || (reply && takens != 0);
    uint32_t bytes = text_hex(content, 5);
    packet_t *packet = reuse ? take_oldest(taken, &takens) : udp_reserve(&net);
    udp_result_t result;

    if (packet == NULL) {
        puts("none");
        return;
    }
    if (strcmp(text_word(2), "copy") == 0) {
        if (!packet_write(packet, content, bytes)) {
            packet->payload_bytes = (uint16_t)bytes;
        }
    } else {
        if (bytes <= PACKET_PAYLOAD_BYTES) {
            memcpy(packet_payload(packet), content, bytes);
        }
        packet->payload_bytes = (uint16_t)bytes;
    }
    if (reply) {
        result = udp_reply(&net, packet);
    } else if (strcmp(text_word(3), "connected") == 0) {
        result = udp_send(&net, socket, packet);
    } else {
        result = udp_send_to(&net, socket, packet, text_address(3), text_number(4));
    }
    printf("result %d\n", result);
    if (result != UDP_OK) {
        udp_release(&net, packet);
    }
    service(0);
}

/* output SOCKET ADDRESS PORT BYTES: the protocol tier sends a datagram of so many bytes, unless it
 * is over-long. */
static void do_output(void)
{
    packet_t *packet = net_reserve(&net);

    if (packet == NULL) {
        puts("none");
        return;
    }
    udp_address(packet, &sockets[text_number(1)], text_address(2), text_number(3));
    packet->payload_bytes = (uint16_t)text_number(4);
    if (packet->payload_bytes <= PACKET_PAYLOAD_BYTES) {
        memset(packet_payload(packet), 'x', packet->payload_bytes);
    }
    net_dispose(&net, packet, udp_output(&net, packet));
    service(0);
}

/* Where all packets are. */
static void do_audit(void)
{
    uint32_t inboxes = 0;

    for (uint32_t i = 0; i < SOCKETS; i++) {
        inboxes += RING_COUNT(&sockets[i].inbox);
    }
    report_packets(&net);
    printf("inboxes %" PRIu32 "\n", inboxes);
    printf("taken %" PRIu32 "\n", takens);
    printf("kept %" PRIu32 "\n", kepts);
    printf("stalled %" PRIu32 "\n", stalleds);
}

/* dhcp init ADDRESS NETMASK GATEWAY: makes a client with this static address; dhcp start, stop, show. */
static void do_dhcp(void)
{
    const char *what = text_word(1);

    if (strcmp(what, "init") == 0) {
        dhcp_address_t fallback = {text_address(2), text_address(3), text_address(4)};
        printf("result %d\n", dhcp_init(&dhcp, &net, &fallback));
    } else if (strcmp(what, "start") == 0) {
        dhcp_start(&dhcp);
    } else if (strcmp(what, "stop") == 0) {
        dhcp_stop(&dhcp);
        hand_over(0);
    } else {
        printf("dhcp %s %" PRIu32 "\n", dhcp_state_name((dhcp_state_t)dhcp.state),
               dhcp_remaining_s(&dhcp));
    }
}

/* overfill: hands one packet over more often than there are packets. */
static void do_overfill(void)
{
    for (uint32_t i = 0; i <= NET_RING_SLOTS; i++) {
        net_release(&net, &packets[0]);
    }
    for (uint32_t i = 0; i <= NET_TRANSMIT_SLOTS; i++) {
        net_dispose(&net, &packets[0], NET_TRANSMIT);
    }
}

static void run(void)
{
    const char *command = text_word(0);

    if (strcmp(command, "reset") == 0) {
        do_reset();
    } else if (strcmp(command, "configure") == 0) {
        net_configure(&net, text_address(1), text_address(2), text_address(3));
    } else if (strcmp(command, "bind") == 0) {
        do_bind();
    } else if (strcmp(command, "connect") == 0) {
        printf("result %d\n",
               udp_connect(&sockets[text_number(1)], text_address(2), text_number(3)));
    } else if (strcmp(command, "close") == 0) {
        printf("result %d\n", udp_close(&net, &sockets[text_number(1)]));
    } else if (strcmp(command, "dropped") == 0) {
        printf("dropped %" PRIu32 "\n", sockets[text_number(1)].dropped);
    } else if (strcmp(command, "port") == 0) {
        net.port = &net_test_port;
    } else if (strcmp(command, "frame") == 0) {
        do_frame();
    } else if (strcmp(command, "tick") == 0) {
        hand_over(net_tick(&net));
    } else if (strcmp(command, "receive") == 0) {
        do_receive();
    } else if (strcmp(command, "release") == 0) {
        udp_release(&net, take_oldest(taken, &takens));
        service(0);
    } else if (strcmp(command, "unkeep") == 0) {
        net_release(&net, take_oldest(kept, &kepts));
    } else if (strcmp(command, "send") == 0) {
        do_send();
    } else if (strcmp(command, "output") == 0) {
        do_output();
    } else if (strcmp(command, "stall") == 0) {
        stall = net_port_stalls = text_number(1) != 0;
        service(0);
    } else if (strcmp(command, "join") == 0) {
        printf("result %d\n", groups_join(&net, text_address(1)));
        hand_over(0);
    } else if (strcmp(command, "leave") == 0) {
        printf("result %d\n", groups_leave(&net, text_address(1)));
        hand_over(0);
    } else if (strcmp(command, "dhcp") == 0) {
        do_dhcp();
    } else if (strcmp(command, "allow") == 0) {
        net_allow(&net, text_number(1));
        service(UINT32_MAX);
        printf("held %d\n", net_is_held(&net));
    } else if (strcmp(command, "stir") == 0) {
        net_stir(&net, text_number(1));
    } else if (strcmp(command, "refill") == 0) {
        net.errors = ICMP_ERRORS_PER_S;
    } else if (strcmp(command, "address") == 0) {
        report_address(&net);
    } else if (strcmp(command, "overfill") == 0) {
        do_overfill();
    } else if (strcmp(command, "counters") == 0) {
        report_counters(&net);
    } else if (strcmp(command, "audit") == 0) {
        do_audit();
    } else {
        text_fail("unknown command");
    }
}

int main(void)
{
    do_reset();
    while (text_read()) {
        run();
        report_counted(&net, strcmp(text_word(0), "reset") != 0);
        puts(".");
        fflush(stdout);
    }
    do_reset();
    return 0;
}
