/* The SLIP decoder, driven by lines: the room for a packet, and the bytes of the line in hexadecimal. Answers
 * with the packets, a line each, then "." and the number of packets that were bad. */
#include <stdio.h>
#include <stdlib.h>

#include "../../firmware/apps/slip/slip.h"
#include "text.h"

int main(void)
{
    static uint8_t line[TEXT_HEX_BYTES];

    while (text_read()) {
        uint32_t room = text_number(0);
        uint32_t bytes = text_hex(line, 1);
        /* Of its own, so that the sanitizer sees a byte too far. */
        uint8_t *packet = malloc(room != 0 ? room : 1);
        slip_decoder_t decoder = {.packet = packet, .room = room};
        for (uint32_t place = 0; place < bytes; place++) {
            uint32_t length = slip_take(&decoder, line[place]);
            if (length != 0) {
                text_print_hex(packet, length);
            }
        }
        free(packet);
        printf("%u\n.\n", decoder.dropped);
        (void)fflush(stdout);
    }
    return 0;
}
