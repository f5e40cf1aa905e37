/* Rings of pointers, or with BYTE_RING of bytes: the case named on the command line; exit status 0 if it holds,
 * otherwise a line on stderr.
 *
 * The cases "producer_preempted" and "consumer_preempted" let the other side run between every two
 * instructions of one side, as a more urgent tier may: the CPU's single-step trap calls it.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "single_step.h"

enum { SLOTS = 4, ENTRIES = 600 };

#ifdef BYTE_RING

#define UART_RING_BYTES SLOTS
#include "../../firmware/drivers/byte_ring.h"

typedef int32_t entry_t;
static byte_ring_t queue;

#define HEAD queue.head
#define TAIL queue.tail
#define NOTHING (-1)
#define PUSH(entry) byte_ring_push(&queue, (uint8_t)(entry))
#define POP() byte_ring_pop(&queue)
#define COUNT() byte_ring_count(&queue)

static entry_t entry(uintptr_t number)
{
    return (uint8_t)(number * 5 + 1);
}

#else

#include "../../firmware/net/ring.h"

typedef void *entry_t;
static RING(SLOTS) queue;

#define HEAD queue.ring.head
#define TAIL queue.ring.tail
#define NOTHING NULL
#define PUSH(entry) RING_PUSH(&queue, entry)
#define POP() RING_POP(&queue)
#define COUNT() RING_COUNT(&queue)

static entry_t entry(uintptr_t number)
{
    return (void *)(number * 16 + 1);
}

#endif

static void test_order(void)
{
    CHECK(POP() == NOTHING);
    for (uintptr_t round = 0; round < 10; round++) {
        CHECK(PUSH(entry(2 * round)));
        CHECK(PUSH(entry(2 * round + 1)));
        CHECK(COUNT() == 2);
        CHECK(POP() == entry(2 * round));
        CHECK(POP() == entry(2 * round + 1));
        CHECK(POP() == NOTHING);
    }
}

static void test_full(void)
{
    for (uintptr_t i = 0; i < SLOTS; i++) {
        CHECK(PUSH(entry(i)));
    }
    CHECK(!PUSH(entry(99)));
    CHECK(COUNT() == SLOTS);
    CHECK(POP() == entry(0));
    CHECK(PUSH(entry(SLOTS)));
    CHECK(!PUSH(entry(99)));
    for (uintptr_t i = 1; i <= SLOTS; i++) {
        CHECK(POP() == entry(i));
    }
    CHECK(POP() == NOTHING);
}

static void test_wrap(void)
{
    HEAD = TAIL = UINT32_MAX - 1;
    test_full();
    CHECK(HEAD < SLOTS);
    HEAD = TAIL = UINT32_MAX - 1;
    test_order();
}

/* Against a plain array, with pseudo-random pushes and pops. */
static void test_model(void)
{
    static entry_t model[100000];
    uint32_t pushed = 0, popped = 0, state = 1;

    while (pushed < 100000) {
        state = state * 1664525 + 1013904223;
        if ((state >> 28) < 8) {
            bool stored = PUSH(entry(state));
            CHECK(stored == (pushed - popped < SLOTS));
            if (stored) {
                model[pushed++] = entry(state);
            }
        } else {
            entry_t got = POP();
            CHECK(got == (popped < pushed ? model[popped] : NOTHING));
            popped += got != NOTHING;
        }
        CHECK(COUNT() == pushed - popped);
    }
}

#ifdef __x86_64__

/* Steps until the other side runs again; 1 is every instruction. */
static unsigned period, step;
static uintptr_t pushed, popped, preemptions, pushes_refused, pops_refused;

__attribute__((noinline)) static void produce(void)
{
    if (PUSH(entry(pushed))) {
        pushed++;
    } else {
        pushes_refused++;
    }
}

__attribute__((noinline)) static void consume(void)
{
    entry_t got = POP();

    if (got != NOTHING) {
        CHECK(got == entry(popped));
        popped++;
    } else {
        pops_refused++;
    }
}

static void consume_on_trap(int signal_number)
{
    (void)signal_number;
    if (++step % period == 0) {
        preemptions++;
        consume();
    }
}

static void produce_on_trap(int signal_number)
{
    (void)signal_number;
    if (++step % period == 0 && pushed < ENTRIES) {
        preemptions++;
        produce();
    }
}

static void preempt(void (*side)(void), void (*other)(int))
{
    for (period = 1; period <= 23; period++) {
        memset(&queue, 0, sizeof(queue));
        pushed = popped = preemptions = 0;
        signal(SIGTRAP, other);
        single_step(true);
        while (pushed < ENTRIES) {
            side();
        }
        single_step(false);
        CHECK(preemptions > ENTRIES / 10);
        while (popped < pushed) {
            uintptr_t before = popped;
            consume();
            CHECK(popped == before + 1);
        }
        CHECK(POP() == NOTHING);
    }
}

static void test_producer_preempted(void)
{
    preempt(produce, consume_on_trap);
    CHECK(pops_refused > 0);
}

static void test_consumer_preempted(void)
{
    preempt(consume, produce_on_trap);
    CHECK(pushes_refused > 0);
}

#endif

int main(int count, char **arguments)
{
    const char *name = count == 2 ? arguments[1] : "";

    if (strcmp(name, "order") == 0) {
        test_order();
    } else if (strcmp(name, "full") == 0) {
        test_full();
    } else if (strcmp(name, "wrap") == 0) {
        test_wrap();
    } else if (strcmp(name, "model") == 0) {
        test_model();
#ifdef __x86_64__
    } else if (strcmp(name, "producer_preempted") == 0) {
        test_producer_preempted();
    } else if (strcmp(name, "consumer_preempted") == 0) {
        test_consumer_preempted();
#endif
    } else {
        fprintf(stderr, "ring_driver: no case \"%s\" on this host\n", name);
        return NOT_HERE;
    }
    return 0;
}
