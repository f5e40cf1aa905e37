#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 8, LINE_BYTES = 4 * TEXT_HEX_BYTES };

static char line[LINE_BYTES];
static const char *words[WORDS];
static int count;

bool text_read(void)
{
    do {
        if (fgets(line, sizeof(line), stdin) == NULL) {
            return false;
        }
        count = 0;
        for (char *next = strtok(line, " \n"); next != NULL && count < WORDS;
             next = strtok(NULL, " \n")) {
            words[count++] = next;
        }
    } while (count == 0);
    return true;
}

void text_serve(void (*run)(const char *command))
{
    while (text_read()) {
        run(text_word(0));
        printf(".\n");
        (void)fflush(stdout);
    }
}

void text_fail(const char *message)
{
    fprintf(stderr, "%s: %s\n", words[0], message);
    exit(2);
}

const char *text_word(int index)
{
    if (index >= count) {
        text_fail("too few words");
    }
    return words[index];
}

uint32_t text_number(int index)
{
    char *end;
    unsigned long value = strtoul(text_word(index), &end, 0);

    if (*end != '\0') {
        text_fail("no number");
    }
    return (uint32_t)value;
}

be32_t text_address(int index)
{
    unsigned part[4];

    if (sscanf(text_word(index), "%u.%u.%u.%u", &part[0], &part[1], &part[2], &part[3]) != 4) {
        text_fail("no address");
    }
    return IPV4_ADDRESS(part[0], part[1], part[2], part[3]);
}

uint32_t text_hex(uint8_t *to, int index)
{
    const char *digits = text_word(index);
    uint32_t bytes = 0;

    for (; *digits != '\0' && *digits != '-'; digits += 2) {
        unsigned byte;
        if (bytes >= TEXT_HEX_BYTES || sscanf(digits, "%2x", &byte) != 1) {
            text_fail("bad hexadecimal digits");
        }
        to[bytes++] = (uint8_t)byte;
    }
    return bytes;
}

void text_print_hex(const uint8_t *data, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        printf("%02x", data[i]);
    }
    printf(bytes == 0 ? "-\n" : "\n");
}

void text_print_address(be32_t value)
{
    printf("%u.%u.%u.%u", value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff, value >> 24);
}
