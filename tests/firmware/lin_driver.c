/* A LIN node on the host, driven by text; tests/firmware/lin_host.py is the other side.
 *
 *   init ROLE BIT_CYCLES US_CYCLES          begins anew; no answer
 *   add IDENTIFIER DIRECTION BYTES FLAGS BIT, remove IDENTIFIER, write IDENTIFIER HEX,
 *   assign NUMBER IDENTIFIER, schedule HEX, header IDENTIFIER, sleep      the result
 *   wake
 *   read IDENTIFIER                         result, times written, data
 *   identity SUPPLIER FUNCTION VARIANT INITIAL_NAD NAD SERIAL
 *   diagnose HEX                            the response or "-", then the NAD
 *   feed EVENTS                             for each event with something to do: its place, the actions,
 *                                           and the report or "-"
 *   counters                                all of them
 *   checksum CLASSIC PID HEX, protect IDENTIFIER
 *
 * EVENTS are separated by commas: r BYTE.FLAGS.CYCLE (a character), e MASK.FLAGS.CYCLE (the byte that was
 * to be sent last, exclusive or MASK), t CYCLE (a tick), all in hexadecimal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/lin/diagnostic.h"
#include "text.h"

static lin_node_t node;
static lin_identity_t identity;
static uint32_t last_sent;

static void print_report(uint32_t place, uint32_t actions)
{
    printf("%u %x ", place, actions);
    if ((actions & LIN_DO_REPORT) == 0) {
        printf("-\n");
        return;
    }
    printf("%u.%x.%u.%x.", node.report.outcome, node.report.identifier, node.report.bytes,
           node.report.cycle);
    text_print_hex(node.report.data, node.report.bytes);
}

static void feed(const char *events)
{
    uint32_t place = 0;

    while (*events != '\0') {
        unsigned byte, flags, cycle;
        int used = 0;
        uint32_t actions;
        if (sscanf(events, "t%x%n", &cycle, &used) == 1) {
            actions = lin_tick(&node, cycle);
        } else if (sscanf(events, "r%x.%x.%x%n", &byte, &flags, &cycle, &used) == 3) {
            actions = lin_receive(&node, byte, flags, cycle);
        } else if (sscanf(events, "e%x.%x.%x%n", &byte, &flags, &cycle, &used) == 3) {
            actions = lin_receive(&node, byte ^ last_sent, flags, cycle);
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
    const lin_counters_t *counters = &node.counters;

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
    lin_result_t result = lin_read(&node, text_number(1), data, &bytes, &written);

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
    return lin_schedule(&node, slots, count);
}

static void diagnose(void)
{
    static uint8_t request[TEXT_HEX_BYTES];
    uint8_t response[LIN_DATA_BYTES];

    if (text_hex(request, 1) != LIN_DATA_BYTES) {
        text_fail("a request has eight bytes");
    }
    if (lin_diagnose(&node, &identity, request, response)) {
        text_print_hex(response, LIN_DATA_BYTES);
    } else {
        printf("-\n");
    }
    printf("%x\n", identity.nad);
}

/* Commands that answer with a result; false if this is none. */
static bool run_result(const char *command)
{
    static uint8_t data[TEXT_HEX_BYTES];
    lin_result_t result;

    if (strcmp(command, "add") == 0) {
        result = lin_add(&node, text_number(1), (lin_direction_t)text_number(2), text_number(3),
                         text_number(4), text_number(5));
    } else if (strcmp(command, "remove") == 0) {
        result = lin_remove(&node, text_number(1));
    } else if (strcmp(command, "write") == 0) {
        uint32_t bytes = text_hex(data, 2);
        result = lin_write(&node, text_number(1), data, bytes);
    } else if (strcmp(command, "assign") == 0) {
        result = lin_assign(&node, text_number(1), text_number(2));
    } else if (strcmp(command, "schedule") == 0) {
        result = schedule();
    } else if (strcmp(command, "header") == 0) {
        result = lin_request_header(&node, text_number(1));
    } else if (strcmp(command, "sleep") == 0) {
        result = lin_go_to_sleep(&node);
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
        lin_init(&node, (lin_role_t)text_number(1), text_number(2), text_number(3));
        last_sent = 0;
    } else if (strcmp(command, "wake") == 0) {
        lin_wake(&node);
    } else if (strcmp(command, "read") == 0) {
        read_frame();
    } else if (strcmp(command, "identity") == 0) {
        identity = (lin_identity_t){(uint16_t)text_number(1), (uint16_t)text_number(2),
                                    (uint8_t)text_number(3),  (uint8_t)text_number(4),
                                    (uint8_t)text_number(5),  text_number(6)};
    } else if (strcmp(command, "diagnose") == 0) {
        diagnose();
    } else if (strcmp(command, "feed") == 0) {
        feed(text_word(1));
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
    while (text_read()) {
        run(text_word(0));
        printf(".\n");
        fflush(stdout);
    }
    return 0;
}
