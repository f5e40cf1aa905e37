/* The timer's driver, driven by text.
 *
 *   start CYCLES
 *   once CYCLES
 *   acknowledge
 *
 * What it writes is printed: the register's address and the value.
 */
#include <stdio.h>
#include <string.h>

#include "drivers/timer.h"
#include "mmio.h"
#include "text.h"

uint32_t mmio_read(uintptr_t address)
{
    (void)address;
    return 0;
}

void mmio_write(uintptr_t address, uint32_t value)
{
    printf("%u %u\n", (uint32_t)address, value);
}

static void run(const char *command)
{
    if (strcmp(command, "start") == 0) {
        timer_start(text_number(1));
    } else if (strcmp(command, "once") == 0) {
        timer_start_once(text_number(1));
    } else if (strcmp(command, "acknowledge") == 0) {
        timer_acknowledge();
    } else {
        text_fail("no such command");
    }
}

int main(void)
{
    text_serve(run);
    return 0;
}
