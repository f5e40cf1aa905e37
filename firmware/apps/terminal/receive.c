/* From a serial port's FIFO into packets: tier 2, or whichever serves the port's line. */
#include "apps/terminal/port.h"

#if UARTS > 0

#include "context.h"

enum {
    BURST = 3,
    /* Without a packet, how long until another look. */
    STARVED_CYCLES = CONFIG_CLOCK_FREQUENCY / 10000
};

/* Of what a character was received with, what a client can be told. */
static uint32_t line_state(uint32_t flags)
{
    return ((flags & SERIAL_BREAK) != 0 ? (uint32_t)TERMINAL_LINE_STATE_BREAK : 0)
           | ((flags & SERIAL_FRAMING) != 0 ? (uint32_t)TERMINAL_LINE_STATE_FRAMING : 0)
           | ((flags & SERIAL_PARITY) != 0 ? (uint32_t)TERMINAL_LINE_STATE_PARITY : 0)
           | ((flags & SERIAL_OVERRUN) != 0 ? (uint32_t)TERMINAL_LINE_STATE_OVERRUN : 0);
}

static void post(void)
{
    terminal_has_work = true;
    context_post_protocol();
}

void terminal_note(terminal_port_t *port, uint32_t state)
{
    port->event_bytes = port->received_bytes;
    port->events = (port->events | state) + (1u << 16);
    post();
}

void terminal_close(terminal_port_t *port, packer_verdict_t verdict)
{
    if (port->packer.bytes != 0) {
        port->closed[verdict]++;
        /* Has room for all packets that the port can have. */
        (void)RING_PUSH(&port->full, packer_end(&port->packer));
        post();
    }
}

/* False if there is no packet to fill. */
static bool has_packet(terminal_port_t *port)
{
    if (port->packer.packet == NULL) {
        packet_t *packet = RING_POP(&port->empty);
        if (packet == NULL) {
            return false;
        }
        packer_begin(&port->packer, packet);
    }
    return true;
}

/* Characters of `level` that came before the packet is due at the earliest; the newest had come at
 * `now`. A packet that is not due yet may take all. */
static uint32_t undoubted(const terminal_port_t *port, uint32_t level, uint32_t now)
{
    const packer_t *packer = &port->packer;
    uint32_t late_cycles = now - packer->first_time - packer->rules.time_cycles;

    if (packer->rules.time_cycles == 0 || (int32_t)late_cycles < 0) {
        return level;
    }
    uint32_t doubted = late_cycles < port->line.character_cycles / 2
                           ? 2
                           : 2 + 2 * late_cycles / port->line.character_cycles;
    return level > doubted ? level - doubted : 0;
}

/* Puts a character into a packet that its time allows. False if there is none, and it is held. */
static bool place(terminal_port_t *port, uint8_t byte, uint32_t time)
{
    packer_t *packer = &port->packer;

    if (packer->bytes != 0) {
        packer_verdict_t verdict = packer_check_time(packer, time);
        if (verdict != PACKER_OPEN) {
            terminal_close(port, verdict);
        }
    }
    if (!has_packet(port)) {
        port->held = byte;
        port->held_time = time;
        return false;
    }
    port->received_bytes++;
    packer_verdict_t verdict = packer_take(packer, byte, time);
    if (verdict != PACKER_OPEN) {
        terminal_close(port, verdict);
    }
    return true;
}

/* A character with flags: a break is none, the others are data nevertheless. */
static bool place_flagged(terminal_port_t *port, uint32_t flags, uint8_t byte)
{
    uint32_t time = serial_stamp(port->serial) + port->line.character_cycles;
    bool placed = true;

    if ((flags & SERIAL_BREAK) != 0) {
        terminal_close(port, PACKER_OPEN);
    } else {
        placed = place(port, byte, time);
    }
    terminal_note(port, line_state(flags));
    return placed;
}

/* One character by its own time; false if nothing more can be placed. */
static bool take_one(terminal_port_t *port)
{
    int32_t character = serial_receive(port->serial);

    if (character < 0) {
        return false;
    }
    if (SERIAL_FLAGS(character) != 0) {
        return place_flagged(port, SERIAL_FLAGS(character), SERIAL_DATA(character));
    }
    return place(port, SERIAL_DATA(character),
                 serial_stamp(port->serial) + port->line.character_cycles);
}

/* Up to three characters, which the packet has room for and which no rule but that for the length
 * concerns; how many, 0 if nothing more can be placed. */
static inline uint32_t take_burst(terminal_port_t *port)
{
    packer_t *packer = &port->packer;
    uint32_t burst = serial_receive_burst(port->serial);
    uint32_t count = SERIAL_BURST_COUNT(burst);

    if (UNLIKELY(SERIAL_BURST_FLAGS(burst) != 0)) {
        return place_flagged(port, SERIAL_BURST_FLAGS(burst), (uint8_t)burst) ? 1 : 0;
    }
    packer_append(packer, burst & 0xffffff, count);
    port->received_bytes += count;
    if (packer->bytes == packer->rules.length) {
        terminal_close(port, PACKER_BY_LENGTH);
    }
    return count;
}

/* Takes `level` characters; false if there was no packet for one. */
static bool drain(terminal_port_t *port, uint32_t level, uint32_t now)
{
    packer_t *packer = &port->packer;
    bool one_by_one = packer->rules.idle_cycles != 0 || packer->rules.delimiters != 0;
    uint32_t doubted = level;

    if (packer->bytes != 0 && !one_by_one) {
        doubted = level - undoubted(port, level, now);
    }
    while (level != 0) {
        uint32_t taken = 1;
        if (!has_packet(port)) {
            return false;
        }
        if (one_by_one || packer->bytes == 0 || level < doubted + BURST
            || (uint32_t)(packer->rules.length - packer->bytes) < BURST) {
            bool begins = packer->bytes == 0;
            if (!take_one(port)) {
                return false;
            }
            if (begins && !one_by_one) {
                doubted = level - 1 - undoubted(port, level - 1, now);
            }
        } else {
            taken = take_burst(port);
            if (taken == 0) {
                return false;
            }
        }
        level -= taken;
    }
    return true;
}

static void set_levels(terminal_port_t *port)
{
    const packer_t *packer = &port->packer;
    const levels_t *levels = packer->bytes == 0 ? &port->first_levels : &port->later_levels;
    uint32_t left = packer->rules.length - packer->bytes;
    uint32_t watermark = levels->watermark < left ? levels->watermark : left;
    uint32_t wanted = watermark | (uint32_t)levels->timeout_bits << 16;

    if (wanted != port->levels_set) {
        uint32_t changed = wanted ^ port->levels_set;
        port->levels_set = wanted;
        if ((changed & 0xffff) != 0) {
            mmio_write(port->serial->base + SERIAL_REGISTER(WATERMARKS),
                       watermark
                           | (uint32_t)TERMINAL_TRANSMIT_WATERMARK
                                 << CSR_SERIAL_PORT0_WATERMARKS_TRANSMIT_OFFSET);
        }
        if (changed >> 16 != 0) {
            mmio_write(port->serial->base + SERIAL_REGISTER(TIMEOUT), levels->timeout_bits);
        }
    }
}

static void enable_receive(terminal_port_t *port, bool on)
{
    uint32_t others = port->enabled & ~(uint32_t)TERMINAL_RECEIVE_EVENT;
    uint32_t events = on ? others | TERMINAL_RECEIVE_EVENT : others;

    if (events != port->enabled) {
        port->enabled = events;
        mmio_write(port->serial->base + SERIAL_REGISTER(EV_ENABLE), events);
    }
}

static COLD void starve(terminal_port_t *port)
{
    port->starved += (port->enabled & TERMINAL_RECEIVE_EVENT) != 0;
    enable_receive(port, false);
    alarm_set(&port->alarm, STARVED_CYCLES);
    post();
}

/* Closes the packet if it was due before the FIFO was looked at, or has the alarm wait for that. */
static void watch_time(terminal_port_t *port, uint32_t before)
{
    packer_t *packer = &port->packer;
    uint32_t cycles;

    if (packer->bytes != 0) {
        packer_verdict_t verdict = packer_check_time(packer, before);
        if (verdict != PACKER_OPEN) {
            terminal_close(port, verdict);
        }
    }
    if (packer->bytes != 0 && packer_next_time(packer, serial_now(), &cycles)) {
        alarm_set(&port->alarm, cycles);
    } else {
        alarm_cancel(&port->alarm);
    }
}

/* Longest path: a full FIFO, character by character: some 50 cycles each. */
void terminal_receive(terminal_port_t *port, uint32_t before, uint32_t level)
{
    bool placed = true;

    if (UNLIKELY(port->held >= 0)) {
        uint8_t byte = (uint8_t)port->held;
        port->held = -1;
        placed = place(port, byte, port->held_time);
    }
    if (level != 0) {
        placed = placed && drain(port, level, serial_now());
    }
    if (UNLIKELY(!placed)) {
        starve(port);
        return;
    }
    enable_receive(port, true);
    watch_time(port, before);
    set_levels(port);
}

void terminal_apply_rules(terminal_port_t *port)
{
    packer_rules_t rules = port->packer.rules;

    rules.length = UINT16_MAX;
    port->first_levels = levels_for(&rules, 0, &port->line);
    port->later_levels = levels_for(&rules, 1, &port->line);
    /* Whatever the registers have. */
    port->levels_set = 0;
}

#endif
