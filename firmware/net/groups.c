#include "groups.h"

#include "stack.h"
#include "wire/igmp.h"
#include "wire/ipv4.h"

/* RFC 2236 section 8. */
enum {
    UNSOLICITED_REPORT_INTERVAL_S = 10,
    VERSION_1_ROUTER_PRESENT_S = 400,
    VERSION_1_RESPONSE_S = 10
};

static group_t *find(net_t *net, be32_t group)
{
    for (group_t *entry = net->groups.entries; entry != net->groups.entries + IGMP_GROUPS; entry++) {
        if (entry->address == group) {
            return entry;
        }
    }
    return NULL;
}

bool groups_have(const net_t *net, be32_t group)
{
    if (group == GROUP_ALL_HOSTS) {
        return true;
    }
    for (uint32_t i = 0; i < IGMP_GROUPS; i++) {
        if (net->groups.entries[i].address == group) {
            return ipv4_is_multicast(group);
        }
    }
    return false;
}

static bool has_mac(be32_t group, uint32_t first_word, uint32_t last_half)
{
    ethernet_address_t mac = ethernet_of_group(group);

    return (mac.half[0] | (uint32_t)mac.half[1] << 16) == first_word && mac.half[2] == last_half;
}

bool groups_have_mac(const net_t *net, uint32_t first_word, uint32_t last_half)
{
    bool have = has_mac(GROUP_ALL_HOSTS, first_word, last_half);

    for (uint32_t i = 0; i < IGMP_GROUPS; i++) {
        be32_t group = net->groups.entries[i].address;
        have |= group != 0 && has_mac(group, first_word, last_half);
    }
    return have;
}

/* Sends a message about a group. False if there is no packet for it. */
static bool send(net_t *net, uint32_t type, be32_t destination, be32_t group)
{
    packet_t *packet = net_reserve(net);
    ethernet_address_t mac = ethernet_of_group(destination);

    if (packet == NULL) {
        net_count(net, COUNT_IGMP_NO_PACKET);
        return false;
    }
    uint8_t *ip = packet->frame + ETHERNET_HEADER_BYTES;
    ethernet_put_address(packet->frame, &mac);
    ethernet_emit(packet->frame, &net->mac, ETHERNET_TYPE_IPV4);
    ipv4_emit_alert(ip, net->address, destination, IGMP_BYTES);
    igmp_emit(ip + IPV4_ALERT_HEADER_BYTES, type, group);
    packet->length_bytes = (uint16_t)ethernet_pad(
        packet->frame, ETHERNET_HEADER_BYTES + IPV4_ALERT_HEADER_BYTES + IGMP_BYTES);
    net_dispose(net, packet, NET_TRANSMIT);
    return true;
}

static void report(net_t *net, group_t *entry)
{
    uint32_t type = net->groups.version_1_s != 0 ? IGMP_REPORT_V1 : IGMP_REPORT;

    if (net->address == 0) {
        entry->report_s = 0;
        return;
    }
    if (!send(net, type, entry->address, entry->address)) {
        entry->report_s = 1;
        return;
    }
    net_count(net, COUNT_IGMP_REPORTED);
    entry->reported_last = true;
    entry->report_s = 0;
    if (entry->unasked != 0) {
        entry->unasked--;
        entry->report_s = (uint8_t)(1 + net_random(net) % UNSOLICITED_REPORT_INTERVAL_S);
    }
}

bool groups_join(net_t *net, be32_t group)
{
    group_t *entry = find(net, group);

    if (!ipv4_is_multicast(group) || group == GROUP_ALL_HOSTS) {
        return group == GROUP_ALL_HOSTS;
    }
    if (entry != NULL) {
        bool fits = entry->joined != UINT16_MAX;
        entry->joined = (uint16_t)(entry->joined + fits);
        return fits;
    }
    entry = find(net, 0);
    if (entry == NULL) {
        return false;
    }
    *entry = (group_t){.address = group, .joined = 1, .unasked = 1};
    report(net, entry);
    return true;
}

bool groups_leave(net_t *net, be32_t group)
{
    group_t *entry = find(net, group);

    if (!ipv4_is_multicast(group) || entry == NULL) {
        return group == GROUP_ALL_HOSTS;
    }
    if (--entry->joined != 0) {
        return true;
    }
    if (entry->reported_last && net->address != 0 && net->groups.version_1_s == 0
        && send(net, IGMP_LEAVE, GROUP_ALL_ROUTERS, group)) {
        net_count(net, COUNT_IGMP_LEFT);
    }
    *entry = (group_t){.address = 0};
    return true;
}

void groups_restart(net_t *net)
{
    for (uint32_t i = 0; i < IGMP_GROUPS; i++) {
        group_t *entry = &net->groups.entries[i];
        entry->reported_last = false;
        entry->unasked = 1;
        entry->report_s = entry->address != 0 && net->address != 0 ? 1 : 0;
    }
}

void groups_tick(net_t *net)
{
    if (net->groups.version_1_s != 0) {
        net->groups.version_1_s--;
    }
    for (uint32_t i = 0; i < IGMP_GROUPS; i++) {
        group_t *entry = &net->groups.entries[i];
        if (entry->report_s != 0 && --entry->report_s == 0) {
            report(net, entry);
        }
    }
}

/* A report within `limit_s` seconds; ticks come between now and in one second. If there is no whole
 * second, at once. */
static void answer(net_t *net, group_t *entry, uint32_t limit_s)
{
    if (entry->address == 0) {
        return;
    }
    if (limit_s == 0) {
        report(net, entry);
    } else if (entry->report_s == 0 || entry->report_s > limit_s) {
        entry->report_s = (uint8_t)(1 + net_random(net) % limit_s);
    }
}

static net_counter_t query_input(net_t *net, const igmp_message_t *message, be32_t destination)
{
    bool is_version_1 = message->response_ds == 0;
    be32_t group = is_version_1 ? 0 : message->group;
    uint32_t limit_s = is_version_1 ? VERSION_1_RESPONSE_S : message->response_ds / 10;

    if (destination != (group != 0 ? group : GROUP_ALL_HOSTS)) {
        return COUNT_IGMP_DROP_GROUP;
    }
    if (is_version_1) {
        net->groups.version_1_s = VERSION_1_ROUTER_PRESENT_S;
    }
    for (uint32_t i = 0; i < IGMP_GROUPS; i++) {
        group_t *entry = &net->groups.entries[i];
        if (group == 0 || entry->address == group) {
            answer(net, entry, limit_s);
        }
    }
    return COUNT_IGMP_QUERIED;
}

static net_counter_t report_input(net_t *net, be32_t group, be32_t destination)
{
    group_t *entry = find(net, group);

    if (group != destination) {
        return COUNT_IGMP_DROP_GROUP;
    }
    if (group == 0 || entry == NULL) {
        return COUNT_IGMP_IGNORED;
    }
    if (entry->report_s != 0) {
        entry->report_s = 0;
        entry->unasked = 0;
        entry->reported_last = false;
    }
    return COUNT_IGMP_HEARD;
}

net_counter_t groups_input(net_t *net, const uint8_t *message, uint32_t bytes, be32_t destination)
{
    igmp_message_t igmp;
    net_counter_t reason = igmp_parse(message, bytes, &igmp);

    if (reason != WIRE_OK) {
        return reason;
    }
    return igmp.type == IGMP_QUERY ? query_input(net, &igmp, destination)
                                   : report_input(net, igmp.group, destination);
}
