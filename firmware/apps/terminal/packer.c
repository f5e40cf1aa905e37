#include "packer.h"

static bool matches(packer_t *packer, uint8_t byte)
{
    const packer_rules_t *rules = &packer->rules;

    if (byte == rules->delimiter[packer->matched]) {
        packer->matched++;
    } else {
        /* "aab" ends with "ab" too. */
        packer->matched = byte == rules->delimiter[0];
    }
    return packer->matched == rules->delimiters;
}

packer_verdict_t packer_take(packer_t *packer, uint8_t byte, uint32_t time)
{
    if (packer_bytes(packer) == 0) {
        packer->first_time = time;
    }
    packer->last_time = time;
    packer_append(&packer->fill, byte, 1);
    if (packer->rules.delimiters != 0 && matches(packer, byte)) {
        return PACKER_BY_DELIMITER;
    }
    return packer_bytes(packer) >= packer->rules.length ? PACKER_BY_LENGTH : PACKER_OPEN;
}

static uint32_t left(uint32_t limit_cycles, uint32_t passed_cycles)
{
    return (int32_t)passed_cycles < (int32_t)limit_cycles ? limit_cycles - passed_cycles : 0;
}

bool packer_next_time(const packer_t *packer, uint32_t now, uint32_t *cycles)
{
    const packer_rules_t *rules = &packer->rules;
    uint32_t of_time = left(rules->time_cycles, now - packer->first_time);
    uint32_t of_idle = left(rules->idle_cycles, now - packer->last_time);

    if (rules->time_cycles == 0) {
        *cycles = of_idle;
        return rules->idle_cycles != 0;
    }
    *cycles = rules->idle_cycles != 0 && of_idle < of_time ? of_idle : of_time;
    return true;
}

static uint32_t limit_age(uint32_t time, uint32_t now)
{
    return now - time > PACKER_MAX_CYCLES ? now - PACKER_MAX_CYCLES : time;
}

void packer_limit_age(packer_t *packer, uint32_t now)
{
    packer->first_time = limit_age(packer->first_time, now);
    packer->last_time = limit_age(packer->last_time, now);
}

packet_t *packer_end(packer_t *packer)
{
    packet_t *packet = packer->packet;
    packer_fill_t *fill = &packer->fill;

    if (fill->shift != 0) {
        *fill->next = fill->word;
        packer_sum(fill, fill->word);
    }
    packet->payload_bytes = (uint16_t)fill->bytes;
    packet->sum = (fill->sum & 0xffffu) + (fill->sum >> 16) + fill->carries;
    packet->flags = NET_DRIVER_SUMS ? 0 : PACKET_PAYLOAD_SUMMED;
    packer->packet = NULL;
    fill->bytes = 0;
    return packet;
}
