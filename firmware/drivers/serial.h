/* The serial ports of soc/serial: characters between their FIFOs and two rings.
 *
 * Three callers share a port, and each touches only what is said to be its own:
 *
 *   set-up               serial_init() and the settings, before the port's line is enabled or from
 *                        the interrupt service
 *   interrupt service    serial_service() or what it is made of
 *   whoever uses it      serial_get(), serial_write(), ...: the other ends of the two rings
 */
#ifndef TIERV_DRIVERS_SERIAL_H
#define TIERV_DRIVERS_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "drivers/byte_ring.h"
#include "mmio.h"

typedef enum {
    SERIAL_OK,
    SERIAL_BAD_PORT,      /* there is no such port */
    SERIAL_BAD_BAUD,      /* too fast or too slow, or more than 0.1 % off */
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

enum { SERIAL_TIMEOUT_MAX_BITS = 4095, SERIAL_BREAK_MAX_BITS = 255 };

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
    SERIAL_FLOW_SEND_XOFF = 1 << 3  /* XOFF and XON are sent as the receive level asks for */
} serial_flow_t;

/* What a character was received with. */
typedef enum {
    SERIAL_BREAK = 1 << 0,   /* the line has been low for more than 10.5 bits: no character, data 0 */
    SERIAL_FRAMING = 1 << 1, /* the stop bit was low */
    SERIAL_PARITY = 1 << 2,  /* the parity bit was wrong */
    SERIAL_OVERRUN = 1 << 3  /* characters behind this one were lost in a full FIFO */
} serial_flag_t;

/* A received character in 16 bits. */
typedef uint16_t serial_character_t;

#define SERIAL_DATA(character) ((uint8_t)(character))
#define SERIAL_FLAGS(character) ((uint32_t)(character) >> 8)

/* Received characters, like a byte_ring_t. */
typedef struct {
    uint32_t head;
    uint32_t tail;
    serial_character_t characters[UART_RING_BYTES];
} serial_ring_t;

/* Events since serial_init(), or since serial_clear_counters(). They stop at UINT32_MAX. */
typedef struct {
    uint32_t received;    /* characters, breaks and flow control not among them */
    uint32_t transmitted; /* characters, those of flow control among them */
    uint32_t overruns;    /* characters lost in a full receive FIFO */
    uint32_t framing;
    uint32_t parity;
    uint32_t breaks;
    uint32_t transmit_lost; /* characters written to a full transmit FIFO */
    uint32_t xoffs;         /* XOFFs obeyed */
    uint32_t ring_lost;     /* characters lost because the ring was full */
} serial_counters_t;

typedef struct {
    uintptr_t base;
    uint32_t port;
    serial_ring_t received; /* interrupt service to user */
    byte_ring_t transmit;   /* user to interrupt service */
    uint32_t events;        /* what is enabled */
    uint32_t format;        /* what is set */
    uint32_t flow;
    serial_counters_t counters;
} serial_t;

/* --- set-up ------------------------------------------------------------------------------------ */

/* Line of a port. */
uint32_t serial_line(uint32_t port);

/* Makes a port ready, with empty FIFOs, the speed of reset, 8N1, no flow control, a receive watermark
 * of half the FIFO with a timeout of 40 bits, and enables its events. */
serial_result_t serial_init(serial_t *serial, uint32_t port);

/* Sets speed and form; with an error nothing has changed. `achieved_baud`, unless NULL, gets the speed
 * set, in bit/s. */
serial_result_t serial_set_format(serial_t *serial, const serial_format_t *format,
                                  uint32_t *achieved_baud);

serial_result_t serial_set_levels(serial_t *serial, const serial_levels_t *levels);

/* Characters that a FIFO holds. */
uint32_t serial_receive_depth(void);
uint32_t serial_transmit_depth(void);

/* `flow` is a sum of serial_flow_t. */
void serial_set_flow(serial_t *serial, uint32_t flow);

/* The receiver gets what the transmitter sends; the pin stays high. */
void serial_set_loop_back(serial_t *serial, bool on);

/* --- interrupt service ------------------------------------------------------------------------- */

/* Ports with events that are enabled: bit k receive of port k, bit 16 + k transmit. */
uint32_t serial_pending(void);

/* Moves all that can be moved, both ways. True if anything has moved. Longest path: UART_RING_BYTES
 * characters both ways. */
bool serial_service(serial_t *serial);

/* FIFO to ring, and ring to FIFO; the number of characters moved. serial_fill() enables the transmit
 * event while the ring has more than the FIFO could take. */
uint32_t serial_drain(serial_t *serial);
uint32_t serial_fill(serial_t *serial);

/* One received character straight from the FIFO, or -1 if it is empty. One bus access. */
static inline int32_t serial_receive(const serial_t *serial);

/* Up to three characters without flags, or one with: the lowest is the oldest. One bus access. */
static inline uint32_t serial_receive_burst(const serial_t *serial);
#define SERIAL_BURST_COUNT(burst) ((burst) >> 24 & 3)
#define SERIAL_BURST_FLAGS(burst) ((burst) >> 26 & 15)

/* One to three characters straight into the FIFO; there must be space. One bus access. */
static inline void serial_transmit(const serial_t *serial, uint32_t characters, uint32_t count);

/* Characters that the transmit FIFO has space for, and that wait in the receive FIFO. */
static inline uint32_t serial_transmit_space(const serial_t *serial);
static inline uint32_t serial_receive_level(const serial_t *serial);

/* Cycle in which the start bit of the character most recently read began (or the line fell, for a
 * break), by the count that serial_now() reads. */
static inline uint32_t serial_stamp(const serial_t *serial);
static inline uint32_t serial_now(void);

/* Nothing waits to be sent, and the last stop bit is over. */
static inline bool serial_is_idle(const serial_t *serial);

/* Queues a break of `bits` bit times and a stop bit behind what the FIFO holds. SERIAL_BUSY if it is
 * full. */
serial_result_t serial_send_break(serial_t *serial, uint32_t bits);

/* Holds the line low, or no longer. */
void serial_hold_break(serial_t *serial, bool on);

/* RTS, unless SERIAL_FLOW_RTS is set. */
void serial_set_rts(serial_t *serial, bool asserted);
bool serial_cts(const serial_t *serial);

/* Empties the FIFOs and rings. */
void serial_purge_received(serial_t *serial);
void serial_purge_transmit(serial_t *serial);

/* Fetches the counters of the port into `serial->counters`. */
void serial_read_counters(serial_t *serial);
void serial_clear_counters(serial_t *serial);

/* Waits until serial_is_idle(), at the most for `cycles`. */
serial_result_t serial_wait_idle(const serial_t *serial, uint32_t cycles);

/* --- user -------------------------------------------------------------------------------------- */

/* Queues up to `bytes` bytes and returns how many. Afterwards the interrupt service must run
 * serial_fill(). */
uint32_t serial_write(serial_t *serial, const void *data, uint32_t bytes);

/* The oldest received character, a serial_character_t, or -1 if there is none. */
static inline int32_t serial_get(serial_t *serial);

/* Takes up to `bytes` characters, without their flags, and returns how many. */
uint32_t serial_read(serial_t *serial, void *data, uint32_t bytes);

#endif
