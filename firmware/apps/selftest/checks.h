/* Does the board's hardware do what it should? */
#ifndef TIERV_APPS_SELFTEST_CHECKS_H
#define TIERV_APPS_SELFTEST_CHECKS_H

#include <stdint.h>

/* Runs all checks and tells their results; returns how many have failed. After services_start(). */
uint32_t run_checks(void);

#endif
