/* A MAC that moves frames by itself and its line, which calls the services of the applications' network. What is
 * between it and its driver are rings here too, so that it may do something between any two instructions of the
 * driver. */
#ifndef TIERV_TESTS_NETWORK_MAC_H
#define TIERV_TESTS_NETWORK_MAC_H

#include <stdbool.h>
#include <stdint.h>

/* The network interface with its line, as after a reset; nothing has been received. */
void network_mac_reset(void);

/* A frame of no protocol comes. There is room for it. */
void network_mac_receive(void);

/* A packet has been sent of which the stack wants to be told. */
void network_mac_has_sent(void);

/* All packets that are room for frames are somewhere else from now on. */
void network_mac_lose_room(void);

/* Called as the stack next looks for a frame; NULL: nothing is. */
extern void (*network_mac_meanwhile)(void);

/* How many frames the MAC shall have before it tells. */
extern uint32_t network_mac_told_at;

/* Whether there is nothing that the stack has not seen, and the line would rise for what comes. */
bool network_mac_is_at_rest(void);

#endif
