#include "slip.h"

static uint32_t end_packet(slip_decoder_t *decoder)
{
    /* An escape with nothing behind it is a packet cut short. */
    bool good = !decoder->bad && !decoder->escaped;
    uint32_t bytes = good ? decoder->bytes : 0;

    if (!good) {
        decoder->dropped++;
    }
    decoder->bytes = 0;
    decoder->bad = false;
    decoder->escaped = false;
    return bytes;
}

static void store(slip_decoder_t *decoder, uint8_t byte)
{
    if (decoder->bytes == decoder->room) {
        decoder->bad = true;
    } else {
        decoder->packet[decoder->bytes++] = byte;
    }
}

uint32_t slip_take(slip_decoder_t *decoder, uint8_t byte)
{
    if (byte == SLIP_END) {
        return end_packet(decoder);
    }
    if (decoder->escaped) {
        decoder->escaped = false;
        if (byte == SLIP_ESC_END) {
            store(decoder, SLIP_END);
        } else if (byte == SLIP_ESC_ESC) {
            store(decoder, SLIP_ESC);
        } else {
            decoder->bad = true;
        }
    } else if (byte == SLIP_ESC) {
        decoder->escaped = true;
    } else {
        store(decoder, byte);
    }
    return 0;
}
