#include "levels.h"

#include "config.h"

/* An idle line is told of after one character of ten bits, where any time will do; and the longest that
 * the port can be told. */
enum { PROMPT_BITS = 10, MOST_BITS = 4095 };

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Cycles without a character after which a gap of `idle_cycles` between the ends of two characters is
 * certain to be recognized in time; 0 if the port can't tell. */
static uint32_t idle_bits(uint32_t idle_cycles, const levels_line_t *line)
{
    if (idle_cycles < line->character_cycles) {
        return 0;
    }
    return least((idle_cycles - line->character_cycles) / line->bit_cycles, MOST_BITS);
}

levels_t levels_for(const packer_rules_t *rules, uint32_t bytes, const levels_line_t *line)
{
    uint32_t watermark = least(line->usable_depth, rules->length - bytes);
    uint32_t timeout_bits = 0;

    if (rules->delimiters != 0) {
        watermark = least(watermark, TERMINAL_DELIMITER_WATERMARK);
        timeout_bits = PROMPT_BITS;
    }
    if (rules->time_cycles != 0 && bytes == 0) {
        /* The first byte is known of before its time is over, even if each of the others comes just
         * before the timeout. */
        uint32_t slowest_cycles = line->character_cycles + PROMPT_BITS * line->bit_cycles;
        watermark = least(watermark, rules->time_cycles / slowest_cycles);
        timeout_bits = PROMPT_BITS;
    }
    if (rules->idle_cycles != 0) {
        uint32_t bits = idle_bits(rules->idle_cycles, line);
        if (bits == 0) {
            watermark = 1;
        } else {
            timeout_bits = timeout_bits == 0 ? bits : least(timeout_bits, bits);
        }
    }
    return (levels_t){.watermark = (uint16_t)(watermark != 0 ? watermark : 1),
                      .timeout_bits = (uint16_t)timeout_bits};
}
