#include "udp.h"

void udp_emit(uint8_t *datagram, be16_t source_port, be16_t destination_port,
              uint32_t payload_bytes, uint32_t addresses_sum, uint32_t payload_sum)
{
    be16_t length = host_to_be16(UDP_HEADER_BYTES + payload_bytes);

    put_be16(datagram, source_port);
    put_be16(datagram + 2, destination_port);
    put_be16(datagram + 4, length);
    udp_put_sum(datagram, source_port + destination_port + length
                              + udp_pseudo_sum(length, addresses_sum) + payload_sum);
}

void udp_emit_unsummed(uint8_t *datagram, be16_t source_port, be16_t destination_port,
                       uint32_t payload_bytes)
{
    be16_t length = host_to_be16(UDP_HEADER_BYTES + payload_bytes);

    put_be16(datagram, source_port);
    put_be16(datagram + 2, destination_port);
    put_be16(datagram + 4, length);
    udp_put_unsummed(datagram, length);
}
