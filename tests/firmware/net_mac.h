/* The driver of net_driver.c: all packets are its, and frames come from commands and are printed.
 *
 * Received frames are put into memory of exactly their length, so that the address sanitizer sees every access
 * outside.
 */
#ifndef TIERV_TESTS_NET_MAC_H
#define TIERV_TESTS_NET_MAC_H

#include <stdbool.h>

#include "../../firmware/net/stack.h"

/* Takes all packets from where they are and gives them to a stack that is new. */
void net_mac_reset(net_t *net);

/* Does a command, if it is one about frames; else false. */
bool net_mac_run(net_t *net, const char *command);

/* Ends every command that may have something sent: says whether there is something for the application, lets
 * the driver send, takes back what was sent. */
void net_mac_hand_over(net_t *net, bool for_application);

/* The protocol tier does its work, which includes so many received frames; then the driver. */
void net_mac_serve(net_t *net, uint32_t frames);

/* How many packets the driver and the port have, and whether packets that are out of use are wanted. */
void net_mac_report(const net_t *net);

#endif
