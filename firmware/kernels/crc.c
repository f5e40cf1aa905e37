/* CRC-32 (IEEE 802.3) with a table of 256 words, and CRC-16 (CCITT, from 0xffff) bit by bit. */
#include "kernels.h"

enum { BYTES = 1024, BITWISE_BYTES = 192 };

static void make_table(uint32_t table[256])
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        }
        table[byte] = crc;
    }
}

static uint32_t crc32(const uint32_t table[256], const uint8_t *data, uint32_t length)
{
    uint32_t crc = 0xffffffffu;

    for (uint32_t index = 0; index < length; index++) {
        crc = crc >> 8 ^ table[(crc ^ data[index]) & 0xff];
    }
    return ~crc;
}

static uint32_t crc16(const uint8_t *data, uint32_t length)
{
    uint32_t crc = 0xffff;

    for (uint32_t index = 0; index < length; index++) {
        crc ^= (uint32_t)data[index] << 8;
        for (int bit = 0; bit < 8; bit++) {
            crc = crc << 1 ^ (crc & 0x8000 ? 0x1021u : 0);
        }
    }
    return crc & 0xffff;
}

uint32_t kernel_crc(void)
{
    static uint32_t table[256];
    static uint8_t data[BYTES];
    uint32_t state = 4;

    for (int index = 0; index < BYTES; index++) {
        data[index] = (uint8_t)random_next(&state);
    }
    make_table(table);
    return hash_add(hash_add(HASH_START, crc32(table, data, BYTES)), crc16(data, BITWISE_BYTES));
}
