/* The command `lin`: makes serial ports LIN nodes, and sets them up. */
#ifndef TIERV_APPS_LIN_COMMAND_H
#define TIERV_APPS_LIN_COMMAND_H

/* Adds it. */
void lin_command_init(void);

#endif
