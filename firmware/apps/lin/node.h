/* A LIN node as a state machine without devices (LIN 2.2A, chapter 2): characters and ticks go in,
 * what to do comes out.
 *
 * Every node has the responder's task: it watches for headers, and sends or takes the responses of
 * the frames that it knows. A commander has the schedule besides; it sends headers, reads them back
 * from the wire like everybody else, and so answers itself where it publishes.
 *
 * Who calls what:
 *
 *   interrupt service     lin_receive(), lin_tick()
 *   protocol service      everything else; the interrupt service may run between any two of its
 *                         instructions, never the other way round
 *
 * A response is prepared when its data are written: the image is complete, with both checksums that
 * it may need, so that the interrupt service only copies it. There are two images of a frame; the one
 * that is not in use is filled, then they change places by one store.
 */
#ifndef TIERV_APPS_LIN_NODE_H
#define TIERV_APPS_LIN_NODE_H

#include "apps/lin/frame.h"
#include "config.h"

/* What is wrong with a received character. A break is all bits low, the stop bit too. */
enum { LIN_CHARACTER_BREAK = 1 << 0, LIN_CHARACTER_BAD = 1 << 1 };

/* What lin_receive() and lin_tick() want done: bits 0 to 7 are a byte, the others say what with it. */
enum {
    LIN_DO_BYTE = 0xff,
    LIN_DO_SEND = 1 << 8,    /* send the byte */
    LIN_DO_HEADER = 1 << 9,  /* send break, delimiter, sync field and the byte */
    LIN_DO_STOP = 1 << 10,   /* drop what has not been sent yet */
    LIN_DO_REPORT = 1 << 11  /* node->report is new */
};

typedef enum {
    LIN_SENT,          /* a response of ours, read back without error */
    LIN_RECEIVED,      /* a response that we subscribe to, checksum right */
    LIN_NO_RESPONSE,   /* nothing came of one that we subscribe to */
    LIN_INCOMPLETE,    /* it ended early, or is longer under way than a response may be; LIN_RECEIVED may follow */
    LIN_BAD_CHECKSUM,  /* it came with a wrong checksum */
    LIN_BAD_CHARACTER, /* it had a character without stop bit */
    LIN_BIT_ERROR,     /* the wire did not carry what we sent */
    LIN_BAD_SYNC,      /* no sync field behind a break */
    LIN_BAD_PARITY,    /* an identifier with wrong parity or without stop bit */
    LIN_BAD_HEADER,    /* a header ended early, or one of our own was not seen */
    LIN_ASLEEP,        /* go-to-sleep, or nothing on the bus for long enough */
    LIN_AWAKE,         /* a wake-up signal or a break while asleep */
    LIN_OUTCOMES
} lin_outcome_t;

/* Something that happened. `bytes` of `data` are valid. */
typedef struct {
    uint32_t cycle;
    uint8_t outcome;    /* lin_outcome_t */
    uint8_t identifier; /* 0 to 63 if the outcome has one */
    uint8_t bytes;
    uint8_t data[LIN_DATA_BYTES];
} lin_report_t;

typedef enum { LIN_RESPONDER, LIN_COMMANDER } lin_role_t;
typedef enum { LIN_UNUSED, LIN_PUBLISH, LIN_SUBSCRIBE } lin_direction_t;

/* Flags of a frame. */
enum {
    LIN_CLASSIC = 1 << 0, /* classic checksum instead of the enhanced one */
    LIN_ONCE = 1 << 1     /* published data are sent once; then headers are not answered any more */
};

enum { LIN_NO_BIT = 0xff, LIN_NO_IDENTIFIER = 0xff };

/* A response as it is sent or was received. */
typedef struct {
    _Alignas(4) uint8_t data[LIN_DATA_BYTES];
    uint8_t checksum;
    uint8_t error_checksum; /* the same with the response_error bit set */
    uint8_t unused[2];
} lin_image_t;

typedef struct {
    uint8_t identifier; /* LIN_NO_IDENTIFIER: not assigned */
    uint8_t direction;  /* lin_direction_t */
    uint8_t bytes;
    uint8_t flags;
    uint8_t error_bit; /* response_error: bit of the data that is set after an error, or LIN_NO_BIT */
    /* Times written: published data by the protocol service, others by the interrupt service. The
     * latest are in images[written & 1]. */
    uint32_t written;
    uint32_t sent; /* `written` of what was sent last; by the interrupt service */
    lin_image_t images[2];
} lin_frame_t;

typedef struct {
    uint8_t identifier;
    uint16_t slot_ms;
} lin_slot_t;

typedef struct {
    uint32_t count;
    lin_slot_t slots[LIN_SLOTS];
} lin_schedule_t;

typedef struct {
    uint32_t headers;  /* good ones */
    uint32_t unanswered; /* of frames that we publish without data to send */
    uint32_t late;     /* responses that took longer than a response may, and were taken all the same */
    uint32_t overruns; /* characters lost on the way to the node */
    uint32_t outcomes[LIN_OUTCOMES];
} lin_counters_t;

typedef enum {
    LIN_STATE_ASLEEP,
    LIN_STATE_IDLE,
    LIN_STATE_SYNC,
    LIN_STATE_IDENTIFIER,
    LIN_STATE_SEND,
    LIN_STATE_RECEIVE
} lin_state_t;

typedef struct {
    /* Interrupt service. */
    uint8_t state; /* lin_state_t */
    uint8_t position;
    uint8_t bytes; /* of the response, its checksum included */
    uint8_t identifier;
    bool overdue;        /* the response under way has been reported */
    bool response_error; /* a response had an error since the status was last sent */
    uint8_t header_sent; /* the schedule's last header, until it is seen; LIN_NO_IDENTIFIER: none */
    uint8_t wake_pulses; /* sent since somebody wanted to wake the bus */
    uint32_t start;      /* cycle of the break or of the identifier */
    uint32_t latched;    /* `written` of what is being sent */
    uint32_t idle_ms;
    uint32_t wake_ms; /* until the next wake-up signal */
    uint32_t slot_left_ms;
    uint8_t running; /* schedule that `slot` and `slot_left_ms` are of */
    uint8_t slot;    /* the next one of the schedule */
    uint8_t ready_ms; /* no headers for so long: nodes that a signal woke are not ready */
    bool woken;       /* by the break under way, which may be a wake-up signal */
    _Alignas(4) uint8_t buffer[LIN_DATA_BYTES + 4];
    lin_report_t report;
    lin_counters_t counters;

    /* Protocol service. */
    uint8_t role; /* lin_role_t */
    uint8_t chosen; /* schedule that the next tick runs */
    bool waking;            /* set by the protocol service, cleared by the interrupt service */
    uint8_t header_wanted;  /* the same: a header out of turn; LIN_NO_IDENTIFIER: none */
    uint32_t bit_cycles;
    uint32_t wake_bits; /* dominant bits that wake us */
    lin_schedule_t schedules[3]; /* a new one is written where none is chosen and none runs */
    uint8_t by_identifier[LIN_IDENTIFIERS]; /* number in `frames` plus one; 0: not ours */
    lin_frame_t frames[LIN_FRAMES];
} lin_node_t;

/* Numbers of the diagnostic frames; signals begin behind them. */
enum { LIN_FRAME_REQUEST, LIN_FRAME_RESPONSE, LIN_FRAME_FIRST };

/* What the protocol service may be told. */
typedef enum {
    LIN_OK,
    LIN_NO_SUCH_FRAME,  /* no frame has the identifier, or it goes the other way */
    LIN_BAD_IDENTIFIER, /* reserved, or for diagnostics */
    LIN_IN_USE,         /* the identifier has a frame */
    LIN_FULL,           /* no more room in a table */
    LIN_BAD_LENGTH,     /* not 1 to 8 bytes, or not as many as the frame has */
    LIN_BAD_BIT,        /* not in the data */
    LIN_BAD_SLOT,       /* a slot of 0 ms */
    LIN_NOT_COMMANDER   /* the node is no commander */
} lin_result_t;

/* --- protocol service; node.c -------------------------------------------------------------------- */

/* Makes a node without signals, awake. A bit lasts `bit_cycles`, a microsecond `us_cycles`, both in the
 * cycles of `now`. */
void lin_node_init(lin_node_t *node, lin_role_t role, uint32_t bit_cycles, uint32_t us_cycles);

/* Adds a frame. Only `flags` and an `error_bit` of LIN_NO_BIT apply to what is subscribed to. */
lin_result_t lin_add(lin_node_t *node, uint32_t identifier, lin_direction_t direction,
                     uint32_t bytes, uint32_t flags, uint32_t error_bit);
lin_result_t lin_remove(lin_node_t *node, uint32_t identifier);

/* Gives frame `number` another identifier, or LIN_NO_IDENTIFIER. */
lin_result_t lin_assign(lin_node_t *node, uint32_t number, uint32_t identifier);

/* Writes the data that the next header is answered with. */
lin_result_t lin_write(lin_node_t *node, uint32_t identifier, const uint8_t *data, uint32_t bytes);

/* What was written is not sent any more, if it is sent once. */
void lin_cancel(lin_node_t *node, uint32_t identifier);

/* The latest data of a frame: what we publish or what we received. `*written` counts them; 0: there
 * were none yet. `data` holds LIN_DATA_BYTES. */
lin_result_t lin_read(const lin_node_t *node, uint32_t identifier, uint8_t *data, uint32_t *bytes,
                      uint32_t *written);

/* --- interrupt service; task.c ------------------------------------------------------------------- */

/* Takes a character, received with LIN_CHARACTER flags at cycle `now`. */
uint32_t lin_receive(lin_node_t *node, uint32_t byte, uint32_t flags, uint32_t now);

/* A millisecond has passed. */
uint32_t lin_tick(lin_node_t *node, uint32_t now);

/* --- protocol service; commander.c --------------------------------------------------------------- */

/* Replaces the schedule and starts it; without slots, stops it. A bus that sleeps is woken first, and its nodes
 * have time to get ready. While a schedule runs the commander does not fall asleep by idleness. */
lin_result_t lin_schedule(lin_node_t *node, const lin_slot_t *slots, uint32_t count);

/* Sends one header: at the end of the current slot, or at the next tick if no schedule runs. Likewise. If the
 * bus is sent to sleep first, there is none. */
lin_result_t lin_request_header(lin_node_t *node, uint32_t identifier);

/* Wakes the bus; while a frame is under way the signal waits for its end. */
void lin_wake(lin_node_t *node);

/* Commander: sends the bus to sleep, or lets it sleep if it was about to be woken. LIN_FULL while a header
 * waits. */
lin_result_t lin_go_to_sleep(lin_node_t *node);

/* Interrupt service: the schedule's part of a tick. */
uint32_t lin_schedule_tick(lin_node_t *node);

/* Interrupt service: the part of a tick that wakes the bus. */
uint32_t lin_wake_tick(lin_node_t *node);

#endif
