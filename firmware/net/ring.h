/* A queue of pointers with one producer and one consumer that never lock.
 *
 * Producer and consumer are tiers (or an interrupt handler and what it interrupts) of ONE core.
 * The core executes the loads and stores of both in program order through the same memory port,
 * and a switch from one tier to the other falls between two instructions. So each side sees the
 * other's stores in the order in which they stand in the program, and no fence instruction and no
 * atomic is needed; only the compiler must keep that order, which `atomic_signal_fence` asks for
 * (C11 7.17.4.2: ordering "only between a thread and a signal handler executed in the same
 * thread"). Two cores, or a bus master that reads the ring, would need real fences.
 *
 * Each counter is written by one side alone and runs freely through 2^32:
 *   head - tail   entries that wait
 *   head & mask   the slot that the producer fills next
 * The producer fills the slot before it advances `head`; the consumer empties the slot before it
 * advances `tail`. A side that reads an old value of the other's counter sees a ring fuller (or
 * emptier) than it is, never a slot that is being written.
 *
 * The number of slots is a constant at each call, so mask and limit are immediates.
 */
#ifndef TIERV_NET_RING_H
#define TIERV_NET_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"

typedef struct {
    uint32_t head; /* written by the producer */
    uint32_t tail; /* written by the consumer */
} ring_t;

/* Declares a ring member or variable of `slots_` entries, a power of two. */
#define RING(slots_)                                                                               \
    struct {                                                                                       \
        ring_t ring;                                                                               \
        void *slots[slots_];                                                                       \
        _Static_assert((slots_) > 0 && ((slots_) & ((slots_) - 1)) == 0,                           \
                       "slots of a RING must be a power of two");                                  \
    }

#define RING_SLOTS(queue) ((uint32_t)(sizeof((queue)->slots) / sizeof((queue)->slots[0])))

/* False if the ring is full; the entry is then still the caller's. Entries are not NULL. */
#define RING_PUSH(queue, entry) ring_push(&(queue)->ring, (queue)->slots, RING_SLOTS(queue), entry)

/* The oldest entry, or NULL if there is none. */
#define RING_POP(queue) ring_pop(&(queue)->ring, (queue)->slots, RING_SLOTS(queue))

/* The oldest entry, which stays there; for the consumer of a ring that is not empty. */
#define RING_FIRST(queue) ((queue)->slots[(queue)->ring.tail & (RING_SLOTS(queue) - 1)])

/* Entries that wait. */
#define RING_COUNT(queue) ring_count(&(queue)->ring)

INLINE bool ring_push(ring_t *ring, void **slots, uint32_t count, void *entry)
{
    uint32_t head = ring->head;

    if (UNLIKELY(head - ring->tail >= count)) {
        return false;
    }
    slots[head & (count - 1)] = entry;
    atomic_signal_fence(memory_order_acq_rel);
    ring->head = head + 1;
    atomic_signal_fence(memory_order_acq_rel);
    return true;
}

INLINE void *ring_pop(ring_t *ring, void **slots, uint32_t count)
{
    uint32_t tail = ring->tail;

    atomic_signal_fence(memory_order_acq_rel);
    if (ring->head == tail) {
        return NULL;
    }
    atomic_signal_fence(memory_order_acq_rel);
    void *entry = slots[tail & (count - 1)];
    atomic_signal_fence(memory_order_acq_rel);
    ring->tail = tail + 1;
    atomic_signal_fence(memory_order_acq_rel);
    return entry;
}

static inline uint32_t ring_count(const ring_t *ring)
{
    atomic_signal_fence(memory_order_acq_rel);
    return ring->head - ring->tail;
}

#endif
