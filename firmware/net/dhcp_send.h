/* What the DHCP client says (RFC 2131 section 4.4.1, table 5), to whom, and when it says it again. */
#ifndef TIERV_NET_DHCP_SEND_H
#define TIERV_NET_DHCP_SEND_H

#include "dhcp_client.h"
#include "wire/dhcp.h"

/* Sends a message as the client's state wants it. False if there is no packet for it. */
bool dhcp_send(dhcp_client_t *client, dhcp_type_t type);

/* Sends one to which an answer is wanted, and sets when it is sent again. */
void dhcp_ask(dhcp_client_t *client, dhcp_type_t type);

#endif
