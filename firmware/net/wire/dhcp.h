/* DHCP (RFC 2131, options of RFC 2132) as a client speaks it over Ethernet: parse and emit.
 *
 * offset  0   1      2      3     4    8     10     12      16      20      24     28      44  108
 *         op  htype  hlen   hops  xid  secs  flags  ciaddr  yiaddr  siaddr  giaddr chaddr  sname file
 * offset  236     240
 *         cookie  options: code, length, value; 0 is padding, 255 ends them
 */
#ifndef TIERV_NET_WIRE_DHCP_H
#define TIERV_NET_WIRE_DHCP_H

#include "../bytes.h"
#include "../counters.h"
#include "ethernet.h"

enum {
    DHCP_SERVER_PORT = 67,
    DHCP_CLIENT_PORT = 68,
    /* The fixed part; the options begin behind it. */
    DHCP_HEADER_BYTES = 240,
    /* What we send: that of BOOTP (RFC 951), below which relays drop. */
    DHCP_MESSAGE_BYTES = 300
};

typedef enum {
    DHCP_NO_TYPE,
    DHCP_DISCOVER,
    DHCP_OFFER,
    DHCP_REQUEST,
    DHCP_DECLINE,
    DHCP_ACK,
    DHCP_NAK,
    DHCP_RELEASE
} dhcp_type_t;

/* What a server says; an option that is not there is 0. */
typedef struct {
    be32_t xid;
    ethernet_address_t client;
    be32_t address; /* yours */
    be32_t server;
    be32_t netmask;
    be32_t router;    /* the first of them */
    uint32_t lease_s; /* UINT32_MAX: for ever */
    uint32_t renewal_s;
    uint32_t rebinding_s;
    uint8_t type; /* any byte; dhcp_type_t names those of ours */
} dhcp_message_t;

/* What a client says; 0 leaves the option or field out. */
typedef struct {
    dhcp_type_t type;
    be32_t xid;
    ethernet_address_t client;
    uint32_t seconds;      /* since it began to ask */
    be32_t client_address; /* that it uses; with 0 it asks for broadcast answers, if for any */
    be32_t requested;
    be32_t server;
} dhcp_request_t;

/* True for a message that wants an answer. */
static inline bool dhcp_asks(dhcp_type_t type)
{
    return type == DHCP_DISCOVER || type == DHCP_REQUEST;
}

/* Reads a server's message (two-byte aligned) of `bytes` bytes. After WIRE_OK all options of ours
 * have the right length and every field for options has an end. */
net_counter_t dhcp_parse(const uint8_t *at, uint32_t bytes, dhcp_message_t *message);

/* Writes the DHCP_MESSAGE_BYTES of a client's message at a two-byte aligned address. */
void dhcp_emit(uint8_t *at, const dhcp_request_t *request);

#endif
