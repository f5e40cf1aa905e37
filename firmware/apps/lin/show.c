/* What the command `lin` shows: nodes, frames and counters. */
#include "apps/lin/command.h"

static const char *state_name(const lin_node_t *node)
{
    return node->state == LIN_STATE_ASLEEP ? "asleep" : "awake";
}

bool lin_run_list(command_call_t *call)
{
    const lin_port_t *lin = lin_at(call->step);

    if (lin->used) {
        const lin_counters_t *counters = &lin->node.counters;
        command_print(call, "port %lu %s %lu bit/s %s NAD 0x%02x: headers %lu, sent %lu, received %lu\n",
                      (unsigned long)lin->port,
                      lin->node.role == LIN_COMMANDER ? "commander" : "responder",
                      (unsigned long)lin->baud, state_name(&lin->node), lin->identity.nad,
                      (unsigned long)counters->headers,
                      (unsigned long)counters->outcomes[LIN_SENT],
                      (unsigned long)counters->outcomes[LIN_RECEIVED]);
    }
    return call->step + 1 < LIN_NODES;
}

/* The frames, then the counters that are not 0. */
bool lin_run_show(command_call_t *call, const lin_port_t *lin)
{
    const lin_counters_t *counters = &lin->node.counters;
    uint32_t outcome = call->step - LIN_FRAMES;

    if (call->step < LIN_FRAMES) {
        const lin_frame_t *frame = &lin->node.frames[call->step];
        if (frame->identifier != LIN_NO_IDENTIFIER) {
            command_print(call, "0x%02x %s %u bytes%s%s, written %lu\n", frame->identifier,
                          frame->direction == LIN_PUBLISH ? "published" : "subscribed",
                          frame->bytes, (frame->flags & LIN_CLASSIC) != 0 ? " classic" : "",
                          (frame->flags & LIN_ONCE) != 0 ? " once" : "",
                          (unsigned long)frame->written);
        }
        return true;
    }
    if (outcome < LIN_OUTCOMES) {
        if (counters->outcomes[outcome] != 0) {
            command_print(call, "%-14s %lu\n", lin_outcome_name((lin_outcome_t)outcome),
                          (unsigned long)counters->outcomes[outcome]);
        }
        return true;
    }
    command_print(call, "headers %lu, unanswered %lu, late %lu, overruns %lu, reports lost %lu\n",
                  (unsigned long)counters->headers, (unsigned long)counters->unanswered,
                  (unsigned long)counters->late, (unsigned long)counters->overruns,
                  (unsigned long)lin->reports_lost);
    return false;
}
