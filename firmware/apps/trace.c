/* Benchmark: a trace of traffic. Received datagrams go to the application, which also sends
 * datagrams of its own at the times of a schedule, and counts what is left of the processor.
 *
 * A datagram of the schedule counts as lost if more than SEND_BACKLOG are due and not yet handed
 * over.
 */
#include <generated/soc.h>

#include "apps/idle.h"
#include "apps/network.h"
#include "context.h"
#include "report.h"

enum {
    PORT_SINK = 9,
    SEND_BACKLOG = 64,
    MOST_SENDS = 16384,
    RESULT_DELIVERED = 0,
    RESULT_SENT,
    RESULT_SEND_LOST,
    RESULT_IDLE_CYCLES,
    RESULT_CYCLES
};

typedef struct {
    uint32_t cycle; /* after start_cycle */
    uint32_t bytes; /* of payload */
} scheduled_send_t;

SET_BEFORE_RUN_LARGE scheduled_send_t schedule[MOST_SENDS];
SET_BEFORE_RUN uint32_t scheduled_sends;
/* The trace begins when idle_clock() says so, which counts from reset, and lasts as long. */
SET_BEFORE_RUN uint32_t start_cycle = 200000;
SET_BEFORE_RUN uint32_t run_cycles = 1000000;
/* Where to: wire order; port in host order. */
SET_BEFORE_RUN uint32_t peer_address;
SET_BEFORE_RUN uint32_t peer_port = 9;

static udp_socket_t sink_socket;
static uint32_t delivered;
static uint32_t next_send;
static uint32_t sent;
static uint32_t send_lost;

/* The protocol service has run since the application last looked. */
static volatile bool service_has_run;

void interrupt_service(uint32_t lines)
{
    if (network_interrupt(lines)) {
        context_post_protocol();
    }
}

void protocol_service(void)
{
    network_protocol(context_post_interrupt);
    service_has_run = true;
}

/* Takes what has come; true if something has. */
static bool take_datagrams(void)
{
    packet_t *packet;
    bool any = false;

    while ((packet = udp_receive(&sink_socket)) != NULL) {
        delivered++;
        udp_release(&network, packet);
        any = true;
    }
    return any;
}

/* Hands over what is due, as far as there are packets; true if something was. */
static bool send_due(uint32_t now)
{
    uint32_t due = next_send;
    bool any = false;

    while (due < scheduled_sends && due - next_send <= SEND_BACKLOG
           && schedule[due].cycle <= now) {
        due++;
    }
    while (due - next_send > SEND_BACKLOG) {
        next_send++;
        send_lost++;
    }
    while (next_send < due) {
        packet_t *packet = udp_reserve(&network);
        if (packet == NULL) {
            break;
        }
        packet->payload_bytes = (uint16_t)schedule[next_send].bytes;
        (void)udp_send_to(&network, &sink_socket, packet, peer_address, peer_port);
        next_send++;
        sent++;
        any = true;
    }
    return any;
}

static uint32_t rounds_to_next_event(uint32_t now)
{
    uint32_t next = run_cycles;

    if (next_send < scheduled_sends && schedule[next_send].cycle < next) {
        next = schedule[next_send].cycle;
    }
    return next > now ? (next - now) / IDLE_ROUND_CYCLES + 1 : 1;
}

/* False if it is too late for the start. */
static bool wait_for_start(void)
{
    if ((int32_t)(idle_clock() - start_cycle) >= 0) {
        return false;
    }
    while ((int32_t)(idle_clock() - start_cycle) < 0) {
        if (CONTEXT_MUST_YIELD) {
            context_wait();
        }
    }
    return true;
}

int main(void)
{
    network_init();
    udp_init(&sink_socket, NULL, NULL);
    (void)udp_bind(&network, &sink_socket, PORT_SINK);
    idle_calibrate();
    context_start(1u << ETHMAC_INTERRUPT);
    report_mark(MARK_READY);
    if (!wait_for_start()) {
        return 1;
    }
    for (;;) {
        uint32_t now = idle_clock() - start_cycle;
        if (now >= run_cycles) {
            break;
        }
        service_has_run = false;
        bool any = take_datagrams();
        any |= send_due(now);
        if (any) {
            if (CONTEXT_MUST_YIELD) {
                context_wait();
            }
            context_run_protocol();
        } else {
            idle_until(&service_has_run, rounds_to_next_event(now));
        }
    }
    report_result(RESULT_CYCLES, idle_clock() - start_cycle);
    report_result(RESULT_IDLE_CYCLES, idle_cycles());
    report_result(RESULT_DELIVERED, delivered);
    report_result(RESULT_SENT, sent);
    report_result(RESULT_SEND_LOST, send_lost);
    return 0;
}
