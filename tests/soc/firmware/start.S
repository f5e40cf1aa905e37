/* Start-up of the test programs, for one tier of any CPU: main() runs on a stack at the end of
 * main_ram, and what it returns ends the simulation. A trap ends it with TRAP_EXIT + mcause. */
#include <generated/mem.h>
#include <generated/soc.h>
#include "exit_codes.h"

    .section .text.start, "ax"
    .globl _start
    .type _start, @function
_start:
    la      t0, trap
    csrw    mtvec, t0
    la      sp, stack_top
    la      t0, bss_start
    la      t1, bss_end
.L_clear:
    bgeu    t0, t1, .L_cleared
    sw      zero, 0(t0)
    addi    t0, t0, 4
    j       .L_clear
.L_cleared:
    call    main
.L_exit:
    li      t0, MAILBOX_EXIT_ADDR
    sw      a0, 0(t0)
    j       .L_exit
    .size _start, . - _start

    .balign 4
    .type trap, @function
trap:
    csrr    a0, mcause
    li      t0, TRAP_EXIT
    or      a0, a0, t0
    j       .L_exit
    .size trap, . - trap
