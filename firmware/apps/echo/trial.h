/* A run of the latency instrument that is asked for before the program runs and that ends it: for
 * experiments. The SET_BEFORE_RUN variables in trial.c say what it shall be. */
#ifndef TIERV_APPS_ECHO_TRIAL_H
#define TIERV_APPS_ECHO_TRIAL_H

#include <generated/soc.h>

#ifdef ECHO_INTERRUPT

/* Application: waits for the cycle in which the run shall begin, if one is asked for, and begins it. After
 * irq_start(). When there are as many samples as were asked for the program ends with exit code 0, whatever
 * the application does; another one says that what was asked for is impossible. */
void latency_trial(void);

#endif

#endif
