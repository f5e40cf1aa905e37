#include "apps/echo/request.h"

#ifdef ECHO_INTERRUPT

#include <stddef.h>
#include <string.h>

typedef struct {
    const char *name;
    uint32_t least;
    uint32_t most;
    size_t offset; /* of a uint32_t in latency_settings_t */
} number_t;

static const number_t numbers[] = {
    {"interval", ECHO_MIN_INTERVAL_CYCLES, ECHO_MAX_INTERVAL_CYCLES,
     offsetof(latency_settings_t, moments.interval_cycles)},
    {"spread", 0, ECHO_MAX_SPREAD_LOG2, offsetof(latency_settings_t, moments.spread_log2)},
    {"seed", 1, UINT32_MAX, offsetof(latency_settings_t, moments.seed)},
    {"bin", 0, ECHO_MAX_BIN_LOG2, offsetof(latency_settings_t, moments.bin_log2)},
    {"samples", 0, UINT32_MAX, offsetof(latency_settings_t, samples)},
};

enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

/* The number of that name, or NULL. */
static const number_t *find(const char *name)
{
    for (uint32_t index = 0; index < NUMBERS; index++) {
        if (strcmp(name, numbers[index].name) == 0) {
            return &numbers[index];
        }
    }
    return NULL;
}

static bool read_number(command_call_t *call, const number_t *number, const char *word,
                        latency_settings_t *settings)
{
    uint32_t value;

    if (!command_number(call, number->name, word, number->least, number->most, &value)) {
        return false;
    }
    memcpy((uint8_t *)settings + number->offset, &value, sizeof(value));
    return true;
}

bool latency_read_request(command_call_t *call, uint32_t first, latency_settings_t *settings)
{
    latency_settings_t wanted = *settings;

    for (uint32_t index = first; index < call->count; index++) {
        const char *word = call->words[index];
        const number_t *number = find(word);
        if (number != NULL) {
            if (++index == call->count) {
                return command_error(call, "%s needs a number", word);
            }
            if (!read_number(call, number, call->words[index], &wanted)) {
                return false;
            }
        } else if (strcmp(word, "take") == 0) {
            wanted.access = LATENCY_TAKE;
        } else if (strcmp(word, "test") == 0) {
            wanted.access = LATENCY_TEST;
        } else if (strcmp(word, "steady") == 0) {
            wanted.steady = true;
        } else {
            return command_error(call, "latency start: no '%s'", word);
        }
    }
    *settings = wanted;
    return true;
}

#endif
