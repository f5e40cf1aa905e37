#include "apps/echo/command.h"

#include <string.h>

#include <generated/soc.h>

#include "apps/command.h"
#include "apps/echo/latency.h"
#include "apps/echo/request.h"

#ifdef ECHO_INTERRUPT

/* Bins that `show` looks at in a step, at the most. */
enum { BINS_IN_A_STEP = 32 };

/* Lines of `show` behind the bins. */
enum { TOTAL, MINIMUM, MEAN, MAXIMUM, OVERFLOWS, DEVIATION, MISSED, DIFFERENCE, LINES };

static unsigned long whole(uint64_t milli)
{
    return (unsigned long)(milli / 1000);
}

static unsigned long thousandths(uint64_t milli)
{
    return (unsigned long)(milli % 1000);
}

static void print_milli(command_call_t *call, const char *what, uint64_t hardware, uint64_t software)
{
    command_print(call, "# %s: %05lu.%03lu %05lu.%03lu\n", what, whole(hardware),
                  thousandths(hardware), whole(software), thousandths(software));
}

static void print_pair(command_call_t *call, const char *what, uint32_t hardware, uint32_t software)
{
    command_print(call, "# %s: %05lu %05lu\n", what, (unsigned long)hardware,
                  (unsigned long)software);
}

/* False, and nothing, if nobody is in the bin. */
static bool print_bin(command_call_t *call, uint32_t bin)
{
    uint32_t hardware = echo_read_bin(&latency.device, bin);
    uint32_t software = latency.seen.bins[bin];

    if (hardware == 0 && software == 0) {
        return false;
    }
    command_print(call, "%06lu %06lu %06lu\n", (unsigned long)bin << latency.seen.bin_log2,
                  (unsigned long)hardware, (unsigned long)software);
    return true;
}

/* call->state is the next bin; prints one, if there is one among the next few. */
static void print_next_bin(command_call_t *call)
{
    for (uint32_t looked = 0; looked < BINS_IN_A_STEP && call->state < ECHO_BINS; looked++) {
        if (print_bin(call, call->state++)) {
            return;
        }
    }
}

static void print_total(command_call_t *call, uint32_t line)
{
    histogram_t seen;
    echo_totals_t totals;

    histogram_copy(&seen, &latency.seen);
    echo_read_totals(&latency.device, &totals);
    switch (line) {
    case TOTAL:
        command_print(call, "# Total: %09lu %09lu\n", (unsigned long)totals.samples,
                      (unsigned long)seen.samples);
        break;
    case MINIMUM:
        print_pair(call, "Min Latencies", totals.samples == 0 ? 0 : totals.minimum,
                   seen.samples == 0 ? 0 : seen.minimum);
        break;
    case MEAN:
        print_milli(call, "Avg Latencies", histogram_mean_milli(totals.samples, totals.sum),
                    histogram_mean_milli(seen.samples, seen.sum));
        break;
    case MAXIMUM:
        print_pair(call, "Max Latencies", totals.maximum, seen.maximum);
        break;
    case OVERFLOWS:
        print_pair(call, "Histogram Overflows", totals.overflow, seen.overflow);
        break;
    case DEVIATION:
        print_milli(call, "Std Deviations",
                    histogram_deviation_milli(totals.samples, totals.sum, totals.squares),
                    histogram_deviation_milli(seen.samples, seen.sum, seen.squares));
        break;
    case MISSED:
        command_print(call, "# Missed: %lu, saturated: %#lx%s\n", (unsigned long)totals.missed,
                      (unsigned long)totals.saturated, seen.saturated ? ", software" : "");
        break;
    default:
        if (seen.samples != 0) {
            command_print(call, "# Software - hardware: %ld to %ld\n",
                          (long)latency.least_difference, (long)latency.most_difference);
        }
        break;
    }
}

/* The form of cyclictest's histogram, hardware's column first; cycles for its microseconds. */
static bool show(command_call_t *call)
{
    if (call->step == 0) {
        command_print(call, "# Histogram, cycles of %lu Hz: hardware, software\n",
                      (unsigned long)CONFIG_CLOCK_FREQUENCY);
    } else if (call->state < ECHO_BINS) {
        print_next_bin(call);
    } else {
        print_total(call, call->state++ - ECHO_BINS);
    }
    return call->state != ECHO_BINS + LINES;
}

static bool start(command_call_t *call)
{
    latency_settings_t settings = latency_usual;

    if (latency_read_request(call, 2, &settings)) {
        /* The words' limits are those of the instrument. */
        (void)latency_prepare(&settings);
        latency_start();
    }
    return false;
}

static bool run_latency(command_call_t *call)
{
    const char *what = call->count > 1 ? call->words[1] : "show";

    if (strcmp(what, "show") == 0) {
        return command_ends(call, 2) && show(call);
    }
    if (strcmp(what, "start") == 0) {
        return start(call);
    }
    if (strcmp(what, "stop") == 0) {
        if (command_ends(call, 2)) {
            latency_stop();
        }
        return false;
    }
    return command_error(call, "latency: start, stop or show, not '%s'", what);
}

#define ARGUMENTS "start [" LATENCY_START_WORDS "]|stop|show"
#define HELP "the echo instrument"
_Static_assert(sizeof("latency " ARGUMENTS ": " HELP "\n") <= COMMAND_LINE_BYTES, "help is one line");

static const command_t commands[] = {{"latency", ARGUMENTS, COMMAND_WORDS, HELP, run_latency}};

static command_table_t table = {commands, sizeof(commands) / sizeof(commands[0]), NULL};

void latency_add_command(void)
{
    command_add(&table);
}

#endif
