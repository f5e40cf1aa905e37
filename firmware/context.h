/* One firmware for three tiers and for one context.
 *
 * An application gives these functions:
 *
 *     interrupt_service(lines)   moves data between devices and rings; lines are those pending
 *     protocol_service()         works on what the interrupt service left
 *     main()                     sets up, calls context_start(), goes on as the application
 *
 * With three tiers each of them has its own, and the services run to completion in loops around
 * wfi. With one context interrupt_service() runs in the trap handler and protocol_service() behind
 * it with interrupts enabled again: a nested software interrupt. In the polled variant everything
 * runs from context_wait(). Which one it is is decided when the firmware is built (CONTEXT in the
 * Makefile); the other files are the same.
 *
 * Stacks: 2 KiB for the protocol service and for TIER_INTERRUPT (STACK_BYTES of boot/tiers.c), 1 KiB for each tier above
 * (irq/tiers.c), and 2 KiB or more, all that is left, for the application, on which with one context the services run
 * too. Nobody notices when one overflows. What C keeps for each thread, like errno, is one for all.
 */
#ifndef TIERV_CONTEXT_H
#define TIERV_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "tier.h"

/* A function with which an interrupt begins is at an even word: two instructions come at once. */
#define INTERRUPT_ENTRY __attribute__((aligned(8)))

/* --- given by the application ------------------------------------------------------------------ */

INTERRUPT_ENTRY void interrupt_service(uint32_t lines);
void protocol_service(void);

/* --- given by boot/ ---------------------------------------------------------------------------- */

/* Starts the services: from now on `lines` interrupt. */
void context_start(uint32_t lines);

/* Application: waits until context_post_application(). May return early. */
void context_wait(void);

/* An application that never waits must call context_wait() from time to time: nothing else makes
 * the services run. */
#ifdef CONTEXT_POLLED
#define CONTEXT_MUST_YIELD 1
#else
#define CONTEXT_MUST_YIELD 0
#endif

/* Application: keeps the protocol service away from what both use, once it is over if it has begun. Short,
 * and not nested. */
static inline uint32_t context_lock(void);
static inline void context_unlock(uint32_t before);

/* Anybody: keeps everybody away who asks for it too, whatever tier it is. Short, and not nested. */
static inline uint32_t context_lock_all(void);
static inline void context_unlock_all(uint32_t before);

/* Interrupt service: there is work for the protocol service, which runs afterwards. */
static inline void context_post_protocol(void);

/* Application: there is work for the protocol service, or for the interrupt service, which has run
 * when this returns. Polled, the first serves lines too: whoever always calls it need not wait. */
void context_run_protocol(void);
void context_run_interrupt(void);

/* Protocol service: the interrupt service shall look for work, also if no line is pending. */
static inline void context_post_interrupt(void);

/* Protocol or interrupt service: there is work for the application. */
static inline void context_post_application(void);

/* Interrupt service: behind an access to the bus, where the next one must wait for it. With one context
 * an instruction that costs less than an access that comes too early; with tiers nothing, the slot is
 * another's. */
#if defined(CONTEXT_TIERS) || !defined(CONFIG_CPU_TYPE_TIERV)
#define CONTEXT_BUS_PAUSE() __asm__ volatile("" ::: "memory")
#else
#define CONTEXT_BUS_PAUSE() __asm__ volatile("nop" ::: "memory")
#endif

/* Interrupt service: around what mostly copies over the bus; tiers below have the slots that it does not
 * need. Nothing with one context. */
static inline void context_share_slots(void);
static inline void context_keep_slots(void);

#if defined(CONTEXT_TIERS)
#include "boot/tiers.h"
#elif defined(CONTEXT_SINGLE) || defined(CONTEXT_POLLED)
#include "boot/single.h"
#else
#error "CONTEXT must be tiers, single or polled"
#endif

#endif
