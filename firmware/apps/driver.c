/* Benchmark: what moving frames costs, without a stack. The interrupt service takes received frames
 * out of the MAC and drops them, or sends the same frames again and again; the application counts
 * what is left of the processor. */
#include <generated/soc.h>

#include "apps/idle.h"
#include "apps/network.h"
#include "context.h"
#include "report.h"

enum { RESULT_RECEIVED, RESULT_TRANSMITTED, RESULT_IDLE_CYCLES, RESULT_CYCLES };

/* Frames to receive or to send; their length without FCS. */
SET_BEFORE_RUN uint32_t frames_to_receive;
SET_BEFORE_RUN uint32_t frames_to_send;
SET_BEFORE_RUN uint32_t frame_bytes = 1514;

/* 1: received frames are summed as the stack wants it. */
SET_BEFORE_RUN uint32_t sum_received;

static volatile bool done;

/* Tier 2. Longest path: ethmac_service(). */
void interrupt_service(uint32_t lines)
{
    packet_t *packet;

    do {
        (void)ethmac_service(&network_mac, (lines & 1u << ETHMAC_INTERRUPT) != 0);
        while ((packet = RING_POP(&network.received)) != NULL) {
            (void)RING_PUSH(&network.free, packet);
        }
        while ((packet = ethmac_take_sent(&network_mac)) != NULL) {
            if (ethmac_transmitted(&network_mac) + RING_COUNT(&network.transmit)
                < frames_to_send) {
                (void)RING_PUSH(&network.transmit, packet);
            }
        }
        lines = 0;
    } while (ethmac_has_work(&network_mac));
    done = ethmac_received(&network_mac) >= frames_to_receive
           && ethmac_transmitted(&network_mac) >= frames_to_send;
}

void protocol_service(void)
{
}

static void give_frames_to_send(void)
{
    for (uint32_t i = 0; i < ETHMAC_TRANSMIT_FRAMES && i < frames_to_send; i++) {
        packet_t *packet = RING_POP(&network.free);
        packet->length_bytes = (uint16_t)frame_bytes;
        (void)RING_PUSH(&network.transmit, packet);
    }
}

int main(void)
{
    network_init();
    network_use_rings();
    ethmac_set_sums(&network_mac, sum_received != 0);
    give_frames_to_send();
    idle_calibrate();
    report_mark(MARK_READY);
    context_start(1u << ETHMAC_INTERRUPT);
    uint32_t start = idle_clock();
    context_run_interrupt();
    idle_until(&done, UINT32_MAX);
    report_result(RESULT_CYCLES, idle_clock() - start);
    report_result(RESULT_IDLE_CYCLES, idle_cycles());
    report_result(RESULT_RECEIVED, ethmac_received(&network_mac));
    report_result(RESULT_TRANSMITTED, ethmac_transmitted(&network_mac));
    return 0;
}
