/* Lines that are kicked and pend, driven by lines of text: irq/tiers.c, or irq/single.c without CONTEXT_TIERS. A tier
 * that is asked for something runs at once if it is more urgent than the one that asks.
 *
 *   line NUMBER PRIORITY        registers one
 *   apart NUMBER                the line's service shares nothing with others
 *   start                       the services
 *   ceiling                     the tier up to which context_lock_all() keeps others away
 *   assign NUMBER TIER PRIORITY the result
 *   again NUMBER COUNT          the line's service kicks the line so many times from now on
 *   posts NUMBER                it posts to the protocol service from now on
 *   raises NUMBER LINES         its next service makes them pend
 *   early LINES                 they pend when somebody has asked a tier for something and not yet woken it
 *   mask LINES                  one context: the others may not interrupt what it interrupts
 *   kick LINES                  the application kicks them, whom nobody interrupts meanwhile; who is served then, in
 *                               this order, and a "p" for each run of the protocol service
 *   call NUMBER                 the application kicks one, and may be interrupted; the same
 *   raise LINES                 they pend, each for one service; the same
 *   mix LINES KICKED            the first pend while the others are kicked; the same
 *   wait LINES                  the application kicks them, whom nobody serves before something else happens
 *   busy TIER                   the tier is in a service that does not end
 *   meanwhile LINE              it is kicked when somebody next looks at the clock
 *   free                        no tier is busy any more; who is served then
 */
#include <stdio.h>
#include <string.h>

#include "context.h"

static inline void fake_post(uint32_t tier);
static inline void fake_clear_post(uint32_t tier);
static inline void fake_set_lines(uint32_t lines);
static inline void fake_nothing(void);
enum { MOST_TIERS = 8, MOST_RUNS = 1000 };
static uint32_t masks[MOST_TIERS];
void context_start_loop(void (*loop)(void *), void *argument);
void context_start(uint32_t lines);
void context_post_interrupt(void);
void context_run_interrupt(void);
extern uint32_t context_ceiling;

#define tier_post fake_post
#define tier_clear_post fake_clear_post
#define tier_set_lines fake_set_lines
#define tier_line_mask() masks[TIER_INTERRUPT]
#define tier_sleep fake_nothing
#define tier_enable_wake fake_nothing
#define tier_buffer_bus fake_nothing

#ifdef CONTEXT_TIERS
#include "../../firmware/irq/tiers.c"
#else
#include "../../firmware/irq/single.c"
#endif
#include "text.h"

uint32_t context_ceiling;

static uint32_t current;
static bool is_held; /* nobody is interrupted */
static uint32_t pending;
static bool posted[MOST_TIERS];
static uint32_t again[IRQ_LINES];
static bool posts[IRQ_LINES];
static uint32_t raises[IRQ_LINES];
static uint32_t early;
static uint32_t busy_tier; /* 0: none */
static uint32_t kicked_meanwhile = IRQ_LINES;

/* --- the core ------------------------------------------------------------------------------------ */

static uint32_t claim(void)
{
    uint32_t lines = pending & masks[current];
    uint32_t most = 0;

    for (uint32_t line = 0; line < IRQ_LINES; line++) {
        if ((lines & 1u << line) != 0
            && (most == 0 || irq_table[line + 1].priority > irq_table[most].priority)) {
            most = line + 1;
        }
    }
    return most;
}

/* A round of the tier's loop. */
static void run_once(uint32_t tier)
{
#ifdef CONTEXT_TIERS
    if (tier >= TIER_INTERRUPT) {
        dispatch(&servers[tier], tier);
        return;
    }
#endif
    irq_dispatch(tier);
}

static void run_tier(uint32_t tier)
{
    uint32_t before = current;
    uint32_t runs = 0;

    if (tier == busy_tier) {
        return;
    }
    current = tier;
    while (posted[tier] || claim() != 0) {
        if (runs++ == MOST_RUNS) {
            text_fail("a tier finds no end");
        }
        if (tier == TIER_PROTOCOL) {
            printf(" p");
        }
        if (tier == TIER_PROTOCOL || CONTEXTS == 1) {
            posted[tier] = false;
        }
        run_once(tier);
    }
    current = before;
}

static void run_tiers(void)
{
    for (uint32_t tier = MOST_TIERS; tier-- > current + 1;) {
        run_tier(tier);
    }
}

uint32_t fake_csr(uint32_t csr)
{
    static uint32_t cycle;

#ifdef CONTEXT_TIERS
    if (csr == CSR_MLINECLAIM) {
        return claim();
    }
    if (csr == CSR_MHARTID) {
        return current;
    }
#else
    (void)csr;
#endif
    if (kicked_meanwhile != IRQ_LINES) {
        uint32_t line = kicked_meanwhile;
        kicked_meanwhile = IRQ_LINES;
        irq_kick(line);
    }
    return cycle++;
}

static inline void fake_post(uint32_t tier)
{
    if (early != 0) {
        pending |= early;
        early = 0;
        run_tiers();
    }
    posted[tier] = true;
    if (tier > current && !is_held) {
        run_tiers();
    }
}

static inline void fake_clear_post(uint32_t tier)
{
    posted[tier] = false;
}

static inline void fake_set_lines(uint32_t lines)
{
    masks[current] = lines;
}

static inline void fake_nothing(void)
{
}

/* --- what is around ------------------------------------------------------------------------------ */

uint32_t context_lock_all(void)
{
    return 0;
}

void context_unlock_all(uint32_t before)
{
    (void)before;
}

uint32_t context_lock(void)
{
    return 0;
}

void context_unlock(uint32_t before)
{
    (void)before;
}

void context_post_protocol(void)
{
    fake_post(TIER_PROTOCOL);
}

void context_post_interrupt(void)
{
    posted[TIER_INTERRUPT] = true;
}

void context_run_interrupt(void)
{
    irq_dispatch(TIER_INTERRUPT);
}

void context_start(uint32_t lines)
{
    masks[TIER_INTERRUPT] = lines;
}

void context_start_loop(void (*loop)(void *), void *argument)
{
    (void)loop;
    (void)argument;
    masks[TIER_INTERRUPT] = irq_lines_of(TIER_INTERRUPT);
}

#ifdef CONTEXT_TIERS

void tier_start(uint32_t tier, void (*function)(void *), void *argument, void *stack)
{
    (void)tier;
    (void)function;
    (void)argument;
    (void)stack;
}

uint32_t irq_stamp(uint32_t line)
{
    return line;
}

#else

void irq_serve_pending(void)
{
    uint32_t one;

    while ((one = claim()) != 0) {
        irq_table[one].service(irq_table[one].context, true);
    }
}

#endif

void irq_apply_priorities(void)
{
}

/* --- the driver ---------------------------------------------------------------------------------- */

static void serve(void *context, bool is_pending)
{
    uint32_t line = (uint32_t)((uint8_t *)context - (uint8_t *)posts);

    printf(" %u", line);
#ifdef CONTEXT_TIERS
    if (!irq_line(line)->apart && current > context_ceiling) {
        text_fail("a line that shares something is served above the ceiling");
    }
#endif
    if (is_pending) {
        pending &= ~(1u << line);
    }
    pending |= raises[line];
    raises[line] = 0;
    if (again[line] != 0) {
        again[line]--;
        irq_kick(line);
    }
    if (posts[line]) {
        context_post_protocol();
    }
}

static void kick_held(uint32_t lines)
{
    is_held = true;
    for (uint32_t line = 0; line < IRQ_LINES; line++) {
        if ((lines & 1u << line) != 0) {
            irq_kick(line);
        }
    }
    is_held = false;
}

static void serve_lines(uint32_t raised, uint32_t asked_for)
{
    kick_held(asked_for);
    pending |= raised;
    run_tiers();
    printf("\n");
}

static void run(const char *command)
{
    if (strcmp(command, "line") == 0) {
        uint32_t line = text_number(1);
        if (!irq_register(line, "a line", serve, &posts[line], text_number(2))) {
            text_fail("not registered");
        }
    } else if (strcmp(command, "apart") == 0) {
        irq_set_apart(text_number(1));
    } else if (strcmp(command, "start") == 0) {
        irq_start();
    } else if (strcmp(command, "ceiling") == 0) {
        printf("%u\n", context_ceiling);
    } else if (strcmp(command, "assign") == 0) {
        printf(" %d\n", (int)irq_assign(text_number(1), text_number(2), text_number(3)));
    } else if (strcmp(command, "again") == 0) {
        again[text_number(1)] = text_number(2);
    } else if (strcmp(command, "posts") == 0) {
        posts[text_number(1)] = true;
    } else if (strcmp(command, "raises") == 0) {
        raises[text_number(1)] = text_number(2);
    } else if (strcmp(command, "early") == 0) {
        early = text_number(1);
    } else if (strcmp(command, "mask") == 0) {
        masks[TIER_INTERRUPT] = text_number(1);
    } else if (strcmp(command, "call") == 0) {
        irq_kick(text_number(1));
        printf("\n");
    } else if (strcmp(command, "kick") == 0) {
        serve_lines(0, text_number(1));
    } else if (strcmp(command, "raise") == 0) {
        serve_lines(text_number(1), 0);
    } else if (strcmp(command, "mix") == 0) {
        serve_lines(text_number(1), text_number(2));
    } else if (strcmp(command, "wait") == 0) {
        kick_held(text_number(1));
    } else if (strcmp(command, "busy") == 0) {
        busy_tier = text_number(1);
    } else if (strcmp(command, "meanwhile") == 0) {
        kicked_meanwhile = text_number(1);
    } else if (strcmp(command, "free") == 0) {
        busy_tier = 0;
        serve_lines(0, 0);
    } else {
        text_fail("no such command");
    }
}

int main(void)
{
    text_serve(run);
    return 0;
}
