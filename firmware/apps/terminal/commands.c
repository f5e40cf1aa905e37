/* The command `serial`. */
#include "apps/command.h"
#include "apps/terminal/port.h"
#include "apps/terminal/terminal.h"

#if UARTS > 0

static void print_settings(command_call_t *call, const terminal_port_t *port)
{
    static const char parities[] = "?NOEMS";
    const control_port_t *control = &port->office->control;
    uint32_t address = control->peer.address;

    command_print(call, "%2lu: %lu %u%c%u  ", (unsigned long)port->number,
                  (unsigned long)control->achieved_baud, control->format.data_bits,
                  parities[control->format.parity], control->format.stop_bits);
    if (terminal_is_away(port)) {
        command_print(call, "used by %s\n", serial_ports_user(port->number)->name);
    } else if (control->peer.port == 0) {
        command_print(call, "no peer\n");
    } else {
        command_print(call, "peer %lu.%lu.%lu.%lu:%u\n", (unsigned long)(address >> 24),
                      (unsigned long)(address >> 16 & 0xff), (unsigned long)(address >> 8 & 0xff),
                      (unsigned long)(address & 0xff), control->peer.port);
    }
}

static bool run_serial(command_call_t *call)
{
    const terminal_port_t *port = &terminal_ports[call->step / 2];
    const uint32_t *counts = port->office->counts;

    if (call->step % 2 == 0) {
        print_settings(call, port);
        return true;
    }
    command_print(call, "    received %lu  sent %lu  refused %lu  starved %lu  bad commands %lu\n",
                  (unsigned long)port->received_bytes, (unsigned long)port->taken_bytes,
                  (unsigned long)counts[TERMINAL_COUNT_REFUSED_BYTES],
                  (unsigned long)port->starved,
                  (unsigned long)counts[TERMINAL_COUNT_BAD_COMMANDS]);
    return call->step / 2 + 1 < UARTS;
}

static const command_t commands[] = {
    {"serial", "", 0, "serial ports: settings, peers and bytes", run_serial},
};

static command_table_t table = {commands, sizeof(commands) / sizeof(commands[0]), NULL};

void terminal_add_commands(void)
{
    command_add(&table);
}

#endif
