/* A datagram comes and goes back, without a MAC: the driver's copy into a packet, net_input(), and a socket
 * that echoes. Each frame comes three times, with marks around the last: then predictors know it. */
#include <string.h>

#include "bench.h"
#include "net/stack.h"
#include "net/udp_socket.h"
#include "net/wire/udp.h"

enum { PORT = 7, PEER_PORT = 40000, TIMES = 3 };

static const uint32_t frame_bytes[] = { ECHO_FRAME_BYTES };
static const ethernet_address_t mac = { { BE16(0x0200), BE16(0x0000), BE16(0x0001) } };
static const ethernet_address_t peer_mac = { { BE16(0x0200), BE16(0x0000), BE16(0x0002) } };
#define ADDRESS IPV4_ADDRESS(192, 168, 1, 50)
#define PEER IPV4_ADDRESS(192, 168, 1, 100)

static net_t net;
static udp_socket_t socket;
/* What the MAC has received, and the packet that the driver copies it to. */
static uint8_t received[NET_BUFFER_BYTES] __attribute__((aligned(4)));
static uint8_t buffer[NET_BUFFER_BYTES] __attribute__((aligned(4)));

static udp_verdict_t echo(udp_socket_t *to, packet_t *packet)
{
    (void)to;
    (void)packet;
    return UDP_ECHO;
}

static void receive(uint32_t bytes)
{
    uint8_t *ipv4 = received + ETHERNET_HEADER_BYTES;
    uint8_t *udp = ipv4 + IPV4_HEADER_BYTES;
    uint32_t payload_bytes = bytes - PACKET_PAYLOAD_OFFSET;

    ethernet_put_address(received, &mac);
    ethernet_emit(received, &peer_mac, ETHERNET_TYPE_IPV4);
    ipv4_emit(ipv4, PEER, ADDRESS, IPV4_PROTOCOL_UDP, IPV4_TTL, UDP_HEADER_BYTES + payload_bytes);
    for (uint32_t index = 0; index < payload_bytes; index++) {
        udp[UDP_HEADER_BYTES + index] = (uint8_t)index;
    }
    udp_emit(udp, BE16(PEER_PORT), BE16(PORT), payload_bytes,
             ipv4_address_sum(PEER) + ipv4_address_sum(ADDRESS),
             checksum_sum(udp + UDP_HEADER_BYTES, payload_bytes));
}

/* The frame in the packet is the received one on its way back: UDP from the checksum on is as it came. */
static bool is_returned(uint32_t bytes)
{
    const uint8_t *ipv4 = buffer + ETHERNET_HEADER_BYTES;
    const uint8_t *udp = ipv4 + IPV4_HEADER_BYTES;
    uint32_t kept_from = PACKET_PAYLOAD_OFFSET - UDP_HEADER_BYTES + UDP_CHECKSUM_OFFSET;
    ethernet_address_t destination = ethernet_get_address(buffer);

    return ethernet_address_equal(&destination, &peer_mac) && ipv4_source(ipv4) == ADDRESS
           && udp_destination_port(udp) == BE16(PEER_PORT)
           && memcmp(buffer + kept_from, received + kept_from, bytes - kept_from) == 0;
}

static net_verdict_t serve(packet_t *packet, uint32_t bytes)
{
    packet_fill(packet, received, bytes);
    return net_input(&net, packet);
}

int main(void)
{
    static packet_t packet = { .frame = buffer };

    net_init(&net, &mac);
    net_configure(&net, ADDRESS, IPV4_ADDRESS(255, 255, 255, 0), 0);
    udp_init(&socket, echo, NULL);
    if (udp_bind(&net, &socket, PORT) != UDP_OK) {
        bench_exit(1);
    }
    for (uint32_t index = 0; index < sizeof frame_bytes / sizeof frame_bytes[0]; index++) {
        uint32_t bytes = frame_bytes[index];

        receive(bytes);
        for (uint32_t time = 1; time < TIMES; time++) {
            (void)serve(&packet, bytes);
        }
        bench_mark(index);
        net_verdict_t verdict = serve(&packet, bytes);
        bench_mark(index);
        if (verdict != NET_TRANSMIT || packet.length_bytes != bytes || !is_returned(bytes)) {
            bench_exit(index + 1);
        }
    }
    bench_exit(0);
}
