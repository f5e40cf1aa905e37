/* Serial ports, lines, alarms and contexts of a board on the host, by whose clock everything happens. */
#ifndef TIERV_TESTS_TERMINAL_BOARD_H
#define TIERV_TESTS_TERMINAL_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "drivers/serial.h"

/* Characters that are on their way to a port. */
enum { BOARD_COMING = 1 << 13 };

#define BOARD_NEVER UINT64_MAX

/* A character that is in the receive FIFO from `cycle` on. */
typedef struct {
    uint64_t cycle;
    uint32_t stamp;
    uint8_t flags;
    uint8_t data;
} board_character_t;

/* The clock. The firmware sees its lower half. */
extern uint64_t board_cycle;
/* How long a line waits for its service. */
extern uint64_t board_latency_cycles;
/* How much too early alarms ring. */
extern uint32_t board_early_cycles;
/* The protocol service does not run. */
extern bool board_holds_protocol;
/* Locks since the services were last run. */
extern uint32_t board_locks;

/* Accesses that took characters. */
extern uint32_t board_reads;

/* Given by the driver: the protocol service. True if it is to run again. */
bool board_protocol_service(void);

/* Given by the driver: the MAC's service, as it is asked for. */
void board_ethernet_service(void);

/* Given by the driver: the port's service says that it is running, or another's is it. */
bool board_is_busy(uint32_t port);

/* Services have begun: from now on the board looks at who does what. */
void board_start(void);

/* The protocol service has something to do. */
void board_post(void);

/* Runs all services at this cycle, until there is nothing more to do. */
void board_settle(void);

/* Lets time pass, with all that happens meanwhile. */
void board_advance(uint64_t cycles);

/* A character for a port, behind those before. */
void board_receive(uint32_t port, board_character_t character);

/* The line takes up to `count` characters from a port's FIFO; how many. Breaks are not sent. */
uint32_t board_send(uint32_t port, uint8_t *to, uint32_t count);

/* Whether the line is sending a character that is no longer in the FIFO. */
void board_set_shifting(uint32_t port, bool on);

/* The level of CTS. */
void board_set_cts(uint32_t port, bool asserted);

/* The word that a register was last given. */
uint32_t board_register(uint32_t port, uint32_t offset);

/* The service of the port is about to end, after having waited for the bus: so many locks more see it. Behind a
 * lock that is left open meanwhile nobody waits. */
void board_keep_busy(volatile bool *busy, uint32_t locks);

/* --- between both files of the board ------------------------------------------------------------ */

/* Ends the program. */
_Noreturn void board_fail(const char *message);

/* A register is accessed that is the service's. */
void board_check_access(uint32_t port);

/* The port calls for service. */
bool board_is_pending(uint32_t port);

/* Takes in what has come; false if nothing has. */
bool board_see_characters(uint32_t port);

/* When a character comes, or has been the last for too long. */
uint64_t board_next_character(uint32_t port);

#endif
