/* The application of net_driver.c, made of commands: sockets, and what it has taken from them. */
#ifndef TIERV_TESTS_NET_APPLICATION_H
#define TIERV_TESTS_NET_APPLICATION_H

#include <stdbool.h>

#include "../../firmware/net/stack.h"

/* Forgets all sockets and packets. */
void net_application_reset(void);

/* Does a command, if it is one about sockets; else false. */
bool net_application_run(net_t *net, const char *command);

/* How many packets the application has where. */
void net_application_report(void);

#endif
