/* The whole terminal server with the network stack, on terminal_board.c's ports, driven by text; terminal_host.py
 * is the other side.
 *
 *   start CYCLE                             begins, by that clock; before anything else
 *   advance CYCLES                          time passes
 *   latency CYCLES                          from now on lines wait so long for their service
 *   early CYCLES                            alarms that are set from now on ring so much too early
 *   receive PORT HEX                        characters will be in the FIFO; of each 14 bytes: flags, data, stamp
 *                                           (4) and the cycle (8)
 *   send PORT COUNT                         the line takes characters from the FIFO
 *   shift PORT BUSY                         the line is sending its last character
 *   cts PORT ASSERTED
 *   frame HEX                               comes from the network
 *   tick                                    a second passes for the network
 *   forget                                  nobody's Ethernet address is known any more
 *   hold PROTOCOL NETWORK                   the protocol service does not run; nothing leaves, so that packets stay
 *   hoard HOME COUNT                        takes packets of home SERIAL or PROTOCOL away, or gives them back
 *   busy PORT LOCKS                         the port's service is waiting for the bus: until so many locks more
 *   locks                                   how many when the services last ran
 *   other ADDRESS                           another module sends a datagram to UDP port 9 of a host
 *   give PORT                               another module gets the port
 *   return PORT
 *   command LINE                            of the console
 *   reads                                   accesses to receive FIFOs so far
 *   registers PORT                          words of the registers that make settings
 *
 * What happens is printed: "transmit CYCLE HEX" for a frame, "line PORT HEX" for what was sent.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/network.h"
#include "apps/terminal/port.h"
#include "apps/terminal/terminal.h"
#include "command_line.h"
#include "net/neighbours.h"
#include "terminal_board.h"
#include "text.h"

enum { FRAMES_AT_ONCE = 8, HOARDED = NET_SERIAL_PACKETS, RECORD_BYTES = 14 };

net_t network;

static packet_t packets[NET_PACKETS];
static _Alignas(4) uint8_t buffers[NET_PACKETS][NET_BUFFER_BYTES];
static packet_t *hoarded[PACKET_HOMES][HOARDED];
static uint32_t hoarded_count[PACKET_HOMES];
static bool holds_network;

static uint64_t number(int index)
{
    return strtoull(text_word(index), NULL, 0);
}

/* --- network ----------------------------------------------------------------------------------- */

void board_ethernet_service(void)
{
    packet_t *packet;

    while (!holds_network && (packet = RING_POP(&network.transmit)) != NULL) {
        printf("transmit %llu ", (unsigned long long)board_cycle);
        text_print_hex(packet->frame, packet->length_bytes);
        (void)RING_PUSH(&network.sent, packet);
    }
}

bool board_protocol_service(void)
{
    (void)net_service(&network, FRAMES_AT_ONCE);
    /* The application asks for that, but not for what the server sends. */
    board_ethernet_service();
    terminal_protocol();
    return net_pending(&network);
}

static void init_network(void)
{
    static const ethernet_address_t mac = {{0x0002, 0x0000, 0x0100}};
    static const uint32_t counts[] = {[PACKET_HOME_RECEIVE] = NET_RECEIVE_PACKETS,
                                      [PACKET_HOME_PROTOCOL] = NET_PROTOCOL_PACKETS};
    uint32_t first = 0;

    net_init(&network, &mac);
    net_configure(&network, IPV4_ADDRESS(10, 0, 0, 1), IPV4_ADDRESS(255, 255, 255, 0), 0);
    for (uint32_t home = PACKET_HOME_RECEIVE; home <= PACKET_HOME_PROTOCOL; home++) {
        (void)net_add_packets(&network, (packet_home_t)home, &packets[first], buffers[first], counts[home]);
        first += counts[home];
    }
}

static void run_frame(void)
{
    static _Alignas(4) uint8_t frame[TEXT_HEX_BYTES];
    uint32_t bytes = text_hex(frame, 1);
    packet_t *packet = RING_POP(&network.free);

    if (packet == NULL) {
        text_fail("no packet is free");
    }
    packet_fill(packet, frame, bytes);
    (void)RING_PUSH(&network.received, packet);
    board_post();
}

static void run_hold(void)
{
    board_holds_protocol = text_number(1) != 0;
    holds_network = text_number(2) != 0;
    board_ethernet_service();
    /* What has been sent is taken back. */
    board_post();
}

static void run_other(void)
{
    packet_t *packet = net_reserve(&network);

    (void)packet_write(packet, "other", 5);
    udp_address(packet, &terminal_control_socket, __builtin_bswap32(text_number(1)), 9);
    net_dispose(&network, packet, udp_output(&network, packet));
    board_ethernet_service();
}

static void run_hoard(void)
{
    bool serial = strcmp(text_word(1), "serial") == 0;
    uint32_t home = serial ? PACKET_HOME_SERIAL : PACKET_HOME_PROTOCOL;
    uint32_t wanted = text_number(2);
    packet_t *packet;

    while (hoarded_count[home] > wanted) {
        net_release(&network, hoarded[home][--hoarded_count[home]]);
    }
    while (hoarded_count[home] < wanted
           && (packet = serial ? net_reserve_serial(&network) : net_reserve(&network)) != NULL) {
        hoarded[home][hoarded_count[home]++] = packet;
    }
    printf("hoarded %u\n", hoarded_count[home]);
    board_post();
}

/* --- ports ------------------------------------------------------------------------------------- */

static uint64_t get(const uint8_t *from, uint32_t count)
{
    uint64_t value = 0;

    while (count-- != 0) {
        value = value << 8 | *from++;
    }
    return value;
}

bool board_is_busy(uint32_t port)
{
    return terminal_is_away(&terminal_ports[port]) || terminal_ports[port].busy;
}

static void run_receive(void)
{
    static uint8_t records[TEXT_HEX_BYTES];
    uint32_t count = text_hex(records, 2) / RECORD_BYTES;

    for (const uint8_t *at = records; count-- != 0; at += RECORD_BYTES) {
        board_receive(text_number(1), (board_character_t){.flags = at[0],
                                                          .data = at[1],
                                                          .stamp = (uint32_t)get(at + 2, 4),
                                                          .cycle = get(at + 6, 8)});
    }
}

static void run_send(void)
{
    uint8_t sent[SERIAL_TRANSMIT_DEPTH];
    uint32_t count = board_send(text_number(1), sent, text_number(2));

    printf("line %u ", text_number(1));
    text_print_hex(sent, count);
}

static void begin_other(uint32_t port)
{
    (void)serial_init(&serial_ports[port], port);
}

static void serve_other(uint32_t port, bool pending)
{
    (void)pending;
    while (serial_receive(&serial_ports[port]) >= 0) {
    }
}

static const serial_user_t other = {.name = "other", .begin = begin_other, .serve = serve_other};

static void run_registers(void)
{
    static const uint32_t offsets[]
        = {SERIAL_REGISTER(TUNING),      SERIAL_REGISTER(FORMAT),  SERIAL_REGISTER(FLOW), SERIAL_REGISTER(WATERMARKS),
           SERIAL_REGISTER(FLOW_LEVELS), SERIAL_REGISTER(TIMEOUT), SERIAL_REGISTER(EV_ENABLE)};

    for (uint32_t index = 0; index < sizeof(offsets) / sizeof(offsets[0]); index++) {
        printf("register %u\n", board_register(text_number(1), offsets[index]));
    }
}

static void run_command(void)
{
    command_call_t call;
    const char *line = text_word(1);

    run_command_line(&call, line, (uint32_t)strlen(line));
}

static void start(void)
{
    board_cycle = number(1);
    init_network();
    terminal_init(1);
    terminal_add_commands();
    board_start();
}

static void run(const char *command)
{
    if (strcmp(command, "start") == 0) {
        start();
    } else if (strcmp(command, "latency") == 0) {
        board_latency_cycles = number(1);
    } else if (strcmp(command, "early") == 0) {
        board_early_cycles = text_number(1);
    } else if (strcmp(command, "receive") == 0) {
        run_receive();
    } else if (strcmp(command, "send") == 0) {
        run_send();
    } else if (strcmp(command, "shift") == 0) {
        board_set_shifting(text_number(1), text_number(2) != 0);
    } else if (strcmp(command, "cts") == 0) {
        board_set_cts(text_number(1), text_number(2) != 0);
    } else if (strcmp(command, "frame") == 0) {
        run_frame();
    } else if (strcmp(command, "tick") == 0) {
        (void)net_tick(&network);
        board_ethernet_service();
    } else if (strcmp(command, "forget") == 0) {
        arp_flush(&network);
    } else if (strcmp(command, "hold") == 0) {
        run_hold();
    } else if (strcmp(command, "hoard") == 0) {
        run_hoard();
    } else if (strcmp(command, "other") == 0) {
        run_other();
    } else if (strcmp(command, "busy") == 0) {
        board_keep_busy(&terminal_ports[text_number(1)].busy, text_number(2));
    } else if (strcmp(command, "locks") == 0) {
        printf("locks %u\n", board_locks);
    } else if (strcmp(command, "give") == 0) {
        (void)serial_ports_give(text_number(1), &other);
    } else if (strcmp(command, "return") == 0) {
        (void)serial_ports_give(text_number(1), serial_ports_usual_user());
    } else if (strcmp(command, "command") == 0) {
        run_command();
    } else if (strcmp(command, "reads") == 0) {
        printf("reads %u\n", board_reads);
    } else if (strcmp(command, "registers") == 0) {
        run_registers();
    } else if (strcmp(command, "advance") != 0) {
        text_fail("no such command");
    }
    board_advance(strcmp(command, "advance") == 0 ? number(1) : 0);
}

int main(void)
{
    text_serve(run);
    return 0;
}
