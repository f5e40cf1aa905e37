/* Runs every kernel twice, with marks around the second run: then caches and predictors know it. */
#include "bench.h"
#include "kernels.h"

typedef struct {
    uint32_t (*run)(void);
    uint32_t expected;
} kernel_t;

/* In the order of sim/cores/kernels.py. */
static const kernel_t kernels[] = {
    { kernel_list, EXPECTED_LIST },           { kernel_matrix, EXPECTED_MATRIX },
    { kernel_state, EXPECTED_STATE },         { kernel_crc, EXPECTED_CRC },
    { kernel_copy, EXPECTED_COPY },           { kernel_checksum, EXPECTED_CHECKSUM },
    { kernel_dhrystone, EXPECTED_DHRYSTONE },
};

int main(void)
{
    for (uint32_t index = 0; index < sizeof kernels / sizeof kernels[0]; index++) {
        const kernel_t *kernel = &kernels[index];
        uint32_t first = kernel->run();
        bench_mark(index);
        uint32_t second = kernel->run();
        bench_mark(index);
        if (first != kernel->expected || second != kernel->expected) {
            bench_exit(index + 1);
        }
    }
    bench_exit(0);
}
