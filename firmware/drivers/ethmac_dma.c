#include <generated/csr.h>
#include <generated/mem.h>

#include "drivers/bus_copy.h"
#include "drivers/ethmac.h"
#include "mmio.h"

_Static_assert(NET_BUFFER_BYTES < 1 << ETHDMA_LENGTH_BITS, "a descriptor must hold a buffer's length");

enum {
    EVENT_RECEIVED = 1 << CSR_ETHDMA_EV_PENDING_RECEIVED_OFFSET,
    EVENT_SENT = 1 << CSR_ETHDMA_EV_PENDING_SENT_OFFSET,
    CONTROL_RECEIVE = 1 << CSR_ETHDMA_CONTROL_RECEIVE_OFFSET,
    CONTROL_TRANSMIT = 1 << CSR_ETHDMA_CONTROL_TRANSMIT_OFFSET,
    CONTROL_KEEP_LONG = 1 << CSR_ETHDMA_CONTROL_KEEP_LONG_OFFSET,
    LENGTH_MASK = (1 << ETHDMA_LENGTH_BITS) - 1,
    /* Where IPv4 begins, and in a datagram where UDP begins and has its checksum. */
    IPV4_OFFSET = 14,
    UDP_OFFSET = 34,
    UDP_CHECKSUM_OFFSET = 40,
    /* Places of the transmit ring at which there is an event. */
    EVENT_PLACES = (ETHMAC_TRANSMIT_FRAMES + 1) / 2,
    /* Rounds for the MAC to let go of its rings: the longest frame at 10 Mbit/s. */
    STOP_ROUNDS = CONFIG_CLOCK_FREQUENCY / 500
};

#define OWNED (1u << ETHDMA_OWNED_BIT)
#define EVENT (1u << ETHDMA_TRANSMIT_EVENT_BIT)
#define UDP_SUM                                                                                    \
    (1u << ETHDMA_TRANSMIT_SUM_BIT | (uint32_t)UDP_OFFSET / 2 << ETHDMA_TRANSMIT_START_LSB         \
     | (uint32_t)UDP_CHECKSUM_OFFSET / 2 << ETHDMA_TRANSMIT_PLACE_LSB)

static inline uint32_t read_word(const ethmac_place_t *place)
{
    return mmio_read((uintptr_t)&place->descriptor->word);
}

static inline bool is_owned(const ethmac_place_t *place)
{
    return (int32_t)read_word(place) < 0;
}

/* Memory is as it shall be before the MAC has the descriptor. */
static inline void give(ethmac_place_t *place, packet_t *packet, uint32_t word)
{
    ethmac_descriptor_t *descriptor = place->descriptor;

    place->packet = packet;
    descriptor->buffer = (uint32_t)(uintptr_t)packet->frame;
    COMPILER_BARRIER();
    mmio_write((uintptr_t)&descriptor->word, OWNED | word);
}

/* Gives the MAC room for a frame, unless it has enough. */
static inline bool arm(ethmac_t *mac, packet_t *packet)
{
    ethmac_place_t *place = mac->arm;

    if (place->packet != NULL) {
        return false;
    }
    mac->arm = place->next;
    give(place, packet, NET_BUFFER_BYTES);
    return true;
}

static inline bool has_frame(const ethmac_t *mac)
{
    return mac->take->packet != NULL && !is_owned(mac->take);
}

/* The oldest frame that the MAC has brought, or NULL. */
static inline packet_t *take(ethmac_t *mac)
{
    ethmac_place_t *place = mac->take;
    packet_t *packet = place->packet;

    if (!has_frame(mac)) {
        return NULL;
    }
    /* Again: the first time the MAC may just have been writing it. */
    uint32_t word = read_word(place);
    uint32_t bytes = word >> ETHDMA_RECEIVE_LENGTH_LSB & LENGTH_MASK;
    COMPILER_BARRIER();
    place->packet = NULL;
    mac->take = place->next;
    mac->received++;
    packet->length_bytes = (uint16_t)bytes;
    packet->sum = word & 0xffffu;
    packet->flags = mac->sums ? PACKET_FRAME_SUMMED : 0;
    return packet;
}

/* What goes out in place of a packet whose buffer the MAC can't reach; NULL if there is nothing now. */
static COLD packet_t *copy_within_reach(ethmac_t *mac, packet_t *packet)
{
    packet_t *copy = RING_POP(&mac->net->free);

    if (copy != NULL) {
        copy->length_bytes = packet->length_bytes;
        copy->flags = packet->flags;
        bus_copy((uint32_t *)(void *)copy->frame, (const uint32_t *)(const void *)packet->frame,
                 packet->length_bytes);
        (void)RING_PUSH(&mac->net->sent, packet);
    }
    return copy;
}

/* Hands over a packet; there is a place for it. */
static inline void send_in_place(ethmac_t *mac, packet_t *packet, uint32_t event)
{
    ethmac_place_t *place = mac->send;
    uint32_t word = packet->length_bytes | place->event | event;

    if ((packet->flags & PACKET_UDP_UNSUMMED) != 0) {
        word |= UDP_SUM;
    }
    mac->send = place->next;
    mac->transmitted++;
    give(place, packet, word);
}

/* A packet of a sender that may wait for it: there is an event when a batch of them has been sent. */
static COLD bool send_of_others(ethmac_t *mac, packet_t *packet)
{
    uint32_t event = 0;

    if ((uintptr_t)packet->frame - DTCM_BASE >= DTCM_SIZE) {
        packet = copy_within_reach(mac, packet);
        if (packet == NULL) {
            return false;
        }
    }
    if (++mac->unreported == NET_SENT_BATCH) {
        mac->unreported = 0;
        event = EVENT;
    }
    send_in_place(mac, packet, event);
    return true;
}

/* False if the packet has to wait. */
static inline bool send(ethmac_t *mac, packet_t *packet)
{
    if (UNLIKELY(mac->send->packet != NULL)) {
        return false;
    }
    if (packet->home != PACKET_HOME_RECEIVE) {
        return send_of_others(mac, packet);
    }
    send_in_place(mac, packet, 0);
    return true;
}

bool ethmac_has_sent(const ethmac_t *mac)
{
    return mac->sent->packet != NULL && !is_owned(mac->sent);
}

/* The oldest packet that was sent and not yet taken back, or NULL. */
static inline packet_t *take_sent(ethmac_t *mac)
{
    ethmac_place_t *place = mac->sent;
    packet_t *packet = place->packet;

    if (!ethmac_has_sent(mac)) {
        return NULL;
    }
    place->packet = NULL;
    mac->sent = place->next;
    return packet;
}

/* --- the port of the network interface --------------------------------------------------------- */

static ethmac_t *mac_of(net_port_t *port)
{
    return (ethmac_t *)(void *)((uint8_t *)port - offsetof(ethmac_t, port));
}

static bool port_has_frame(const net_port_t *port)
{
    return has_frame((const ethmac_t *)(const void *)((const uint8_t *)port - offsetof(ethmac_t, port)));
}

static packet_t *port_receive(net_port_t *port)
{
    return take(mac_of(port));
}

static bool port_give_room(net_port_t *port, packet_t *packet)
{
    return arm(mac_of(port), packet);
}

static bool port_send(net_port_t *port, packet_t *packet)
{
    return send(mac_of(port), packet);
}

static packet_t *port_take_sent(net_port_t *port)
{
    return take_sent(mac_of(port));
}

void ethmac_attach(ethmac_t *mac)
{
    mac->net->port = &mac->port;
}

/* --- without a port, through the rings --------------------------------------------------------- */

/* The buffers of packets that are free are room for frames. */
static void fill(ethmac_t *mac)
{
    while (mac->arm->packet == NULL) {
        packet_t *packet = RING_POP(&mac->net->free);
        if (packet == NULL) {
            return;
        }
        (void)arm(mac, packet);
    }
}

static void transmit(ethmac_t *mac)
{
    net_t *net = mac->net;

    while (RING_COUNT(&net->transmit) != 0 && send(mac, RING_FIRST(&net->transmit))) {
        (void)RING_POP(&net->transmit);
    }
}

bool ethmac_service(ethmac_t *mac, bool pending)
{
    net_t *net = mac->net;
    packet_t *packet;
    bool received = false;

    if (pending) {
        ethmac_acknowledge();
    }
    while ((packet = take_sent(mac)) != NULL) {
        (void)RING_PUSH(&net->sent, packet);
    }
    while ((packet = take(mac)) != NULL) {
        (void)RING_PUSH(&net->received, packet);
        received = true;
    }
    fill(mac);
    transmit(mac);

    return received || RING_COUNT(&net->sent) >= NET_SENT_BATCH;
}

/* --- registers --------------------------------------------------------------------------------- */

static void link(ethmac_place_t *places, ethmac_descriptor_t *ring, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        places[i].descriptor = &ring[i];
        places[i].event = i % EVENT_PLACES == 0 ? EVENT : 0;
        places[i].next = &places[(i + 1) % count];
    }
}

/* The MAC finishes what it has begun. */
static void stop(void)
{
    uint32_t rounds = STOP_ROUNDS;

    mmio_write(CSR_ETHDMA_CONTROL_ADDR, 0);
    while (mmio_read(CSR_ETHDMA_ACTIVE_ADDR) != 0 && --rounds != 0) {
    }
}

void ethmac_init(ethmac_t *mac, net_t *net)
{
    stop();
    *mac = (ethmac_t){.port = {.has_frame = port_has_frame,
                               .receive = port_receive,
                               .give_room = port_give_room,
                               .send = port_send,
                               .take_sent = port_take_sent},
                      .net = net,
                      .arm = mac->receive_places,
                      .take = mac->receive_places,
                      .send = mac->transmit_places,
                      .sent = mac->transmit_places,
                      .sums = true};
    link(mac->receive_places, mac->receive_ring, ETHMAC_RECEIVE_FRAMES);
    link(mac->transmit_places, mac->transmit_ring, ETHMAC_TRANSMIT_FRAMES);
    fill(mac);
    mmio_write(CSR_ETHDMA_RECEIVE_RING_ADDR, (uint32_t)(uintptr_t)mac->receive_ring);
    mmio_write(CSR_ETHDMA_RECEIVE_LAST_ADDR, ETHMAC_RECEIVE_FRAMES - 1);
    mmio_write(CSR_ETHDMA_TRANSMIT_RING_ADDR, (uint32_t)(uintptr_t)mac->transmit_ring);
    mmio_write(CSR_ETHDMA_TRANSMIT_LAST_ADDR, ETHMAC_TRANSMIT_FRAMES - 1);
    mmio_write(CSR_ETHDMA_SUM_FROM_ADDR, IPV4_OFFSET);
    mmio_write(CSR_ETHDMA_EV_PENDING_ADDR, EVENT_RECEIVED | EVENT_SENT);
    mmio_write(CSR_ETHDMA_EV_ENABLE_ADDR, EVENT_RECEIVED | EVENT_SENT);
    mmio_write(CSR_ETHDMA_CONTROL_ADDR, CONTROL_RECEIVE | CONTROL_TRANSMIT | CONTROL_KEEP_LONG);
}

void ethmac_acknowledge(void)
{
    mmio_write(CSR_ETHDMA_EV_PENDING_ADDR, EVENT_RECEIVED | EVENT_SENT);
}

void ethmac_hush(void)
{
    mmio_write(CSR_ETHDMA_EV_ENABLE_ADDR, 0);
}

void ethmac_listen(void)
{
    ethmac_acknowledge();
    mmio_write(CSR_ETHDMA_EV_ENABLE_ADDR, EVENT_RECEIVED | EVENT_SENT);
    mmio_wait();
}

uint32_t ethmac_overruns(void)
{
    return mmio_read(CSR_ETHDMA_RECEIVE_MISSED_ADDR);
}

uint32_t ethmac_crc_errors(void)
{
    /* Those too of which nothing was left for the rings. */
    return mmio_read(CSR_ETHDMA_RX_DATAPATH_CRC_ERRORS_ADDR);
}

uint32_t ethmac_preamble_errors(void)
{
    return mmio_read(CSR_ETHDMA_RX_DATAPATH_PREAMBLE_ERRORS_ADDR);
}
