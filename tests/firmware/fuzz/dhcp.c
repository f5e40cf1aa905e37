/* The DHCP client against servers that say anything, in messages that all reach it.
 *
 * Input: steps. A byte below 0x80: so many seconds pass. Otherwise a server's message: its options' length
 * in the lowest seven bits; then what is wrong with it (`wrong_t`), the last byte of the address, the
 * options. Afterwards the interface has the static address, none or the lease's, and only while it may.
 */
#include "../../../firmware/net/dhcp_client.h"
#include "../../../firmware/net/wire/dhcp.h"
#include "bytes_in.h"

typedef enum {
    WRONG_XID = 1 << 0,
    WRONG_CLIENT = 1 << 1,
    WRONG_PORT = 1 << 2,
    OVERLOADED = 1 << 3, /* more of the input, behind the options, lies in name and file */
    SWITCHED = 1 << 4,   /* instead of a message, the client is switched on or off */
    DISPUTED = 1 << 5    /* instead of a message, somebody uses the address */
} wrong_t;

enum { OVERLOAD_BYTES = 192, AT_ADDRESS = 16, AT_MAC = 28, AT_NAME = 44, AT_COOKIE = 236 };

static net_t net;
static dhcp_client_t client;
static packet_t packets[NET_PACKETS];
static _Alignas(4) uint8_t buffers[NET_PACKETS * NET_BUFFER_BYTES];
static const dhcp_address_t fallback = {IPV4_ADDRESS(10, 0, 0, 1), IPV4_ADDRESS(255, 255, 255, 0),
                                        0};

static void begin(void)
{
    static const ethernet_address_t mac = {{BE16(0x0200), BE16(0x0000), BE16(0x0001)}};

    net_init(&net, &mac);
    MUST(net_add_packets(&net, PACKET_HOME_PROTOCOL, packets, buffers, NET_PROTOCOL_PACKETS));
    MUST(dhcp_init(&client, &net, &fallback));
    dhcp_start(&client);
}

static void transmit(void)
{
    packet_t *packet;

    while ((packet = RING_POP(&net.transmit)) != NULL) {
        net_release(&net, packet);
    }
}

static void check(void)
{
    const dhcp_lease_t *lease = &client.lease;
    bool may_be_used = client.state == DHCP_BOUND || client.state == DHCP_RENEWING
                       || client.state == DHCP_REBINDING || client.state == DHCP_RELEASING;

    MUST(net.address == 0 || net.address == fallback.address
         || (may_be_used && net.address == lease->address));
    if (may_be_used && client.state != DHCP_RELEASING && lease->duration_s != UINT32_MAX) {
        MUST(lease->age_s < lease->duration_s);
        MUST(lease->renewal_s <= lease->rebinding_s && lease->rebinding_s <= lease->duration_s);
    }
    MUST(client.state == DHCP_OFF || client.state == DHCP_PROBING || may_be_used
         || client.wait_s != 0);
}

static void dispute(be32_t address)
{
    arp_packet_t packet = {.operation = ARP_REQUEST,
                           .sender_mac = {{BE16(0x0200), 0, BE16(2)}},
                           .sender = address};

    (void)claim_is_disputed(&net, &packet);
    transmit();
}

/* Hands the client a datagram, in memory of just its length. */
static void say(bytes_in_t *in, uint32_t bytes, uint32_t wrong, uint32_t last)
{
    uint32_t taken;
    uint8_t *options = take_copy(in, bytes, &taken);
    uint32_t length = DHCP_HEADER_BYTES + taken;
    uint8_t *frame = calloc(1, PACKET_PAYLOAD_OFFSET + length);
    uint8_t *message = frame + PACKET_PAYLOAD_OFFSET;
    ethernet_address_t mac = net.mac;
    packet_t packet = {.frame = frame,
                       .payload_bytes = (uint16_t)length,
                       .peer_port = (uint16_t)BE16((wrong & WRONG_PORT) != 0 ? 66 : 67)};

    mac.half[2] ^= (wrong & WRONG_CLIENT) != 0 ? 0x100 : 0;
    put_be16(message, BE16(0x0201));
    put_be16(message + 2, BE16(0x0600));
    put_be32(message + 4, client.xid ^ ((wrong & WRONG_XID) != 0));
    put_be32(message + AT_ADDRESS, IPV4_ADDRESS(192, 0, 2, last));
    ethernet_put_address(message + AT_MAC, &mac);
    put_be32(message + AT_COOKIE, IPV4_ADDRESS(99, 130, 83, 99));
    if (taken != 0) {
        memcpy(message + DHCP_HEADER_BYTES, options, taken);
    }
    free(options);
    if ((wrong & OVERLOADED) != 0) {
        options = take_copy(in, OVERLOAD_BYTES, &taken);
        if (taken != 0) {
            memcpy(message + AT_NAME, options, taken);
        }
        free(options);
    }
    MUST(client.socket.callback(&client.socket, &packet) == UDP_DONE);
    free(frame);
    transmit();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes_in_t in = {data, size};

    begin();
    while (in.left != 0) {
        uint32_t step = take_byte(&in);
        for (uint32_t second = 0; step < 0x80 && second < step; second++) {
            (void)net_tick(&net);
            transmit();
            check();
        }
        if (step < 0x80) {
            continue;
        }
        uint32_t wrong = take_byte(&in);
        uint32_t last = take_byte(&in);
        if ((wrong & SWITCHED) != 0) {
            (last != 0 ? dhcp_start : dhcp_stop)(&client);
            transmit();
        } else if ((wrong & DISPUTED) != 0) {
            dispute(IPV4_ADDRESS(192, 0, 2, last));
        } else {
            say(&in, step & 0x7fu, wrong, last);
        }
        check();
    }
    return 0;
}
