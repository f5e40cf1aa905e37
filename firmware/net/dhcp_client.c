#include "dhcp_client.h"

#include "dhcp_send.h"
#include "wire/dhcp.h"

/* RFC 2131 section 3.1, step 5; RFC 5227 section 2.1.1. */
enum { DECLINED_WAIT_S = 10, MAX_CONFLICTS = 10, RATE_LIMIT_INTERVAL_S = 60 };

enum { MOST_RELEASES = 2 };

/* The interface loses its address if that is the lease's; asks anew in some seconds. */
static void restart(dhcp_client_t *client, uint32_t wait_s)
{
    if (dhcp_holds_lease(client)) {
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
    dhcp_lease_t *lease = &client->lease;

    lease->age_s = client->request_s;
    if (dhcp_lease_remaining_s(lease) == 0) {
        expire(client);
        return;
    }
    client->state = DHCP_BOUND;
    client->conflicts = 0;
    if (is_new) {
        net_configure(net, lease->address, lease->netmask, lease->gateway);
        net->claim.leased = true;
    }
}

/* At another tick if there is no packet for it: it must be said, and only once. */
static void decline(dhcp_client_t *client)
{
    uint8_t state = client->state;

    client->state = DHCP_PROBING;
    if (!dhcp_send(client, DHCP_DECLINE)) {
        client->state = state;
        return;
    }
    net_count(client->net, COUNT_DHCP_DECLINED);
    if (client->conflicts < MAX_CONFLICTS) {
        client->conflicts++;
    }
    restart(client, client->conflicts < MAX_CONFLICTS ? DECLINED_WAIT_S : RATE_LIMIT_INTERVAL_S);
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

/* Each time another question, as the lease's time counts from that which is answered (RFC 2131 section 4.4.5). */
static void ask_for_more(dhcp_client_t *client)
{
    client->xid = net_random(client->net);
    client->request_s = 0;
    (void)dhcp_send(client, DHCP_REQUEST);
    client->wait_s = dhcp_lease_retry_s(&client->lease);
}

static void begin_renewal(dhcp_client_t *client, dhcp_state_t state)
{
    client->state = (uint8_t)state;
    client->asking_s = 0;
    ask_for_more(client);
}

static void tick_lease(dhcp_client_t *client)
{
    if (client->net->claim.lost) {
        decline(client);
        return;
    }
    dhcp_lease_phase_t phase = dhcp_lease_tick(&client->lease);
    if (phase == DHCP_LEASE_ENDED) {
        expire(client);
    } else if (phase == DHCP_LEASE_REBINDING && client->state != DHCP_REBINDING) {
        begin_renewal(client, DHCP_REBINDING);
    } else if (phase == DHCP_LEASE_RENEWAL && client->state == DHCP_BOUND) {
        begin_renewal(client, DHCP_RENEWING);
    } else if (client->state != DHCP_BOUND && --client->wait_s == 0) {
        ask_for_more(client);
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

static uint32_t replaced(const dhcp_client_t *client)
{
    return client->net->counters.counts[COUNT_ARP_WAITING_DROP_REPLACED];
}

static void release(dhcp_client_t *client)
{
    /* Said by who still holds the lease. */
    client->state = DHCP_BOUND;
    (void)dhcp_send(client, DHCP_RELEASE);
    client->state = DHCP_RELEASING;
    client->replaced = replaced(client);
    client->tries++;
}

/* The release may wait for ARP to find the server, but the lease must not have ended. Something newer to the same
 * neighbour takes its place there, so it may be sent twice: that harms nobody. */
static void tick_release(dhcp_client_t *client)
{
    if (dhcp_lease_tick(&client->lease) == DHCP_LEASE_ENDED) {
        take_static(client);
    } else if (!udp_awaits_neighbour(client->net, client->lease.server)) {
        if (client->tries < MOST_RELEASES && replaced(client) != client->replaced) {
            release(client);
        } else {
            take_static(client);
        }
    }
}

static void tick_question(dhcp_client_t *client)
{
    if (--client->wait_s != 0) {
        return;
    }
    switch (client->state) {
    case DHCP_INIT:
        if (client->has_started) {
            client->has_started = false;
            net_configure(client->net, 0, 0, 0);
        }
        client->state = DHCP_SELECTING;
        client->xid = net_random(client->net);
        client->asking_s = 0;
        dhcp_ask(client, DHCP_DISCOVER);
        break;
    case DHCP_SELECTING:
        if (client->tries >= DHCP_TRIES) {
            fall_back(client);
        }
        dhcp_ask(client, DHCP_DISCOVER);
        break;
    default:
        if (client->tries >= DHCP_TRIES) {
            restart(client, spread(client));
        } else {
            dhcp_ask(client, DHCP_REQUEST);
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
        tick_release(client);
        return;
    }
    client->asking_s++;
    client->request_s++;
    if (dhcp_holds_lease(client)) {
        tick_lease(client);
    } else if (client->state == DHCP_PROBING) {
        tick_probe(client);
    } else {
        tick_question(client);
    }
}

/* --- what servers say -------------------------------------------------------------------------- */

/* Takes over the lease of an offer or acknowledgement. False, and nothing changed, if it can't be. */
static bool take_lease(dhcp_client_t *client, const dhcp_message_t *message)
{
    if (!dhcp_lease_read(&client->lease, message)) {
        return false;
    }
    dhcp_lease_hasten(&client->lease, net_random(client->net));
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
    dhcp_ask(client, DHCP_REQUEST);
    return COUNT_DHCP_OFFERED;
}

/* What is wrong with an answer to a REQUEST, or WIRE_OK. */
static net_counter_t check_answer(const dhcp_client_t *client, const dhcp_message_t *message)
{
    bool asks = client->state == DHCP_REQUESTING || client->state == DHCP_RENEWING
                || client->state == DHCP_REBINDING;

    if (!asks || (dhcp_holds_lease(client) && client->net->claim.lost)) {
        return COUNT_DHCP_DROP_UNASKED;
    }
    if (client->state != DHCP_REBINDING && message->server != client->lease.server) {
        return COUNT_DHCP_DROP_SERVER;
    }
    return WIRE_OK;
}

static net_counter_t take_acknowledgement(dhcp_client_t *client, const dhcp_message_t *message)
{
    net_counter_t reason = check_answer(client, message);
    dhcp_lease_t before = client->lease;

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
    if (client->state == DHCP_RELEASING) {
        take_static(client);
    }
    if (client->state == DHCP_OFF) {
        client->has_started = true;
        restart(client, spread(client));
    }
}

void dhcp_stop(dhcp_client_t *client)
{
    if (client->state == DHCP_OFF || client->state == DHCP_RELEASING) {
        return;
    }
    if (dhcp_holds_lease(client) && !client->net->claim.lost) {
        client->xid = net_random(client->net);
        client->tries = 0;
        release(client);
    } else {
        take_static(client);
    }
}

uint32_t dhcp_remaining_s(const dhcp_client_t *client)
{
    return dhcp_holds_lease(client) ? dhcp_lease_remaining_s(&client->lease) : 0;
}

const char *dhcp_state_name(dhcp_state_t state)
{
    static const char *const names[] FOR_PEOPLE = {"off",     "waiting", "selecting", "requesting",
                                        "probing", "bound",   "renewing",  "rebinding",
                                        "releasing"};

    return names[state];
}
