/* Commands about the network interface. */
#include "apps/command.h"
#include "apps/network.h"

static bool run_ifconfig(command_call_t *call)
{
    const uint8_t *address = (const uint8_t *)&network.address;
    const uint8_t *mac = (const uint8_t *)&network.mac;

    switch (call->step) {
    case 0:
        command_print(call, "inet %u.%u.%u.%u  ether %02x:%02x:%02x:%02x:%02x:%02x\n", address[0],
                      address[1], address[2], address[3], mac[0], mac[1], mac[2], mac[3], mac[4],
                      mac[5]);
        return true;
    case 1:
        command_print(call, "received %lu  transmitted %lu\n", (unsigned long)network_mac.received,
                      (unsigned long)network_mac.transmitted);
        return true;
    default:
        command_print(call, "MAC: no slot %lu  bad FCS %lu  bad preamble %lu\n",
                      (unsigned long)ethmac_overruns(), (unsigned long)ethmac_crc_errors(),
                      (unsigned long)ethmac_preamble_errors());
        return false;
    }
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

static const command_t commands[] = {
    {"ifconfig", "", "addresses and frames", run_ifconfig},
    {"counters", "", "what became of frames, datagrams and commands", run_counters},
};

static command_table_t table = {commands, sizeof(commands) / sizeof(commands[0]), NULL};

void network_add_commands(void)
{
    command_add(&table);
}
