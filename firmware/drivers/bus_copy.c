#include "drivers/bus_copy.h"

#include "context.h"

/* Word `next` is loaded two words before it is stored: what comes from the bus is there by then. */
#define MOVE_LAST(next, i, stored)                                                                 \
    do {                                                                                           \
        next = from[(i) + 2];                                                                      \
        to[i] = stored;                                                                            \
    } while (0)

#define MOVE(next, i, stored)                                                                      \
    do {                                                                                           \
        MOVE_LAST(next, i, stored);                                                                \
        CONTEXT_BUS_PAUSE();                                                                       \
    } while (0)

/* Two words. */
#define COPY(i)                                                                                    \
    do {                                                                                           \
        uint32_t first_ = from[i];                                                                 \
        uint32_t second_ = from[(i) + 1];                                                          \
        to[i] = first_;                                                                            \
        CONTEXT_BUS_PAUSE();                                                                       \
        to[(i) + 1] = second_;                                                                     \
    } while (0)

void bus_copy(uint32_t *restrict to, const uint32_t *restrict from, uint32_t bytes)
{
    uint32_t words = (bytes + 3) / 4;

    if (words >= 10) {
        uint32_t a = from[0];
        CONTEXT_BUS_PAUSE();
        uint32_t b = from[1];
        uint32_t c;
        uint32_t d;
        do {
            MOVE(c, 0, a);
            MOVE(d, 1, b);
            MOVE(a, 2, c);
            MOVE(b, 3, d);
            MOVE(c, 4, a);
            MOVE(d, 5, b);
            MOVE(a, 6, c);
            /* The end of the loop is pause enough. */
            MOVE_LAST(b, 7, d);
            from += 8;
            to += 8;
            words -= 8;
        } while (words >= 10);
        to[0] = a;
        to[1] = b;
        from += 2;
        to += 2;
        words -= 2;
    }
    if ((words & 8) != 0) {
        COPY(0);
        COPY(2);
        COPY(4);
        COPY(6);
        from += 8;
        to += 8;
    }
    if ((words & 4) != 0) {
        COPY(0);
        COPY(2);
        from += 4;
        to += 4;
    }
    if ((words & 2) != 0) {
        COPY(0);
        from += 2;
        to += 2;
    }
    if ((words & 1) != 0) {
        to[0] = from[0];
    }
}
