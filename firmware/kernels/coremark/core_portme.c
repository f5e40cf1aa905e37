/* CoreMark on the cores of the bench: time is the bench's, text goes to it, and the bench finds the
 * timed part between two marks. */
#include "coremark.h"

#include "bench.h"

#ifndef ITERATIONS
#error "ITERATIONS must be defined"
#endif

/* Of the performance run. CoreMark reads them where the compiler can't know them. */
volatile ee_s32 seed1_volatile = 0;
volatile ee_s32 seed2_volatile = 0;
volatile ee_s32 seed3_volatile = 0x66;
volatile ee_s32 seed4_volatile = ITERATIONS;
volatile ee_s32 seed5_volatile = 0;

ee_u32 default_num_contexts = 1;

static CORE_TICKS started, stopped;

static int put(char character, FILE *stream)
{
    (void)stream;
    bench_write(DEVICE_PUTC, (uint8_t)character);
    return (uint8_t)character;
}

static FILE console = FDEV_SETUP_STREAM(put, NULL, NULL, _FDEV_SETUP_WRITE);
FILE *const stdout = &console;

void start_time(void)
{
    started = bench_read(DEVICE_MARK);
    bench_mark(0);
}

void stop_time(void)
{
    bench_mark(0);
    stopped = bench_read(DEVICE_MARK);
}

CORE_TICKS get_time(void)
{
    return stopped - started;
}

/* At a megahertz, so that the number of iterations a second is the one for each megahertz. */
secs_ret time_in_secs(CORE_TICKS ticks)
{
    return ticks / 1000000u;
}

void portable_init(core_portable *port, int *argc, char *argv[])
{
    (void)argc;
    (void)argv;
    port->portable_id = 1;
}

void portable_fini(core_portable *port)
{
    port->portable_id = 0;
    bench_exit(0);
}
