/* The command `lin`: makes serial ports LIN nodes, and sets them up. */
#ifndef TIERV_APPS_LIN_COMMAND_H
#define TIERV_APPS_LIN_COMMAND_H

#include "apps/command.h"
#include "apps/lin/lin.h"

/* Adds it. */
void lin_add_command(void);

/* --- show.c: steps of the command ---------------------------------------------------------------- */

/* Prints a line for each node. */
bool lin_run_list(command_call_t *call);

/* Prints a node's frames, then its counters that are not 0. */
bool lin_run_show(command_call_t *call, const lin_port_t *lin);

#endif
