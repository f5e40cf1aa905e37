/* The stack with a driver and an application made of text commands; net_host.py speaks them.
 *
 * A command is a line of words; the answer is any number of lines and then a line with a dot. Here are
 * the commands about the stack itself.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../../firmware/net/dhcp_client.h"
#include "../../firmware/net/stack.h"
#include "net_application.h"
#include "net_mac.h"
#include "net_report.h"
#include "text.h"

static net_t net;
static dhcp_client_t dhcp;

static void do_reset(void)
{
    static const ethernet_address_t mac = {{BE16(0x0200), BE16(0x0000), BE16(0x0001)}};

    net_application_reset();
    memset(&net, 0xa5, sizeof(net));
    net_init(&net, &mac);
    net_mac_reset(&net);
}

/* Where all packets are. */
static void do_audit(void)
{
    report_packets(&net);
    net_application_report();
    net_mac_report(&net);
}

/* dhcp init ADDRESS NETMASK GATEWAY: makes a client with this static address; dhcp start, stop, show. */
static void do_dhcp(void)
{
    const char *what = text_word(1);

    if (strcmp(what, "init") == 0) {
        dhcp_address_t fallback = {text_address(2), text_address(3), text_address(4)};
        printf("result %d\n", dhcp_init(&dhcp, &net, &fallback));
    } else if (strcmp(what, "start") == 0) {
        dhcp_start(&dhcp);
    } else if (strcmp(what, "stop") == 0) {
        dhcp_stop(&dhcp);
        net_mac_hand_over(&net, false);
    } else {
        printf("dhcp %s %" PRIu32 "\n", dhcp_state_name((dhcp_state_t)dhcp.state),
               dhcp_remaining_s(&dhcp));
    }
}

static void run(const char *command)
{
    if (strcmp(command, "reset") == 0) {
        do_reset();
    } else if (strcmp(command, "configure") == 0) {
        net_configure(&net, text_address(1), text_address(2), text_address(3));
    } else if (strcmp(command, "tick") == 0) {
        net_mac_hand_over(&net, net_tick(&net));
    } else if (strcmp(command, "join") == 0) {
        printf("result %d\n", groups_join(&net, text_address(1)));
        net_mac_hand_over(&net, false);
    } else if (strcmp(command, "leave") == 0) {
        printf("result %d\n", groups_leave(&net, text_address(1)));
        net_mac_hand_over(&net, false);
    } else if (strcmp(command, "dhcp") == 0) {
        do_dhcp();
    } else if (strcmp(command, "allow") == 0) {
        net_allow(&net, text_number(1));
        net_mac_serve(&net, UINT32_MAX);
        printf("held %d\n", net_is_held(&net));
    } else if (strcmp(command, "stir") == 0) {
        net_stir(&net, text_number(1));
    } else if (strcmp(command, "refill") == 0) {
        net.errors = ICMP_ERRORS_PER_S;
    } else if (strcmp(command, "address") == 0) {
        report_address(&net);
    } else if (strcmp(command, "counters") == 0) {
        report_counters(&net);
    } else if (strcmp(command, "audit") == 0) {
        do_audit();
    } else {
        text_fail("unknown command");
    }
}

static void run_and_report(const char *command)
{
    if (!net_mac_run(&net, command) && !net_application_run(&net, command)) {
        run(command);
    }
    report_counted(&net, strcmp(command, "reset") != 0);
}

int main(void)
{
    do_reset();
    text_serve(run_and_report);
    do_reset();
    return 0;
}
