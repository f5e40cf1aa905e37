/* Benchmark: the terminal server alone, and what it leaves of the processor. */
#include <generated/soc.h>

#include "alarm.h"
#include "apps/idle.h"
#include "apps/network.h"
#include "apps/network_line.h"
#include "apps/terminal/terminal.h"
#include "context.h"
#include "irq.h"
#include "report.h"

#if UARTS == 0
#error "this benchmark needs a serial port: uarts of SocParams"
#endif

enum {
    RESULT_IDLE_CYCLES = 0,
    RESULT_CYCLES,
    RESULT_TIMER_INTERRUPTS,
    RESULT_ETHMAC_INTERRUPTS,
    RESULT_SERIAL_INTERRUPTS
};

/* The measurement begins when idle_clock() says so, which counts from reset, and lasts as long. */
SET_BEFORE_RUN uint32_t start_cycle = 500000;
SET_BEFORE_RUN uint32_t run_cycles = 1000000;

static volatile bool is_over;

void interrupt_service(uint32_t lines)
{
    (void)lines;
    irq_dispatch(TIER_INTERRUPT);
}

void protocol_service(void)
{
    irq_dispatch_protocol();
    network_line_protocol();
    terminal_protocol();
}

static uint32_t interrupts(uint32_t line)
{
    const irq_line_t *entry = irq_line(line);

    return entry != NULL ? entry->count : 0;
}

static uint32_t serial_interrupts(void)
{
    uint32_t sum = 0;

    for (uint32_t port = 0; port < UARTS; port++) {
        sum += interrupts(SERIAL0_INTERRUPT + port);
    }
    return sum;
}

static void end(alarm_t *alarm)
{
    (void)alarm;
    is_over = true;
}

/* Spends its time until a cycle, however much of it the services leave. */
static void wait_until(uint32_t cycle)
{
    static alarm_t alarm = {.ring = end};

    is_over = false;
    alarm_set(&alarm, cycle - idle_clock());
    idle_until(&is_over, UINT32_MAX);
}

int main(void)
{
    network_init();
    idle_calibrate();
    alarm_init(IRQ_USUAL_PRIORITY);
    network_line_init(IRQ_USUAL_PRIORITY);
    terminal_init(IRQ_SERIAL_PRIORITY);
    irq_start();
    report_mark(MARK_READY);
    if ((int32_t)(idle_clock() - start_cycle) >= 0) {
        return 1;
    }
    wait_until(start_cycle);
    uint32_t idle = idle_cycles();
    uint32_t start = idle_clock();
    uint32_t timers = interrupts(TIMER0_INTERRUPT);
    uint32_t frames = interrupts(ETHMAC_INTERRUPT);
    uint32_t serials = serial_interrupts();
    wait_until(start_cycle + run_cycles);
    report_result(RESULT_IDLE_CYCLES, idle_cycles() - idle);
    report_result(RESULT_CYCLES, idle_clock() - start);
    report_result(RESULT_TIMER_INTERRUPTS, interrupts(TIMER0_INTERRUPT) - timers);
    report_result(RESULT_ETHMAC_INTERRUPTS, interrupts(ETHMAC_INTERRUPT) - frames);
    report_result(RESULT_SERIAL_INTERRUPTS, serial_interrupts() - serials);
    for (;;) {
        context_wait();
    }
}
