/* Serial ports that send back what they receive. */
#ifndef TIERV_APPS_SERIAL_ECHO_H
#define TIERV_APPS_SERIAL_ECHO_H

#include <stdbool.h>
#include <stdint.h>

/* Makes all ports ready, and registers their lines. */
void serial_echo_init(uint32_t priority);

/* Application: true if characters have moved. */
bool serial_echo_service(void);

#endif
