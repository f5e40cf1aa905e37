#include "counters.h"

#include "compiler.h"

#define NET_COUNTER_NAME(name, kind) #name,
#define NET_COUNTER_KIND(name, kind) NET_COUNTER_##kind,

static const char *const names[] FOR_PEOPLE = {NET_COUNTERS(NET_COUNTER_NAME)};
static const uint8_t kinds[] = {NET_COUNTERS(NET_COUNTER_KIND)};

const char *net_counter_name(net_counter_t counter)
{
    return names[counter];
}

net_counter_kind_t net_counter_kind(net_counter_t counter)
{
    return (net_counter_kind_t)kinds[counter];
}

uint32_t net_counter_sum(const net_counters_t *counters, net_counter_kind_t kind)
{
    uint32_t sum = 0;

    for (uint32_t counter = 0; counter < NET_COUNTER_COUNT; counter++) {
        if (kinds[counter] == kind) {
            sum += counters->counts[counter];
        }
    }
    return sum;
}
