/* The serial ports and who uses each: the terminal server, LIN, ... A port changes hands while everything
 * runs. */
#ifndef TIERV_APPS_SERIAL_PORTS_H
#define TIERV_APPS_SERIAL_PORTS_H

#include "drivers/serial.h"

/* A module that can use ports. begin() and serve() are called from the service of the port's line. */
typedef struct {
    const char *name;
    /* The port is this module's from now on: sets it up, serial_init() first. */
    void (*begin)(uint32_t port);
    /* Serves it; `pending` as in irq.h. */
    void (*serve)(uint32_t port, bool pending);
    /* Characters that come after the line was raised before one is lost; 0: until the next interrupt. */
    uint32_t room;
    /* Application: characters that the port has received. NULL: as many as interrupts. */
    uint32_t (*received)(uint32_t port);
} serial_user_t;

#if UARTS > 0
extern serial_t serial_ports[UARTS];
#endif

/* Registers the lines of all ports, which `user` gets. Before irq_start(). */
void serial_ports_init(const serial_user_t *user, uint32_t priority);

/* Application: gives a port to another module, whose begin() has run when this returns. Not behind
 * context_lock(): a protocol service that has begun with the module before ends first. False if there is no
 * such port. */
bool serial_ports_give(uint32_t port, const serial_user_t *user);

/* Whose port it is. */
const serial_user_t *serial_ports_user(uint32_t port);

/* The module that gets ports which nobody else wants: that of serial_ports_init(). */
const serial_user_t *serial_ports_usual_user(void);

#endif
