/* The console, commands over UDP, and LIN nodes on the serial ports: the real ones, whose devices and network are
 * here. Driven by lines of text; what a command makes them do is told by lines that begin with "!".
 *
 *   start                            everything; the first command
 *   console                          the console begins
 *   type HEX                         bytes that the console's UART has received; how many its ring took
 *   lose                             it has lost a byte
 *   serve                            the console's service; whether bytes were queued
 *   take BYTES                       what the UART sends: so many bytes at the most
 *
 *   supply COUNT, spare COUNT        packets that the application, and the protocol service, may reserve from now on
 *   unknown PEER                     a datagram to that host waits for its Ethernet address from now on, until
 *                                    `known`; another takes its place
 *   refused PEER                     one to that host is not sent: too many others' addresses are asked for; 0: none
 *   datagram PORT PEER PEERPORT HEX  comes in
 *   remote                           the service of commands over UDP; its result
 *   packets                          how many packets are neither in `supply` nor in `spare`
 *
 *   run HEX                          a command line: what it prints, whether it failed and how often it locked
 *   give PORT                        the port to another module; nobody's again
 *   units PORT COUNT                 the usual user has received COUNT characters: the units of the port's line, and
 *                                    for how many more it has room
 *   burst PORT FLAGS HEX CYCLE LOST  characters that the port's line brings; how many more it has lost
 *   ms CYCLE                         the alarm rings, if it is set
 *   late CYCLE                       the same, but the lines are not served yet
 *   lines                            they are
 *   alarm                            when it was to ring, or "-"
 *   protocol                         LIN's part of the protocol service
 *   registers PORT                   settings of a serial port
 *   lost                             reports that were lost for want of packets, or of a neighbour's address
 *   errors                           commands that failed
 *   count PORT NUMBER                what a node's counters are
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "apps/console.h"
#include "apps/lin/command.h"
#include "apps/lin/host.h"
#include "apps/network.h"
#include "apps/remote.h"
#include "apps/serial_ports.h"
#include "command_line.h"
#include "irq.h"
#include "services_devices.h"
#include "services_network.h"
#include "text.h"

/* --- who has the serial ports ---------------------------------------------------------------------- */

/* Leaves a port as nobody else wants it. */
static void begin_usual(uint32_t port)
{
    (void)serial_init(&serial_ports[port], port);
    serial_hold_break(&serial_ports[port], true);
    serial_enable_events(&serial_ports[port], SERIAL_EVENT_RECEIVE | SERIAL_EVENT_CTS);
    printf("!usual %u\n", port);
}

static void serve_usual(uint32_t port, bool pending)
{
    printf("!serve %u %d\n", port, pending);
}

static uint32_t usual_units;

static uint32_t received_usual(uint32_t port)
{
    (void)port;
    return usual_units;
}

static const serial_user_t usual = {
    .name = "usual", .begin = begin_usual, .serve = serve_usual, .room = 12, .received = received_usual};
static const serial_user_t other = {.name = "other", .begin = begin_usual, .serve = serve_usual};

/* --- commands and the console -------------------------------------------------------------------- */

/* COUNT lines of BYTES bytes each, which end with 0, 1 .. 9, 0 ..; with a third word, the last of them is an error. */
static bool run_say(command_call_t *call)
{
    uint32_t count;
    uint32_t bytes;

    if (!command_number(call, "COUNT", call->words[1], 1, 999999, &count)
        || !command_number(call, "BYTES", call->words[2], 1, COMMAND_LINE_BYTES - 1, &bytes)) {
        return false;
    }
    if (call->count > 3 && call->step + 1 == count) {
        return command_error(call, "no more");
    }
    command_print(call, "%0*u\n", (int)bytes - 1, (unsigned)call->step % 10);
    return call->step + 1 < count;
}

static const command_t commands[] = {{"say", "COUNT BYTES [WORD]", 3, "says it", run_say}};
static command_table_t table = {commands, 1, NULL};

static void run_line(void)
{
    static uint8_t text[TEXT_HEX_BYTES];
    static command_call_t call;
    uint32_t bytes = text_hex(text, 1);

    device_locks = 0;
    run_command_line(&call, (const char *)text, bytes);
    device_check(!device_is_locked, "still locked");
    printf("%s %u\n", call.failed ? "failed" : "done", device_locks);
}

static uart_t uart;

static void type(void)
{
    static uint8_t bytes[TEXT_HEX_BYTES];
    uint32_t count = text_hex(bytes, 1);
    uint32_t taken = 0;

    for (uint32_t index = 0; index < count; index++) {
        bool has_room = byte_ring_push(&uart.received, bytes[index]);
        taken += has_room;
        uart.overruns += !has_room;
    }
    printf("%u\n", taken);
}

static void lose(void)
{
    uart.overruns++;
}

static void take(void)
{
    static uint8_t bytes[UART_RING_BYTES];
    uint32_t most = text_number(1);
    uint32_t count = 0;
    int32_t byte;

    while (count < most && (byte = byte_ring_pop(&uart.transmit)) >= 0) {
        bytes[count++] = (uint8_t)byte;
    }
    text_print_hex(bytes, count);
}

static void serve_protocol(void)
{
    device_posted = false;
    lin_protocol();
}

/* --- the driver ---------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    void (*run)(void);
} verb_t;

static void start(void)
{
    device_start();
    command_add(&table);
    remote_init();
    serial_ports_init(&usual, 10);
    /* Nobody clears that memory before. */
    memset(lin_at(0), 0xa5, LIN_NODES * sizeof(*lin_at(0)));
    lin_init();
    lin_add_command();
}

static void begin_console(void)
{
    uart_init(&uart);
    console_init(&uart);
}

static void serve_console(void)
{
    printf("%d\n", console_service());
}

static void give(void)
{
    printf("%d\n", serial_ports_give(text_number(1), &other));
}

static void print_units(void)
{
    const irq_line_t *line = irq_line(serial_line(text_number(1)));

    usual_units = text_number(2);
    printf("%u %u\n", line->units(line->context), line->room);
}

static void pass_late(void)
{
    device_set_cycle(text_number(1));
    device_ring_alarm();
}

static void pass_ms(void)
{
    pass_late();
    device_serve_kicked();
}

static void set_counters(void)
{
    lin_port_t *lin = lin_of_port(text_number(1));
    uint32_t number = text_number(2);

    lin->node.counters = (lin_counters_t){number, number, number, number, {number, number}};
    lin->reports_lost = number;
}

static void print_errors(void)
{
    printf("%u\n", command_errors);
}

static void print_lost(void)
{
    printf("%u\n", lin_host_lost);
}

static const verb_t verbs[] = {
    {"start", start},
    {"console", begin_console},
    {"serve", serve_console},
    {"type", type},
    {"lose", lose},
    {"take", take},
    {"supply", network_supply},
    {"spare", network_set_spare},
    {"unknown", network_lose_neighbour},
    {"refused", network_refuse_neighbour},
    {"known", network_find_neighbour},
    {"datagram", network_take_datagram},
    {"remote", network_serve_remote},
    {"packets", network_print_packets},
    {"run", run_line},
    {"give", give},
    {"units", print_units},
    {"burst", device_burst},
    {"ms", pass_ms},
    {"late", pass_late},
    {"lines", device_serve_kicked},
    {"alarm", device_print_alarm},
    {"protocol", serve_protocol},
    {"registers", device_print_registers},
    {"lost", print_lost},
    {"errors", print_errors},
    {"count", set_counters},
};

static void run(const char *command)
{
    uint32_t index = 0;

    while (index < sizeof(verbs) / sizeof(verbs[0]) && strcmp(verbs[index].name, command) != 0) {
        index++;
    }
    device_check(index < sizeof(verbs) / sizeof(verbs[0]), "no such command");
    verbs[index].run();
    if (device_posted) {
        printf("!posted\n");
    }
}

int main(void)
{
    text_serve(run);
    return 0;
}
