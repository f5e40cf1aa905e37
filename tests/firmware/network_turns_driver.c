/* The protocol service's turns, and the alarm by which packets that were parked come back, driven by lines of text:
 *
 *   frame           one comes, of no protocol
 *   flood           one comes now, and one each time that the stack looks for a frame, many times
 *   drop            a datagram is dropped for which the application has no room
 *   hold COUNT      so many wait for the application
 *   lose            no packet is left for frames that come
 *   serve           the protocol service
 *   ring            the alarm does
 *
 * Each tells how many datagrams may be dropped yet, in how many cycles the alarm is set to ring, or 0, whether there is
 * work for the protocol service, and how many frames the MAC shall have before it tells.
 */
#include <stdio.h>
#include <string.h>

#include "alarm.h"
#include "apps/network.h"
#include "apps/network_line.h"
#include "context.h"
#include "network_mac.h"
#include "text.h"

enum { FLOOD_FRAMES = 1000 };

static alarm_t *refill;
static uint32_t refill_cycles;

void alarm_set(alarm_t *alarm, uint32_t cycles)
{
    refill = alarm;
    refill_cycles = cycles;
    alarm->is_set = true;
}

void alarm_repeat(alarm_t *alarm, uint32_t cycles)
{
    alarm_set(alarm, cycles);
}

static void ring(void)
{
    refill_cycles = 0;
    refill->is_set = false;
    refill->ring(refill);
}

static uint32_t flood_left;

static void flood(void)
{
    network_mac_receive();
    network_mac_meanwhile = --flood_left != 0 ? flood : NULL;
}

int main(void)
{
    network_mac_reset();
    /* That of the network's clock. */
    refill_cycles = 0;
    while (text_read()) {
        const char *command = text_word(0);
        if (strcmp(command, "drop") == 0) {
            (void)net_drop_excess(&network, COUNT_UDP_DROP_HOLD);
        } else if (strcmp(command, "frame") == 0) {
            network_mac_receive();
        } else if (strcmp(command, "flood") == 0) {
            flood_left = FLOOD_FRAMES;
            flood();
        } else if (strcmp(command, "hold") == 0) {
            network.held = text_number(1);
        } else if (strcmp(command, "lose") == 0) {
            network_mac_lose_room();
        } else if (strcmp(command, "serve") == 0) {
            context_posts.protocol = false;
            network_line_protocol();
        } else if (strcmp(command, "ring") == 0) {
            ring();
        } else {
            text_fail("unknown command");
        }
        printf("%u %u %d %u\n", network.excess_left, refill_cycles, context_posts.protocol,
               network_mac_told_at);
        (void)fflush(stdout);
    }
    return 0;
}
