#include "request.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rotation.h"

enum { MOST_PRIORITY = 15, MOST_TIER = 7 };

static bool fail(irqtune_request_t *request, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail(irqtune_request_t *request, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(request->error, sizeof(request->error), format, arguments);
    va_end(arguments);
    return false;
}

/* Reads one or two decimal digits, and what is behind them; false if there are none or more. */
static bool read_number(const char **text, uint32_t *value)
{
    uint32_t digits = 0;

    *value = 0;
    while (**text >= '0' && **text <= '9' && digits < 3) {
        *value = *value * 10 + (uint32_t)(*(*text)++ - '0');
        digits++;
    }
    return digits == 1 || digits == 2;
}

/* All of a word is a number from `least` to `most`. */
static bool number(irqtune_request_t *request, const char *what, const char *word, uint32_t least,
                   uint32_t most, uint32_t *value)
{
    const char *at = word;

    if (!read_number(&at, value) || *at != '\0' || *value < least || *value > most) {
        return fail(request, "%s must be from %lu to %lu, not '%s'", what, (unsigned long)least,
                    (unsigned long)most, word);
    }
    return true;
}

static bool parse_rotation(const char *const *words, uint32_t count, irqtune_request_t *request)
{
    request->action = IRQTUNE_ROTATE;
    if (count > 2) {
        return fail(request, "'%s' behind MASTER SLAVE", words[2]);
    }
    if (count > 0 && !number(request, "MASTER", words[0], 0, 7, &request->master)) {
        return false;
    }
    return count < 2 || number(request, "SLAVE", words[1], 8, 15, &request->slave);
}

/* Reads "tier2:7", "tier2", ":7" or "7". */
static bool parse_place(const char *word, const char *place, irqtune_request_t *request,
                        irqtune_assignment_t *assignment)
{
    if (strncmp(place, "tier", 4) == 0) {
        place += 4;
        if (!read_number(&place, &assignment->tier) || assignment->tier > MOST_TIER
            || (*place != ':' && *place != '\0')) {
            return fail(request, "tier must be from tier0 to tier%u in '%s'", (unsigned)MOST_TIER,
                        word);
        }
        if (*place == '\0') {
            return true;
        }
    }
    if (*place == ':') {
        place++;
    }
    return number(request, "priority", place, 0, MOST_PRIORITY, &assignment->priority);
}

static bool parse_assignment(const char *word, irqtune_request_t *request)
{
    const char *sign = strchr(word, '=');

    if (sign == NULL || sign == word) {
        return fail(request, "neither a number, an option nor LINE=tierN:P: '%s'", word);
    }
    size_t bytes = (size_t)(sign - word);
    if (bytes >= IRQTUNE_LINE_NAME_BYTES) {
        return fail(request, "no line has so long a name: '%s'", word);
    }
    if (request->count == IRQTUNE_ASSIGNMENTS) {
        return fail(request, "more than %u assignments: '%s'", (unsigned)IRQTUNE_ASSIGNMENTS, word);
    }
    irqtune_assignment_t *assignment = &request->assignments[request->count++];
    memcpy(assignment->line, word, bytes);
    assignment->line[bytes] = '\0';
    assignment->tier = IRQTUNE_KEEP;
    assignment->priority = IRQTUNE_KEEP;
    return parse_place(word, sign + 1, request, assignment);
}

static bool parse_assignments(const char *const *words, uint32_t count, irqtune_request_t *request)
{
    request->action = IRQTUNE_ASSIGN;
    for (uint32_t index = 0; index < count; index++) {
        if (!parse_assignment(words[index], request)) {
            return false;
        }
    }
    return true;
}

/* An option that stands alone. */
static bool parse_alone(irqtune_action_t action, const char *const *words, uint32_t count,
                        irqtune_request_t *request)
{
    request->action = action;
    return count == 1 || fail(request, "'%s' behind %s", words[1], words[0]);
}

static bool parse_option(const char *const *words, uint32_t count, irqtune_request_t *request)
{
    if (strcmp(words[0], "-o") == 0) {
        return parse_alone(IRQTUNE_RESTORE, words, count, request);
    }
    if (strcmp(words[0], "-c") == 0) {
        return parse_alone(IRQTUNE_CLEAR, words, count, request);
    }
    if (strcmp(words[0], "-n") == 0) {
        request->apply = false;
        return parse_rotation(words + 1, count - 1, request);
    }
    if (strcmp(words[0], "--suggest") == 0) {
        request->action = IRQTUNE_SUGGEST;
        request->apply = count > 1 && strcmp(words[1], "--apply") == 0;
        uint32_t used = request->apply ? 2 : 1;
        return count == used || fail(request, "'%s' behind --suggest", words[used]);
    }
    return fail(request, "no option '%s'; try help irqtune", words[0]);
}

bool irqtune_parse(const char *const *words, uint32_t count, irqtune_request_t *request)
{
    *request = (irqtune_request_t){.action = IRQTUNE_LIST,
                                   .apply = true,
                                   .master = ROTATION_MASTER,
                                   .slave = ROTATION_SLAVE};
    if (count == 0) {
        return true;
    }
    if (words[0][0] == '-') {
        return parse_option(words, count, request);
    }
    if (words[0][0] >= '0' && words[0][0] <= '9' && strchr(words[0], '=') == NULL) {
        return parse_rotation(words, count, request);
    }
    return parse_assignments(words, count, request);
}
