/* Packets that a test program holds, oldest first. */
#ifndef TIERV_TESTS_PACKET_LIST_H
#define TIERV_TESTS_PACKET_LIST_H

#include <string.h>

#include "../../firmware/net/packet.h"
#include "text.h"

typedef struct {
    packet_t *entries[NET_PACKETS];
    uint32_t count;
} packet_list_t;

static inline void packet_list_add(packet_list_t *list, packet_t *packet)
{
    list->entries[list->count++] = packet;
}

/* The oldest, which leaves the list; text_fail() if there is none. */
static inline packet_t *packet_list_take(packet_list_t *list)
{
    if (list->count == 0) {
        text_fail("nothing to take");
    }
    packet_t *packet = list->entries[0];
    list->count--;
    memmove(list->entries, list->entries + 1, list->count * sizeof(list->entries[0]));
    return packet;
}

#endif
