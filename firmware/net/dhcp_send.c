#include "dhcp_send.h"

#include "wire/ipv4.h"

/* RFC 2131 section 4.1: 4, 8, 16, 32, 64 seconds, each by up to one more or less. */
enum { FIRST_RETRY_S = 4, MOST_DOUBLINGS = 4 };

bool dhcp_send(dhcp_client_t *client, dhcp_type_t type)
{
    net_t *net = client->net;
    packet_t *packet = net_reserve(net);
    bool holds = dhcp_holds_lease(client);
    dhcp_request_t request = {.type = type,
                              .xid = client->xid,
                              .client = net->mac,
                              .client_address = holds ? client->lease.address : 0};

    if (packet == NULL) {
        net_count(net, COUNT_DHCP_NO_PACKET);
        return false;
    }
    /* The REQUEST for an offer says what the DISCOVER said, for relays (RFC 2131 section 4.4.1). */
    if (holds || type == DHCP_DISCOVER) {
        client->said_s = client->asking_s;
    }
    /* Table 5. */
    request.seconds = dhcp_asks(type) ? client->said_s : 0;
    if (!holds && type != DHCP_DISCOVER) {
        request.requested = client->lease.address;
        request.server = client->lease.server;
    }
    if (type == DHCP_RELEASE) {
        request.server = client->lease.server;
    }
    dhcp_emit(packet_payload(packet), &request);
    packet->payload_bytes = DHCP_MESSAGE_BYTES;
    net_count(net, COUNT_DHCP_SENT);
    bool to_server = client->state == DHCP_RENEWING || type == DHCP_RELEASE;
    udp_address(packet, &client->socket, to_server ? client->lease.server : IPV4_BROADCAST,
                DHCP_SERVER_PORT);
    net_dispose(net, packet, holds ? udp_output(net, packet) : udp_output_nameless(net, packet));
    return true;
}

void dhcp_ask(dhcp_client_t *client, dhcp_type_t type)
{
    uint32_t doublings = client->tries < MOST_DOUBLINGS ? client->tries : MOST_DOUBLINGS;

    client->wait_s = ((uint32_t)FIRST_RETRY_S << doublings) - 1 + net_random(client->net) % 3;
    if (client->tries < UINT8_MAX) {
        client->tries++;
    }
    (void)dhcp_send(client, type);
}
