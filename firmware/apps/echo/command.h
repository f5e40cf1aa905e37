/* The command `latency`: starts, stops and shows the latency instrument. */
#ifndef TIERV_APPS_ECHO_COMMAND_H
#define TIERV_APPS_ECHO_COMMAND_H

void latency_add_command(void);

#endif
