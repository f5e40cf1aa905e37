/* The command line on serial port 0: what apps/command.h has. */
#ifndef TIERV_APPS_CONSOLE_H
#define TIERV_APPS_CONSOLE_H

#include <stdbool.h>

#include "drivers/uart.h"

/* Prints the banner and the prompt on `uart`. */
void console_init(uart_t *uart);

/* Application: reads what was typed and prints what was asked for, as far as the serial port has
 * room. True if bytes were queued. Of what comes faster than it is answered, as much waits as the UART's ring holds;
 * a line that may have lost characters is not run. */
bool console_service(void);

#endif
