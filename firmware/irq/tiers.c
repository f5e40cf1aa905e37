/* Tiers: those from TIER_INTERRUPT on serve lines, and the protocol tier before its own work. */
#include <stddef.h>

#include "context.h"
#include "irq/table.h"
#include "net/compiler.h"

#ifdef CONTEXT_TIERS

enum { STACK_BYTES = 1024, TIERS = TIERV_TIERS };

/* What others ask of a tier that serves lines. A bit of `asked[t]` is turned over by tier t alone, and
 * `taken` is the server's, so that both need no lock: they differ where something is asked for. Whoever
 * asks sets `attention` afterwards, and posts. */
typedef struct {
    uint32_t attention;
    uint32_t asked[TIERS]; /* lines that irq_kick() asked for, by the tier that asks */
    uint32_t taken[TIERS];
    uint32_t kicked;  /* the server's: taken and not yet served */
    uint32_t mask;    /* lines that it shall serve: written by the application */
    uint32_t applied; /* the server's: lines that it serves */
    uint32_t owned;   /* the server's: its counter of cycles, of which only it can read */
} server_t;

static server_t servers[TIERS];

#if TIERV_TIERS > 3
static _Alignas(16) uint8_t stacks[TIERV_TIERS - TIERS_USED][STACK_BYTES];
#endif

bool irq_tier_serves(uint32_t tier)
{
    return tier >= TIER_PROTOCOL && tier < TIERS;
}

static void call(server_t *server, uint32_t tier)
{
    server->attention = 1;
    COMPILER_BARRIER();
    tier_post(tier);
}

static void apply_mask(server_t *server)
{
    uint32_t mask = server->mask;

    if (server->applied != mask) {
        tier_set_lines(mask);
        server->applied = mask;
    }
}

static void take_kicks(server_t *server)
{
    for (uint32_t from = 0; from < TIERS; from++) {
        uint32_t asked = server->asked[from];
        server->kicked |= asked ^ server->taken[from];
        server->taken[from] = asked;
    }
}

/* Kicks of lines that have moved go after them. Those of a line that is about to come stay. */
static COLD void forward(server_t *server, uint32_t tier)
{
    for (uint32_t line = 0; line < IRQ_LINES; line++) {
        uint32_t bit = 1u << line;
        if ((server->kicked & ~server->applied & bit) != 0 && irq_table[line + 1].tier != tier) {
            server->kicked &= ~bit;
            irq_kick(line);
        }
    }
}

/* Longest path: the service. */
static __attribute__((noinline)) void attend(server_t *server, uint32_t tier)
{
    tier_clear_post(tier);
    server->attention = 0;
    COMPILER_BARRIER();
    apply_mask(server);
    take_kicks(server);
    uint32_t ready = server->kicked & server->applied;
    if (UNLIKELY(ready != server->kicked)) {
        forward(server, tier);
    }
    if (ready == 0) {
        return;
    }
    uint32_t line = irq_most_urgent(ready);
    uint32_t bit = 1u << line;
    irq_line_t *entry = &irq_table[line + 1];
    uint32_t claim = CSR_READ(CSR_MLINECLAIM);
    if (claim != 0 && irq_table[claim].priority > entry->priority) {
        /* That one goes first. */
        call(server, tier);
        return;
    }
    server->kicked &= ~bit;
    if (bit != ready) {
        call(server, tier);
    }
    entry->service(entry->context, false);
}

/* One line, and what others ask for. Whoever asks posts afterwards, perhaps when it was found here
 * already, so that a wake for nothing takes the post back. */
INLINE void dispatch(server_t *server, uint32_t tier)
{
    uint32_t claim = CSR_READ(CSR_MLINECLAIM);

    if (LIKELY(claim != 0)) {
        irq_serve(claim);
    } else {
        tier_clear_post(tier);
    }
    COMPILER_BARRIER();
    if (UNLIKELY(server->attention != 0)) {
        attend(server, tier);
    }
}

/* Apart from irq_dispatch(), which mostly has nothing to serve, and then no registers to save. What was posted up to
 * the end of this is done behind it, by the same run of the protocol service: only what is still asked for wants
 * another. */
static __attribute__((noinline)) void serve_own(server_t *server, uint32_t tier)
{
    dispatch(server, tier);
    tier_clear_post(tier);
    COMPILER_BARRIER();
    if (server->attention != 0) {
        tier_post(tier);
    }
}

void irq_dispatch(uint32_t tier)
{
    server_t *server = &servers[tier];

    tier_clear_post(tier);
    COMPILER_BARRIER();
    if (UNLIKELY(server->attention != 0) || UNLIKELY(CSR_READ(CSR_MLINECLAIM) != 0)) {
        serve_own(server, tier);
    }
}

/* Cycles in which the caller's tier was the most urgent one awake. */
INLINE uint32_t owned(void)
{
    return CSR_READ(CSR_MHPMCOUNTER3);
}

uint32_t irq_protocol_cycles(void)
{
    uint32_t cycles = owned();

    for (uint32_t tier = TIER_INTERRUPT; tier < TIERS; tier++) {
        cycles += servers[tier].owned;
    }
    return cycles;
}

void irq_kick(uint32_t line)
{
    uint32_t tier = irq_table[line + 1].tier;
    uint32_t self = CSR_READ(CSR_MHARTID);
    server_t *server = &servers[tier];

    if (((server->asked[self] ^ server->taken[self]) & 1u << line) == 0) {
        server->asked[self] ^= 1u << line;
    }
    COMPILER_BARRIER();
    call(server, tier);
}

void irq_run(uint32_t line)
{
    irq_kick(line);
}

/* The tier serves the lines of its mask from now on, and no others. */
static bool set_mask(uint32_t tier, uint32_t mask)
{
    server_t *server = &servers[tier];
    uint32_t start = CSR_READ(CSR_MCYCLE);

    server->mask = mask;
    COMPILER_BARRIER();
    call(server, tier);
    do {
        COMPILER_BARRIER();
        if (server->applied == mask) {
            return true;
        }
    } while (CSR_READ(CSR_MCYCLE) - start < IRQ_MOVE_CYCLES);
    return false;
}

static void set_ceiling(uint32_t tier)
{
    /* Nobody is behind the old one meanwhile. */
    uint32_t before = context_lock_all();

    context_ceiling = tier;
    context_unlock_all(before);
}

/* The most urgent tier that shares something with others. */
static uint32_t shared_tier(void)
{
    uint32_t most = TIER_PROTOCOL;

    for (uint32_t line = 0; line < IRQ_LINES; line++) {
        const irq_line_t *entry = irq_line(line);
        if (entry != NULL && !entry->apart && entry->tier > most) {
            most = entry->tier;
        }
    }
    return most;
}

bool irq_move(uint32_t line, uint32_t tier)
{
    irq_line_t *entry = &irq_table[line + 1];
    uint32_t bit = 1u << line;
    uint32_t from = entry->tier;

    if (!entry->apart && tier > context_ceiling) {
        set_ceiling(tier);
    }
    entry->tier = (uint8_t)tier;
    if (!set_mask(from, servers[from].mask & ~bit)) {
        entry->tier = (uint8_t)from;
        (void)set_mask(from, servers[from].mask | bit);
        call(&servers[tier], tier);
        set_ceiling(shared_tier());
        return false;
    }
    /* If it is busy it takes the line when it next waits; until then the line stays pending. */
    (void)set_mask(tier, servers[tier].mask | bit);
    set_ceiling(shared_tier());
    return true;
}

/* TIER_INTERRUPT and those above it. Longest path: attend(), and the longest of the services. */
static void interrupt_tier(void *number)
{
    uint32_t tier = (uint32_t)(uintptr_t)number;
    server_t *server = &servers[tier];

    tier_set_lines(server->applied);
    tier_enable_wake();
    tier_buffer_bus();
    for (;;) {
        tier_sleep();
        dispatch(server, tier);
        server->owned = owned();
    }
}

void irq_start(void)
{
    uint32_t lines = irq_lines_of(TIER_INTERRUPT);

    irq_apply_priorities();
    context_ceiling = shared_tier();
    servers[TIER_INTERRUPT].mask = lines;
    servers[TIER_INTERRUPT].applied = lines;
    context_start_loop(interrupt_tier, (void *)TIER_INTERRUPT);
#if TIERV_TIERS > 3
    for (uint32_t tier = TIERS_USED; tier < TIERS; tier++) {
        tier_start(tier, interrupt_tier, (void *)(uintptr_t)tier,
                   stacks[tier - TIERS_USED] + STACK_BYTES);
    }
#endif
}

#endif
