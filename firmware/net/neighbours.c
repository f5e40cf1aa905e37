#include "neighbours.h"

#include "wire/arp.h"
#include "wire/ipv4.h"

/* As long as it waits a receive packet is as if the application held it. */
static void keep_waiting(net_t *net, arp_entry_t *entry, packet_t *packet)
{
    entry->waiting = packet;
    net->arp.waiting++;
    net->held += packet->home == PACKET_HOME_RECEIVE;
}

/* What waits for the entry, which is counted; NULL if nothing does. */
static packet_t *take_waiting(net_t *net, arp_entry_t *entry, net_counter_t counter)
{
    packet_t *packet = entry->waiting;

    if (packet != NULL) {
        entry->waiting = NULL;
        net->arp.waiting--;
        net->held -= packet->home == PACKET_HOME_RECEIVE;
        net_count(net, counter);
    }
    return packet;
}

/* What waits for the entry goes home. */
static void drop_waiting(net_t *net, arp_entry_t *entry, net_counter_t counter)
{
    packet_t *packet = take_waiting(net, entry, counter);

    if (packet != NULL) {
        net_release(net, packet);
    }
}

static void expire(net_t *net, arp_entry_t *entry, net_counter_t waiting_counter)
{
    drop_waiting(net, entry, waiting_counter);
    entry->state = ARP_UNUSED;
}

static arp_entry_t *find(net_t *net, be32_t address)
{
    arp_table_t *table = &net->arp;

    for (arp_entry_t *entry = table->entries; entry != table->entries + ARP_ENTRIES; entry++) {
        if (entry->address == address && entry->state != ARP_UNUSED) {
            return entry;
        }
    }
    return NULL;
}

/* How willingly an entry is given up: the highest goes first, 0 never. */
static uint32_t rank(const arp_entry_t *entry, bool for_us)
{
    if (entry->state == ARP_UNUSED) {
        return 3;
    }
    if (entry->state == ARP_INCOMPLETE || entry->quiet_ticks != 0) {
        return 0;
    }
    if (entry->state == ARP_COMPLETE && !entry->used) {
        return 2;
    }
    return for_us ? 1 : 0;
}

/* An entry to fill, or NULL; `for_us` if it is we who want to send. */
static arp_entry_t *claim(net_t *net, be32_t address, bool for_us)
{
    arp_table_t *table = &net->arp;
    arp_entry_t *best = NULL;
    uint32_t best_rank = 0;

    for (arp_entry_t *entry = table->entries; entry != table->entries + ARP_ENTRIES; entry++) {
        uint32_t its_rank = rank(entry, for_us);
        uint32_t age = table->clock - entry->stamp;

        if (its_rank > best_rank
            || (its_rank != 0 && its_rank == best_rank && age > table->clock - best->stamp)) {
            best = entry;
            best_rank = its_rank;
        }
    }
    if (best == NULL) {
        return NULL;
    }
    if (best->state != ARP_UNUSED) {
        net_count(net, COUNT_ARP_EVICTED);
    }
    best->address = address;
    best->stamp = table->clock++;
    best->seconds = 0;
    best->tries = 0;
    best->used = false;
    best->quiet_ticks = 0;
    return best;
}

/* Enters what a neighbour said of itself and sends what waited for it. */
static void renew(net_t *net, arp_entry_t *entry, const ethernet_address_t *mac)
{
    packet_t *waiting = take_waiting(net, entry, COUNT_ARP_WAITING_SENT);

    entry->mac = *mac;
    entry->state = ARP_COMPLETE;
    entry->stamp = net->arp.clock++;
    entry->seconds = 0;
    entry->tries = 0;
    entry->used = waiting != NULL;
    if (waiting != NULL) {
        ethernet_put_address(waiting->frame, mac);
        net_dispose(net, waiting, NET_TRANSMIT);
    }
}

/* Writes the whole frame of an ARP packet from us, who use the address `sender`. */
static void emit(const net_t *net, packet_t *packet, be16_t operation, be32_t sender,
                 const ethernet_address_t *destination, const ethernet_address_t *target_mac,
                 be32_t target)
{
    arp_packet_t content = {.operation = operation,
                            .sender_mac = net->mac,
                            .sender = sender,
                            .target_mac = *target_mac,
                            .target = target};

    ethernet_put_address(packet->frame, destination);
    ethernet_emit(packet->frame, &net->mac, ETHERNET_TYPE_ARP);
    arp_emit(packet->frame + ETHERNET_HEADER_BYTES, &content);
}

/* Sends a request. False if there is no packet for it, which is NULL then. */
static bool ask(net_t *net, packet_t *packet, be32_t sender, const ethernet_address_t *destination,
                be32_t target)
{
    static const ethernet_address_t nobody;

    if (packet == NULL) {
        net_count(net, COUNT_ARP_NO_PACKET);
        return false;
    }
    emit(net, packet, ARP_REQUEST, sender, destination, &nobody, target);
    packet->length_bytes =
        (uint16_t)ethernet_pad(packet->frame, ETHERNET_HEADER_BYTES + ARP_PACKET_BYTES);
    net_dispose(net, packet, NET_TRANSMIT);
    return true;
}

bool arp_ask_all(net_t *net, be32_t sender, be32_t target)
{
    return ask(net, net_reserve(net), sender, &ethernet_broadcast, target);
}

/* `quiet_ticks` follow if the request can be sent: at a tick one, otherwise one more. */
static void request(net_t *net, arp_entry_t *entry, packet_t *packet, uint8_t quiet_ticks)
{
    /* A neighbour that we know is asked alone, without waking all others (RFC 1122 2.3.2.1). */
    bool is_known = entry->state == ARP_REFRESHING;
    bool asked = ask(net, packet, net->address, is_known ? &entry->mac : &ethernet_broadcast,
                     entry->address);

    if (asked || !is_known) {
        entry->tries++;
    }
    if (asked) {
        entry->quiet_ticks = quiet_ticks;
        net_count(net, COUNT_ARP_REQUESTED);
    }
}

/* A packet for another request. What waits gives its own if no other is left of those that the stack sends: they
 * may all wait, and nobody would be asked any more. */
static packet_t *reserve_again(net_t *net, arp_entry_t *entry)
{
    packet_t *packet = net_reserve(net);

    if (packet == NULL && entry->waiting != NULL && entry->waiting->home == PACKET_HOME_PROTOCOL) {
        packet = take_waiting(net, entry, COUNT_ARP_WAITING_DROP_ASKED);
        packet->flags = 0;
    }
    return packet;
}

static net_verdict_t reply_input(net_t *net, const arp_packet_t *content)
{
    if (content->target != net->address || net->address == 0) {
        return net_drop(net, COUNT_ARP_DROP_TARGET);
    }
    arp_entry_t *entry = find(net, content->sender);
    if (entry == NULL || entry->state == ARP_COMPLETE) {
        return net_drop(net, COUNT_ARP_DROP_UNSOLICITED);
    }
    renew(net, entry, &content->sender_mac);
    return net_drop(net, COUNT_ARP_RESOLVED);
}

static bool is_neighbour(const net_t *net, be32_t address)
{
    return ((address ^ net->address) & net->netmask) == 0 && address != net->broadcast;
}

static net_verdict_t request_input(net_t *net, packet_t *packet, const arp_packet_t *content)
{
    arp_entry_t *entry = find(net, content->sender);

    if (entry != NULL) {
        renew(net, entry, &content->sender_mac);
    }
    if (content->target != net->address || net->address == 0) {
        return net_drop(net, entry != NULL ? COUNT_ARP_UPDATED : COUNT_ARP_DROP_TARGET);
    }
    if (entry == NULL && content->sender != 0 && is_neighbour(net, content->sender)) {
        entry = claim(net, content->sender, false);
        if (entry != NULL) {
            renew(net, entry, &content->sender_mac);
        } else {
            net_count(net, COUNT_ARP_NOT_LEARNED);
        }
    }
    emit(net, packet, ARP_REPLY, net->address, &content->sender_mac, &content->sender_mac, content->sender);
    packet->length_bytes = (uint16_t)ethernet_trimmed_bytes(
        ETHERNET_HEADER_BYTES + ARP_PACKET_BYTES, packet->length_bytes);
    net_count(net, COUNT_ARP_ANSWERED);
    return NET_TRANSMIT;
}

COLD net_verdict_t arp_input(net_t *net, packet_t *packet)
{
    arp_packet_t content;
    net_counter_t reason = arp_parse(packet->frame + ETHERNET_HEADER_BYTES,
                                     packet->length_bytes - (uint32_t)ETHERNET_HEADER_BYTES,
                                     &content);

    if (reason != WIRE_OK) {
        return net_drop(net, reason);
    }
    if (ethernet_address_equal(&content.sender_mac, &net->mac)) {
        return net_drop(net, COUNT_ARP_DROP_REFLECTED);
    }
    if (claim_is_disputed(net, &content)) {
        return net_drop(net, COUNT_ARP_DROP_CONFLICT);
    }
    /* 0.0.0.0 is a probe's sender, and nobody's in a reply. */
    if (!ipv4_is_host(content.sender)
        && !(content.sender == 0 && content.operation == ARP_REQUEST)) {
        return net_drop(net, COUNT_ARP_DROP_SENDER);
    }
    if (content.operation == ARP_REPLY) {
        return reply_input(net, &content);
    }
    return request_input(net, packet, &content);
}

net_verdict_t arp_resolve(net_t *net, be32_t address, packet_t *packet)
{
    arp_entry_t *entry = find(net, address);

    if (LIKELY(entry != NULL && entry->state != ARP_INCOMPLETE)) {
        entry->stamp = net->arp.clock++;
        entry->used = true;
        ethernet_put_address(packet->frame, &entry->mac);
        return NET_TRANSMIT;
    }
    if (entry != NULL) {
        drop_waiting(net, entry, COUNT_ARP_WAITING_DROP_REPLACED);
        keep_waiting(net, entry, packet);
        return NET_KEPT;
    }
    entry = claim(net, address, true);
    if (entry == NULL) {
        return NET_FREE;
    }
    entry->state = ARP_INCOMPLETE;
    keep_waiting(net, entry, packet);
    request(net, entry, net_reserve(net), 2);
    return NET_KEPT;
}

bool arp_awaits(net_t *net, be32_t address)
{
    if (LIKELY(net->arp.waiting == 0)) {
        return false;
    }
    const arp_entry_t *entry = find(net, address);
    return entry != NULL && entry->waiting != NULL;
}

void arp_flush(net_t *net)
{
    for (uint32_t i = 0; i < ARP_ENTRIES; i++) {
        expire(net, &net->arp.entries[i], COUNT_ARP_WAITING_DROP_FLUSHED);
    }
}

static void tick_entry(net_t *net, arp_entry_t *entry)
{
    if (entry->state == ARP_UNUSED) {
        return;
    }
    entry->seconds++;
    if (entry->quiet_ticks != 0 && --entry->quiet_ticks != 0) {
        return;
    }
    if (entry->state == ARP_COMPLETE) {
        if (entry->seconds < ARP_LIFETIME_S) {
            return;
        }
        if (!entry->used) {
            net_count(net, COUNT_ARP_EXPIRED);
            expire(net, entry, COUNT_ARP_WAITING_DROP_UNREACHABLE);
            return;
        }
        entry->state = ARP_REFRESHING;
    } else if (entry->tries >= ARP_TRIES) {
        if (entry->state == ARP_REFRESHING) {
            net_count(net, COUNT_ARP_EXPIRED);
        }
        expire(net, entry, COUNT_ARP_WAITING_DROP_UNREACHABLE);
        return;
    }
    request(net, entry, reserve_again(net, entry), 1);
}

void arp_tick(net_t *net)
{
    for (uint32_t i = 0; i < ARP_ENTRIES; i++) {
        tick_entry(net, &net->arp.entries[i]);
    }
}
