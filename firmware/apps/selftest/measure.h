/* How fast is it? The figures are the processor's own clock's, and the echo instrument's. */
#ifndef TIERV_APPS_SELFTEST_MEASURE_H
#define TIERV_APPS_SELFTEST_MEASURE_H

/* Measures switches of context and kernels, and tells the results. After services_start(). */
void measure_switches(void);
void measure_kernels(void);

#endif
