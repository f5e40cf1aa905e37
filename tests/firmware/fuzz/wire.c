/* Every parser of the stack on bytes of any length, and what its callers rely on afterwards.
 *
 * Input: the parser's number, then its bytes.
 */
#include "../../../firmware/net/checksum.h"
#include "../../../firmware/net/wire/arp.h"
#include "../../../firmware/net/wire/dhcp.h"
#include "../../../firmware/net/wire/ethernet.h"
#include "../../../firmware/net/wire/icmpv4.h"
#include "../../../firmware/net/wire/igmp.h"
#include "../../../firmware/net/wire/ipv4.h"
#include "../../../firmware/net/wire/udp.h"
#include "bytes_in.h"

static void ethernet(uint8_t *at, uint32_t bytes)
{
    ethernet_header_t header;

    if (ethernet_parse(at, bytes, &header) == WIRE_OK) {
        MUST(bytes >= ETHERNET_HEADER_BYTES && bytes <= ETHERNET_MAX_BYTES);
        MUST(ethernet_trimmed_bytes(bytes, bytes) <= bytes);
    }
}

static void arp(uint8_t *at, uint32_t bytes)
{
    arp_packet_t packet;
    _Alignas(2) uint8_t again[ARP_PACKET_BYTES];

    if (arp_parse(at, bytes, &packet) == WIRE_OK) {
        arp_emit(again, &packet);
        MUST(memcmp(at, again, ARP_PACKET_BYTES) == 0);
    }
}

static void ipv4(uint8_t *at, uint32_t bytes)
{
    ipv4_header_t header;
    ipv4_header_t again;
    uint32_t header_bytes;
    net_counter_t plain = ipv4_parse(at, bytes, &header);
    net_counter_t any = ipv4_parse_unusual(at, bytes, &again, &header_bytes);

    if (any == WIRE_OK) {
        MUST(header_bytes >= IPV4_HEADER_BYTES && header_bytes <= again.total_bytes);
        MUST(again.total_bytes <= bytes);
    }
    if (plain == WIRE_OK) {
        MUST(any == WIRE_OK && header_bytes == IPV4_HEADER_BYTES);
        MUST(header.total_bytes == again.total_bytes && header.source == again.source);
        ipv4_swap_addresses(at);
        ipv4_set_ttl(at, IPV4_HEADER_BYTES);
        MUST(ipv4_parse(at, bytes, &header) == WIRE_OK);
    } else {
        MUST(any != WIRE_OK || header_bytes != IPV4_HEADER_BYTES);
    }
}

static void udp(uint8_t *at, uint32_t bytes)
{
    udp_header_t header;

    if (udp_parse(at, bytes, &header) == WIRE_OK) {
        MUST(header.bytes >= UDP_HEADER_BYTES && header.bytes <= bytes);
        udp_swap_ports(at);
    }
}

static void icmp(uint8_t *at, uint32_t bytes)
{
    uint8_t *error = malloc(ICMPV4_HEADER_BYTES + ICMPV4_QUOTED_BYTES);

    if (icmpv4_parse_echo(at, bytes, checksum_sum(at, bytes)) == WIRE_OK) {
        icmpv4_turn_echo(at);
        MUST(at[0] == ICMPV4_ECHO_REPLY && checksum_is_good(checksum_sum(at, bytes)));
    }
    uint32_t made = icmpv4_emit_unreachable(error, ICMPV4_NO_PORT, at, bytes);
    MUST(made <= ICMPV4_HEADER_BYTES + ICMPV4_QUOTED_BYTES);
    MUST(checksum_is_good(checksum_sum(error, made)));
    free(error);
}

static void igmp(uint8_t *at, uint32_t bytes)
{
    igmp_message_t message;
    igmp_message_t again;
    _Alignas(2) uint8_t made[IGMP_BYTES];

    if (igmp_parse(at, bytes, &message) == WIRE_OK) {
        igmp_emit(made, message.type, message.group);
        MUST(igmp_parse(made, IGMP_BYTES, &again) == WIRE_OK);
        MUST(again.type == message.type && again.group == message.group);
    }
}

static void dhcp(uint8_t *at, uint32_t bytes)
{
    dhcp_message_t message;
    uint8_t *made = malloc(DHCP_MESSAGE_BYTES);

    if (dhcp_parse(at, bytes, &message) == WIRE_OK) {
        MUST(bytes > DHCP_HEADER_BYTES);
        dhcp_request_t request = {.type = (dhcp_type_t)(message.type % 8),
                                  .xid = message.xid,
                                  .client = message.client,
                                  .seconds = message.lease_s,
                                  .client_address = message.address,
                                  .requested = message.router,
                                  .server = message.server};
        dhcp_emit(made, &request);
        MUST(get_be32(made + 4) == message.xid);
    }
    free(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const parsers[])(uint8_t *at, uint32_t bytes) = {ethernet, arp,  ipv4, udp,
                                                                   icmp,     igmp, dhcp};
    bytes_in_t in = {data, size};
    uint32_t parser = take_byte(&in) % (sizeof(parsers) / sizeof(parsers[0]));
    uint32_t bytes;
    uint8_t *copy = take_copy(&in, in.left, &bytes);

    parsers[parser](copy, bytes);
    free(copy);
    return 0;
}
