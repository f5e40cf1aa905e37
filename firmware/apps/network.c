#include "apps/network.h"

#include <generated/soc.h>

#include "context.h"

/* Frames that the protocol service takes before it looks for packets to give back. */
enum { FRAMES_AT_ONCE = 8 };

/* So often it does both before the rest of the protocol service has its turn. */
enum { ROUNDS_AT_ONCE = 8 };

net_t network;
ethmac_t network_mac;
dhcp_client_t network_dhcp;

static const dhcp_address_t static_address = {
    .address = IPV4_ADDRESS(LOCALIP1, LOCALIP2, LOCALIP3, LOCALIP4),
    .netmask = IPV4_ADDRESS(255, 255, 255, 0)};

static packet_t packets[NET_PACKETS];
static _Alignas(4) uint8_t buffers[NET_PACKETS][NET_BUFFER_BYTES];

/* Ticks that are due: written by the interrupt service, and those that have been worked on. */
static uint32_t ticks_due;
static uint32_t ticks_done;

void network_init(void)
{
    static const uint8_t bytes[] = {MACADDR1, MACADDR2, MACADDR3, MACADDR4, MACADDR5, MACADDR6};
    static const uint32_t counts[] = {[PACKET_HOME_RECEIVE] = NET_RECEIVE_PACKETS,
                                      [PACKET_HOME_PROTOCOL] = NET_PROTOCOL_PACKETS,
                                      [PACKET_HOME_APPLICATION] = NET_APPLICATION_PACKETS};
    uint32_t first = 0;
    ethernet_address_t mac;

    for (uint32_t half = 0; half < 3; half++) {
        mac.half[half] = (uint16_t)(bytes[2 * half] | bytes[2 * half + 1] << 8);
    }
    net_init(&network, &mac);
    net_configure(&network, static_address.address, static_address.netmask, static_address.gateway);
    for (uint32_t home = PACKET_HOME_RECEIVE; home <= PACKET_HOME_APPLICATION; home++) {
        (void)net_add_packets(&network, (packet_home_t)home, &packets[first], buffers[first],
                              counts[home]);
        first += counts[home];
    }
    ethmac_init(&network_mac, &network);
#if NETWORK_MAC_IN_PROTOCOL
    ethmac_attach(&network_mac);
#endif
#if CONTEXT_MUST_YIELD
    context_patient_lines |= 1u << ETHMAC_INTERRUPT;
#endif
}

void network_use_rings(void)
{
    network.port = NULL;
}

void network_init_dhcp(void)
{
    (void)dhcp_init(&network_dhcp, &network, &static_address);
    if (NETWORK_DHCP) {
        net_configure(&network, 0, 0, 0);
        dhcp_start(&network_dhcp);
    }
}

/* While datagrams wait for the application, others may wait until there are some. */
static inline void tell_in_time(void)
{
#if NETWORK_MAC_IN_PROTOCOL
    ethmac_tell_at(&network_mac, network.held < 2 ? 1 : ETHMAC_DMA_BATCH);
#endif
}

#if NETWORK_MAC_IN_PROTOCOL

/* The protocol service looks at the MAC before it ends: the line need not call it. */
static bool looks;

/* The line has called meanwhile, and the MAC has been told to be quiet: while the service is busy, frames interrupt
 * nobody more than once. */
static bool hushed;

static inline void quieten(void)
{
    if (looks) {
        ethmac_hush();
        hushed = true;
    } else {
        ethmac_acknowledge();
    }
}

/* True if something came before the MAC heard that it may tell. What is held is looked at in time anyway. */
static bool listen_again(void)
{
    looks = false;
    COMPILER_BARRIER();
    if (!hushed || net_is_held(&network)) {
        return false;
    }
    hushed = false;
    COMPILER_BARRIER();
    bool sent = ethmac_listen();
    return sent || net_pending(&network);
}

#endif

bool network_interrupt(uint32_t lines)
{
    bool pending = (lines & 1u << ETHMAC_INTERRUPT) != 0;

#if NETWORK_MAC_IN_PROTOCOL
    if (!pending) {
        return true;
    }
    quieten();
    return !looks;
#else
    if (!pending && !ethmac_has_work(&network_mac)) {
        return false;
    }
    return ethmac_service(&network_mac, pending);
#endif
}

void network_tick(void)
{
    ticks_due++;
}

/* A round of the protocol service. */
static inline void serve(void (*wake_driver)(void))
{
    bool for_application = net_service(&network, FRAMES_AT_ONCE);

    if (ticks_due != ticks_done) {
        ticks_done++;
        for_application |= net_tick(&network);
    }
    /* Packets that have become free it looks for when it lacks one. */
    if (!NETWORK_MAC_IN_PROTOCOL && ethmac_has_work(&network_mac)) {
        wake_driver();
    }
    if (for_application) {
        context_post_application();
    }
    COMPILER_BARRIER();
}

/* Rounds until there is nothing to do; false if that took too many, and others have waited long enough. */
static inline bool serve_all(void (*wake_driver)(void), uint32_t *rounds_left)
{
    do {
        if (*rounds_left == 0) {
            return false;
        }
        --*rounds_left;
        serve(wake_driver);
    } while (net_pending(&network) || ticks_due != ticks_done);
    tell_in_time();
    return true;
}

void network_protocol(void (*wake_driver)(void))
{
    uint32_t rounds_left = ROUNDS_AT_ONCE;

#if NETWORK_MAC_IN_PROTOCOL
    do {
        looks = true;
        COMPILER_BARRIER();
        if (!serve_all(wake_driver, &rounds_left)) {
            context_post_protocol();
            return;
        }
    } while (listen_again());
#else
    if (!serve_all(wake_driver, &rounds_left)) {
        context_post_protocol();
    }
#endif
}
