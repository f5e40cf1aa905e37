/* SLIP: packets on a serial line (RFC 1055). No device is used here. */
#ifndef TIERV_APPS_SLIP_SLIP_H
#define TIERV_APPS_SLIP_SLIP_H

#include <stdbool.h>
#include <stdint.h>

enum { SLIP_END = 0xc0, SLIP_ESC = 0xdb, SLIP_ESC_END = 0xdc, SLIP_ESC_ESC = 0xdd };

/* Takes a packet out of what comes. It needs no set-up but `room`. */
typedef struct {
    uint8_t *packet; /* room bytes, the owner's */
    uint32_t room;
    uint32_t bytes;   /* of the packet so far */
    bool escaped;     /* the last byte was SLIP_ESC */
    bool bad;         /* too long, or an escape that is none */
    uint32_t dropped; /* packets that were bad */
} slip_decoder_t;

/* Takes a byte of the line. The length of a packet that is now complete, in `packet`, until the next byte;
 * 0 otherwise. Empty packets are none. */
uint32_t slip_take(slip_decoder_t *decoder, uint8_t byte);

#endif
