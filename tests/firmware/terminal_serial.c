/* The registers and FIFOs of serial ports: what soc/serial/registers.py says of them. */
#include "terminal_board.h"

#include <string.h>

enum { WORDS = SERIAL_STRIDE_BYTES / 4 };

typedef struct {
    uint32_t words[WORDS];
    board_character_t coming[BOARD_COMING];
    uint32_t coming_head, coming_tail;
    board_character_t fifo[SERIAL_RECEIVE_DEPTH];
    uint32_t level;
    uint64_t last_cycle; /* in which a character came */
    bool has_flags;      /* since the FIFO was last empty */
    bool lost;           /* characters before the next one */
    uint32_t stamp;
    uint8_t sending[SERIAL_TRANSMIT_DEPTH];
    uint32_t waiting;
    bool shifting;
    bool cts;
    bool cts_event;
} port_t;

uint32_t board_reads;

static port_t ports[UARTS];

/* --- registers --------------------------------------------------------------------------------- */

static uint64_t bit_cycles(const port_t *port)
{
    return (UINT64_C(1) << 32) / port->words[SERIAL_REGISTER(TUNING) / 4];
}

/* When the FIFO calls because nothing else has come. */
static uint64_t timeout_cycle(const port_t *port)
{
    uint32_t bits = port->words[SERIAL_REGISTER(TIMEOUT) / 4];

    return port->level != 0 && bits != 0 ? port->last_cycle + bits * bit_cycles(port) : BOARD_NEVER;
}

static uint32_t events(uint32_t number)
{
    const port_t *port = &ports[number];
    uint32_t watermarks = port->words[SERIAL_REGISTER(WATERMARKS) / 4];
    bool receives = port->level >= (watermarks & 0xffff) || (port->level != 0 && port->has_flags)
                    || timeout_cycle(port) <= board_cycle;
    bool transmits = port->waiting <= watermarks >> CSR_SERIAL_PORT0_WATERMARKS_TRANSMIT_OFFSET;

    return (receives ? (uint32_t)SERIAL_EVENT_RECEIVE : 0) | (transmits ? (uint32_t)SERIAL_EVENT_TRANSMIT : 0)
           | (port->cts_event ? (uint32_t)SERIAL_EVENT_CTS : 0);
}

bool board_is_pending(uint32_t number)
{
    return (events(number) & ports[number].words[SERIAL_REGISTER(EV_ENABLE) / 4]) != 0;
}

static board_character_t take(port_t *port)
{
    board_character_t character = port->fifo[0];

    port->level--;
    memmove(port->fifo, port->fifo + 1, port->level * sizeof(character));
    port->has_flags = port->has_flags && port->level != 0;
    port->stamp = character.stamp;
    return character;
}

static uint32_t read_one(port_t *port)
{
    if (port->level == 0) {
        return 0;
    }
    board_character_t character = take(port);
    return character.data | 1u << CSR_SERIAL_PORT0_RECEIVE_VALID_OFFSET
           | (uint32_t)character.flags << CSR_SERIAL_PORT0_RECEIVE_IS_BREAK_OFFSET;
}

/* Behind the last character is what the memory had there. */
static uint32_t read_burst(port_t *port)
{
    uint32_t word = 0xa5a5a5, count = 0, flags = 0;

    while (count < SERIAL_BURST && port->level != 0 && (count == 0 || port->fifo[0].flags == 0) && flags == 0) {
        board_character_t character = take(port);
        word = (word & ~(0xffu << 8 * count)) | (uint32_t)character.data << 8 * count;
        flags = character.flags;
        count++;
    }
    return count == 0 ? 0
                      : word | count << CSR_SERIAL_PORT0_RECEIVE_BURST_COUNT_OFFSET
                            | flags << CSR_SERIAL_PORT0_RECEIVE_BURST_IS_BREAK_OFFSET;
}

static void write_transmit(port_t *port, uint32_t word)
{
    uint32_t count = (word >> CSR_SERIAL_PORT0_TRANSMIT_MORE_OFFSET & 3) + 1;

    if (port->waiting + count > SERIAL_TRANSMIT_DEPTH) {
        board_fail("more characters than there is space for");
    }
    for (uint32_t index = 0; index < count; index++) {
        port->sending[port->waiting++] = (uint8_t)(word >> 8 * index);
    }
}

static port_t *port_at(uintptr_t address, uint32_t *offset)
{
    uintptr_t distance = address - CSR_SERIAL_PORT0_RECEIVE_ADDR;

    *offset = (uint32_t)(distance % SERIAL_STRIDE_BYTES);
    return &ports[distance / SERIAL_STRIDE_BYTES];
}

uint32_t mmio_read(uintptr_t address)
{
    uint32_t offset, count;
    port_t *port;

    if (address == CSR_SERIAL_CYCLE_ADDR) {
        return (uint32_t)board_cycle;
    }
    port = port_at(address, &offset);
    switch (offset) {
    case SERIAL_REGISTER(RECEIVE):
        board_check_access((uint32_t)(port - ports));
        board_reads++;
        return read_one(port);
    case SERIAL_REGISTER(RECEIVE_BURST):
        board_check_access((uint32_t)(port - ports));
        board_reads++;
        return read_burst(port);
    case SERIAL_REGISTER(LEVEL):
        return port->level
               | (SERIAL_TRANSMIT_DEPTH - port->waiting) << CSR_SERIAL_PORT0_LEVEL_SPACE_OFFSET;
    case SERIAL_REGISTER(STATUS):
        return (uint32_t)(port->waiting == 0 && !port->shifting) << CSR_SERIAL_PORT0_STATUS_IDLE_OFFSET
               | (uint32_t)port->cts << CSR_SERIAL_PORT0_STATUS_CTS_OFFSET;
    case SERIAL_REGISTER(STAMP):
        return port->stamp;
    case SERIAL_REGISTER(EV_PENDING):
        return events((uint32_t)(port - ports));
    case SERIAL_REGISTER(COUNT_OVERRUNS):
    case SERIAL_REGISTER(COUNT_FRAMING):
    case SERIAL_REGISTER(COUNT_PARITY):
    case SERIAL_REGISTER(COUNT_BREAKS):
        count = port->words[offset / 4];
        port->words[offset / 4] = 0;
        return count;
    default:
        return port->words[offset / 4];
    }
}

static void purge(port_t *port, uint32_t which)
{
    if ((which & 1u << CSR_SERIAL_PORT0_PURGE_RECEIVE_OFFSET) != 0) {
        port->level = 0;
        port->has_flags = false;
    }
    if ((which & 1u << CSR_SERIAL_PORT0_PURGE_TRANSMIT_OFFSET) != 0) {
        port->waiting = 0;
    }
}

void mmio_write(uintptr_t address, uint32_t value)
{
    uint32_t offset;
    port_t *port = port_at(address, &offset);

    board_check_access((uint32_t)(port - ports));
    port->words[offset / 4] = value;
    if (offset == SERIAL_REGISTER(TRANSMIT)) {
        write_transmit(port, value);
    } else if (offset == SERIAL_REGISTER(PURGE)) {
        purge(port, value);
    } else if (offset == SERIAL_REGISTER(EV_PENDING)) {
        port->cts_event = port->cts_event && (value & SERIAL_EVENT_CTS) == 0;
    }
}

uint32_t board_register(uint32_t port, uint32_t offset)
{
    return ports[port].words[offset / 4];
}

/* --- what comes and goes ----------------------------------------------------------------------- */

void board_receive(uint32_t number, board_character_t character)
{
    port_t *port = &ports[number];

    if (port->coming_head - port->coming_tail == BOARD_COMING) {
        board_fail("too many characters are on their way");
    }
    port->coming[port->coming_head++ % BOARD_COMING] = character;
}

/* Counters of errors have 16 bits, and stop at the end. */
static void count(port_t *port, uint32_t offset, bool one_more)
{
    port->words[offset / 4] += one_more && port->words[offset / 4] != UINT16_MAX;
}

static void come(port_t *port, board_character_t character)
{
    if (port->level == SERIAL_RECEIVE_DEPTH) {
        count(port, SERIAL_REGISTER(COUNT_OVERRUNS), true);
        port->lost = true;
        return;
    }
    count(port, SERIAL_REGISTER(COUNT_BREAKS), (character.flags & SERIAL_BREAK) != 0);
    count(port, SERIAL_REGISTER(COUNT_FRAMING), (character.flags & SERIAL_FRAMING) != 0);
    count(port, SERIAL_REGISTER(COUNT_PARITY), (character.flags & SERIAL_PARITY) != 0);
    character.flags |= port->lost ? (uint8_t)SERIAL_OVERRUN : 0;
    port->lost = false;
    port->has_flags = port->has_flags || character.flags != 0;
    port->last_cycle = board_cycle;
    port->fifo[port->level++] = character;
}

uint32_t board_send(uint32_t number, uint8_t *to, uint32_t count)
{
    port_t *port = &ports[number];
    uint32_t sent = count < port->waiting ? count : port->waiting;

    memcpy(to, port->sending, sent);
    port->waiting -= sent;
    memmove(port->sending, port->sending + sent, port->waiting);
    return sent;
}

void board_set_shifting(uint32_t port, bool on)
{
    ports[port].shifting = on;
}

void board_set_cts(uint32_t port, bool asserted)
{
    ports[port].cts_event = ports[port].cts_event || asserted != ports[port].cts;
    ports[port].cts = asserted;
}

bool board_see_characters(uint32_t number)
{
    port_t *port = &ports[number];
    bool any = false;

    while (port->coming_head != port->coming_tail
           && port->coming[port->coming_tail % BOARD_COMING].cycle <= board_cycle) {
        come(port, port->coming[port->coming_tail++ % BOARD_COMING]);
        any = true;
    }
    return any;
}

uint64_t board_next_character(uint32_t number)
{
    const port_t *port = &ports[number];
    uint64_t timeout = timeout_cycle(port);
    uint64_t coming = port->coming_head != port->coming_tail
                          ? port->coming[port->coming_tail % BOARD_COMING].cycle
                          : BOARD_NEVER;

    return timeout > board_cycle && timeout < coming ? timeout : coming;
}
