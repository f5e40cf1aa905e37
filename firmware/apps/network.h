/* The network interface of the applications: packets, MAC and stack joined. */
#ifndef TIERV_APPS_NETWORK_H
#define TIERV_APPS_NETWORK_H

#include "drivers/ethmac.h"
#include "net/stack.h"
#include "net/udp_socket.h"

extern net_t network;
extern ethmac_t network_mac;

/* Makes the interface with the addresses of generated/soc.h, and enables the MAC. */
void network_init(void);

/* Interrupt service: its part of the network. True if there is work for the protocol service. */
bool network_interrupt(uint32_t lines);

/* Interrupt service, once a second: ARP retries and ageing are due. */
void network_tick(void);

/* Protocol service: its part of the network. `wake_driver` makes the interrupt service look for frames to
 * send and packets that have become free. */
void network_protocol(void (*wake_driver)(void));

/* Adds the commands ifconfig and counters. */
void network_add_commands(void);

#endif
