/* The network interface of the applications: packets, MAC and stack joined. */
#ifndef TIERV_APPS_NETWORK_H
#define TIERV_APPS_NETWORK_H

#include "drivers/ethmac.h"
#include "net/dhcp_client.h"
#include "net/stack.h"
#include "net/udp_socket.h"

extern net_t network;
extern ethmac_t network_mac;
extern dhcp_client_t network_dhcp;

/* Makes the interface with the addresses of generated/soc.h, and enables the MAC. */
void network_init(void);

/* Not for the stack: the interrupt service calls ethmac_service(), not network_interrupt(), and has packets
 * in the interface's rings. Behind network_init(). */
void network_use_rings(void);

/* Makes the DHCP client, whose static address is that of network_init(). It is on from the beginning if
 * config.h says so (NETWORK_DHCP), otherwise the command `dhcp on` begins. Before the tiers start. */
void network_init_dhcp(void);

/* A MAC that moves frames by itself is the protocol service's port, and the interrupt service only passes on
 * its line. Otherwise the interrupt service moves them. */
#ifdef ETHDMA_OWNED_BIT
#define NETWORK_MAC_IN_PROTOCOL 1
#else
#define NETWORK_MAC_IN_PROTOCOL 0
#endif

/* Interrupt service: its part of the network. True if there is work for the protocol service. */
bool network_interrupt(uint32_t lines);

/* Interrupt service, once a second: what the stack does by the clock is due. */
void network_tick(void);

/* Protocol service: its part of the network. `wake_driver` makes the interrupt service look for frames to
 * send and packets that have become free. */
void network_protocol(void (*wake_driver)(void));

/* Adds the commands ifconfig, counters, dhcp, join and leave. */
void network_add_commands(void);

#endif
