/* What the stack's state is, as lines of the answers to net_driver.c's commands. */
#ifndef TIERV_TESTS_NET_REPORT_H
#define TIERV_TESTS_NET_REPORT_H

#include <stdbool.h>

#include "../../firmware/net/stack.h"

/* Which counters have moved since the last call, and by how much; unless it is not to be said. */
void report_counted(const net_t *net, bool say);
/* Name, kind and value of all counters, and net_counter_sum() of all kinds. */
void report_counters(const net_t *net);
/* How many packets the stack has where. */
void report_packets(net_t *net);
/* Address, netmask and gateway of the interface. */
void report_address(const net_t *net);

#endif
