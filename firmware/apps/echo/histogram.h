/* A histogram of latencies, and their sums; no device is used here. */
#ifndef TIERV_APPS_ECHO_HISTOGRAM_H
#define TIERV_APPS_ECHO_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint32_t *bins; /* counts of latencies from index << bin_log2 on */
    uint32_t bin_count;
    uint32_t bin_log2;
    uint32_t samples;
    bool saturated;    /* there were more samples, which were not added any more */
    uint32_t overflow; /* latencies beyond the last bin */
    uint32_t minimum;  /* UINT32_MAX without samples */
    uint32_t maximum;
    uint64_t sum;
    uint64_t squares;
} histogram_t;

/* Makes it empty, with bins of the caller's. */
void histogram_init(histogram_t *histogram, uint32_t *bins, uint32_t bin_count, uint32_t bin_log2);

/* False if the histogram is full: nothing but `saturated` changes. */
static inline bool histogram_add(histogram_t *histogram, uint32_t cycles)
{
    uint32_t bin = cycles >> histogram->bin_log2;
    uint32_t samples = histogram->samples + 1;

    if (samples == 0) {
        histogram->saturated = true;
        return false;
    }
    histogram->samples = samples;
    if (bin < histogram->bin_count) {
        histogram->bins[bin]++;
    } else {
        histogram->overflow++;
    }
    histogram->minimum = cycles < histogram->minimum ? cycles : histogram->minimum;
    histogram->maximum = cycles > histogram->maximum ? cycles : histogram->maximum;
    histogram->sum += cycles;
    histogram->squares += (uint64_t)cycles * cycles;
    return true;
}

/* A copy of one to which a handler may be adding: what is in it belongs together, unless a sample comes each time that
 * it is tried. The bins are not copied. */
void histogram_copy(histogram_t *copy, const histogram_t *histogram);

/* Mean and standard deviation of `samples` values in thousandths, from their sums, rounded to the nearest;
 * 0 without samples, and without a deviation that such sums can have. */
uint64_t histogram_mean_milli(uint32_t samples, uint64_t sum);
uint64_t histogram_deviation_milli(uint32_t samples, uint64_t sum, uint64_t squares);

#endif
