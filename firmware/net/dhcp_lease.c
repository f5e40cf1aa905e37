#include "dhcp_lease.h"

#include "wire/ipv4.h"

enum { LEAST_RETRY_S = 60 };

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

/* True if the router is another host of the lease's subnet. */
static bool is_gateway(const dhcp_lease_t *lease, be32_t router)
{
    return ((router ^ lease->address) & lease->netmask) == 0 && is_host_in(router, lease->netmask)
           && router != lease->address;
}

static bool is_endless(const dhcp_lease_t *lease)
{
    return lease->duration_s == UINT32_MAX;
}

/* T1 and T2 as the server says, if they are in order, or 1/2 and 7/8 of the lease. */
static void set_times(dhcp_lease_t *lease, uint32_t renewal_s, uint32_t rebinding_s)
{
    uint32_t half_s = lease->duration_s / 2;

    if (rebinding_s == 0 || rebinding_s >= lease->duration_s) {
        rebinding_s = lease->duration_s - lease->duration_s / 8;
    }
    if (renewal_s == 0 || renewal_s >= rebinding_s) {
        renewal_s = half_s < rebinding_s ? half_s : rebinding_s / 2;
    }
    lease->renewal_s = renewal_s;
    lease->rebinding_s = rebinding_s;
}

bool dhcp_lease_read(dhcp_lease_t *lease, const dhcp_message_t *message)
{
    dhcp_lease_t said = {.address = message->address,
                         .netmask = message->netmask != 0 ? message->netmask
                                                          : class_netmask(message->address),
                         .server = message->server,
                         .duration_s = message->lease_s};

    if (said.duration_s == 0 || !is_host_in(said.address, said.netmask)
        || !ipv4_is_host(said.server)) {
        return false;
    }
    said.gateway = is_gateway(&said, message->router) ? message->router : 0;
    set_times(&said, message->renewal_s, message->rebinding_s);
    *lease = said;
    return true;
}

void dhcp_lease_hasten(dhcp_lease_t *lease, uint32_t random)
{
    lease->renewal_s -= random % (lease->renewal_s / 16 + 1);
}

dhcp_lease_phase_t dhcp_lease_tick(dhcp_lease_t *lease)
{
    if (is_endless(lease)) {
        return DHCP_LEASE_HELD;
    }
    lease->age_s++;
    if (lease->age_s >= lease->duration_s) {
        return DHCP_LEASE_ENDED;
    }
    if (lease->age_s >= lease->rebinding_s) {
        return DHCP_LEASE_REBINDING;
    }
    return lease->age_s >= lease->renewal_s ? DHCP_LEASE_RENEWAL : DHCP_LEASE_HELD;
}

uint32_t dhcp_lease_remaining_s(const dhcp_lease_t *lease)
{
    if (is_endless(lease)) {
        return UINT32_MAX;
    }
    return lease->age_s < lease->duration_s ? lease->duration_s - lease->age_s : 0;
}

/* Half of what remains of the phase, but a minute at the least. */
uint32_t dhcp_lease_retry_s(const dhcp_lease_t *lease)
{
    uint32_t end_s = lease->age_s < lease->rebinding_s ? lease->rebinding_s : lease->duration_s;
    uint32_t half_s = (end_s - lease->age_s) / 2;

    return half_s > LEAST_RETRY_S ? half_s : LEAST_RETRY_S;
}
