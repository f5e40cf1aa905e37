/* A state machine that tells numbers from other words, character by character. */
#include "kernels.h"

enum { WORDS = 80, TEXT_BYTES = 640, PASSES = 4 };

typedef enum {
    START,
    SIGN,
    ZERO,
    DIGITS,
    POINT,
    FRACTION,
    EXPONENT,
    EXPONENT_SIGN,
    EXPONENT_DIGITS,
    HEX_START,
    HEX,
    WRONG,
    STATES,
} state_t;

static const char *const words[] = {
    "5012", "-1234", "0", "+7", "3.141", "-0.5", ".25", "1e9", "2.5e-3", "-7E+12", "0x1F", "0xdead",
    "0x", "12a", "1.2.3", "e5", "--1", "", "1e", "5.",
};

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static state_t next_state(state_t state, char c)
{
    switch (state) {
    case START:
        if (c == '+' || c == '-') {
            return SIGN;
        }
        if (c == '0') {
            return ZERO;
        }
        return is_digit(c) ? DIGITS : c == '.' ? POINT : WRONG;
    case SIGN:
        return is_digit(c) ? DIGITS : c == '.' ? POINT : WRONG;
    case ZERO:
        if (c == 'x') {
            return HEX_START;
        }
        /* fall through */
    case DIGITS:
        if (is_digit(c)) {
            return DIGITS;
        }
        return c == '.' ? FRACTION : c == 'e' || c == 'E' ? EXPONENT : WRONG;
    case POINT:
        return is_digit(c) ? FRACTION : WRONG;
    case FRACTION:
        return is_digit(c) ? FRACTION : c == 'e' || c == 'E' ? EXPONENT : WRONG;
    case EXPONENT:
        if (c == '+' || c == '-') {
            return EXPONENT_SIGN;
        }
        return is_digit(c) ? EXPONENT_DIGITS : WRONG;
    case EXPONENT_SIGN:
    case EXPONENT_DIGITS:
        return is_digit(c) ? EXPONENT_DIGITS : WRONG;
    case HEX_START:
    case HEX:
        return is_hex(c) ? HEX : WRONG;
    default:
        return WRONG;
    }
}

/* Words of the text end with a comma each. */
static uint32_t make_text(char *text, uint32_t *random)
{
    uint32_t length = 0;

    for (int word = 0; word < WORDS; word++) {
        const char *from = words[random_next(random) % (sizeof words / sizeof words[0])];
        while (*from != '\0') {
            text[length++] = *from++;
        }
        text[length++] = ',';
    }
    return length;
}

uint32_t kernel_state(void)
{
    static char text[TEXT_BYTES];
    uint32_t random = 3;
    uint32_t hash = HASH_START;
    uint32_t length = make_text(text, &random);

    for (uint32_t pass = 0; pass < PASSES; pass++) {
        uint32_t ends[STATES] = { 0 };
        state_t state = START;
        for (uint32_t index = 0; index < length; index++) {
            if (text[index] == ',') {
                ends[state]++;
                state = START;
            } else {
                state = next_state(state, text[index]);
            }
        }
        for (int end = 0; end < STATES; end++) {
            hash = hash_add(hash, ends[end]);
        }
        /* Not the same again: some characters are lost. */
        for (uint32_t index = pass; index < length; index += 29) {
            if (text[index] != ',') {
                text[index] = '7';
            }
        }
    }
    return hash;
}
