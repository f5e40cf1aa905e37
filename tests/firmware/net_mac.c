#include "net_mac.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "datagram.h"
#include "net_port.h"
#include "packet_list.h"
#include "text.h"

static packet_t packets[NET_PACKETS];
static _Alignas(4) uint8_t buffers[NET_PACKETS * NET_BUFFER_BYTES];
/* Held back while the driver stalls. */
static packet_list_t stalled;
static bool stall;

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

void net_mac_reset(net_t *net)
{
    static const uint32_t counts[] = {[PACKET_HOME_RECEIVE] = NET_RECEIVE_PACKETS,
                                      [PACKET_HOME_PROTOCOL] = NET_PROTOCOL_PACKETS,
                                      [PACKET_HOME_APPLICATION] = NET_APPLICATION_PACKETS};
    uint32_t first = 0;

    for (uint32_t i = 0; i < NET_PACKETS && packets[i].frame != NULL; i++) {
        restore(&packets[i]);
    }
    net_port_reset();
    stalled.count = 0;
    stall = false;
    for (packet_home_t home = PACKET_HOME_RECEIVE; home <= PACKET_HOME_APPLICATION; home++) {
        if (!net_add_packets(net, home, packets + first, buffers + first * NET_BUFFER_BYTES,
                             counts[home])
            || net_add_packets(net, home, packets, buffers, 1)) {
            text_fail("net_add_packets");
        }
        first += counts[home];
    }
}

static void transmit_all(net_t *net)
{
    packet_t *packet;

    if (net->port != NULL) {
        return;
    }
    if (stall) {
        while ((packet = RING_POP(&net->transmit)) != NULL) {
            packet_list_add(&stalled, packet);
        }
        return;
    }
    while (stalled.count != 0 || (packet = RING_POP(&net->transmit)) != NULL) {
        if (stalled.count != 0) {
            packet = packet_list_take(&stalled);
        }
        net_port_print(packet);
        if (!RING_PUSH(&net->sent, packet)) {
            text_fail("the ring of sent packets is full");
        }
    }
}

void net_mac_hand_over(net_t *net, bool for_application)
{
    printf("posts %d\n", for_application);
    transmit_all(net);
    (void)net_service(net, 0);
}

void net_mac_serve(net_t *net, uint32_t frames)
{
    net_mac_hand_over(net, net_service(net, frames));
}

/* frame plain|summed|checked exact|full HEX: a frame is received; summed by packet_fill(), or looked at by the
 * hardware too. "due": whether it is the stack's to take now. */
static void do_frame(net_t *net)
{
    static uint8_t content[TEXT_HEX_BYTES];
    bool checked = strcmp(text_word(1), "checked") == 0;
    bool summed = checked || strcmp(text_word(1), "summed") == 0;
    bool exact = strcmp(text_word(2), "exact") == 0;
    uint32_t bytes = text_hex(content, 3);
    packet_t *packet = net_port_has_places() ? net_port_take_room() : RING_POP(&net->free);

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
    if (net->port != NULL) {
        net_port_bring(packet);
    } else if (!RING_PUSH(&net->received, packet)) {
        text_fail("the ring of received packets is full");
    }
    printf("due %d\n", net_pending(net));
    net_mac_serve(net, 1);
}

/* overfill: hands one packet over more often than there are packets. */
static void do_overfill(net_t *net)
{
    for (uint32_t i = 0; i <= NET_RING_SLOTS; i++) {
        net_release(net, &packets[0]);
    }
    for (uint32_t i = 0; i <= NET_TRANSMIT_SLOTS; i++) {
        net_dispose(net, &packets[0], NET_TRANSMIT);
    }
}

/* port PLACES: the stack has a port from now on, which has so many places for packets to be filled. */
bool net_mac_run(net_t *net, const char *command)
{
    if (strcmp(command, "port") == 0) {
        net->port = &net_test_port;
        net_port_set_places(text_number(1));
        net_refill(net);
        (void)net_service(net, 0);
    } else if (strcmp(command, "free") == 0) {
        net_refill(net);
    } else if (strcmp(command, "frame") == 0) {
        do_frame(net);
    } else if (strcmp(command, "stall") == 0) {
        stall = net_port_stalls = text_number(1) != 0;
        net_mac_serve(net, 0);
    } else if (strcmp(command, "overfill") == 0) {
        do_overfill(net);
    } else {
        return false;
    }
    return true;
}

void net_mac_report(const net_t *net)
{
    printf("stalled %" PRIu32 "\n", stalled.count);
    printf("wants %d\n", net_wants_refill(net));
    printf("room %" PRIu32 "\n", net_port_room());
}
