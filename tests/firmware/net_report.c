#include "net_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "text.h"

void report_counted(const net_t *net, bool say)
{
    static net_counters_t before;

    for (uint32_t i = 0; i < NET_COUNTER_COUNT; i++) {
        uint32_t change = net->counters.counts[i] - before.counts[i];
        if (change != 0 && say) {
            printf("counted %s %" PRIu32 "\n", net_counter_name((net_counter_t)i), change);
        }
    }
    before = net->counters;
}

void report_counters(const net_t *net)
{
    for (uint32_t i = 0; i < NET_COUNTER_COUNT; i++) {
        net_counter_t counter = (net_counter_t)i;
        printf("counter %s %d %" PRIu32 "\n", net_counter_name(counter),
               net_counter_kind(counter), net->counters.counts[counter]);
    }
    for (net_counter_kind_t kind = NET_COUNTER_FRAME; kind <= NET_COUNTER_EVENT; kind++) {
        printf("sum %d %" PRIu32 "\n", kind, net_counter_sum(&net->counters, kind));
    }
}

void report_packets(net_t *net)
{
    uint32_t waiting = 0, spare = 0, parked = 0;

    for (uint32_t i = 0; i < ARP_ENTRIES; i++) {
        waiting += net->arp.entries[i].waiting != NULL;
    }
    for (packet_t *packet = net->spare; packet != NULL; packet = packet->next) {
        spare++;
    }
    for (packet_t *packet = net->parked; packet != NULL; packet = packet->next) {
        parked++;
    }
    printf("free %" PRIu32 "\n", RING_COUNT(&net->free));
    printf("parked %" PRIu32 "\n", parked);
    printf("spare %" PRIu32 "\n", spare);
    printf("supply %" PRIu32 "\n", RING_COUNT(&net->supply));
    printf("waiting %" PRIu32 "\n", waiting);
    printf("held %" PRIu32 "\n", net->held);
    printf("pending %d\n", net_pending(net));
    printf("all %d\n", NET_PACKETS);
}

void report_address(const net_t *net)
{
    const be32_t shown[] = {net->address, net->netmask, net->gateway};

    for (uint32_t i = 0; i < 3; i++) {
        printf("address ");
        text_print_address(shown[i]);
        puts("");
    }
}
