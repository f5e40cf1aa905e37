#include "apps/echo/command.h"

#include <string.h>

#include <generated/soc.h>

#include "apps/command.h"
#include "apps/echo/latency.h"
#include "apps/echo/request.h"

#ifdef ECHO_INTERRUPT

/* Steps of `show`: a header, a step for each bin, and these. */
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

/* Bins that nobody is in are left out. */
static void print_bin(command_call_t *call, uint32_t bin)
{
    uint32_t hardware = echo_read_bin(&latency.device, bin);
    uint32_t software = latency.seen.bins[bin];

    if (hardware != 0 || software != 0) {
        command_print(call, "%06lu %06lu %06lu\n", (unsigned long)bin << latency.seen.bin_log2,
                      (unsigned long)hardware, (unsigned long)software);
    }
}

static void print_total(command_call_t *call, uint32_t line)
{
    const histogram_t *seen = &latency.seen;
    echo_totals_t totals;

    echo_read_totals(&latency.device, &totals);
    switch (line) {
    case TOTAL:
        command_print(call, "# Total: %09lu %09lu\n", (unsigned long)totals.samples,
                      (unsigned long)seen->samples);
        break;
    case MINIMUM:
        print_pair(call, "Min Latencies", totals.samples == 0 ? 0 : totals.minimum,
                   seen->samples == 0 ? 0 : seen->minimum);
        break;
    case MEAN:
        print_milli(call, "Avg Latencies", histogram_mean_milli(totals.samples, totals.sum),
                    histogram_mean_milli(seen->samples, seen->sum));
        break;
    case MAXIMUM:
        print_pair(call, "Max Latencies", totals.maximum, seen->maximum);
        break;
    case OVERFLOWS:
        print_pair(call, "Histogram Overflows", totals.overflow, seen->overflow);
        break;
    case DEVIATION:
        print_milli(call, "Std Deviations",
                    histogram_deviation_milli(totals.samples, totals.sum, totals.squares),
                    histogram_deviation_milli(seen->samples, seen->sum, seen->squares));
        break;
    case MISSED:
        command_print(call, "# Missed: %lu, saturated: %#lx\n", (unsigned long)totals.missed,
                      (unsigned long)totals.saturated);
        break;
    default:
        if (seen->samples != 0) {
            command_print(call, "# Software - hardware: %ld to %ld\n",
                          (long)latency.least_difference, (long)latency.most_difference);
        }
        break;
    }
}

/* The form of cyclictest's histogram, hardware's column first; cycles for its microseconds. */
static bool show(command_call_t *call)
{
    uint32_t step = call->step;

    if (step == 0) {
        command_print(call, "# Histogram, cycles of %lu Hz: hardware, software\n",
                      (unsigned long)CONFIG_CLOCK_FREQUENCY);
    } else if (step <= ECHO_BINS) {
        print_bin(call, step - 1);
    } else {
        print_total(call, step - 1 - ECHO_BINS);
    }
    return step != ECHO_BINS + LINES;
}

static bool start(command_call_t *call)
{
    latency_settings_t settings = latency_usual;

    if (latency_read_request(call, 2, &settings)) {
        /* The words' limits are those of the instrument. */
        (void)latency_start(&settings);
    }
    return false;
}

static bool run_latency(command_call_t *call)
{
    const char *what = call->count > 1 ? call->words[1] : "show";

    if (strcmp(what, "show") == 0) {
        return show(call);
    }
    if (strcmp(what, "start") == 0) {
        return start(call);
    }
    if (strcmp(what, "stop") == 0) {
        latency_stop();
        return false;
    }
    return command_error(call, "latency: start, stop or show, not '%s'", what);
}

static const command_t commands[] = {
    {"latency", "start [" LATENCY_START_WORDS "]|stop|show", "the echo instrument", run_latency},
};

static command_table_t table = {commands, sizeof(commands) / sizeof(commands[0]), NULL};

void latency_add_command(void)
{
    command_add(&table);
}

#endif
