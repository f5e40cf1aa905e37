/* Exit codes of the test programs beside 0. */
#ifndef EXIT_CODES_H
#define EXIT_CODES_H

#define TRAP_EXIT 0x100

#endif
