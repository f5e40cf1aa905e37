/* Packing rules: which received bytes go together in one datagram.
 *
 * A byte has a time, that of its last stop bit, and times never fall. A packet that is not empty is
 * closed by whichever rule comes first:
 *
 *   time        `time_cycles` after its first byte
 *   idle        `idle_cycles` after its last byte
 *   length      with the byte that makes it `length` bytes long
 *   delimiter   with the byte that ends the one or two bytes of the delimiter, both in this packet
 *
 * A byte whose time is that at which time or idle closes the packet is in the next one.
 *
 * The bytes are summed as they are stored, unless the driver does that (NET_DRIVER_SUMS). They lie in words: up
 * to three come at once, and four go to memory at once, which may be behind a bus.
 */
#ifndef TIERV_APPS_TERMINAL_PACKER_H
#define TIERV_APPS_TERMINAL_PACKER_H

#include <stdbool.h>
#include <stdint.h>

#include "net/compiler.h"
#include "net/packet.h"

enum { PACKER_DELIMITERS = 2 };

/* Longest time of a rule, so that times may be compared modulo 2^32. */
#define PACKER_MAX_CYCLES (UINT32_C(1) << 30)

typedef struct {
    uint32_t time_cycles; /* 0: no such rule; at the most PACKER_MAX_CYCLES */
    uint32_t idle_cycles; /* likewise */
    uint16_t length;      /* 1 to PACKET_PAYLOAD_BYTES */
    uint8_t delimiters;   /* bytes of the delimiter; 0: no such rule */
    uint8_t delimiter[PACKER_DELIMITERS];
} packer_rules_t;

typedef enum {
    PACKER_OPEN, /* no rule has closed the packet */
    PACKER_BY_TIME,
    PACKER_BY_IDLE,
    PACKER_BY_LENGTH,
    PACKER_BY_DELIMITER
} packer_verdict_t;

/* The bytes of a packet; a loop keeps it in registers. */
typedef struct {
    word_t *next;   /* where the next whole word goes */
    uint32_t word;  /* bytes that make no whole word yet */
    uint32_t shift; /* bits in `word` */
    uint32_t bytes; /* in the packet */
    uint32_t sum;   /* of whole words, and what was carried out of it */
    uint32_t carries;
} packer_fill_t;

typedef struct {
    packer_rules_t rules;
    packet_t *packet; /* NULL: there is none to fill */
    packer_fill_t fill;
    uint32_t first_time; /* of the first and of the last byte */
    uint32_t last_time;
    uint8_t matched; /* bytes of the delimiter that the packet ends with */
} packer_t;

/* Begins an empty packet. */
static inline void packer_begin(packer_t *packer, packet_t *packet)
{
    packer->packet = packet;
    packer->fill = (packer_fill_t){
        /* The payload begins in the middle of a word, whose first half the stack fills. */
        .next = (word_t *)(void *)(packet->frame + PACKET_PAYLOAD_OFFSET - 2),
        .shift = 16};
    packer->matched = 0;
}

_Static_assert(PACKET_PAYLOAD_OFFSET % 4 == 2, "packer_begin() has two bytes before the payload");

/* Adds a word to the sum, if anybody looks at it. */
INLINE void packer_sum(packer_fill_t *fill, uint32_t word)
{
    if (!NET_DRIVER_SUMS) {
        fill->sum += word;
        fill->carries += fill->sum < word;
    }
}

/* Appends one to three characters, the first in bits 7:0; above them are zeros. The packet must have
 * room. Rules are the caller's affair. */
INLINE void packer_append(packer_fill_t *fill, uint32_t characters, uint32_t count)
{
    uint32_t word = fill->word | characters << fill->shift;
    uint32_t bits = fill->shift + 8 * count;

    fill->bytes += count;
    if (bits >= 32) {
        *fill->next++ = word;
        packer_sum(fill, word);
        /* The shift is 8 to 24 here. */
        word = characters >> (32 - fill->shift);
        bits -= 32;
    }
    fill->word = word;
    fill->shift = bits;
}

/* Bytes in the packet. */
static inline uint32_t packer_bytes(const packer_t *packer)
{
    return packer->fill.bytes;
}

/* The rule whose time has come at `now`, if any. The packet is not empty. */
static inline packer_verdict_t packer_check_time(const packer_t *packer, uint32_t now)
{
    const packer_rules_t *rules = &packer->rules;
    /* A byte may be looked at a little before its time. */
    int32_t age = (int32_t)(now - packer->first_time);
    int32_t gap = (int32_t)(now - packer->last_time);
    int32_t time_cycles = (int32_t)rules->time_cycles;
    int32_t idle_cycles = (int32_t)rules->idle_cycles;
    bool is_old = time_cycles != 0 && age >= time_cycles;
    bool is_idle = idle_cycles != 0 && gap >= idle_cycles;

    /* Which one came first: it has been due for longer. */
    if (is_old && (!is_idle || age - time_cycles >= gap - idle_cycles)) {
        return PACKER_BY_TIME;
    }
    return is_idle ? PACKER_BY_IDLE : PACKER_OPEN;
}

/* True if the packet, which is not empty, will be closed by a time; in how many cycles from `now`, 0
 * if that is over. */
bool packer_next_time(const packer_t *packer, uint32_t now, uint32_t *cycles);

/* Makes bytes that have waited for longer than any rule as old as that, so that times may still be compared. None
 * came after `now`. */
void packer_limit_age(packer_t *packer, uint32_t now);

/* Appends a byte received at `time`, which closes the packet or not. packer_check_time() said that no
 * time had come, and the packet has room. */
packer_verdict_t packer_take(packer_t *packer, uint8_t byte, uint32_t time);

/* Ends the packet: its payload is complete and summed. Returns it; the packer has none then. */
packet_t *packer_end(packer_t *packer);

#endif
