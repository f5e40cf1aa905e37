/* A LIN node that is opened while the alarm of the last one, which has been closed, is still to ring once more: between
 * two instructions of that, by the CPU's single-step trap. Exit status 0 if the node has its milliseconds then,
 * otherwise a line on stderr; 77 on a host without such a trap.
 */
#include <stdio.h>

#include "../../firmware/apps/lin/lin.c"
#include "single_step.h"

#ifdef __x86_64__

#include "each_step.h"

enum { PORT = 0, BAUD = 19200 };

serial_t serial_ports[UARTS];

uint32_t mmio_read(uintptr_t address)
{
    (void)address;
    return 0;
}

void mmio_write(uintptr_t address, uint32_t value)
{
    (void)address;
    (void)value;
}

void context_post_protocol(void)
{
}

void irq_kick(uint32_t line)
{
    (void)line;
}

bool serial_ports_give(uint32_t port, const serial_user_t *of)
{
    (void)of;
    return port < UARTS;
}

const serial_user_t *serial_ports_usual_user(void)
{
    return NULL;
}

void lin_udp_init(void)
{
}

void lin_udp_tell(uint32_t port, const lin_report_t *report)
{
    (void)port;
    (void)report;
}

bool lin_udp_flush(void)
{
    return true;
}

void alarm_set(alarm_t *alarm, uint32_t cycles)
{
    (void)cycles;
    alarm->is_set = true;
}

void alarm_repeat(alarm_t *alarm, uint32_t cycles)
{
    alarm_set(alarm, cycles);
}

static void pass_millisecond(void)
{
    if (millisecond.is_set) {
        millisecond.is_set = false;
        ring(&millisecond);
    }
}

static bool ticks(const void *unused)
{
    (void)unused;
    lin_init();
    bool opened = lin_open(PORT, BAUD, LIN_COMMANDER);
    lin_close(lin_of_port(PORT));
    single_step(true);
    opened &= lin_open(PORT, BAUD, LIN_COMMANDER);
    single_step(false);
    uint32_t before = lin_at(0)->ticks_due;
    pass_millisecond();
    return opened && lin_at(0)->ticks_due == before + 1;
}

int main(void)
{
    return survives_each_step("a node without milliseconds if one had passed", ticks, NULL, pass_millisecond) ? 0 : 1;
}

#else

int main(void)
{
    fprintf(stderr, "no single-step trap on this host\n");
    return NOT_HERE;
}

#endif
