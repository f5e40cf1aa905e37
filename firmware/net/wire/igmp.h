/* IGMP version 2 (RFC 2236), and version 1 as far as that asks for it: parse and emit.
 *
 * offset  0     1             2         4
 *         type  maximum       checksum  group
 *               response time
 */
#ifndef TIERV_NET_WIRE_IGMP_H
#define TIERV_NET_WIRE_IGMP_H

#include "../bytes.h"
#include "../counters.h"

enum {
    IGMP_BYTES = 8,
    IGMP_QUERY = 0x11,
    IGMP_REPORT_V1 = 0x12,
    IGMP_REPORT = 0x16,
    IGMP_LEAVE = 0x17
};

typedef struct {
    uint32_t type;
    uint32_t response_ds; /* tenths of a second within which a query wants reports; 0: version 1 */
    be32_t group;         /* 0: a query about all groups */
} igmp_message_t;

/* Reads a message (two-byte aligned) in `bytes` bytes; longer ones are of later versions, which
 * begin alike. After WIRE_OK the checksum is good and it is a query or a report. */
net_counter_t igmp_parse(const uint8_t *at, uint32_t bytes, igmp_message_t *message);

/* Writes the IGMP_BYTES of a message about `group`. */
void igmp_emit(uint8_t *at, uint32_t type, be32_t group);

#endif
