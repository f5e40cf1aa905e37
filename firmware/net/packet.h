/* Packets: a descriptor each, a buffer each, and who owns them when.
 *
 * A packet is owned by exactly one tier, or lies in exactly one ring, queue or list. Only the owner
 * touches descriptor and buffer. Handing over is pushing into a ring; from then on the pusher must
 * not touch the packet. Every packet has a home, to which it returns after each use, so that no
 * tier can take another's packets away for good:
 *
 *   home RECEIVE      the ring `free`      buffers that the driver fills
 *   home PROTOCOL     the list `spare`     what the stack itself sends; private to its tier
 *   home APPLICATION  the ring `supply`    what the application writes
 *   home SERIAL       the list `serial`    what serial ports fill; private to the protocol tier
 *   home COPY         the word `copy`      what the driver sends in place of one that is out of its reach
 *
 *      tier 2 (ISR)               tier 1 (protocol)                    tier 0 (application)
 *
 *   .--- pop <------- free <------- home RECEIVE
 *   |  fills it                          ^
 *   '--> push -----> received -----> net_input()
 *                                    |  NET_FREE, NET_PARK -> home
 *                                    |  NET_TRANSMIT -------> transmit
 *                                    |  NET_KEPT: one of
 *                                    |    a socket's inbox -----> inbox -----> udp_receive()
 *                                    |    a callback's own, which later calls      |  reads it
 *                                    |    net_release() or udp_output()            |
 *                                    |                                             |
 *                 home <------------ pop <------- returned <------- udp_release() -+
 *                                    |                                             |
 *                                    |  home APPLICATION -> supply -> udp_reserve()|
 *                                    |                                 |  writes it|
 *                                 udp_output() <--- outbox <------- udp_send() <---'
 *                                    |  NET_TRANSMIT -------> transmit
 *                                    |  NET_KEPT: waits in an ARP entry, until the address comes
 *                                    |            (transmit) or does not (home)
 *   .--- pop <------- transmit <-----'  NET_FREE (counted) -> home
 *   |  sends it
 *   '--> push ------> sent ------> pop ----> home
 *        or, if its home is RECEIVE, fills it again without a way through the rings
 *
 * Each ring has one producer and one consumer, as the columns show. Rings hold all packets there
 * are (config.h), so a push along these arrows can't fail; the exceptions are the sockets' inboxes,
 * which are short on purpose and drop with a count. udp_reserve() finding `supply` empty is an
 * error for its caller to see.
 *
 * The application may hold, inboxes included, NET_APPLICATION_HOLD packets of home RECEIVE.
 */
#ifndef TIERV_NET_PACKET_H
#define TIERV_NET_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../config.h"
#include "bytes.h"
#include "checksum.h"
#include "compiler.h"

/* Bits of `flags`. Whoever fills a packet writes the whole byte. */
enum {
    /* `sum` is the partial sum of the frame from byte 14, where IPv4 begins, to its end. Of a received datagram:
     * that is all there is in the frame. */
    PACKET_FRAME_SUMMED = 1 << 0,
    /* `sum` is the partial sum of the UDP payload. */
    PACKET_PAYLOAD_SUMMED = 1 << 1,
    /* Received by broadcast or multicast of Ethernet or IPv4; set by the stack. */
    PACKET_BROADCAST = 1 << 2,
    /* To send: the field of UDP's checksum has the folded sum of the pseudo-header but its addresses; the driver
     * sums the frame from the addresses on and puts the checksum there. */
    PACKET_UDP_UNSUMMED = 1 << 3,
    /* To send: a received datagram's frame, whose payload goes back to where it came from, or one that udp_answer()
     * has made look like that. */
    PACKET_REPLY = 1 << 4,
    /* Received: the driver has found the frame to be a datagram of UDP and nothing else: IPv4 without options,
     * no fragment, lengths to the frame's end, checksums there and right. PACKET_FRAME_SUMMED comes with it. */
    PACKET_DATAGRAM = 1 << 5
};

typedef enum {
    PACKET_HOME_RECEIVE,
    PACKET_HOME_PROTOCOL,
    PACKET_HOME_APPLICATION,
    PACKET_HOME_SERIAL,
    PACKET_HOME_COPY,
    PACKET_HOMES
} packet_home_t;

typedef struct packet {
    uint8_t *frame;         /* NET_BUFFER_BYTES, word-aligned; begins with the destination MAC */
    struct packet *next;    /* in the list `spare` or `serial`, or that of its driver */
    uint32_t sum;           /* partial sum, meaning by `flags` */
    be32_t peer_address;    /* received: source; to send: destination */
    uint16_t peer_port;     /* likewise, in wire order */
    uint16_t local_port;    /* to send: source, in wire order */
    uint16_t length_bytes;  /* of the frame, without FCS */
    uint16_t payload_bytes; /* of the datagram */
    uint8_t flags;
    uint8_t home; /* packet_home_t; set once */
} packet_t;

_Static_assert(sizeof(void *) != 4 || sizeof(packet_t) == 28, "packet_t must stay seven words");

enum {
    /* Where the payload of a datagram to or from a socket begins: Ethernet, IPv4 without options,
     * UDP. */
    PACKET_PAYLOAD_OFFSET = 14 + 20 + 8,
    /* Longest frame without FCS and longest payload in it. */
    PACKET_FRAME_BYTES = 1514,
    PACKET_PAYLOAD_BYTES = PACKET_FRAME_BYTES - PACKET_PAYLOAD_OFFSET
};

_Static_assert(PACKET_PAYLOAD_OFFSET % 2 == 0, "the payload must be two-byte aligned");

/* The datagram's payload: `payload_bytes` of it received, PACKET_PAYLOAD_BYTES to write to. It lies
 * at 2 modulo 4. */
static inline uint8_t *packet_payload(const packet_t *packet)
{
    return packet->frame + PACKET_PAYLOAD_OFFSET;
}

/* Fills a packet with a received frame of `bytes` bytes without FCS at word-aligned `from`, summing
 * as it copies, so that the stack need not read the frame again. A frame longer than the buffer is
 * cut off; the stack then drops it as too long. */
void packet_fill(packet_t *packet, const uint8_t *from, uint32_t bytes);

/* The same, for a driver's loop. */
INLINE void packet_fill_inline(packet_t *packet, const uint8_t *from, uint32_t bytes)
{
    uint8_t *to = packet->frame;

    if (UNLIKELY(bytes > NET_BUFFER_BYTES)) {
        bytes = NET_BUFFER_BYTES;
    }
    packet->length_bytes = (uint16_t)bytes;
    if (UNLIKELY(bytes < 16)) {
        packet->flags = 0;
        (void)checksum_copy(to, from, bytes);
        return;
    }
    packet->flags = PACKET_FRAME_SUMMED;
    /* The word at 12 is half Ethernet, half IPv4. */
    uint32_t straddling = get_word(from + 12);
    put_word(to, get_word(from));
    put_word(to + 4, get_word(from + 4));
    put_word(to + 8, get_word(from + 8));
    put_word(to + 12, straddling);
    packet->sum = (straddling >> 16) + checksum_copy_words(to + 16, from + 16, bytes - 16);
}

/* Makes a copy of `bytes` bytes (any alignment) the payload of a packet to send, summing as it
 * copies: who changes or adds something afterwards clears PACKET_PAYLOAD_SUMMED in `flags`, or the checksum is
 * wrong. False, and the packet unchanged, if they are more than PACKET_PAYLOAD_BYTES. */
bool packet_write(packet_t *packet, const void *from, uint32_t bytes);

#endif
