#include <string.h>

#include "apps/lin/host.h"
#include "apps/network_line.h"
#include "report.h"

static udp_socket_t socket_;

/* What each watcher is told before lin_udp_flush(), or when its Ethernet address is known. Outside local memory:
 * there are no more reports than frames on the ports' lines. */
typedef struct {
    lin_host_peer_t peer;
    uint32_t count;
    uint8_t records[LIN_HOST_MOST_RECORDS / 4][LIN_HOST_RECORD_BYTES];
} told_t;

static SET_BEFORE_RUN_LARGE told_t told[LIN_WATCHERS];

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
    memset(told, 0, sizeof(told));
    udp_init(&socket_, take_requests, NULL);
    (void)udp_bind_service(&network, &socket_, LIN_HOST_PORT);
}

/* False if that can't be. */
static bool send(const told_t *to)
{
    packet_t *packet = net_reserve(&network);

    if (packet == NULL) {
        return false;
    }
    (void)packet_write(packet, to->records, to->count * LIN_HOST_RECORD_BYTES);
    udp_address(packet, &socket_, to->peer.address, to->peer.port);
    net_verdict_t verdict = udp_output(&network, packet);
    net_dispose(&network, packet, verdict);
    network_line_wake_driver();
    return verdict != NET_FREE;
}

/* False as long as a datagram waits for the watcher's address: only the newest does, so that others stay here. */
static bool flush(told_t *to)
{
    if (to->count == 0) {
        return true;
    }
    if (udp_awaits_neighbour(&network, to->peer.address)) {
        return false;
    }
    if (!send(to)) {
        lin_host_lost += to->count;
    }
    to->count = 0;
    return true;
}

bool lin_udp_flush(void)
{
    bool all = true;

    for (uint32_t index = 0; index < LIN_WATCHERS; index++) {
        all &= flush(&told[index]);
    }
    return all;
}

static void tell(told_t *to, lin_host_peer_t peer, uint32_t port, const lin_report_t *report)
{
    bool is_full = to->count == sizeof(to->records) / sizeof(to->records[0]);
    bool is_same = to->peer.address == peer.address && to->peer.port == peer.port;

    if ((is_full || !is_same) && !flush(to)) {
        if (is_same) {
            lin_host_lost++;
            return;
        }
        lin_host_lost += to->count;
        to->count = 0;
    }
    to->peer = peer;
    lin_host_put_report(to->records[to->count++], port, report);
}

void lin_udp_tell(uint32_t port, const lin_report_t *report)
{
    uint32_t watchers = lin_host_watchers(port);

    for (uint32_t index = 0; index < LIN_WATCHERS; index++) {
        if ((watchers & 1u << index) != 0) {
            tell(&told[index], lin_host_watcher(index), port, report);
        }
    }
}
