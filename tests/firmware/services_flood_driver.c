/* The services' application, to which datagrams for one UDP port come faster than it answers them: `argv[1]` is the
 * port, and `argv[2]` what each says. Exit status 0 if the others have their turn all the same, otherwise a line on
 * stderr.
 *
 * With `argv[3]` it is one datagram that asks for many, `argv[2]` is how many and of how many bytes, and a request to
 * UDP 7100, `argv[3]`, comes together with it. Exit status 0 if its answer is complete before all of them have been
 * sent.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/command.h"
#define main services_main
#include "../../firmware/apps/services.c"
#undef main

/* More in a row than wait at the same time. */
enum { TOO_MANY = 4 * UDP_SOCKET_SLOTS, SOCKETS = 4, FRAME_BYTES = 2048 };

net_t network;
ethmac_t network_mac;
context_posts_t context_posts;
uint32_t context_patient_lines;
bool share_is_kept;
share_timing_t share_timing;
uint32_t services_compute;
uint32_t tier_served_lines;

static udp_socket_t *sockets[SOCKETS];
static uint32_t socket_count;
static udp_socket_t *flooded;
static packet_t packet = {.home = PACKET_HOME_RECEIVE};
static packet_t asking = {.home = PACKET_HOME_RECEIVE};
static packet_t own[NET_APPLICATION_PACKETS];
static _Alignas(4) uint8_t frames[2 + NET_APPLICATION_PACKETS][FRAME_BYTES];
static const char *words;
static const char *request; /* NULL: the port is flooded */
static uint32_t answers;

/* --- the network --------------------------------------------------------------------------------- */

static udp_socket_t *socket_at(uint32_t port)
{
    for (uint32_t index = 0; index < socket_count; index++) {
        if (be16_to_host(sockets[index]->local_port) == port) {
            return sockets[index];
        }
    }
    fprintf(stderr, "nobody has port %u\n", port);
    exit(2);
}

static void put(packet_t *with, const char *text, udp_socket_t *socket)
{
    with->local_port = socket->local_port;
    with->peer_port = 7;
    with->payload_bytes = (uint16_t)strlen(text);
    memcpy(packet_payload(with), text, with->payload_bytes);
    (void)RING_PUSH(&socket->inbox, with);
}

static void come(void)
{
    put(&packet, words, flooded);
}

static void send(packet_t *with, uint32_t from)
{
    if (from == REMOTE_PORT) {
        const char *status = memchr(packet_payload(with), 'o', 16);
        if (status != NULL && memcmp(status, "ok", 2) == 0) {
            exit(0);
        }
    } else if (++answers == strtoul(words, NULL, 10)) {
        fprintf(stderr, "all %u datagrams, and no answer yet\n", answers);
        exit(1);
    }
    if (with->home == PACKET_HOME_APPLICATION) {
        (void)RING_PUSH(&network.outbox, with);
    }
}

/* The next one is there when a datagram has been worked on. */
static void answer(void)
{
    if (request != NULL) {
        return;
    }
    if (++answers > TOO_MANY) {
        fprintf(stderr, "%u datagrams, and nobody else had a turn\n", answers);
        exit(1);
    }
    come();
}

udp_result_t udp_bind_service(net_t *net, udp_socket_t *socket, uint32_t port)
{
    (void)net;
    socket->local_port = (uint16_t)host_to_be16(port);
    sockets[socket_count++] = socket;
    return UDP_OK;
}

udp_result_t udp_bind(net_t *net, udp_socket_t *socket, uint32_t port)
{
    (void)net;
    (void)socket;
    (void)port;
    return UDP_OK;
}

void udp_init(udp_socket_t *socket, udp_callback_t callback, void *context)
{
    *socket = (udp_socket_t){.callback = callback, .context = context};
}

udp_asker_t udp_asker(const packet_t *from)
{
    return (udp_asker_t){.port = from->peer_port, .local_port = from->local_port};
}

udp_result_t udp_reply(net_t *net, packet_t *with)
{
    (void)net;
    (void)with;
    answer();
    return UDP_OK;
}

udp_result_t udp_answer(net_t *net, packet_t *with, const udp_asker_t *asker)
{
    (void)net;
    if (request != NULL) {
        send(with, be16_to_host(asker->local_port));
    }
    answer();
    return UDP_OK;
}

void udp_release(net_t *net, packet_t *with)
{
    (void)net;
    (void)with;
    answer();
}

packet_t *udp_reserve(net_t *net)
{
    return RING_POP(&net->supply);
}

/* --- the others' turn ---------------------------------------------------------------------------- */

/* An answer of several datagrams. */
static bool run_say(command_call_t *call)
{
    command_print(call, "%0100u\n", (unsigned)call->step);
    return call->step < 3 * PACKET_PAYLOAD_BYTES / 100;
}

static const command_t say[] = {{"say", "", 0, "much", run_say}};
static command_table_t said = {say, 1, NULL};

void console_init(uart_t *uart)
{
    (void)uart;
    packet.frame = frames[0];
    flooded = socket_at(be16_to_host(packet.local_port));
    come();
    if (request == NULL) {
        return;
    }
    command_add(&said);
    for (uint32_t index = 0; index < NET_APPLICATION_PACKETS; index++) {
        own[index] = (packet_t){.home = PACKET_HOME_APPLICATION, .frame = frames[2 + index]};
        (void)RING_PUSH(&network.supply, &own[index]);
    }
    asking.frame = frames[1];
    put(&asking, request, socket_at(REMOTE_PORT));
}

/* The second time, all have had one. */
bool console_service(void)
{
    static bool was_here;

    if (request == NULL && was_here && answers != 0) {
        exit(0);
    }
    was_here = true;
    return true;
}

/* What has been sent comes home. */
void context_run_protocol(void)
{
    packet_t *sent;

    while ((sent = RING_POP(&network.outbox)) != NULL) {
        (void)RING_PUSH(&network.supply, sent);
    }
}

void context_wait(void)
{
}

void irq_run(uint32_t line)
{
    (void)line;
}

/* --- nothing of it is used ----------------------------------------------------------------------- */

#define NOTHING(name)                                                                              \
    void name(void)                                                                                \
    {                                                                                              \
    }

NOTHING(network_init)
NOTHING(network_init_dhcp)
NOTHING(network_add_commands)
NOTHING(network_line_protocol)
NOTHING(share_init)
NOTHING(share_look)
NOTHING(irq_start)
NOTHING(irqtune_init)
NOTHING(lin_init)
NOTHING(lin_add_command)
NOTHING(lin_protocol)
NOTHING(busy_round)

void alarm_init(uint32_t priority)
{
    (void)priority;
}

uint32_t alarm_clock(void)
{
    return 0;
}

void network_line_init(uint32_t priority)
{
    (void)priority;
}

void uart_init(uart_t *uart)
{
    (void)uart;
}

bool uart_service(uart_t *uart)
{
    (void)uart;
    return false;
}

bool irq_register(uint32_t line, const char *name, irq_service_t service, void *context, uint32_t priority)
{
    (void)line;
    (void)name;
    (void)service;
    (void)context;
    (void)priority;
    return true;
}

void irq_dispatch(uint32_t tier)
{
    (void)tier;
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 4) {
        return 2;
    }
    request = argv[3];
    packet.local_port = (uint16_t)host_to_be16((uint32_t)atoi(argv[1]));
    words = argv[2];
    return services_main();
}
