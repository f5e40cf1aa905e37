#include "apps/echo/histogram.h"

#include <string.h>

#include "net/compiler.h"

enum { MILLI = 1000, MICRO = 1000000 };

/* Of histogram_copy(). */
enum { TRIES = 4 };

void histogram_init(histogram_t *histogram, uint32_t *bins, uint32_t bin_count, uint32_t bin_log2)
{
    memset(bins, 0, bin_count * sizeof(*bins));
    *histogram = (histogram_t){
        .bins = bins, .bin_count = bin_count, .bin_log2 = bin_log2, .minimum = UINT32_MAX};
}

void histogram_copy(histogram_t *copy, const histogram_t *histogram)
{
    uint32_t tries = TRIES;

    do {
        COMPILER_BARRIER();
        *copy = *histogram;
        COMPILER_BARRIER();
        /* The first that a sample changes, and the last. */
    } while ((copy->samples != histogram->samples || copy->squares != histogram->squares)
             && --tries != 0);
}

/* Rounded to the nearest. */
static uint64_t square_root(uint64_t value)
{
    uint64_t root = 0;

    for (uint64_t bit = 1ull << 31; bit != 0; bit >>= 1) {
        if ((root + bit) * (root + bit) <= value) {
            root += bit;
        }
    }
    return root + (value - root * root > root ? 1 : 0);
}

uint64_t histogram_mean_milli(uint32_t samples, uint64_t sum)
{
    if (samples == 0) {
        return 0;
    }
    return sum / samples * MILLI + (sum % samples * MILLI + samples / 2) / samples;
}

/* `value` * 10^6 / samples, rounded down, for any value below 2^64 that is no more than 2^44 samples. */
static uint64_t micro_each(uint64_t value, uint32_t samples)
{
    return value / samples * MICRO + value % samples * MICRO / samples;
}

/* With whole + rest / samples as the mean, the sum of squares around `whole` is a small number, so that
 * nothing is lost of a small deviation. */
uint64_t histogram_deviation_milli(uint32_t samples, uint64_t sum, uint64_t squares)
{
    if (samples == 0) {
        return 0;
    }
    uint64_t whole = sum / samples;
    uint64_t rest = sum % samples;
    int64_t around = (int64_t)(squares - 2 * whole * sum + whole * whole * samples);
    uint64_t mean_square = around > 0 ? micro_each((uint64_t)around, samples) : 0;
    uint64_t square_mean = micro_each(rest * rest, samples) / samples;

    return mean_square > square_mean ? square_root(mean_square - square_mean) : 0;
}
