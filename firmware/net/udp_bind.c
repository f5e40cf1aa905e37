/* Sockets are made, bound, connected and closed. */
#include "udp_table.h"

void udp_init(udp_socket_t *socket, udp_callback_t callback, void *context)
{
    __builtin_memset(socket, 0, sizeof(*socket));
    socket->callback = callback;
    socket->context = context;
}

udp_result_t udp_bind(net_t *net, udp_socket_t *socket, uint32_t port)
{
    be16_t wire_port = host_to_be16(port);

    if (port == 0 || port > 0xffff) {
        return UDP_BAD_PORT;
    }
    if (socket->local_port != 0) {
        return UDP_BAD_SOCKET;
    }
    if (udp_find(net, wire_port) != NULL) {
        return UDP_PORT_IN_USE;
    }
    socket->local_port = (uint16_t)wire_port;
    socket->next = *udp_bucket(net, wire_port);
    *udp_bucket(net, wire_port) = socket;
    return UDP_OK;
}

udp_result_t udp_bind_service(net_t *net, udp_socket_t *socket, uint32_t port)
{
    if (port >= UDP_SERVICE_PORTS) {
        return UDP_BAD_PORT;
    }
    udp_result_t result = udp_bind(net, socket, port);
    if (result == UDP_OK) {
        socket->is_service = true;
        net->services |= udp_service_bit(socket->local_port);
    }
    return result;
}

udp_result_t udp_connect(udp_socket_t *socket, be32_t address, uint32_t port)
{
    if (address != 0 && (port == 0 || port > 0xffff)) {
        return UDP_BAD_PORT;
    }
    socket->peer_address = address;
    socket->peer_port = (uint16_t)host_to_be16(port);
    return UDP_OK;
}

udp_result_t udp_close(net_t *net, udp_socket_t *socket)
{
    if (socket->local_port == 0) {
        return UDP_BAD_SOCKET;
    }
    udp_socket_t **link = udp_bucket(net, socket->local_port);
    while (*link != NULL && *link != socket) {
        link = &(*link)->next;
    }
    if (*link == NULL) {
        return UDP_BAD_SOCKET;
    }
    *link = socket->next;
    /* Its bit stays in the map: another service may have it. */
    socket->is_service = false;
    socket->local_port = 0;
    return UDP_OK;
}
