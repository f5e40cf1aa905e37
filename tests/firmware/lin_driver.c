/* A LIN node on the host, driven by text; tests/firmware/lin_host.py is the other side.
 *
 *   init ROLE BIT_CYCLES US_CYCLES          begins anew; no answer
 *   add IDENTIFIER DIRECTION BYTES FLAGS BIT, remove IDENTIFIER, write IDENTIFIER HEX,
 *   assign NUMBER IDENTIFIER, schedule HEX, header IDENTIFIER, sleep      the result
 *   vanish IDENTIFIER                       removes it when the interrupt service has looked its number up;
 *                                           the result
 *   wake
 *   read IDENTIFIER                         result, times written, data
 *   identity SUPPLIER FUNCTION VARIANT INITIAL_NAD NAD SERIAL
 *   diagnose HEX                            the response or "-", then the NAD
 *   feed EVENTS                             for each event with something to do: its place, the actions,
 *                                           and the report or "-"
 *   counters                                all of them
 *   checksum CLASSIC PID HEX, protect IDENTIFIER
 *   request PEER HEX                        the answer to a datagram of a host; port 0 is the node
 *   watchers PORT                           the mask of hosts that watch
 *
 * EVENTS are separated by commas: r BYTE.FLAGS.CYCLE (a character), e MASK.FLAGS.CYCLE (the byte that was
 * to be sent last, exclusive or MASK), t CYCLE (a tick), all in hexadecimal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/lin/host.h"
#include "text.h"

static lin_port_t port;
static uint32_t last_sent;

lin_port_t *lin_of_port(uint32_t number)
{
    return number == 0 ? &port : NULL;
}

static void print_report(uint32_t place, uint32_t actions)
{
    printf("%u %x ", place, actions);
    if ((actions & LIN_DO_REPORT) == 0) {
        printf("-\n");
        return;
    }
    printf("%u.%x.%u.%x.", port.node.report.outcome, port.node.report.identifier, port.node.report.bytes,
           port.node.report.cycle);
    text_print_hex(port.node.report.data, port.node.report.bytes);
}

static void feed(const char *events)
{
    uint32_t place = 0;

    while (*events != '\0') {
        unsigned byte, flags, cycle;
        int used = 0;
        uint32_t actions;
        if (sscanf(events, "t%x%n", &cycle, &used) == 1) {
            actions = lin_tick(&port.node, cycle);
        } else if (sscanf(events, "r%x.%x.%x%n", &byte, &flags, &cycle, &used) == 3) {
            actions = lin_receive(&port.node, byte, flags, cycle);
        } else if (sscanf(events, "e%x.%x.%x%n", &byte, &flags, &cycle, &used) == 3) {
            actions = lin_receive(&port.node, byte ^ last_sent, flags, cycle);
        } else {
            text_fail("bad event");
        }
        if ((actions & LIN_DO_SEND) != 0) {
            last_sent = actions & LIN_DO_BYTE;
        }
        if (actions != 0) {
            print_report(place, actions);
        }
        events += used;
        events += *events == ',';
        place++;
    }
}

static void print_counters(void)
{
    const lin_counters_t *counters = &port.node.counters;

    printf("%u %u %u", counters->headers, counters->unanswered, counters->late);
    for (uint32_t outcome = 0; outcome < LIN_OUTCOMES; outcome++) {
        printf(" %u", counters->outcomes[outcome]);
    }
    printf("\n");
}

static void read_frame(void)
{
    uint8_t data[LIN_DATA_BYTES] = {0};
    uint32_t bytes = 0, written = 0;
    lin_result_t result = lin_read(&port.node, text_number(1), data, &bytes, &written);

    printf("%u %u ", result, written);
    text_print_hex(data, bytes);
}

static lin_result_t schedule(void)
{
    static uint8_t packed[TEXT_HEX_BYTES];
    lin_slot_t slots[64];
    uint32_t count = text_hex(packed, 1) / 3;

    for (uint32_t index = 0; index < count && index < 64; index++) {
        slots[index].identifier = packed[3 * index];
        slots[index].slot_ms = (uint16_t)(packed[3 * index + 1] << 8 | packed[3 * index + 2]);
    }
    const lin_schedule_t *running = &port.node.schedules[port.node.running];
    const lin_schedule_t before = *running;
    lin_result_t result = lin_schedule(&port.node, slots, count);
    if (memcmp(running, &before, sizeof(before)) != 0) {
        text_fail("a schedule that the interrupt service may be reading was written to");
    }
    return result;
}

static lin_result_t vanish(void)
{
    uint8_t *number = &port.node.by_identifier[text_number(1) % LIN_IDENTIFIERS];
    uint8_t before = *number;
    lin_result_t result = lin_remove(&port.node, text_number(1));

    *number = before;
    return result;
}

static void diagnose(void)
{
    static uint8_t request[TEXT_HEX_BYTES];
    uint8_t response[LIN_DATA_BYTES];

    if (text_hex(request, 1) != LIN_DATA_BYTES) {
        text_fail("a request has eight bytes");
    }
    if (lin_diagnose(&port.node, &port.identity, request, response)) {
        text_print_hex(response, LIN_DATA_BYTES);
    } else {
        printf("-\n");
    }
    printf("%x\n", port.identity.nad);
}

/* The payload lies in memory of its own size, so that the sanitizer sees what is beyond it. */
static void request(void)
{
    static uint8_t text[TEXT_HEX_BYTES];
    uint32_t bytes = text_hex(text, 2);
    uint32_t room = bytes > LIN_HOST_RECORD_BYTES ? bytes : LIN_HOST_RECORD_BYTES;
    uint8_t *payload = malloc(room);

    memcpy(payload, text, bytes);
    bytes = lin_host_answer(payload, bytes, (lin_host_peer_t){text_number(1), 7});
    text_print_hex(payload, bytes);
    free(payload);
}

/* Commands that answer with a result; false if this is none. */
static bool run_result(const char *command)
{
    static uint8_t data[TEXT_HEX_BYTES];
    lin_result_t result;

    if (strcmp(command, "add") == 0) {
        result = lin_add(&port.node, text_number(1), (lin_direction_t)text_number(2), text_number(3),
                         text_number(4), text_number(5));
    } else if (strcmp(command, "remove") == 0) {
        result = lin_remove(&port.node, text_number(1));
    } else if (strcmp(command, "vanish") == 0) {
        result = vanish();
    } else if (strcmp(command, "write") == 0) {
        uint32_t bytes = text_hex(data, 2);
        result = lin_write(&port.node, text_number(1), data, bytes);
    } else if (strcmp(command, "assign") == 0) {
        result = lin_assign(&port.node, text_number(1), text_number(2));
    } else if (strcmp(command, "schedule") == 0) {
        result = schedule();
    } else if (strcmp(command, "header") == 0) {
        result = lin_request_header(&port.node, text_number(1));
    } else if (strcmp(command, "sleep") == 0) {
        result = lin_go_to_sleep(&port.node);
    } else {
        return false;
    }
    printf("%u\n", result);
    return true;
}

static void run(const char *command)
{
    static uint8_t data[TEXT_HEX_BYTES];

    if (strcmp(command, "init") == 0) {
        lin_node_init(&port.node, (lin_role_t)text_number(1), text_number(2), text_number(3));
        last_sent = 0;
    } else if (strcmp(command, "wake") == 0) {
        lin_wake(&port.node);
    } else if (strcmp(command, "read") == 0) {
        read_frame();
    } else if (strcmp(command, "identity") == 0) {
        port.identity = (lin_identity_t){(uint16_t)text_number(1), (uint16_t)text_number(2),
                                    (uint8_t)text_number(3),  (uint8_t)text_number(4),
                                    (uint8_t)text_number(5),  text_number(6)};
    } else if (strcmp(command, "diagnose") == 0) {
        diagnose();
    } else if (strcmp(command, "feed") == 0) {
        feed(text_word(1));
    } else if (strcmp(command, "request") == 0) {
        request();
    } else if (strcmp(command, "watchers") == 0) {
        printf("%x\n", lin_host_watchers(text_number(1)));
    } else if (strcmp(command, "counters") == 0) {
        print_counters();
    } else if (strcmp(command, "checksum") == 0) {
        uint32_t bytes = text_hex(data, 3);
        printf("%02x\n", lin_checksum(text_number(1) != 0, (uint8_t)text_number(2), data, bytes));
    } else if (strcmp(command, "protect") == 0) {
        printf("%02x\n", lin_protect(text_number(1)));
    } else if (!run_result(command)) {
        text_fail("no such command");
    }
}

int main(void)
{
    text_serve(run);
    return 0;
}
