#include "net_application.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../../firmware/net/udp_socket.h"
#include "net_mac.h"
#include "packet_list.h"
#include "text.h"

enum { SOCKETS = 16 };

static udp_socket_t sockets[SOCKETS];
/* What the application has taken, and a callback keeps. */
static packet_list_t taken;
static packet_list_t kept;

void net_application_reset(void)
{
    memset(sockets, 0, sizeof(sockets));
    taken.count = kept.count = 0;
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
        packet_list_add(&kept, packet);
    }
    return verdict;
}

/* bind|serve SOCKET PORT queue|done|echo|reply|keep|again: udp_bind() or udp_bind_service(). */
static void do_bind(net_t *net, udp_result_t (*bind)(net_t *, udp_socket_t *, uint32_t))
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
    printf("result %d\n", bind(net, socket, text_number(2)));
}

/* receive SOCKET: the application takes a datagram. */
static void do_receive(void)
{
    udp_socket_t *socket = &sockets[text_number(1)];
    bool empty = udp_is_empty(socket);
    packet_t *packet = udp_receive(socket);

    if (empty != (packet == NULL)) {
        text_fail("the socket is empty, or is not");
    }
    if (packet == NULL) {
        puts("empty");
        return;
    }
    packet_list_add(&taken, packet);
    printf("datagram ");
    text_print_address(packet->peer_address);
    printf(" %" PRIu32 " %d ", be16_to_host(packet->peer_port),
           (packet->flags & PACKET_BROADCAST) != 0);
    text_print_hex(packet_payload(packet), packet->payload_bytes);
}

/* send SOCKET copy|place|reuse|reply|rewrite|answer ADDRESS|connected PORT HEX: the application sends a datagram,
 * copied by packet_write(), put into the payload, or put into the oldest packet that it has taken; `reply` sends
 * that back to where it came from, `rewrite` so by packet_write(), `answer` another there. */
static void do_send(net_t *net)
{
    static uint8_t content[TEXT_HEX_BYTES];
    udp_socket_t *socket = &sockets[text_number(1)];
    bool rewrite = strcmp(text_word(2), "rewrite") == 0;
    bool reply = rewrite || strcmp(text_word(2), "reply") == 0;
    bool reuse = strcmp(text_word(2), "reuse") == 0 || (reply && taken.count != 0);
    uint32_t bytes = text_hex(content, 5);
    packet_t *packet = reuse ? packet_list_take(&taken) : udp_reserve(net);
    udp_result_t result;

    if (packet == NULL) {
        puts("none");
        return;
    }
    if (rewrite || strcmp(text_word(2), "copy") == 0) {
        if (!packet_write(packet, content, bytes)) {
            packet->payload_bytes = (uint16_t)bytes;
        }
    } else {
        if (bytes <= PACKET_PAYLOAD_BYTES) {
            memcpy(packet_payload(packet), content, bytes);
        }
        packet->payload_bytes = (uint16_t)bytes;
    }
    if (strcmp(text_word(2), "answer") == 0) {
        udp_asker_t asker = udp_asker(taken.entries[0]);
        result = udp_answer(net, packet, &asker);
    } else if (reply) {
        result = udp_reply(net, packet);
    } else if (strcmp(text_word(3), "connected") == 0) {
        result = udp_send(net, socket, packet);
    } else {
        result = udp_send_to(net, socket, packet, text_address(3), text_number(4));
    }
    printf("result %d\n", result);
    if (result != UDP_OK) {
        udp_release(net, packet);
    }
    net_mac_serve(net, 0);
}

/* output SOCKET ADDRESS PORT BYTES: the protocol tier sends a datagram of so many bytes, unless it
 * is over-long. */
static void do_output(net_t *net)
{
    packet_t *packet = net_reserve(net);

    if (packet == NULL) {
        puts("none");
        return;
    }
    udp_address(packet, &sockets[text_number(1)], text_address(2), text_number(3));
    packet->payload_bytes = (uint16_t)text_number(4);
    if (packet->payload_bytes <= PACKET_PAYLOAD_BYTES) {
        memset(packet_payload(packet), 'x', packet->payload_bytes);
    }
    net_dispose(net, packet, udp_output(net, packet));
    net_mac_serve(net, 0);
}

bool net_application_run(net_t *net, const char *command)
{
    if (strcmp(command, "bind") == 0) {
        do_bind(net, udp_bind);
    } else if (strcmp(command, "serve") == 0) {
        do_bind(net, udp_bind_service);
    } else if (strcmp(command, "connect") == 0) {
        printf("result %d\n",
               udp_connect(&sockets[text_number(1)], text_address(2), text_number(3)));
    } else if (strcmp(command, "close") == 0) {
        printf("result %d\n", udp_close(net, &sockets[text_number(1)]));
    } else if (strcmp(command, "dropped") == 0) {
        printf("dropped %" PRIu32 "\n", sockets[text_number(1)].dropped);
    } else if (strcmp(command, "receive") == 0) {
        do_receive();
    } else if (strcmp(command, "release") == 0) {
        udp_release(net, packet_list_take(&taken));
        net_mac_serve(net, 0);
    } else if (strcmp(command, "unkeep") == 0) {
        net_release(net, packet_list_take(&kept));
    } else if (strcmp(command, "send") == 0) {
        do_send(net);
    } else if (strcmp(command, "output") == 0) {
        do_output(net);
    } else {
        return false;
    }
    return true;
}

void net_application_report(void)
{
    uint32_t inboxes = 0;

    for (uint32_t i = 0; i < SOCKETS; i++) {
        inboxes += RING_COUNT(&sockets[i].inbox);
    }
    printf("inboxes %" PRIu32 "\n", inboxes);
    printf("taken %" PRIu32 "\n", taken.count);
    printf("kept %" PRIu32 "\n", kept.count);
}
