/* A driver that copies WORDS words from a device on the bus to local memory whenever its line rises,
 * while the application computes. */
#include "bench.h"

void background(uint32_t *memory) __attribute__((noreturn));

static uint32_t memory[16];
/* The bench looks what is in here at the end. */
uint32_t copied[WORDS];

/* A word is stored when the next one has been asked for. */
static inline void copy(void)
{
    uint32_t last = bench_read(DEVICE_DATA);

    for (uint32_t word = 1; word < WORDS; word++) {
        uint32_t next = bench_read(DEVICE_DATA + 4 * word);
        copied[word - 1] = last;
        last = next;
    }
    copied[WORDS - 1] = last;
}

static inline void service(void)
{
    bench_write(ANSWER, 1u << LINE);
    copy();
}

#include "serve.h"

int main(void)
{
    start();
    background(memory);
}
