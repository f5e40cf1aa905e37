/* The table of lines: who serves each, in which tier and with which priority.
 *
 *     irq_register(ETHMAC_INTERRUPT, "ethmac", serve_ethmac, &mac, 8);
 *     ...
 *     irq_start();
 *
 * A service does what its device wants and returns. Tier and priority are data: irq_assign() changes
 * them while everything runs. A line is served in one tier at a time, so a service needs no lock
 * against itself. With tiers, each interrupt tier (TIER_INTERRUPT and those above it) and the
 * protocol tier, in front of its own work, serve their lines by priority. In a tier a service ends before
 * the next begins. With one context the trap handler serves all lines by priority, and a line interrupts
 * the service of one with a lower priority that is not brief; polled, context_wait() serves them one
 * after the other.
 *
 * The application's interrupt_service() is `irq_dispatch(TIER_INTERRUPT)`; with tiers nobody calls it behind
 * irq_start(), whose loops do the same. Its protocol_service() begins with irq_dispatch_protocol(). A service runs on
 * the stack of its tier (context.h).
 */
#ifndef TIERV_IRQ_H
#define TIERV_IRQ_H

#include <stdbool.h>
#include <stdint.h>

#include "tier.h"

#ifdef CONFIG_CPU_TYPE_TIERV
#define IRQ_LINES TIERV_LINES
/* The core tells the most urgent line, and how long it has waited. */
#define IRQ_HAS_CLAIM 1
#else
#define IRQ_LINES 32
#define IRQ_HAS_CLAIM 0
#endif

/* Priorities, and how many: 15 is the most urgent; of equals the lower line goes first. */
enum { IRQ_PRIORITIES = 16 };

/* Those that applications begin with. A serial port has room for a few characters, the MAC for frames. */
enum { IRQ_USUAL_PRIORITY = 8, IRQ_SERIAL_PRIORITY = 10 };

/* Bytes of the name of a line, the end mark included. */
enum { IRQ_NAME_BYTES = 12 };

/* Serves a line. `pending`: the line was seen pending; otherwise irq_kick() asked for it, and there
 * may be something to send. */
typedef void (*irq_service_t)(void *context, bool pending);

/* What a device has brought since the start, in its own unit: bytes, frames. */
typedef uint32_t (*irq_units_t)(const void *context);

typedef struct {
    irq_service_t service; /* NULL: nobody's line */
    void *context;
    uint32_t count;        /* services of the pending line */
    uint32_t stamp;        /* mcycle when it last became pending */
    uint32_t worst_cycles; /* from becoming pending to the service */
    irq_units_t units;     /* NULL: as many as interrupts */
    uint32_t room;         /* units that the device takes after it has raised the line */
    uint8_t tier;
    uint8_t priority;
    uint8_t usual_priority; /* as registered */
    bool apart : 1;         /* irq_set_apart() was called */
    bool brief : 1;         /* irq_set_brief() was called */
} irq_line_t;

/* So that a line's place in the table is found by a shift. */
_Static_assert(sizeof(void *) != 4 || sizeof(irq_line_t) == 32,
               "the size of a line must be a power of two");

/* What irq_assign() found. */
typedef enum {
    IRQ_OK,
    IRQ_NO_LINE,      /* nobody has registered it */
    IRQ_BAD_TIER,     /* no tier that can serve lines in this build */
    IRQ_BAD_PRIORITY, /* 16 or more */
    IRQ_BUSY          /* the tier that has the line did not let go in IRQ_MOVE_CYCLES */
} irq_result_t;

/* How long irq_assign() waits for a service that is going on. */
enum { IRQ_MOVE_CYCLES = CONFIG_CLOCK_FREQUENCY / 100 };

/* --- before irq_start() ------------------------------------------------------------------------ */

/* Gives `line` a service, for TIER_INTERRUPT and `priority`, which irq_assign_usual() restores. The
 * name is cut to what the table holds. False if there is no such line or priority, or the line
 * is taken. */
bool irq_register(uint32_t line, const char *name, irq_service_t service, void *context,
                  uint32_t priority);

/* The line's service shares nothing with others and calls nothing of theirs: in a tier of its own that is
 * more urgent than theirs, context_lock_all() does not hold it back. */
void irq_set_apart(uint32_t line);

/* The line's service is over in a few instructions: nothing interrupts it. */
void irq_set_brief(uint32_t line);

/* Starts the services with all lines that are registered: context_start(), and further tiers. */
void irq_start(void);

/* --- application ------------------------------------------------------------------------------- */

/* What a line can wait: `room` units come after it has been raised before one is lost. Otherwise that is
 * until the next interrupt. */
void irq_describe(uint32_t line, uint32_t room, irq_units_t units);

/* Moves a line to a tier and gives it a priority. Nothing that the line tells is lost, and its
 * service does not run twice at once; until IRQ_OK everything stays as it was. */
irq_result_t irq_assign(uint32_t line, uint32_t tier, uint32_t priority);

/* Every line as it was registered; the first thing that went wrong. */
irq_result_t irq_assign_usual(void);

/* True if lines can be served in the tier. */
bool irq_tier_serves(uint32_t tier);

/* The line's entry, or NULL if nobody has registered it. Counts are the service's: read only. */
const irq_line_t *irq_line(uint32_t line);

/* How many interrupts the line has brought; 0 where nobody is told of them, and lines are asked again and again. */
static inline uint32_t irq_count(const irq_line_t *line)
{
    return TIER_HAS_CSRS ? line->count : 0;
}

/* The line's name; "" if nobody has registered it. */
const char *irq_name(uint32_t line);

/* The line of that name, or IRQ_LINES. */
uint32_t irq_find(const char *name);

/* Forgets counts and worst latencies, as far as services that run meanwhile allow. */
void irq_clear_counts(void);

/* The line's service shall look for work; it has when this returns (with tiers: has, or waits for the
 * bus). */
void irq_run(uint32_t line);

/* --- protocol or interrupt service ------------------------------------------------------------- */

/* The line's service shall look for work, in the tier that it belongs to. */
void irq_kick(uint32_t line);

/* --- services of a tier ------------------------------------------------------------------------ */

/* Serves what is pending or was kicked: with tiers one line of each kind, and the tier's `wfi` does not
 * wait if there are more; in the other builds all. */
void irq_dispatch(uint32_t tier);

#ifdef CONTEXT_TIERS

/* Protocol service: cycles, modulo 2^32, that its tier and those of interrupts have had, from waking to
 * waiting. What a service that is interrupted has had so far is missing. 0 from a core without counters. */
uint32_t irq_protocol_cycles(void);

#endif

static inline void irq_dispatch_protocol(void)
{
#ifdef CONTEXT_TIERS
    irq_dispatch(TIER_PROTOCOL);
#endif
}

#endif
