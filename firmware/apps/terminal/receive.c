/* From a serial port's FIFO into packets: tier 2, or whichever serves the port's line. */
#include "apps/terminal/haste.h"
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

static void post(terminal_port_t *port)
{
    terminal_leave_work(port);
    context_post_protocol();
}

void terminal_note(terminal_port_t *port, uint32_t state)
{
    port->event_bytes = port->received_bytes;
    port->events |= state;
    post(port);
}

void terminal_close(terminal_port_t *port, packer_verdict_t verdict)
{
    if (packer_bytes(&port->packer) != 0) {
        port->closed[verdict]++;
        /* Has room for all packets that the port can have. */
        (void)RING_PUSH(&port->full, packer_end(&port->packer));
        post(port);
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

/* Puts a character into a packet that its time allows. False if there is none, and it is held. */
static bool place(terminal_port_t *port, uint8_t byte, uint32_t time)
{
    packer_t *packer = &port->packer;

    if (packer_bytes(packer) != 0) {
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
    /* One that is held has been received, too. */
    port->event_bytes += !placed;
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

/* `most` characters in bursts, at the least one of three, which no rule but that for the length concerns; how
 * many. `more`: the last burst may have one or two more than that. The next ones are on their way from the
 * bus while some are stored. */
static uint32_t take_bursts(terminal_port_t *port, uint32_t most, bool more)
{
    packer_t *packer = &port->packer;
    /* A store to the packet might change the port's own, for all that the compiler knows. */
    const serial_t serial = {.base = port->serial->base};
    packer_fill_t fill = packer->fill;
    uint32_t enough = packer->rules.length - BURST;
    uint32_t before = fill.bytes;
    uint32_t target = before + most - (more ? 0 : BURST - 1);
    uint32_t burst = serial_receive_burst(&serial);

    while (LIKELY(SERIAL_BURST_FLAGS(burst) == 0 && burst != 0)) {
        uint32_t current = burst;
        uint32_t count = SERIAL_BURST_COUNT(current);
        uint32_t bytes = fill.bytes + count;
        burst = bytes < target && bytes <= enough ? serial_receive_burst(&serial) : 0;
        /* Behind the last character there may be anything. */
        packer_append(&fill, current & ((1u << 8 * count) - 1), count);
    }
    uint32_t taken = fill.bytes - before;
    packer->fill = fill;
    port->received_bytes += taken;
    if (UNLIKELY(burst != 0)) {
        (void)place_flagged(port, SERIAL_BURST_FLAGS(burst), (uint8_t)burst);
        taken++;
    } else if (fill.bytes == packer->rules.length) {
        terminal_close(port, PACKER_BY_LENGTH);
    }
    return taken;
}

/* Takes `level` characters, and perhaps some that came later; false if there was no packet for one. */
static bool drain(terminal_port_t *port, uint32_t level, uint32_t now)
{
    packer_t *packer = &port->packer;
    haste_t haste = haste_for(packer, port->line.character_cycles, level, now);

    while (level != 0) {
        uint32_t taken = 1;
        if (!has_packet(port)) {
            return false;
        }
        uint32_t sure = haste.is_early ? level : level - haste.doubted;
        if (packer_bytes(packer) == 0 || (int32_t)sure < (haste.is_early ? 1 : BURST)
            || (uint32_t)(packer->rules.length - packer_bytes(packer)) < BURST) {
            if (!take_one(port)) {
                return false;
            }
        } else {
            taken = take_bursts(port, sure, haste.is_early);
            if (taken == 0 || port->held >= 0) {
                return false;
            }
        }
        level = taken < level ? level - taken : 0;
        /* Its first character tells when the packet is due. */
        if (packer_bytes(packer) == 1) {
            haste = haste_for(packer, port->line.character_cycles, level, now);
        }
    }
    return true;
}

static void set_levels(terminal_port_t *port)
{
    const packer_t *packer = &port->packer;
    const levels_t *levels = packer_bytes(packer) == 0 ? &port->first_levels : &port->later_levels;
    uint32_t left = packer->rules.length - packer_bytes(packer);
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

static COLD void starve(terminal_port_t *port)
{
    port->starved += (port->enabled & TERMINAL_RECEIVE_EVENT) != 0;
    terminal_enable(port, TERMINAL_RECEIVE_EVENT, false);
    alarm_set(&port->alarm, STARVED_CYCLES);
    post(port);
}

/* There are packets again, for characters that may have waited for long. */
static COLD void go_on(terminal_port_t *port)
{
    terminal_enable(port, TERMINAL_RECEIVE_EVENT, true);
    /* A character's time is up to a part of its stop bit ahead. */
    packer_limit_age(&port->packer, terminal_now() + port->line.bit_cycles);
}

/* Closes the packet if it was due before the FIFO was looked at, or has the alarm wait for that. */
static void watch_time(terminal_port_t *port, uint32_t before)
{
    packer_t *packer = &port->packer;
    uint32_t cycles;

    if (packer_bytes(packer) != 0) {
        packer_verdict_t verdict = packer_check_time(packer, before);
        if (verdict != PACKER_OPEN) {
            terminal_close(port, verdict);
        }
    }
    if (packer_bytes(packer) == 0) {
        alarm_cancel(&port->alarm);
        return;
    }
    uint32_t watched = packer->rules.idle_cycles != 0 ? packer->last_time : packer->first_time;
    if (port->alarm.is_set && port->watched == watched) {
        return;
    }
    if (packer_next_time(packer, terminal_now(), &cycles)) {
        port->watched = watched;
        alarm_set(&port->alarm, cycles);
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
        placed = placed && drain(port, level, terminal_now());
    }
    if (UNLIKELY(!placed)) {
        starve(port);
        return;
    }
    if (UNLIKELY((port->enabled & TERMINAL_RECEIVE_EVENT) == 0)) {
        go_on(port);
    }
    watch_time(port, before);
    set_levels(port);
}

void terminal_apply_rules(terminal_port_t *port)
{
    packer_rules_t rules = port->packer.rules;

    rules.length = UINT16_MAX;
    port->first_levels = levels_for(&rules, 0, &port->line);
    port->later_levels = levels_for(&rules, 1, &port->line);
    port->levels_set = UINT32_MAX;
}

#endif
