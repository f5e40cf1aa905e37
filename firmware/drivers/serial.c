#include "drivers/serial.h"

#if UARTS > 0

#include <stddef.h>

enum { DEFAULT_TIMEOUT_BITS = 40 };

/* The number that sets the speed is 2^32 for a bit in each cycle. */
enum { TUNING_MAX = (1 << 29) - 1 };

_Static_assert(SERIAL_EVENT_RECEIVE == 1 << CSR_SERIAL_PORT0_EV_ENABLE_RECEIVE_OFFSET
                   && SERIAL_EVENT_TRANSMIT == 1 << CSR_SERIAL_PORT0_EV_ENABLE_TRANSMIT_OFFSET
                   && SERIAL_EVENT_IDLE == 1 << CSR_SERIAL_PORT0_EV_ENABLE_IDLE_OFFSET
                   && SERIAL_EVENT_CTS == 1 << CSR_SERIAL_PORT0_EV_ENABLE_CTS_OFFSET,
               "serial_event_t must be the bits of the register");
_Static_assert(CSR_SERIAL_PORT0_RECEIVE_BURST_IS_BREAK_OFFSET
                   == CSR_SERIAL_PORT0_RECEIVE_IS_BREAK_OFFSET,
               "both ways to receive must have the flags in the same place");

static inline uint32_t get(const serial_t *serial, uint32_t offset)
{
    return mmio_read(serial->base + offset);
}

static inline void set(const serial_t *serial, uint32_t offset, uint32_t value)
{
    mmio_write(serial->base + offset, value);
}

static void set_bit(const serial_t *serial, uint32_t offset, uint32_t bit, bool on)
{
    uint32_t others = get(serial, offset) & ~(1u << bit);

    set(serial, offset, others | (uint32_t)on << bit);
}

uint32_t serial_line(uint32_t port)
{
    return SERIAL0_INTERRUPT + port;
}

serial_result_t serial_init(serial_t *serial, uint32_t port)
{
    static const serial_format_t usual_format = {SERIAL_BAUD, 8, SERIAL_PARITY_NONE, 1};
    static const serial_levels_t usual_levels = {
        .receive_watermark = (SERIAL_RECEIVE_DEPTH + 1) / 2,
        .transmit_watermark = SERIAL_TRANSMIT_DEPTH / 2,
        .timeout_bits = DEFAULT_TIMEOUT_BITS,
        .stop_level = (SERIAL_RECEIVE_DEPTH * 3 + 3) / 4,
        .resume_level = SERIAL_RECEIVE_DEPTH / 4,
    };

    if (port >= UARTS) {
        return SERIAL_BAD_PORT;
    }
    *serial = (serial_t){.base = CSR_SERIAL_PORT0_RECEIVE_ADDR + port * SERIAL_STRIDE_BYTES};
    set(serial, SERIAL_REGISTER(EV_ENABLE), 0);
    set(serial, SERIAL_REGISTER(FORMAT), 0);
    (void)serial_set_format(serial, &usual_format, NULL);
    (void)serial_set_levels(serial, &usual_levels);
    set(serial, SERIAL_REGISTER(FLOW), 1u << CSR_SERIAL_PORT0_FLOW_ASSERT_RTS_OFFSET);
    serial_purge_received(serial);
    serial_purge_transmit(serial);
    serial_clear_counters(serial);
    serial_enable_events(serial, SERIAL_EVENT_RECEIVE);
    return SERIAL_OK;
}

serial_result_t serial_set_format(serial_t *serial, const serial_format_t *format,
                                  uint32_t *achieved_baud)
{
    if (format->baud < SERIAL_BAUD_MIN || format->baud > SERIAL_BAUD_MAX) {
        return SERIAL_BAD_BAUD;
    }
    if (format->data_bits < 5 || format->data_bits > 8) {
        return SERIAL_BAD_DATA_BITS;
    }
    if (format->parity >= SERIAL_PARITIES) {
        return SERIAL_BAD_PARITY;
    }
    if (format->stop_bits < 1 || format->stop_bits > 2) {
        return SERIAL_BAD_STOP_BITS;
    }
    const uint32_t kept = 1u << CSR_SERIAL_PORT0_FORMAT_LOOP_BACK_OFFSET
                          | 1u << CSR_SERIAL_PORT0_FORMAT_HOLD_BREAK_OFFSET;
    uint64_t word = (((uint64_t)format->baud << 32) + CONFIG_CLOCK_FREQUENCY / 2)
                    / CONFIG_CLOCK_FREQUENCY;
    if (word > TUNING_MAX) {
        word = TUNING_MAX;
    }
    set(serial, SERIAL_REGISTER(TUNING), (uint32_t)word);
    set(serial, SERIAL_REGISTER(FORMAT),
        (get(serial, SERIAL_REGISTER(FORMAT)) & kept)
            | (format->data_bits - 5u) << CSR_SERIAL_PORT0_FORMAT_DATA_BITS_OFFSET
            | (uint32_t)format->parity << CSR_SERIAL_PORT0_FORMAT_PARITY_OFFSET
            | (format->stop_bits - 1u) << CSR_SERIAL_PORT0_FORMAT_TWO_STOP_BITS_OFFSET);
    if (achieved_baud != NULL) {
        *achieved_baud = (uint32_t)((word * CONFIG_CLOCK_FREQUENCY + (1u << 31)) >> 32);
    }
    return SERIAL_OK;
}

serial_result_t serial_set_levels(serial_t *serial, const serial_levels_t *levels)
{
    if (levels->receive_watermark < 1 || levels->receive_watermark > SERIAL_RECEIVE_DEPTH
        || levels->transmit_watermark >= SERIAL_TRANSMIT_DEPTH || levels->stop_level < 1
        || levels->stop_level > SERIAL_RECEIVE_DEPTH
        || levels->resume_level >= levels->stop_level) {
        return SERIAL_BAD_LEVEL;
    }
    if (levels->timeout_bits > SERIAL_TIMEOUT_MAX_BITS) {
        return SERIAL_BAD_TIMEOUT;
    }
    set(serial, SERIAL_REGISTER(WATERMARKS),
        levels->receive_watermark
            | (uint32_t)levels->transmit_watermark << CSR_SERIAL_PORT0_WATERMARKS_TRANSMIT_OFFSET);
    set(serial, SERIAL_REGISTER(FLOW_LEVELS),
        levels->stop_level
            | (uint32_t)levels->resume_level << CSR_SERIAL_PORT0_FLOW_LEVELS_RESUME_OFFSET);
    set(serial, SERIAL_REGISTER(TIMEOUT), levels->timeout_bits);
    return SERIAL_OK;
}

void serial_set_flow(serial_t *serial, uint32_t flow)
{
    uint32_t kept = get(serial, SERIAL_REGISTER(FLOW))
                    & 1u << CSR_SERIAL_PORT0_FLOW_ASSERT_RTS_OFFSET;

    set(serial, SERIAL_REGISTER(FLOW), kept | flow);
}

_Static_assert(SERIAL_FLOW_CTS == 1 << CSR_SERIAL_PORT0_FLOW_CTS_OFFSET
                   && SERIAL_FLOW_RTS == 1 << CSR_SERIAL_PORT0_FLOW_RTS_OFFSET
                   && SERIAL_FLOW_OBEY_XOFF == 1 << CSR_SERIAL_PORT0_FLOW_OBEY_XOFF_OFFSET
                   && SERIAL_FLOW_SEND_XOFF == 1 << CSR_SERIAL_PORT0_FLOW_SEND_XOFF_OFFSET,
               "serial_flow_t must be the bits of the register");

void serial_set_rts(serial_t *serial, bool asserted)
{
    set_bit(serial, SERIAL_REGISTER(FLOW), CSR_SERIAL_PORT0_FLOW_ASSERT_RTS_OFFSET, asserted);
}

void serial_set_loop_back(serial_t *serial, bool on)
{
    set_bit(serial, SERIAL_REGISTER(FORMAT), CSR_SERIAL_PORT0_FORMAT_LOOP_BACK_OFFSET, on);
}

void serial_hold_break(serial_t *serial, bool on)
{
    set_bit(serial, SERIAL_REGISTER(FORMAT), CSR_SERIAL_PORT0_FORMAT_HOLD_BREAK_OFFSET, on);
}

void serial_purge_received(serial_t *serial)
{
    set(serial, SERIAL_REGISTER(PURGE), 1u << CSR_SERIAL_PORT0_PURGE_RECEIVE_OFFSET);
}

void serial_purge_transmit(serial_t *serial)
{
    set(serial, SERIAL_REGISTER(PURGE), 1u << CSR_SERIAL_PORT0_PURGE_TRANSMIT_OFFSET);
}

static void add(uint32_t *sum, uint32_t count)
{
    *sum = *sum + count < count ? UINT32_MAX : *sum + count;
}

void serial_read_counters(serial_t *serial)
{
    serial_counters_t *counters = &serial->counters;

    add(&counters->received, get(serial, SERIAL_REGISTER(COUNT_RECEIVED)));
    add(&counters->transmitted, get(serial, SERIAL_REGISTER(COUNT_TRANSMITTED)));
    add(&counters->overruns, get(serial, SERIAL_REGISTER(COUNT_OVERRUNS)));
    add(&counters->framing, get(serial, SERIAL_REGISTER(COUNT_FRAMING)));
    add(&counters->parity, get(serial, SERIAL_REGISTER(COUNT_PARITY)));
    add(&counters->breaks, get(serial, SERIAL_REGISTER(COUNT_BREAKS)));
    add(&counters->transmit_lost, get(serial, SERIAL_REGISTER(COUNT_LOST)));
    add(&counters->xoffs, get(serial, SERIAL_REGISTER(COUNT_XOFFS)));
}

void serial_clear_counters(serial_t *serial)
{
    serial_read_counters(serial);
    serial->counters = (serial_counters_t){0};
}

serial_result_t serial_wait_idle(const serial_t *serial, uint32_t cycles)
{
    uint32_t start = serial_now();

    while (!serial_is_idle(serial)) {
        if (serial_now() - start > cycles) {
            return SERIAL_TIMED_OUT;
        }
    }
    return SERIAL_OK;
}

serial_result_t serial_send_break(const serial_t *serial, uint32_t bits)
{
    if (bits < 1 || bits > SERIAL_BREAK_MAX_BITS) {
        return SERIAL_BAD_BREAK;
    }
    if (serial_transmit_space(serial) == 0) {
        return SERIAL_BUSY;
    }
    set(serial, SERIAL_REGISTER(TRANSMIT), bits | 1u << CSR_SERIAL_PORT0_TRANSMIT_IS_BREAK_OFFSET);
    return SERIAL_OK;
}

#endif
