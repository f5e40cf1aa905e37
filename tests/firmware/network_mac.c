#include "network_mac.h"

#include "alarm.h"
#include "apps/network.h"
#include "apps/network_line.h"
#include "context.h"
#include "irq.h"

void (*network_mac_meanwhile)(void);
uint32_t network_mac_told_at;
context_posts_t context_posts;
uint32_t context_patient_lines;

static struct {
    RING(NET_RING_SLOTS) room;
    RING(NET_RING_SLOTS) received;
    RING(NET_RING_SLOTS) sent;
    bool received_pends;
    bool sent_pends;
    bool is_quiet;
} mac;
static net_port_t port;
static irq_service_t service;

static void look_at_line(void)
{
    if ((mac.received_pends || mac.sent_pends) && !mac.is_quiet) {
        service(&network_mac, true);
    }
}

/* --- the MAC ----------------------------------------------------------------------------------- */

void network_mac_reset(void)
{
    network_init();
    network_line_init(0);
    network_mac_meanwhile = NULL;
}

void network_mac_receive(void)
{
    (void)RING_PUSH(&mac.received, RING_POP(&mac.room));
    mac.received_pends = true;
    look_at_line();
}

/* As if what is room for a frame had been one to be sent. */
void network_mac_has_sent(void)
{
    (void)RING_PUSH(&mac.sent, RING_POP(&mac.room));
    mac.sent_pends = true;
    look_at_line();
}

void network_mac_lose_room(void)
{
    while (RING_POP(&mac.room) != NULL || RING_POP(&network.free) != NULL) {
    }
}

bool network_mac_is_at_rest(void)
{
    return RING_COUNT(&mac.received) == 0 && RING_COUNT(&mac.sent) == 0 && !mac.is_quiet;
}

/* --- its driver -------------------------------------------------------------------------------- */

void ethmac_init(ethmac_t *ethmac, net_t *net)
{
    *ethmac = (ethmac_t){0};
    __builtin_memset(&mac, 0, sizeof(mac));
    net->port = &port;
    (void)net_service(net, 0);
}

void ethmac_attach(ethmac_t *ethmac)
{
    (void)ethmac;
}

void ethmac_acknowledge(void)
{
    mac.received_pends = false;
    mac.sent_pends = false;
}

void ethmac_hush(void)
{
    mac.is_quiet = true;
}

/* One after the other, as on the bus. */
bool ethmac_listen(void)
{
    bool received = mac.received_pends;
    bool sent = mac.sent_pends;

    COMPILER_BARRIER();
    if (received) {
        mac.received_pends = false;
    }
    if (sent) {
        mac.sent_pends = false;
    }
    COMPILER_BARRIER();
    mac.is_quiet = false;
    COMPILER_BARRIER();
    look_at_line();
    return sent;
}

void ethmac_tell_at(ethmac_t *ethmac, uint32_t frames)
{
    (void)ethmac;
    network_mac_told_at = frames;
}

bool ethmac_has_work(const ethmac_t *ethmac)
{
    (void)ethmac;
    return false;
}

/* --- the port ---------------------------------------------------------------------------------- */

bool net_port_has_frame(const net_port_t *of)
{
    (void)of;
    return RING_COUNT(&mac.received) != 0;
}

bool net_port_has_room(const net_port_t *of)
{
    (void)of;
    return RING_COUNT(&mac.received) != 0 || RING_COUNT(&mac.room) != 0;
}

packet_t *net_port_receive(net_port_t *of)
{
    void (*meanwhile)(void) = network_mac_meanwhile;
    packet_t *packet = RING_POP(&mac.received);

    (void)of;
    network_mac_meanwhile = NULL;
    if (meanwhile != NULL) {
        meanwhile();
    }
    if (packet != NULL) {
        network_mac.received++;
        packet->length_bytes = ETHERNET_MIN_BYTES;
        packet->flags = 0;
        __builtin_memset(packet->frame, 0, ETHERNET_MIN_BYTES);
    }
    return packet;
}

bool net_port_give_room(net_port_t *of, packet_t *packet)
{
    (void)of;
    return RING_COUNT(&mac.room) < ETHMAC_RECEIVE_FRAMES && RING_PUSH(&mac.room, packet);
}

bool net_port_send(net_port_t *of, packet_t *packet)
{
    (void)of;
    return RING_PUSH(&mac.sent, packet);
}

packet_t *net_port_take_sent(net_port_t *of)
{
    (void)of;
    return RING_POP(&mac.sent);
}

/* --- its line ---------------------------------------------------------------------------------- */

bool irq_register(uint32_t line, const char *name, irq_service_t called, void *context,
                  uint32_t priority)
{
    (void)line;
    (void)name;
    (void)context;
    (void)priority;
    service = called;
    return true;
}

void irq_set_brief(uint32_t line)
{
    (void)line;
}

void irq_describe(uint32_t line, uint32_t room, irq_units_t units)
{
    (void)line;
    (void)room;
    (void)units;
}

void irq_kick(uint32_t line)
{
    (void)line;
}
