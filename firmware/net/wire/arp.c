#include "arp.h"

enum { ARP_HARDWARE_ETHERNET = 1, ARP_SIZES = (6 << 8) | 4 };

net_counter_t arp_parse(const uint8_t *at, uint32_t bytes, arp_packet_t *packet)
{
    if (bytes < ARP_PACKET_BYTES) {
        return COUNT_ARP_DROP_SHORT;
    }
    if (get_be16(at) != BE16(ARP_HARDWARE_ETHERNET) || get_be16(at + 2) != ETHERNET_TYPE_IPV4
        || get_be16(at + 4) != BE16(ARP_SIZES)) {
        return COUNT_ARP_DROP_FORMAT;
    }
    packet->operation = get_be16(at + 6);
    packet->sender_mac = ethernet_get_address(at + 8);
    packet->sender = get_be32(at + 14);
    packet->target_mac = ethernet_get_address(at + 18);
    packet->target = get_be32(at + 24);
    if (packet->operation != ARP_REQUEST && packet->operation != ARP_REPLY) {
        return COUNT_ARP_DROP_OPERATION;
    }
    const uint16_t *mac = packet->sender_mac.half;
    if (ethernet_is_group(mac[0]) || (mac[0] | mac[1] | mac[2]) == 0) {
        return COUNT_ARP_DROP_SENDER;
    }
    return WIRE_OK;
}

void arp_emit(uint8_t *at, const arp_packet_t *packet)
{
    put_be16(at, BE16(ARP_HARDWARE_ETHERNET));
    put_be16(at + 2, ETHERNET_TYPE_IPV4);
    put_be16(at + 4, BE16(ARP_SIZES));
    put_be16(at + 6, packet->operation);
    ethernet_put_address(at + 8, &packet->sender_mac);
    put_be32(at + 14, packet->sender);
    ethernet_put_address(at + 18, &packet->target_mac);
    put_be32(at + 24, packet->target);
}
