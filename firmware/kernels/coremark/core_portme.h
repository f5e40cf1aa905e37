/* CoreMark's port to the cores of the bench: what its sources want to know of the platform. They
 * themselves come from the Python package of Ibex's sources, or from a checkout of CoreMark. */
#ifndef CORE_PORTME_H
#define CORE_PORTME_H

#include <stddef.h>
#include <stdint.h>

#define HAS_FLOAT 0
#define HAS_TIME_H 0
#define USE_CLOCK 0
#define HAS_STDIO 1
#define HAS_PRINTF 1

typedef int16_t ee_s16;
typedef uint16_t ee_u16;
typedef int32_t ee_s32;
typedef uint32_t ee_u32;
typedef uint8_t ee_u8;
typedef float ee_f32;
typedef uintptr_t ee_ptr_int;
typedef size_t ee_size_t;

/* The next multiple of four. */
#define align_mem(address) ((void *)(((ee_ptr_int)(address) + 3) & ~(ee_ptr_int)3))

/* Clock cycles. */
#define CORETIMETYPE ee_u32
typedef ee_u32 CORE_TICKS;

#define SEED_METHOD SEED_VOLATILE
#define MEM_METHOD MEM_STATIC
#define MEM_LOCATION "STATIC"
#define MULTITHREAD 1
#define MAIN_HAS_NOARGC 1
#define MAIN_HAS_NORETURN 0

#define COMPILER_VERSION "GCC " __VERSION__
#ifndef COMPILER_FLAGS
#error "COMPILER_FLAGS must be a string"
#endif

typedef struct {
    ee_u8 portable_id;
} core_portable;

extern ee_u32 default_num_contexts;

void portable_init(core_portable *port, int *argc, char *argv[]);
void portable_fini(core_portable *port);

#endif
