/* The checksum functions behind text commands; the answer to each is one line.
 *
 *   sum OFFSET HEX          partial sum of bytes that lie OFFSET bytes after a word boundary
 *   copy TO FROM HEX        partial sum, and the copy, with both offsets
 *   words HEX               the same by checksum_copy_words()
 *   fold SUM                the 16-bit sum
 *   good SUM                1 if checksum_is_good()
 *   update FIELD BEFORE AFTER
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../firmware/net/checksum.h"
#include "text.h"

static uint8_t content[TEXT_HEX_BYTES];

/* Memory that ends where the bytes end; they begin `offset` bytes after a word boundary. */
static uint8_t *place(uint32_t offset, uint32_t bytes)
{
    uint8_t *memory = malloc(offset + bytes);

    memset(memory, 0xa5, offset);
    return memory + offset;
}

static void do_sum(void)
{
    uint32_t offset = text_number(1);
    uint32_t bytes = text_hex(content, 2);
    uint8_t *data = place(offset, bytes);

    memcpy(data, content, bytes);
    printf("%" PRIu32 "\n", checksum_sum(data, bytes));
    free(data - offset);
}

static void do_copy(uint32_t to_offset, uint32_t from_offset, int index, bool words)
{
    uint32_t bytes = text_hex(content, index);
    uint8_t *from = place(from_offset, bytes);
    uint8_t *to = place(to_offset, bytes);

    memcpy(from, content, bytes);
    printf("%" PRIu32 " ",
           words ? checksum_copy_words(to, from, bytes) : checksum_copy(to, from, bytes));
    text_print_hex(to, bytes);
    free(from - from_offset);
    free(to - to_offset);
}

int main(void)
{
    while (text_read()) {
        const char *command = text_word(0);
        if (strcmp(command, "sum") == 0) {
            do_sum();
        } else if (strcmp(command, "copy") == 0) {
            do_copy(text_number(1), text_number(2), 3, false);
        } else if (strcmp(command, "words") == 0) {
            do_copy(0, 0, 1, true);
        } else if (strcmp(command, "fold") == 0) {
            printf("%" PRIu32 "\n", checksum_fold(text_number(1)));
        } else if (strcmp(command, "good") == 0) {
            printf("%d\n", checksum_is_good(text_number(1)));
        } else if (strcmp(command, "update") == 0) {
            printf("%" PRIu32 "\n",
                   checksum_update(text_number(1), text_number(2), text_number(3)));
        } else {
            text_fail("unknown command");
        }
        fflush(stdout);
    }
    return 0;
}
