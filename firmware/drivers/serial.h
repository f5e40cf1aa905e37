/* The serial ports of soc/serial. drivers/serial_ring.h has a service that moves received characters into
 * a ring; who wants them elsewhere calls what is here from a service of its own.
 *
 * Settings are for one context at a time, usually the port's service.
 *
 * generated/soc.h has the limits: SERIAL_BAUD_MIN and _MAX, SERIAL_RECEIVE_DEPTH and
 * SERIAL_TRANSMIT_DEPTH in characters, SERIAL_TIMEOUT_MAX_BITS, SERIAL_BREAK_MAX_BITS.
 *
 * A SoC without ports (UARTS is 0) has types only.
 */
#ifndef TIERV_DRIVERS_SERIAL_H
#define TIERV_DRIVERS_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

#include <generated/csr.h>
#include <generated/soc.h>

#include "mmio.h"

typedef enum {
    SERIAL_OK,
    SERIAL_BAD_PORT,      /* there is no such port */
    SERIAL_BAD_BAUD,      /* not SERIAL_BAUD_MIN to SERIAL_BAUD_MAX */
    SERIAL_BAD_DATA_BITS, /* not 5 to 8 */
    SERIAL_BAD_PARITY,
    SERIAL_BAD_STOP_BITS, /* not 1 or 2 */
    SERIAL_BAD_LEVEL,     /* a level that the FIFO can't have */
    SERIAL_BAD_TIMEOUT,   /* more than SERIAL_TIMEOUT_MAX_BITS */
    SERIAL_BAD_BREAK,     /* not 1 to SERIAL_BREAK_MAX_BITS */
    SERIAL_BUSY,          /* no space now */
    SERIAL_TIMED_OUT      /* the wait has reached its bound */
} serial_result_t;

typedef enum {
    SERIAL_PARITY_NONE,
    SERIAL_PARITY_EVEN,
    SERIAL_PARITY_ODD,
    SERIAL_PARITY_MARK,
    SERIAL_PARITY_SPACE,
    SERIAL_PARITIES
} serial_parity_t;

typedef struct {
    uint32_t baud;
    uint8_t data_bits;
    uint8_t parity; /* a serial_parity_t */
    uint8_t stop_bits;
} serial_format_t;

/* When the FIFOs call for service, and flow control acts. */
typedef struct {
    uint16_t receive_watermark;  /* characters that wait, 1 to the depth */
    uint16_t transmit_watermark; /* characters left, 0 to the depth less 1 */
    uint16_t timeout_bits;       /* after the last character, with less than the watermark; 0: never */
    uint16_t stop_level;         /* characters that wait, from which on the peer is held back */
    uint16_t resume_level;       /* and down to which it then stays so */
} serial_levels_t;

/* Bits of serial_set_flow(). */
typedef enum {
    SERIAL_FLOW_CTS = 1 << 0,      /* characters begin only while CTS is asserted */
    SERIAL_FLOW_RTS = 1 << 1,      /* RTS follows the receive level; else it is serial_set_rts()'s */
    SERIAL_FLOW_OBEY_XOFF = 1 << 2, /* received XON and XOFF are taken out, and obeyed */
    SERIAL_FLOW_SEND_XOFF = 1 << 3, /* XOFF and XON are sent as the receive level asks for */
    SERIAL_FLOW_TURN = 1 << 5       /* both directions share a wire: nothing begins before a received
                                     * stop bit is over */
} serial_flow_t;

/* What a character was received with. */
typedef enum {
    SERIAL_BREAK = 1 << 0,   /* the line has been low for more than 10.5 bits: no character, data 0 */
    SERIAL_FRAMING = 1 << 1, /* the stop bit was low */
    SERIAL_PARITY = 1 << 2,  /* the parity bit was wrong */
    SERIAL_OVERRUN = 1 << 3  /* characters before this one were lost in a full FIFO */
} serial_flag_t;

/* A received character in 16 bits: data, and flags. */
typedef uint16_t serial_character_t;

#define SERIAL_DATA(character) ((uint8_t)(character))
#define SERIAL_FLAGS(character) ((uint32_t)(character) >> 8)

/* What calls for service: the level of each, but SERIAL_EVENT_CTS, which stays pending. */
typedef enum {
    SERIAL_EVENT_RECEIVE = 1 << 0,  /* the watermark, the timeout, or a character with flags */
    SERIAL_EVENT_TRANSMIT = 1 << 1, /* the watermark or less */
    SERIAL_EVENT_IDLE = 1 << 2,     /* serial_is_idle() */
    SERIAL_EVENT_CTS = 1 << 3       /* CTS has changed */
} serial_event_t;

/* Characters in a burst, at the most. */
enum { SERIAL_BURST = 3 };

/* Events since serial_init(), or since serial_clear_counters(). They stop at UINT32_MAX. */
typedef struct {
    uint32_t received;    /* characters, without breaks and flow control */
    uint32_t transmitted; /* characters, with those of flow control */
    uint32_t overruns;    /* characters lost in a full receive FIFO */
    uint32_t framing;
    uint32_t parity;
    uint32_t breaks;
    uint32_t transmit_lost; /* characters that did not get into the transmit FIFO */
    uint32_t xoffs;         /* XOFFs obeyed */
} serial_counters_t;

typedef struct {
    uintptr_t base;
    uint32_t events; /* what serial_enable_events() has enabled */
    serial_counters_t counters;
} serial_t;

/* --- for everybody: what a port's registers say, one bus access each ---------------------------- */

#if UARTS > 0

#define SERIAL_REGISTER(name) (CSR_SERIAL_PORT0_##name##_ADDR - CSR_SERIAL_PORT0_RECEIVE_ADDR)

/* The oldest received character, a serial_character_t, or -1 if there is none. */
static inline int32_t serial_receive(const serial_t *serial)
{
    uint32_t word = mmio_read(serial->base + SERIAL_REGISTER(RECEIVE));

    return word >> CSR_SERIAL_PORT0_RECEIVE_VALID_OFFSET == 0
               ? -1
               : (int32_t)(word >> CSR_SERIAL_PORT0_RECEIVE_IS_BREAK_OFFSET << 8 | (word & 0xff));
}

/* Up to three characters without flags, or one with: the lowest byte is the oldest. 0 if there is none.
 * Less than three without flags were all there are, or the next has flags, and then the event stays. */
static inline uint32_t serial_receive_burst(const serial_t *serial)
{
    return mmio_read(serial->base + SERIAL_REGISTER(RECEIVE_BURST));
}

#define SERIAL_BURST_COUNT(burst) ((burst) >> CSR_SERIAL_PORT0_RECEIVE_BURST_COUNT_OFFSET & 3)
#define SERIAL_BURST_FLAGS(burst) ((burst) >> CSR_SERIAL_PORT0_RECEIVE_BURST_IS_BREAK_OFFSET)

/* Sends one to three characters, the lowest byte first; there must be space. */
static inline void serial_transmit(const serial_t *serial, uint32_t characters, uint32_t count)
{
    mmio_write(serial->base + SERIAL_REGISTER(TRANSMIT),
               characters | (count - 1) << CSR_SERIAL_PORT0_TRANSMIT_MORE_OFFSET);
}

/* Characters that wait in the receive FIFO, and that the transmit FIFO has space for. */
static inline uint32_t serial_receive_level(const serial_t *serial)
{
    return mmio_read(serial->base + SERIAL_REGISTER(LEVEL)) & 0xffff;
}

static inline uint32_t serial_transmit_space(const serial_t *serial)
{
    return mmio_read(serial->base + SERIAL_REGISTER(LEVEL))
           >> CSR_SERIAL_PORT0_LEVEL_SPACE_OFFSET;
}

/* Cycle in which the start bit of the character most recently taken from the FIFO began (or the line
 * fell, for a break), by the count that serial_now() reads; both modulo 2^32. */
static inline uint32_t serial_stamp(const serial_t *serial)
{
    return mmio_read(serial->base + SERIAL_REGISTER(STAMP));
}

static inline uint32_t serial_now(void)
{
    return mmio_read(CSR_SERIAL_CYCLE_ADDR);
}

static inline uint32_t serial_status(const serial_t *serial)
{
    return mmio_read(serial->base + SERIAL_REGISTER(STATUS));
}

/* Nothing waits to be sent in the FIFO, and the last stop bit is over. */
static inline bool serial_is_idle(const serial_t *serial)
{
    return (serial_status(serial) >> CSR_SERIAL_PORT0_STATUS_IDLE_OFFSET & 1) != 0;
}

static inline bool serial_cts(const serial_t *serial)
{
    return (serial_status(serial) >> CSR_SERIAL_PORT0_STATUS_CTS_OFFSET & 1) != 0;
}

/* --- set-up ------------------------------------------------------------------------------------ */

/* Line of a port. */
uint32_t serial_line(uint32_t port);

/* Makes a port ready, with empty FIFOs, counters at 0, the speed that it has after reset,
 * 8N1, no flow control, RTS asserted, a receive watermark of half the FIFO with a timeout of 40 bits,
 * and enables the receive event. */
serial_result_t serial_init(serial_t *serial, uint32_t port);

/* Enables these events (a sum of serial_event_t), and no others. No bus access if they are. */
static inline void serial_enable_events(serial_t *serial, uint32_t events)
{
    if (serial->events != events) {
        serial->events = events;
        mmio_write(serial->base + SERIAL_REGISTER(EV_ENABLE), events);
    }
}

/* Sets speed and form; with an error nothing has changed. `achieved_baud`, unless NULL, gets the speed
 * set, in bit/s. */
serial_result_t serial_set_format(serial_t *serial, const serial_format_t *format,
                                  uint32_t *achieved_baud);

/* With an error nothing has changed. */
serial_result_t serial_set_levels(serial_t *serial, const serial_levels_t *levels);

/* The receive FIFO takes so many characters, 1 to its depth, as if it had been built so. */
serial_result_t serial_set_limit(const serial_t *serial, uint32_t characters);

/* `flow` is a sum of serial_flow_t. */
void serial_set_flow(serial_t *serial, uint32_t flow);

/* RTS, unless SERIAL_FLOW_RTS is set. */
void serial_set_rts(serial_t *serial, bool asserted);

/* The receiver gets what the transmitter sends; the pin stays high, and CTS is RTS. */
void serial_set_loop_back(serial_t *serial, bool on);

/* Holds the line low, or no longer. */
void serial_hold_break(serial_t *serial, bool on);

/* Empties the FIFOs. */
void serial_purge_received(serial_t *serial);
void serial_purge_transmit(serial_t *serial);

/* Adds what the port has counted to `serial->counters`, or forgets it all. */
void serial_read_counters(serial_t *serial);
void serial_clear_counters(serial_t *serial);

/* Waits until serial_is_idle(), at the most for `cycles`. */
serial_result_t serial_wait_idle(const serial_t *serial, uint32_t cycles);

/* Queues a break of `bits` bit times, and stop bits, behind what the FIFO holds. SERIAL_BUSY if it is
 * full. */
serial_result_t serial_send_break(const serial_t *serial, uint32_t bits);

#endif

#endif
