/* The network of services_driver.c: sockets, packets and a neighbour who may be unknown. Each function is a command,
 * described there. */
#ifndef TIERV_TESTS_SERVICES_NETWORK_H
#define TIERV_TESTS_SERVICES_NETWORK_H

void network_take_datagram(void);
void network_serve_remote(void);
void network_supply(void);
void network_set_spare(void);
void network_print_packets(void);
void network_lose_neighbour(void);
void network_refuse_neighbour(void);
void network_find_neighbour(void);

#endif
