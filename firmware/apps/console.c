#include "apps/console.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <generated/soc.h>

#include "apps/network.h"
#include "context.h"

enum { LINE_BYTES = 80, INPUT_BYTES = 64 };

_Static_assert(LINE_BYTES <= UART_RING_BYTES, "a line must fit into the serial port's ring");

/* A command prints one line at a time: `print` is called with step 0, 1, ... and is false when
 * there is nothing more. It may print nothing in a step. */
typedef struct {
    const char *name;
    const char *help;
    bool (*print)(uint32_t step);
} command_t;

static uart_t *console_uart;
static char input[INPUT_BYTES];
static uint32_t input_bytes;
static const command_t *running;
static uint32_t running_step;
static bool queued;

static void print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a line or less; the caller has made sure that there is room. */
static void print(const char *format, ...)
{
    char text[LINE_BYTES];
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (length > 0) {
        uint32_t bytes = length < LINE_BYTES ? (uint32_t)length : LINE_BYTES - 1;
        (void)uart_write(console_uart, text, bytes);
        queued = true;
    }
}

static bool print_help(uint32_t step);

static bool print_ifconfig(uint32_t step)
{
    const uint8_t *address = (const uint8_t *)&network.address;
    const uint8_t *mac = (const uint8_t *)&network.mac;

    switch (step) {
    case 0:
        print("inet %u.%u.%u.%u  ether %02x:%02x:%02x:%02x:%02x:%02x\r\n", address[0], address[1],
              address[2], address[3], mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
        return true;
    case 1:
        print("received %lu  transmitted %lu\r\n", (unsigned long)network_mac.received,
              (unsigned long)network_mac.transmitted);
        return true;
    case 2:
        print("MAC: no slot %lu  bad FCS %lu  bad preamble %lu\r\n",
              (unsigned long)ethmac_overruns(), (unsigned long)ethmac_crc_errors(),
              (unsigned long)ethmac_preamble_errors());
        return true;
    default:
        return false;
    }
}

static bool print_counters(uint32_t step)
{
    if (step >= NET_COUNTER_COUNT) {
        return false;
    }
    uint32_t count = network.counters.counts[step];
    if (count != 0) {
        print("%-28s %lu\r\n", net_counter_name((net_counter_t)step), (unsigned long)count);
    }
    return true;
}

static const command_t commands[] = {
    {"help", "this list", print_help},
    {"ifconfig", "addresses and frames", print_ifconfig},
    {"counters", "what became of frames and datagrams", print_counters},
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static bool print_help(uint32_t step)
{
    if (step >= COMMANDS) {
        return false;
    }
    print("%-10s %s\r\n", commands[step].name, commands[step].help);
    return true;
}

static void prompt(void)
{
    print("tierv> ");
}

static void run(void)
{
    if (input_bytes == 0) {
        prompt();
        return;
    }
    for (uint32_t index = 0; index < COMMANDS; index++) {
        if (strcmp(input, commands[index].name) == 0) {
            running = &commands[index];
            running_step = 0;
            return;
        }
    }
    print("no command '%s'; try help\r\n", input);
    prompt();
}

static void take(char byte)
{
    if (byte == '\r' || byte == '\n') {
        print("\r\n");
        input[input_bytes] = '\0';
        run();
        input_bytes = 0;
    } else if ((byte == '\b' || byte == 0x7f) && input_bytes != 0) {
        input_bytes--;
        print("\b \b");
    } else if (byte >= ' ' && byte < 0x7f && input_bytes < INPUT_BYTES - 1) {
        input[input_bytes++] = byte;
        print("%c", byte);
    }
}

void console_init(uart_t *uart)
{
    console_uart = uart;
    print("\r\nTierV on %s, %u contexts\r\n", CONFIG_CPU_HUMAN_NAME, CONTEXTS);
    prompt();
}

static bool has_room(uint32_t lines)
{
    return byte_ring_count(&console_uart->transmit) + lines * LINE_BYTES <= UART_RING_BYTES;
}

bool console_service(void)
{
    uint8_t byte;

    queued = false;
    while (running != NULL && has_room(2)) {
        if (!running->print(running_step++)) {
            running = NULL;
            prompt();
        }
    }
    while (running == NULL && has_room(3) && uart_read(console_uart, &byte, 1) == 1) {
        take((char)byte);
    }
    return queued;
}
