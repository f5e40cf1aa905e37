/* A run of the latency instrument that is asked for before the program runs and that ends it: for
 * experiments. The SET_BEFORE_RUN variables in trial.c say what it shall be. */
#ifndef TIERV_APPS_ECHO_TRIAL_H
#define TIERV_APPS_ECHO_TRIAL_H

#include <generated/soc.h>

#ifdef ECHO_INTERRUPT

/* Application: begins the run, if one is asked for. After irq_start(). */
void latency_trial_init(void);

/* Application: ends the program when the run has as many samples as were asked for. Exit code 0; another one
 * says that what was asked for is impossible. */
void latency_trial_service(void);

#endif

#endif
