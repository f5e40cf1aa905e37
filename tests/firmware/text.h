/* The text side of the test drivers: commands are lines of words, bytes are hexadecimal digits. */
#ifndef TIERV_TESTS_TEXT_H
#define TIERV_TESTS_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "../../firmware/net/bytes.h"

enum { TEXT_HEX_BYTES = 1 << 16 };

/* Reads the next command that is not empty; false at the end of the input. */
bool text_read(void);

/* Runs each command of the input, and prints a line with "." behind what it prints. */
void text_serve(void (*run)(const char *command));

/* Says what is wrong with the command and ends the program with status 2. */
_Noreturn void text_fail(const char *message);

/* Word `index` of the command: as it is, as a number, as an address. text_fail() if it is none. */
const char *text_word(int index);
uint32_t text_number(int index);
be32_t text_address(int index);

/* Reads a word of hexadecimal digits, or "-" for nothing, and returns the number of bytes. */
uint32_t text_hex(uint8_t *to, int index);

/* Prints bytes as such a word and ends the line. */
void text_print_hex(const uint8_t *data, uint32_t bytes);

void text_print_address(be32_t value);

#endif
