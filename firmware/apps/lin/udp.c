#include "apps/lin/host.h"
#include "apps/network.h"
#include "irq.h"

static udp_socket_t socket_;

/* What is told before lin_udp_flush(), and to whom. */
static uint8_t told[LIN_HOST_MOST_RECORDS / 4][LIN_HOST_RECORD_BYTES];
static uint32_t told_count;
static uint32_t told_watchers;

static udp_verdict_t take_requests(udp_socket_t *socket, packet_t *packet)
{
    const lin_host_peer_t peer = {packet->peer_address, be16_to_host(packet->peer_port)};

    (void)socket;
    packet->payload_bytes
        = (uint16_t)lin_host_answer(packet_payload(packet), packet->payload_bytes, peer);
    return UDP_REPLY;
}

void lin_udp_init(void)
{
    udp_init(&socket_, take_requests, NULL);
    (void)udp_bind_service(&network, &socket_, LIN_HOST_PORT);
}

static void send(lin_host_peer_t peer)
{
    packet_t *packet = net_reserve(&network);

    if (packet == NULL) {
        lin_host_lost += told_count;
        return;
    }
    (void)packet_write(packet, told, told_count * LIN_HOST_RECORD_BYTES);
    udp_address(packet, &socket_, peer.address, peer.port);
    net_dispose(&network, packet, udp_output(&network, packet));
    irq_kick(ETHMAC_INTERRUPT);
}

void lin_udp_flush(void)
{
    if (told_count == 0) {
        return;
    }
    for (uint32_t index = 0; index < LIN_WATCHERS; index++) {
        if ((told_watchers & 1u << index) != 0) {
            send(lin_host_watcher(index));
        }
    }
    told_count = 0;
}

void lin_udp_tell(uint32_t port, const lin_report_t *report)
{
    uint32_t watchers = lin_host_watchers(port);

    if (watchers == 0) {
        return;
    }
    if (told_count == sizeof(told) / sizeof(told[0]) || watchers != told_watchers) {
        lin_udp_flush();
    }
    told_watchers = watchers;
    lin_host_put_report(told[told_count++], port, report);
}
