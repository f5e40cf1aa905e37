/* What a board without Ethernet offers:
 *
 *   console       commands: irqtune, and the latency instrument where there is one
 *   serial ports  send back what they receive, from the interrupt service
 */
#include <generated/soc.h>

#include "alarm.h"
#include "apps/console.h"
#include "apps/echo/command.h"
#include "apps/echo/latency.h"
#include "apps/irqtune/irqtune.h"
#include "apps/serial_ports.h"
#include "context.h"
#include "drivers/uart.h"
#include "irq.h"
#include "report.h"

static uart_t console;

/* The interrupt service has moved the console's bytes since the application last looked. */
static volatile bool console_has_moved = true;

/* Shares the rings with tier 0. */
static void serve_console(void *context, bool pending)
{
    (void)pending;
    if (uart_service(context)) {
        console_has_moved = true;
        context_post_application();
    }
}

#if UARTS > 0

static void begin_echo(uint32_t port)
{
    (void)serial_init(&serial_ports[port], port);
}

/* Longest path: the receive FIFO's characters, each read and written. What the transmit FIFO has no room
 * for is lost; both directions have the same speed, so that is nothing. Characters with flags are not sent
 * back. */
static void serve_echo(uint32_t port, bool pending)
{
    const serial_t *serial = &serial_ports[port];
    uint32_t space = serial_transmit_space(serial);
    int32_t character;

    (void)pending;
    for (uint32_t index = 0; index < SERIAL_RECEIVE_DEPTH; index++) {
        character = serial_receive(serial);
        if (character < 0) {
            break;
        }
        if (space != 0 && SERIAL_FLAGS(character) == 0) {
            serial_transmit(serial, SERIAL_DATA(character), 1);
            space--;
        }
    }
}

#else

static void begin_echo(uint32_t port)
{
    (void)port;
}

static void serve_echo(uint32_t port, bool pending)
{
    (void)port;
    (void)pending;
}

#endif

static const serial_user_t echo = {.name = "echo", .begin = begin_echo, .serve = serve_echo};

/* Tier 2, and those above it. */
void interrupt_service(uint32_t lines)
{
    (void)lines;
    irq_dispatch(TIER_INTERRUPT);
}

/* Tier 1. */
void protocol_service(void)
{
    irq_dispatch_protocol();
}

int main(void)
{
    alarm_init(IRQ_USUAL_PRIORITY);
    uart_init(&console);
    (void)irq_register(UART_INTERRUPT, "console", serve_console, &console, IRQ_USUAL_PRIORITY);
    serial_ports_init(&echo, IRQ_SERIAL_PRIORITY);
#ifdef ECHO_INTERRUPT
    latency_init();
#endif
    irq_start();
    irqtune_init();
#ifdef ECHO_INTERRUPT
    latency_add_command();
#endif
    console_init(&console);
    irq_run(UART_INTERRUPT);
    report_mark(MARK_READY);
    for (;;) {
        console_has_moved = false;
        if (console_service()) {
            irq_run(UART_INTERRUPT);
        } else if (!console_has_moved || CONTEXT_MUST_YIELD) {
            context_wait();
        }
    }
}
