#include "dhcp_client.h"

#include "wire/dhcp.h"
#include "wire/ipv4.h"

enum {
    /* RFC 2131 section 4.1: 4, 8, 16, 32, 64 seconds, each by up to one more or less. */
    FIRST_RETRY_S = 4,
    MOST_DOUBLINGS = 4,
    /* Section 4.4.5. */
    LEAST_RENEWAL_RETRY_S = 60,
    /* Section 3.1, step 5. */
    DECLINED_WAIT_S = 10
};

static bool holds_lease(const dhcp_client_t *client)
{
    return client->state == DHCP_BOUND || client->state == DHCP_RENEWING
           || client->state == DHCP_REBINDING;
}

static void send(dhcp_client_t *client, dhcp_type_t type)
{
    net_t *net = client->net;
    packet_t *packet = net_reserve(net);
    dhcp_request_t request = {.type = type,
                              .xid = client->xid,
                              .client = net->mac,
                              .client_address = holds_lease(client) ? client->lease.address : 0};

    if (packet == NULL) {
        net_count(net, COUNT_DHCP_NO_PACKET);
        return;
    }
    /* The REQUEST for an offer says what the DISCOVER said, for relays (RFC 2131 section 4.4.1). */
    if (holds_lease(client) || type == DHCP_DISCOVER) {
        client->said_s = client->asking_s;
    }
    request.seconds = client->said_s;
    /* Table 5. */
    if (!holds_lease(client) && type != DHCP_DISCOVER) {
        request.requested = client->lease.address;
        request.server = client->server;
    }
    if (type == DHCP_RELEASE) {
        request.server = client->server;
    }
    dhcp_emit(packet_payload(packet), &request);
    packet->payload_bytes = DHCP_MESSAGE_BYTES;
    net_count(net, COUNT_DHCP_SENT);
    bool to_server = client->state == DHCP_RENEWING || type == DHCP_RELEASE;
    udp_address(packet, &client->socket, to_server ? client->server : IPV4_BROADCAST,
                DHCP_SERVER_PORT);
    net_dispose(net, packet, holds_lease(client) ? udp_output(net, packet)
                                                 : udp_output_nameless(net, packet));
}

/* Sends a message to which an answer is wanted, and says when it is sent again. */
static void ask(dhcp_client_t *client, dhcp_type_t type)
{
    uint32_t doublings = client->tries < MOST_DOUBLINGS ? client->tries : MOST_DOUBLINGS;

    client->wait_s = ((uint32_t)FIRST_RETRY_S << doublings) - 1 + net_random(client->net) % 3;
    if (client->tries < UINT8_MAX) {
        client->tries++;
    }
    send(client, type);
}

/* The interface loses its address if that is the lease's; asks anew in some seconds. */
static void restart(dhcp_client_t *client, uint32_t wait_s)
{
    if (holds_lease(client)) {
        net_configure(client->net, 0, 0, 0);
    }
    claim_probe(client->net, 0);
    client->state = DHCP_INIT;
    client->tries = 0;
    client->wait_s = wait_s;
}

static uint32_t spread(dhcp_client_t *client)
{
    return 1 + net_random(client->net) % DHCP_SPREAD_S;
}

static void expire(dhcp_client_t *client)
{
    net_count(client->net, COUNT_DHCP_EXPIRED);
    restart(client, spread(client));
}

/* The lease, whose time counts from the question, is ours; `is_new` if the interface does not have it
 * yet. */
static void begin_lease(dhcp_client_t *client, bool is_new)
{
    net_t *net = client->net;
    const dhcp_address_t *lease = &client->lease;

    if (client->request_s >= client->lease_s) {
        expire(client);
        return;
    }
    client->state = DHCP_BOUND;
    client->age_s = client->request_s;
    if (is_new) {
        net_configure(net, lease->address, lease->netmask, lease->gateway);
        net->claim.leased = true;
    }
}

static void decline(dhcp_client_t *client)
{
    net_count(client->net, COUNT_DHCP_DECLINED);
    client->state = DHCP_PROBING;
    send(client, DHCP_DECLINE);
    restart(client, DECLINED_WAIT_S);
}

static void use_fallback(dhcp_client_t *client)
{
    const dhcp_address_t *fallback = &client->fallback;

    net_configure(client->net, fallback->address, fallback->netmask, fallback->gateway);
}

/* Nobody answers: better the static address than none. */
static void fall_back(dhcp_client_t *client)
{
    if (client->net->address == 0 && client->fallback.address != 0) {
        use_fallback(client);
        net_count(client->net, COUNT_DHCP_FELL_BACK);
    }
}

/* The client is off. */
static void take_static(dhcp_client_t *client)
{
    client->state = DHCP_OFF;
    use_fallback(client);
}

/* --- the clock --------------------------------------------------------------------------------- */

/* Half of what remains, but a minute at the least (RFC 2131 section 4.4.5). */
static void ask_for_more(dhcp_client_t *client, uint32_t end_s)
{
    uint32_t half_s = (end_s - client->age_s) / 2;

    send(client, DHCP_REQUEST);
    client->wait_s = half_s > LEAST_RENEWAL_RETRY_S ? half_s : LEAST_RENEWAL_RETRY_S;
}

/* Another question, and when it was first put. */
static void begin_renewal(dhcp_client_t *client, dhcp_state_t state, uint32_t end_s)
{
    client->state = (uint8_t)state;
    client->xid = net_random(client->net);
    client->request_s = 0;
    client->asking_s = 0;
    ask_for_more(client, end_s);
}

static void tick_lease(dhcp_client_t *client)
{
    if (client->net->claim.lost) {
        decline(client);
        return;
    }
    if (client->lease_s == UINT32_MAX) {
        return;
    }
    client->age_s++;
    if (client->age_s >= client->lease_s) {
        expire(client);
    } else if (client->state != DHCP_REBINDING && client->age_s >= client->rebinding_s) {
        begin_renewal(client, DHCP_REBINDING, client->lease_s);
    } else if (client->state == DHCP_BOUND && client->age_s >= client->renewal_s) {
        begin_renewal(client, DHCP_RENEWING, client->rebinding_s);
    } else if (client->state != DHCP_BOUND && --client->wait_s == 0) {
        ask_for_more(client, client->state == DHCP_RENEWING ? client->rebinding_s
                                                            : client->lease_s);
    }
}

static void tick_probe(dhcp_client_t *client)
{
    claim_state_t state = (claim_state_t)client->net->claim.state;

    if (state == CLAIM_TAKEN) {
        decline(client);
    } else if (state == CLAIM_FREE) {
        begin_lease(client, true);
    }
}

static void tick_question(dhcp_client_t *client)
{
    if (--client->wait_s != 0) {
        return;
    }
    switch (client->state) {
    case DHCP_INIT:
        client->state = DHCP_SELECTING;
        client->xid = net_random(client->net);
        client->asking_s = 0;
        ask(client, DHCP_DISCOVER);
        break;
    case DHCP_SELECTING:
        if (client->tries >= DHCP_TRIES) {
            fall_back(client);
        }
        ask(client, DHCP_DISCOVER);
        break;
    default:
        if (client->tries >= DHCP_TRIES) {
            restart(client, spread(client));
        } else {
            ask(client, DHCP_REQUEST);
        }
        break;
    }
}

static void tick(net_timer_t *timer)
{
    dhcp_client_t *client = (dhcp_client_t *)timer;

    if (client->state == DHCP_OFF) {
        return;
    }
    if (client->state == DHCP_RELEASING) {
        take_static(client);
        return;
    }
    client->asking_s++;
    client->request_s++;
    if (holds_lease(client)) {
        tick_lease(client);
    } else if (client->state == DHCP_PROBING) {
        tick_probe(client);
    } else {
        tick_question(client);
    }
}

/* --- what servers say -------------------------------------------------------------------------- */

/* The netmask that an address had before there were netmasks (RFC 791). */
static be32_t class_netmask(be32_t address)
{
    uint32_t first = address & 0xffu;

    return first < 128   ? IPV4_ADDRESS(255, 0, 0, 0)
           : first < 192 ? IPV4_ADDRESS(255, 255, 0, 0)
                         : IPV4_ADDRESS(255, 255, 255, 0);
}

/* True if the address is a host's in a subnet with this netmask. */
static bool is_host_in(be32_t address, be32_t netmask)
{
    uint32_t hosts = ~be32_to_host(netmask);
    uint32_t number = be32_to_host(address) & hosts;

    if (!ipv4_is_host(address) || (hosts & (hosts + 1)) != 0) {
        return false;
    }
    /* A subnet of one or two hosts has neither network nor broadcast address (RFC 3021). */
    return hosts <= 1 || (number != 0 && number != hosts);
}

/* Takes over the lease of an offer or acknowledgement. False, and nothing changed, if it can't be. */
static bool take_lease(dhcp_client_t *client, const dhcp_message_t *message)
{
    be32_t netmask = message->netmask != 0 ? message->netmask : class_netmask(message->address);
    be32_t router = message->router;
    uint32_t lease_s = message->lease_s;

    if (lease_s == 0 || !is_host_in(message->address, netmask) || !ipv4_is_host(message->server)) {
        return false;
    }
    bool is_good_router = ((router ^ message->address) & netmask) == 0 && is_host_in(router, netmask)
                          && router != message->address;
    client->server = message->server;
    client->lease = (dhcp_address_t){.address = message->address,
                                     .netmask = netmask,
                                     .gateway = is_good_router ? router : 0};
    client->lease_s = lease_s;
    client->rebinding_s = message->rebinding_s;
    client->renewal_s = message->renewal_s;
    if (client->rebinding_s == 0 || client->rebinding_s >= lease_s) {
        client->rebinding_s = lease_s - lease_s / 8;
    }
    if (client->renewal_s == 0 || client->renewal_s >= client->rebinding_s) {
        client->renewal_s = lease_s / 2 < client->rebinding_s ? lease_s / 2 : client->rebinding_s / 2;
    }
    /* Not all boards that were switched on together ask together. */
    client->renewal_s -= net_random(client->net) % (client->renewal_s / 16 + 1);
    return true;
}

static net_counter_t take_offer(dhcp_client_t *client, const dhcp_message_t *message)
{
    if (client->state != DHCP_SELECTING) {
        return COUNT_DHCP_DROP_UNASKED;
    }
    if (!take_lease(client, message)) {
        return COUNT_DHCP_DROP_LEASE;
    }
    client->state = DHCP_REQUESTING;
    client->tries = 0;
    client->request_s = 0;
    ask(client, DHCP_REQUEST);
    return COUNT_DHCP_OFFERED;
}

/* What is wrong with an answer to a REQUEST, or WIRE_OK. */
static net_counter_t check_answer(const dhcp_client_t *client, const dhcp_message_t *message)
{
    bool asks = client->state == DHCP_REQUESTING || client->state == DHCP_RENEWING
                || client->state == DHCP_REBINDING;

    if (!asks || (holds_lease(client) && client->net->claim.lost)) {
        return COUNT_DHCP_DROP_UNASKED;
    }
    if (client->state != DHCP_REBINDING && message->server != client->server) {
        return COUNT_DHCP_DROP_SERVER;
    }
    return WIRE_OK;
}

static net_counter_t take_acknowledgement(dhcp_client_t *client, const dhcp_message_t *message)
{
    net_counter_t reason = check_answer(client, message);
    dhcp_address_t before = client->lease;

    if (reason != WIRE_OK) {
        return reason;
    }
    if (message->address != before.address || !take_lease(client, message)) {
        return COUNT_DHCP_DROP_LEASE;
    }
    if (client->state == DHCP_REQUESTING) {
        client->state = DHCP_PROBING;
        claim_probe(client->net, client->lease.address);
        return COUNT_DHCP_ACKNOWLEDGED;
    }
    begin_lease(client, client->lease.netmask != before.netmask
                            || client->lease.gateway != before.gateway);
    return COUNT_DHCP_ACKNOWLEDGED;
}

static net_counter_t take_refusal(dhcp_client_t *client, const dhcp_message_t *message)
{
    net_counter_t reason = check_answer(client, message);

    if (reason != WIRE_OK) {
        return reason;
    }
    restart(client, spread(client));
    return COUNT_DHCP_REFUSED;
}

static net_counter_t take(dhcp_client_t *client, const packet_t *packet)
{
    dhcp_message_t message;
    net_counter_t reason = dhcp_parse(packet_payload(packet), packet->payload_bytes, &message);

    if (reason != WIRE_OK) {
        return reason;
    }
    if (packet->peer_port != BE16(DHCP_SERVER_PORT)) {
        return COUNT_DHCP_DROP_SERVER;
    }
    if (message.xid != client->xid || !ethernet_address_equal(&message.client, &client->net->mac)) {
        return COUNT_DHCP_DROP_OTHERS;
    }
    switch (message.type) {
    case DHCP_OFFER:
        return take_offer(client, &message);
    case DHCP_ACK:
        return take_acknowledgement(client, &message);
    case DHCP_NAK:
        return take_refusal(client, &message);
    default:
        return COUNT_DHCP_DROP_UNASKED;
    }
}

static udp_verdict_t receive(udp_socket_t *socket, packet_t *packet)
{
    dhcp_client_t *client = socket->context;

    net_count(client->net, take(client, packet));
    return UDP_DONE;
}

/* --- switched on and off ----------------------------------------------------------------------- */

bool dhcp_init(dhcp_client_t *client, net_t *net, const dhcp_address_t *fallback)
{
    *client = (dhcp_client_t){.timer = {.tick = tick}, .net = net, .fallback = *fallback};
    udp_init(&client->socket, receive, client);
    if (udp_bind(net, &client->socket, DHCP_CLIENT_PORT) != UDP_OK) {
        return false;
    }
    net_add_timer(net, &client->timer);
    return true;
}

void dhcp_start(dhcp_client_t *client)
{
    if (client->state == DHCP_OFF || client->state == DHCP_RELEASING) {
        net_configure(client->net, 0, 0, 0);
        client->state = DHCP_OFF;
        restart(client, spread(client));
    }
}

void dhcp_stop(dhcp_client_t *client)
{
    if (client->state == DHCP_OFF || client->state == DHCP_RELEASING) {
        return;
    }
    if (holds_lease(client) && !client->net->claim.lost) {
        client->xid = net_random(client->net);
        send(client, DHCP_RELEASE);
        client->state = DHCP_RELEASING;
    } else {
        take_static(client);
    }
}

uint32_t dhcp_remaining_s(const dhcp_client_t *client)
{
    if (!holds_lease(client)) {
        return 0;
    }
    if (client->lease_s == UINT32_MAX) {
        return UINT32_MAX;
    }
    return client->age_s < client->lease_s ? client->lease_s - client->age_s : 0;
}

const char *dhcp_state_name(dhcp_state_t state)
{
    static const char *const names[] FOR_PEOPLE = {"off",     "waiting", "selecting", "requesting",
                                        "probing", "bound",   "renewing",  "rebinding",
                                        "releasing"};

    return names[state];
}
