/* Identifiers and checksums of LIN frames (LIN 2.2A, sections 2.3.1.3 and 2.3.1.5). */
#ifndef TIERV_APPS_LIN_FRAME_H
#define TIERV_APPS_LIN_FRAME_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LIN_DATA_BYTES = 8,
    /* The sync field behind a break. */
    LIN_SYNC = 0x55,
    LIN_HEADER_CHARACTERS = 3, /* break, sync field and protected identifier */
    /* Identifiers below this carry signals; 0x3e and 0x3f are reserved. */
    LIN_SIGNAL_IDENTIFIERS = 0x3c,
    LIN_COMMANDER_REQUEST = 0x3c,
    LIN_RESPONDER_RESPONSE = 0x3d,
    LIN_IDENTIFIERS = 64,
    /* Bits of a header without spaces: break of 13, delimiter, sync field, protected identifier. */
    LIN_HEADER_BITS = 34,
    /* The first data byte of a go-to-sleep command. */
    LIN_GO_TO_SLEEP = 0x00
};

/* The protected identifier of an identifier from 0 to 63: P0 = ID0 ^ ID1 ^ ID2 ^ ID4 in bit 6,
 * P1 = !(ID1 ^ ID3 ^ ID4 ^ ID5) in bit 7. */
static inline uint8_t lin_protect(uint32_t identifier)
{
    uint32_t p0 = identifier ^ identifier >> 1 ^ identifier >> 2 ^ identifier >> 4;
    uint32_t p1 = ~(identifier >> 1 ^ identifier >> 3 ^ identifier >> 4 ^ identifier >> 5);

    return (uint8_t)(identifier | (p0 & 1) << 6 | (p1 & 1) << 7);
}

/* A checksum before its inversion: `sum` and the bytes added with end-around carry. */
static inline uint32_t lin_sum(uint32_t sum, const uint8_t *data, uint32_t bytes)
{
    for (uint32_t index = 0; index < bytes; index++) {
        sum += data[index];
    }
    sum = (sum & 0xff) + (sum >> 8);
    return (sum & 0xff) + (sum >> 8);
}

/* The checksum of 1 to 8 data bytes: over them alone (classic), or with the protected identifier
 * (enhanced). Diagnostic frames are always classic. */
static inline uint8_t lin_checksum(bool classic, uint8_t protected_identifier, const uint8_t *data,
                                   uint32_t bytes)
{
    return (uint8_t)~lin_sum(classic ? 0 : protected_identifier, data, bytes);
}

#endif
