/* Benchmark: LiteX's own stack, libliteeth, with the services that this project's stack is measured by:
 *
 *   UDP 7      echo
 *   UDP 9      discard
 *
 * It knows one peer, whose address it asks for first. */
#include <string.h>

#include <generated/soc.h>

#include <libliteeth/udp.h>

#include "report.h"
#include "tier.h"

enum { PORT_ECHO = 7, PORT_DISCARD = 9 };

/* What the discard service has taken; an experiment reads it. */
uint32_t discarded_datagrams;

static void serve(unsigned int source_address, unsigned short source_port, unsigned short destination_port,
                  void *data, unsigned int bytes)
{
    (void)source_address;
    if (destination_port == PORT_ECHO) {
        memcpy(udp_get_tx_buffer(), data, bytes);
        (void)udp_send(PORT_ECHO, source_port, bytes);
    } else if (destination_port == PORT_DISCARD) {
        discarded_datagrams++;
    }
}

int main(void)
{
    static const uint8_t mac[] = {MACADDR1, MACADDR2, MACADDR3, MACADDR4, MACADDR5, MACADDR6};

#ifdef CONFIG_CPU_TYPE_TIERV
    tier_buffer_bus();
#endif
    udp_start(mac, IPTOINT((uint32_t)LOCALIP1, LOCALIP2, LOCALIP3, LOCALIP4));
    udp_set_callback(serve);
    report_mark(MARK_READY);
    if (!udp_arp_resolve(IPTOINT((uint32_t)REMOTEIP1, REMOTEIP2, REMOTEIP3, REMOTEIP4))) {
        exit_run(1);
    }
    for (;;) {
        udp_service();
    }
}
