/* Commands about the network interface. */
#include <string.h>

#include <generated/soc.h>

#include "alarm.h"
#include "apps/command.h"
#include "apps/network.h"
#include "context.h"
#include "irq.h"

static void print_address(command_call_t *call, const char *name, be32_t address)
{
    const uint8_t *part = (const uint8_t *)&address;

    command_print(call, "%s %u.%u.%u.%u", name, part[0], part[1], part[2], part[3]);
}

static void print_addresses(command_call_t *call)
{
    const uint8_t *mac = (const uint8_t *)&network.mac;

    print_address(call, "inet", network.address);
    command_print(call, "  ether %02x:%02x:%02x:%02x:%02x:%02x\n", mac[0], mac[1], mac[2], mac[3],
                  mac[4], mac[5]);
}

static void print_subnet(command_call_t *call)
{
    print_address(call, "netmask", network.netmask);
    print_address(call, "  gateway", network.gateway);
    command_print(call, "\n");
}

static void print_lease(command_call_t *call)
{
    uint32_t remaining_s = dhcp_remaining_s(&network_dhcp);

    command_print(call, "dhcp %s", dhcp_state_name((dhcp_state_t)network_dhcp.state));
    if (remaining_s != 0) {
        print_address(call, "  server", network_dhcp.lease.server);
        if (remaining_s == UINT32_MAX) {
            command_print(call, "  for ever");
        } else {
            command_print(call, "  for %lu s", (unsigned long)remaining_s);
        }
    }
    command_print(call, "\n");
}

/* Lines of ifconfig before those of the groups. */
enum { AT_ADDRESSES, AT_SUBNET, AT_LEASE, AT_FRAMES, AT_ERRORS, AT_GROUPS };

static bool run_ifconfig(command_call_t *call)
{
    switch (call->step) {
    case AT_ADDRESSES:
        print_addresses(call);
        return true;
    case AT_SUBNET:
        print_subnet(call);
        return true;
    case AT_LEASE:
        print_lease(call);
        return true;
    case AT_FRAMES:
        command_print(call, "received %lu  transmitted %lu\n", (unsigned long)ethmac_received(&network_mac),
                      (unsigned long)ethmac_transmitted(&network_mac));
        return true;
    case AT_ERRORS:
        command_print(call, "MAC: no slot %lu  bad FCS %lu  bad preamble %lu\n",
                      (unsigned long)ethmac_overruns(), (unsigned long)ethmac_crc_errors(),
                      (unsigned long)ethmac_preamble_errors());
        return true;
    default:
        break;
    }
    uint32_t place = call->step - AT_GROUPS;
    be32_t group = network.groups.entries[place].address;
    if (group != 0) {
        print_address(call, "group", group);
        command_print(call, "\n");
    }
    return place + 1 < IGMP_GROUPS;
}

static bool run_counters(command_call_t *call)
{
    if (call->step >= NET_COUNTER_COUNT) {
        command_print(call, "%-28s %lu\n", "COMMAND_ERRORS", (unsigned long)command_errors);
        return false;
    }
    uint32_t count = network.counters.counts[call->step];
    if (count != 0) {
        command_print(call, "%-28s %lu\n", net_counter_name((net_counter_t)call->step),
                      (unsigned long)count);
    }
    return true;
}

/* While the protocol service is held back a command does what is that tier's work; afterwards the driver
 * sends what came of it. */
static uint32_t begin_protocol(void)
{
    return context_lock();
}

static void end_protocol(uint32_t before)
{
    context_unlock(before);
    irq_run(ETHMAC_INTERRUPT);
}

static bool run_dhcp(command_call_t *call)
{
    bool on = call->count == 2 && strcmp(call->words[1], "on") == 0;

    if (call->count != 2) {
        return command_error(call, "dhcp needs 'on' or 'off'");
    }
    if (!on && strcmp(call->words[1], "off") != 0) {
        return command_error(call, "dhcp needs 'on' or 'off', not '%s'", call->words[1]);
    }
    uint32_t before = begin_protocol();
    net_stir(&network, alarm_clock());
    if (on) {
        dhcp_start(&network_dhcp);
    } else {
        dhcp_stop(&network_dhcp);
    }
    end_protocol(before);
    return false;
}

/* Four numbers of up to three digits with dots between. False, and command_error(), if it is anything
 * else. */
static bool read_address(command_call_t *call, const char *word, be32_t *address)
{
    const char *at = word;

    *address = 0;
    for (uint32_t part = 0; part < 4; part++) {
        const char *digits = at;
        uint32_t value = 0;
        while (*at >= '0' && *at <= '9' && at - digits < 3) {
            value = value * 10 + (uint32_t)(*at++ - '0');
        }
        if (at == digits || value > 255 || *at != (part < 3 ? '.' : '\0')) {
            return command_error(call, "no IPv4 address: '%s'", word);
        }
        *address |= value << 8 * part;
        at++;
    }
    return true;
}

static bool run_group(command_call_t *call, bool (*change)(net_t *net, be32_t group),
                      const char *problem)
{
    be32_t group;

    if (call->count != 2) {
        return command_error(call, "%s needs a multicast group", call->words[0]);
    }
    if (!read_address(call, call->words[1], &group)) {
        return false;
    }
    uint32_t before = begin_protocol();
    bool done = change(&network, group);
    end_protocol(before);
    return done ? false : command_error(call, "%s: %s", call->words[1], problem);
}

static bool run_join(command_call_t *call)
{
    return run_group(call, groups_join, "no multicast group, or no room for another");
}

static bool run_leave(command_call_t *call)
{
    return run_group(call, groups_leave, "not joined");
}

static const command_t commands[] = {
    {"ifconfig", "", 0, "addresses, lease, frames and groups", run_ifconfig},
    {"counters", "", 0, "what became of frames, datagrams and commands", run_counters},
    {"dhcp", "on|off", 1, "ask a DHCP server for the address, or give that back", run_dhcp},
    {"join", "GROUP", 1, "receive datagrams to a multicast group", run_join},
    {"leave", "GROUP", 1, "no longer receive them", run_leave},
};

static command_table_t table = {commands, sizeof(commands) / sizeof(commands[0]), NULL};

void network_add_commands(void)
{
    command_add(&table);
}
