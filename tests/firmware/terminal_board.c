/* Lines, alarms and contexts. A register that only the port's service, or who keeps it away, may access ends the
 * program if somebody else does. */
#include "terminal_board.h"

#include <stdio.h>
#include <stdlib.h>

#include "alarm.h"
#include "context.h"
#include "irq.h"

enum {
    /* Given back by whoever has locked. */
    LOCKED = 0x5a,
    /* More rounds at one cycle than any good reason asks for. */
    MANY_ROUNDS = 10000
};

typedef struct {
    irq_line_t entry;
    bool kicked;
    uint64_t since; /* pending or kicked; BOARD_NEVER if not */
} line_t;

uint64_t board_cycle;
uint64_t board_latency_cycles;
uint32_t board_early_cycles;
bool board_holds_protocol;
uint32_t board_locks;

static line_t lines[UARTS];
static alarm_t *alarms[UARTS];
static bool started, in_service, locked, posted, ethernet_kicked;
static volatile bool *busy;
static uint32_t busy_locks;

_Noreturn void board_fail(const char *message)
{
    fprintf(stderr, "cycle %llu: %s\n", (unsigned long long)board_cycle, message);
    abort();
}

void board_check_access(uint32_t port)
{
    if (!started) {
        return;
    }
    if (in_service && !board_is_busy(port)) {
        board_fail("a port's service does not say that it is running");
    }
    if (!in_service && !(locked && (busy == NULL || !*busy))) {
        board_fail("a register belongs to the port's service, which was not kept away");
    }
}

/* --- lines and contexts ------------------------------------------------------------------------ */

bool irq_register(uint32_t line, const char *name, irq_service_t service, void *context, uint32_t priority)
{
    (void)name;
    (void)priority;
    lines[line].entry.service = service;
    lines[line].entry.context = context;
    return true;
}

void irq_describe(uint32_t line, uint32_t room, irq_units_t units)
{
    lines[line].entry.room = room;
    lines[line].entry.units = units;
}

const irq_line_t *irq_line(uint32_t line)
{
    return &lines[line].entry;
}

static void serve(line_t *line, bool pending)
{
    line->kicked = false;
    line->entry.count += pending;
    in_service = true;
    line->entry.service(line->entry.context, pending);
    in_service = false;
}

void irq_run(uint32_t line)
{
    serve(&lines[line], false);
}

void irq_kick(uint32_t line)
{
    if (line == ETHMAC_INTERRUPT) {
        ethernet_kicked = true;
    } else {
        lines[line].kicked = true;
    }
}

uint32_t context_lock(void)
{
    if (locked) {
        board_fail("locks must not be nested");
    }
    if (board_locks++ == MANY_ROUNDS) {
        board_fail("the lock is asked for for ever");
    }
    locked = true;
    return LOCKED;
}

void context_unlock(uint32_t before)
{
    if (!locked || before != LOCKED) {
        board_fail("unlocked without a lock");
    }
    locked = false;
    if (busy != NULL && busy_locks-- == 0) {
        *busy = false;
        busy = NULL;
    }
}

uint32_t context_lock_all(void)
{
    return context_lock();
}

void context_unlock_all(uint32_t before)
{
    context_unlock(before);
}

void context_post_protocol(void)
{
    posted = true;
}

void board_post(void)
{
    posted = true;
}

void board_keep_busy(volatile bool *flag, uint32_t locks)
{
    *flag = true;
    busy = flag;
    busy_locks = locks;
}

/* --- alarms ------------------------------------------------------------------------------------ */

void alarm_set(alarm_t *alarm, uint32_t cycles)
{
    uint32_t index = 0;

    while (index < UARTS && alarms[index] != alarm && alarms[index] != NULL) {
        index++;
    }
    if (index == UARTS || cycles > ALARM_MAX_CYCLES) {
        board_fail("a strange alarm");
    }
    alarms[index] = alarm;
    alarm->is_set = true;
    alarm->due = (uint32_t)board_cycle + (cycles > board_early_cycles ? cycles - board_early_cycles : cycles);
}

void alarm_cancel(alarm_t *alarm)
{
    alarm->is_set = false;
}

static uint64_t alarm_cycle(const alarm_t *alarm)
{
    if (alarm == NULL || !alarm->is_set) {
        return BOARD_NEVER;
    }
    return board_cycle + (uint32_t)(alarm->due - (uint32_t)board_cycle);
}

/* --- time -------------------------------------------------------------------------------------- */

void board_start(void)
{
    started = true;
    for (uint32_t port = 0; port < UARTS; port++) {
        lines[port].since = BOARD_NEVER;
    }
}

/* Serves a line if it is time to. */
static bool see_line(uint32_t number)
{
    line_t *line = &lines[number];
    bool pending = board_is_pending(number);

    if (!pending && !line->kicked) {
        line->since = BOARD_NEVER;
        return false;
    }
    if (line->since == BOARD_NEVER) {
        line->since = board_cycle;
    }
    if (board_cycle - line->since < board_latency_cycles) {
        return false;
    }
    line->since = BOARD_NEVER;
    serve(line, pending);
    return true;
}

static bool see(void)
{
    bool any = false;

    for (uint32_t port = 0; port < UARTS; port++) {
        any |= board_see_characters(port);
        if (alarm_cycle(alarms[port]) == board_cycle) {
            alarms[port]->is_set = false;
            alarms[port]->ring(alarms[port]);
            any = true;
        }
        any |= see_line(port);
    }
    if (posted && !board_holds_protocol) {
        posted = board_protocol_service();
        any = true;
    }
    if (ethernet_kicked) {
        ethernet_kicked = false;
        board_ethernet_service();
        any = true;
    }
    return any;
}

void board_settle(void)
{
    board_locks = 0;
    for (uint32_t round = 0; see(); round++) {
        if (round == MANY_ROUNDS) {
            board_fail("services are called for ever");
        }
    }
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* When something happens next; `end` if nothing does before that. */
static uint64_t next_cycle(uint64_t end)
{
    for (uint32_t number = 0; number < UARTS; number++) {
        end = earlier(end, earlier(board_next_character(number), alarm_cycle(alarms[number])));
        if (lines[number].since != BOARD_NEVER) {
            end = earlier(end, lines[number].since + board_latency_cycles);
        }
    }
    return end;
}

void board_advance(uint64_t cycles)
{
    uint64_t end = board_cycle + cycles;

    board_settle();
    while (board_cycle != end) {
        board_cycle = next_cycle(end);
        board_settle();
    }
}
