/* What the self-test tells: JSON on the console, an object a line (sim/selftest.py reads them). */
#ifndef TIERV_APPS_SELFTEST_RECORD_H
#define TIERV_APPS_SELFTEST_RECORD_H

#include <stdbool.h>
#include <stdint.h>

/* Makes the console ready. */
void record_init(void);

/* A line: {"<kind>": "<name>", then what is added, then }. Names have nothing in them that JSON would want
 * to be escaped. */
void record_begin(const char *kind, const char *name);
void record_number(const char *key, uint32_t value);
void record_truth(const char *key, bool value);
void record_end(void);

/* Lines since the last call. */
uint32_t record_count(void);

/* Waits until somebody types something. */
void record_wait_key(void);

#endif
