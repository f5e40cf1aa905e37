#include "apps/selftest/record.h"

#include <stdarg.h>
#include <stdio.h>

#include "drivers/uart.h"

enum { TEXT_BYTES = 64 };

static uart_t console;
static uint32_t lines;

void record_init(void)
{
    uart_init(&console);
}

/* The console's line is not enabled: its service is called here. A UART that never gets ready would hold
 * everything up, and there would be nobody to be told. */
static void print(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void print(const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    uint32_t bytes = length < TEXT_BYTES ? (uint32_t)length : TEXT_BYTES - 1;
    for (uint32_t sent = 0; sent < bytes;) {
        sent += uart_write(&console, text + sent, bytes - sent);
        (void)uart_service(&console);
    }
}

void record_begin(const char *kind, const char *name)
{
    print("{\"%s\": \"%s\"", kind, name);
}

void record_number(const char *key, uint32_t value)
{
    print(", \"%s\": %lu", key, (unsigned long)value);
}

void record_truth(const char *key, bool value)
{
    print(", \"%s\": %s", key, value ? "true" : "false");
}

void record_end(void)
{
    print("}\n");
    lines++;
    /* What follows is measured, and not to be disturbed. */
    while (byte_ring_count(&console.transmit) != 0) {
        (void)uart_service(&console);
    }
}

uint32_t record_count(void)
{
    uint32_t count = lines;

    lines = 0;
    return count;
}

void record_wait_key(void)
{
    uint8_t key;

    do {
        (void)uart_service(&console);
    } while (uart_read(&console, &key, 1) == 0);
}
