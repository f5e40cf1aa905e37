#include "report.h"

enum { EXIT_TRAP = 64, RESULT_TRAP_PC = 63 };

void exit_run(uint32_t code)
{
#ifdef MAILBOX_EXIT_ADDR
    mmio_write(MAILBOX_EXIT_ADDR, code);
#else
    (void)code;
#endif
    for (;;) {
    }
}

void unexpected_trap(uint32_t cause, uint32_t pc)
{
    report_result(RESULT_TRAP_PC, pc);
    exit_run(EXIT_TRAP + (cause & 31));
}
