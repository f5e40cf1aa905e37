/* The hardware of services_driver.c: contexts, lines, one alarm, and the registers of the serial ports. */
#ifndef TIERV_TESTS_SERVICES_DEVICES_H
#define TIERV_TESTS_SERVICES_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

/* How often context_lock() was called, and whether it holds. */
extern uint32_t device_locks;
extern bool device_is_locked;

/* The protocol service is to run. */
extern bool device_posted;

/* text_fail() unless it holds. */
void device_check(bool holds, const char *what);

/* Gives the serial ports' transmitters room; and what serial_now() is. */
void device_start(void);
void device_set_cycle(uint32_t cycle);

/* The alarm rings if it is set; lines that were kicked are served. */
void device_ring_alarm(void);
void device_serve_kicked(void);

/* The driver's commands burst, registers and alarm. */
void device_burst(void);
void device_print_registers(void);
void device_print_alarm(void);

#endif
