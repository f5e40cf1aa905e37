#include "claim.h"

#include "neighbours.h"
#include "stack.h"

/* RFC 5227 section 1.1. */
enum {
    PROBES = 3,
    PROBE_INTERVAL_S = 1,
    ANNOUNCE_WAIT_S = 2,
    ANNOUNCEMENTS = 2,
    ANNOUNCE_INTERVAL_S = 2,
    DEFEND_INTERVAL_S = 10
};

void claim_probe(net_t *net, be32_t candidate)
{
    claim_t *claim = &net->claim;

    claim->candidate = candidate;
    claim->state = candidate != 0 ? CLAIM_PROBING : CLAIM_NO_CANDIDATE;
    claim->probes = PROBES;
    claim->wait_s = PROBE_INTERVAL_S;
}

void claim_restart(net_t *net)
{
    net->claim = (claim_t){.announcements = net->address != 0 ? ANNOUNCEMENTS : 0, .wait_s = 1};
}

static bool announce(net_t *net)
{
    if (!arp_ask_all(net, net->address, net->address)) {
        return false;
    }
    net_count(net, COUNT_ARP_ANNOUNCED);
    return true;
}

/* Another uses our address. */
static void defend(net_t *net)
{
    claim_t *claim = &net->claim;

    if (claim->defended_s == 0) {
        if (announce(net)) {
            /* The first tick may come at once. */
            claim->defended_s = DEFEND_INTERVAL_S + 1;
            net_count(net, COUNT_ARP_DEFENDED);
        }
    } else if (claim->leased) {
        net_configure(net, 0, 0, 0);
        claim->lost = true;
        net_count(net, COUNT_ARP_YIELDED);
    }
}

bool claim_is_disputed(net_t *net, const arp_packet_t *content)
{
    claim_t *claim = &net->claim;
    bool is_probe = content->sender == 0 && content->operation == ARP_REQUEST;

    if (claim->candidate != 0
        && (content->sender == claim->candidate
            || (is_probe && content->target == claim->candidate))) {
        claim->state = CLAIM_TAKEN;
        return true;
    }
    if (net->address == 0 || content->sender != net->address) {
        return false;
    }
    defend(net);
    return true;
}

static void tick_candidate(net_t *net)
{
    claim_t *claim = &net->claim;

    if (claim->probes == 0) {
        claim->state = CLAIM_FREE;
        return;
    }
    claim->wait_s = PROBE_INTERVAL_S;
    if (arp_ask_all(net, 0, claim->candidate)) {
        net_count(net, COUNT_ARP_PROBED);
        claim->probes--;
        if (claim->probes == 0) {
            claim->wait_s = ANNOUNCE_WAIT_S;
        }
    }
}

void claim_tick(net_t *net)
{
    claim_t *claim = &net->claim;

    if (claim->defended_s != 0) {
        claim->defended_s--;
    }
    if (claim->wait_s != 0 && --claim->wait_s != 0) {
        return;
    }
    if (claim->state == CLAIM_PROBING) {
        tick_candidate(net);
    } else if (claim->announcements != 0) {
        claim->wait_s = 1;
        if (announce(net)) {
            claim->announcements--;
            claim->wait_s = ANNOUNCE_INTERVAL_S;
        }
    }
}
