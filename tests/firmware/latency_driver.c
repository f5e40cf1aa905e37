/* The latency instrument's logic and driver, driven by lines of text; the registers are memory. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../../firmware/apps/echo/histogram.h"
#include "../../firmware/apps/echo/request.h"
#include "command_line.h"
#include "text.h"

enum { REGISTERS = 64, BINS = 16 };

static uint32_t registers[REGISTERS];
static const echo_instrument_t device = {(uintptr_t)registers};
static uint32_t bins[BINS];
static histogram_t histogram;

const latency_settings_t latency_usual = {.moments = {4000, 12, 1, 0}};

static bool run_start(command_call_t *call)
{
    latency_settings_t settings = latency_usual;

    if (!latency_read_request(call, 1, &settings)) {
        return false;
    }
    command_print(call, "%u %u %u %u %u %u %u\n", settings.moments.interval_cycles,
                  settings.moments.spread_log2, settings.moments.seed, settings.moments.bin_log2,
                  (unsigned)settings.access, (unsigned)settings.steady, settings.samples);
    return false;
}

static const command_t commands[] = {{"start", LATENCY_START_WORDS, COMMAND_WORDS, "", run_start}};
static command_table_t table = {commands, 1, NULL};

/* request HEX: the words behind `latency start`. */
static void request(void)
{
    static uint8_t text[TEXT_HEX_BYTES];
    command_call_t call;

    run_command_line(&call, (const char *)text, text_hex(text, 1));
}

/* full LEFT: of samples of 5 cycles, with room for LEFT more. */
static void fill(void)
{
    uint32_t samples = UINT32_MAX - text_number(1);

    histogram_init(&histogram, bins, BINS, 0);
    histogram.samples = samples;
    bins[5] = samples;
    histogram.minimum = 5;
    histogram.maximum = 5;
    histogram.sum = 5ull * samples;
    histogram.squares = 25ull * samples;
}

/* add CYCLES: prints what the histogram is then. */
static void add(void)
{
    histogram_add(&histogram, text_number(1));
    printf("%u %u %u %u %" PRIu64 " %" PRIu64, histogram.samples, histogram.overflow,
           histogram.minimum, histogram.maximum, histogram.sum, histogram.squares);
    for (uint32_t bin = 0; bin < histogram.bin_count; bin++) {
        printf(" %u", bins[bin]);
    }
    printf("\n");
}

static void sums(void)
{
    uint32_t samples = text_number(1);
    uint64_t sum;
    uint64_t squares;

    (void)sscanf(text_word(2), "%" SCNu64, &sum);
    (void)sscanf(text_word(3), "%" SCNu64, &squares);
    printf("%" PRIu64 " %" PRIu64 "\n", histogram_mean_milli(samples, sum),
           histogram_deviation_milli(samples, sum, squares));
}

/* configure INTERVAL SPREAD SEED BIN: the result and the registers. */
static void configure(void)
{
    echo_settings_t settings = {text_number(1), text_number(2), text_number(3), text_number(4)};

    memset(registers, 0, sizeof(registers));
    echo_result_t result = echo_configure(&device, &settings);
    printf("%d %u %u %u %u\n", (int)result, registers[ECHO_REGISTER(INTERVAL) / 4],
           registers[ECHO_REGISTER(SPREAD_LOG2) / 4], registers[ECHO_REGISTER(SEED) / 4],
           registers[ECHO_REGISTER(BIN_LOG2) / 4]);
}

/* totals: of registers that hold their own offset in words. */
static void totals(void)
{
    echo_totals_t found;

    for (uint32_t index = 0; index < REGISTERS; index++) {
        registers[index] = index;
    }
    echo_read_totals(&device, &found);
    printf("%u %u %u %u %u %u %" PRIu64 " %" PRIu64 "\n", found.samples, found.missed, found.overflow,
           found.minimum, found.maximum, found.saturated, found.sum, found.squares);
}

/* erase STATUS: whether it ends, with a status that stays. */
static void erase(void)
{
    registers[ECHO_REGISTER(STATUS) / 4] = text_number(1);
    bool ended = echo_erase(&device);
    printf("%d %u\n", ended, registers[ECHO_REGISTER(CONTROL) / 4]);
}

static void run(const char *what)
{
    if (strcmp(what, "request") == 0) {
        request();
    } else if (strcmp(what, "empty") == 0) {
        histogram_init(&histogram, bins, BINS, text_number(1));
    } else if (strcmp(what, "full") == 0) {
        fill();
    } else if (strcmp(what, "saturated") == 0) {
        printf("%d\n", histogram.saturated);
    } else if (strcmp(what, "add") == 0) {
        add();
    } else if (strcmp(what, "sums") == 0) {
        sums();
    } else if (strcmp(what, "configure") == 0) {
        configure();
    } else if (strcmp(what, "totals") == 0) {
        totals();
    } else if (strcmp(what, "erase") == 0) {
        erase();
    } else {
        text_fail("no such command");
    }
}

int main(void)
{
    command_add(&table);
    text_serve(run);
    return 0;
}
