#include "apps/console.h"

#include <stdio.h>

#include <generated/soc.h>

#include "apps/command.h"
#include "context.h"

/* A line may need a '\r' more than it has bytes. */
_Static_assert(2 * (COMMAND_LINE_BYTES + 1) <= UART_RING_BYTES,
               "UART_RING_BYTES must hold a line and the prompt");

static uart_t *console_uart;
/* What does not fit is only counted: command_begin() refuses the line then. */
static char input[COMMAND_INPUT_BYTES];
static uint32_t input_bytes;
static char last_byte;
/* Lines of which the UART has lost a part, as may be true of those in the next `doubted_bytes`, are not run. */
static uint32_t known_overruns;
static uint32_t doubted_bytes;
static bool is_doubted;
static command_call_t call;
static bool queued;

/* The caller has made sure that there is room. */
static void put(const char *text, uint32_t bytes)
{
    (void)uart_write(console_uart, text, bytes);
    queued = true;
}

static void print(void *context, const char *text, uint32_t bytes)
{
    uint32_t lines = bytes != 0 && text[bytes - 1] == '\n' ? 1 : 0;

    (void)context;
    put(text, bytes - lines);
    if (lines != 0) {
        put("\r\n", 2);
    }
}

static void prompt(void)
{
    put("tierv> ", 7);
}

static void run_input(void)
{
    put("\r\n", 2);
    if (UNLIKELY(is_doubted)) {
        is_doubted = doubted_bytes != 0;
        call.failed = false;
        (void)command_error(&call, "not run: characters were lost");
        prompt();
    } else if (!command_begin(&call, input, input_bytes)) {
        prompt();
    }
    input_bytes = 0;
}

/* A byte, if there is one. What has been lost came behind those that wait, and ahead of the next. */
static bool read_byte(uint8_t *byte)
{
    if (console_uart->overruns != known_overruns) {
        known_overruns = console_uart->overruns;
        doubted_bytes = byte_ring_count(&console_uart->received) + 1;
        is_doubted = true;
    }
    bool any = uart_read(console_uart, byte, 1) == 1;
    doubted_bytes -= any && doubted_bytes != 0;
    return any;
}

static void take(char byte)
{
    bool ends_twice = byte == '\n' && last_byte == '\r';

    last_byte = byte;
    if (ends_twice) {
        return;
    }
    if (byte == '\r' || byte == '\n') {
        run_input();
    } else if ((byte == '\b' || byte == 0x7f) && input_bytes != 0) {
        input_bytes--;
        put("\b \b", 3);
    } else if (byte >= ' ' && byte < 0x7f) {
        if (input_bytes < sizeof(input)) {
            input[input_bytes] = byte;
        }
        input_bytes++;
        put(&byte, 1);
    }
}

void console_init(uart_t *uart)
{
    char banner[COMMAND_LINE_BYTES];
    int length = snprintf(banner, sizeof(banner), "\r\nTierV on %s, %u context%s\n",
                          CONFIG_CPU_HUMAN_NAME, CONTEXTS, CONTEXTS == 1 ? "" : "s");

    console_uart = uart;
    call.sink = print;
    print(NULL, banner, (uint32_t)length);
    prompt();
}

/* Room for a line and a prompt. */
static bool has_room(void)
{
    return byte_ring_count(&console_uart->transmit) + 2 * (COMMAND_LINE_BYTES + 1)
           <= UART_RING_BYTES;
}

bool console_service(void)
{
    uint8_t byte;

    queued = false;
    while (call.command != NULL && has_room()) {
        if (!command_step(&call)) {
            prompt();
        }
    }
    while (call.command == NULL && has_room() && read_byte(&byte)) {
        take((char)byte);
    }
    return queued;
}
