/* In the place of firmware/apps/network.h: no MAC. */
#ifndef TIERV_APPS_NETWORK_H
#define TIERV_APPS_NETWORK_H

#include "net/stack.h"
#include "net/udp_socket.h"

#define NETWORK_MAC_IN_PROTOCOL 0

extern net_t network;

#endif
