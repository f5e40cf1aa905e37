#include "services_devices.h"

#include <stdio.h>

#include "alarm.h"
#include "context.h"
#include "drivers/serial.h"
#include "irq/table.h"
#include "text.h"

/* --- contexts, lines, alarm ---------------------------------------------------------------------- */

uint32_t device_locks;
bool device_is_locked;
bool device_posted;
static uint32_t kicked;
static alarm_t *alarm_set_last;

void device_check(bool holds, const char *what)
{
    if (!holds) {
        text_fail(what);
    }
}

uint32_t context_lock(void)
{
    device_check(!device_is_locked, "locked twice");
    device_is_locked = true;
    device_locks++;
    return 0xab;
}

void context_unlock(uint32_t before)
{
    device_check(device_is_locked && before == 0xab, "not locked");
    device_is_locked = false;
}

void context_post_protocol(void)
{
    device_posted = true;
}

bool irq_tier_serves(uint32_t tier)
{
    return tier == TIER_INTERRUPT;
}

bool irq_move(uint32_t line, uint32_t tier)
{
    (void)line;
    (void)tier;
    return true;
}

void irq_apply_priorities(void)
{
}

static void serve_line(uint32_t line, bool pending)
{
    irq_line_t *entry = &irq_table[line + 1];

    entry->service(entry->context, pending);
    entry->count += pending;
}

void irq_run(uint32_t line)
{
    device_check(!device_is_locked, "a service can't begin");
    serve_line(line, false);
}

void irq_kick(uint32_t line)
{
    if (line == ETHMAC_INTERRUPT) {
        printf("!kick\n");
    } else {
        kicked |= 1u << line;
    }
}

void device_serve_kicked(void)
{
    while (kicked != 0) {
        uint32_t line = (uint32_t)__builtin_ctz(kicked);
        kicked &= kicked - 1;
        serve_line(line, false);
    }
}

void alarm_set(alarm_t *alarm, uint32_t cycles)
{
    device_check(!alarm->is_set, "set twice");
    alarm->is_set = true;
    alarm->due = cycles;
    alarm_set_last = alarm;
}

void alarm_repeat(alarm_t *alarm, uint32_t cycles)
{
    alarm_set(alarm, alarm->due + cycles);
}

void device_ring_alarm(void)
{
    alarm_t *alarm = alarm_set_last;

    if (alarm != NULL && alarm->is_set) {
        alarm->is_set = false;
        alarm->ring(alarm);
    }
}

void device_print_alarm(void)
{
    if (alarm_set_last != NULL && alarm_set_last->is_set) {
        printf("%u\n", alarm_set_last->due);
    } else {
        printf("-\n");
    }
}

/* --- serial ports -------------------------------------------------------------------------------- */

enum { REGISTERS = 256, TRANSMIT_SPACE = 16 };

/* At the addresses of generated/csr.h, which begin with 0. */
static uint32_t registers[REGISTERS];

static uintptr_t address_of(uint32_t port, uintptr_t offset)
{
    return CSR_SERIAL_PORT0_RECEIVE_ADDR + port * SERIAL_STRIDE_BYTES + offset;
}

static bool is_register(uintptr_t address, uintptr_t offset)
{
    return address >= address_of(0, 0) && (address - address_of(0, offset)) % SERIAL_STRIDE_BYTES == 0;
}

static uint32_t port_at(uintptr_t address)
{
    return (uint32_t)((address - address_of(0, 0)) / SERIAL_STRIDE_BYTES);
}

uint32_t mmio_read(uintptr_t address)
{
    uint32_t value = registers[address / 4];

    if (is_register(address, SERIAL_REGISTER(RECEIVE_BURST))
        || is_register(address, SERIAL_REGISTER(COUNT_OVERRUNS))) {
        registers[address / 4] = 0;
    }
    return value;
}

void mmio_write(uintptr_t address, uint32_t value)
{
    registers[address / 4] = value;
    if (is_register(address, SERIAL_REGISTER(TRANSMIT))) {
        printf("!transmit %u %08x\n", port_at(address), value);
    } else if (is_register(address, SERIAL_REGISTER(PURGE))) {
        printf("!purge %u %u\n", port_at(address), value);
    }
}

void device_burst(void)
{
    static uint8_t bytes[TEXT_HEX_BYTES];
    uint32_t port = text_number(1);
    uint32_t count = text_hex(bytes, 3);
    uint32_t word = count << CSR_SERIAL_PORT0_RECEIVE_BURST_COUNT_OFFSET
                    | text_number(2) << CSR_SERIAL_PORT0_RECEIVE_BURST_IS_BREAK_OFFSET;

    for (uint32_t index = 0; index < count; index++) {
        word |= (uint32_t)bytes[index] << 8 * index;
    }
    registers[address_of(port, SERIAL_REGISTER(RECEIVE_BURST)) / 4] = word;
    registers[address_of(port, SERIAL_REGISTER(COUNT_OVERRUNS)) / 4] += text_number(5);
    device_set_cycle(text_number(4));
    serve_line(serial_line(port), true);
}

void device_print_registers(void)
{
    const uint32_t *first = &registers[address_of(text_number(1), 0) / 4];

    printf("%u %u %x %x %u %u %u\n", first[SERIAL_REGISTER(TUNING) / 4], first[SERIAL_REGISTER(FORMAT) / 4],
           first[SERIAL_REGISTER(WATERMARKS) / 4], first[SERIAL_REGISTER(FLOW_LEVELS) / 4],
           first[SERIAL_REGISTER(TIMEOUT) / 4], first[SERIAL_REGISTER(FLOW) / 4],
           first[SERIAL_REGISTER(EV_ENABLE) / 4]);
}

void device_start(void)
{
    for (uint32_t port = 0; port < UARTS; port++) {
        registers[address_of(port, SERIAL_REGISTER(LEVEL)) / 4] = TRANSMIT_SPACE
                                                                << CSR_SERIAL_PORT0_LEVEL_SPACE_OFFSET;
    }
}

void device_set_cycle(uint32_t cycle)
{
    registers[CSR_SERIAL_CYCLE_ADDR / 4] = cycle;
}
