# The entry of a handler's tier, and starting it.

#include <generated/tierv.h>

.equ    STACK_BYTES_LOG2, 9

.section .bss
.balign 16
.L_stacks:
    .space  TIERV_TIERS << STACK_BYTES_LOG2

.section .text, "ax", @progbits
.type .L_entry, @function
# mscratch is the end of the stack.
.L_entry:
.option push
.option norelax
    la      gp, __global_pointer$
.option pop
    csrr    sp, mscratch
    csrr    a0, mhartid
    j       tier_main
.size .L_entry, . - .L_entry

.macro START tier
    csrw    CSR_MTIERPC0 + \tier, t0
    csrw    CSR_MTIERARG0 + \tier, t1
    j       2f
.endm

.global context_start_tier
.type context_start_tier, @function
# a0: a tier from 1 to 7.
context_start_tier:
    la      t0, .L_entry
    la      t1, .L_stacks
    addi    t2, a0, 1
    slli    t2, t2, STACK_BYTES_LOG2
    add     t1, t1, t2
    # CSR numbers are part of the instruction: one of the pieces below, of three instructions each.
    la      t2, 1f
    li      t3, 12
    mul     t3, t3, a0
    add     t2, t2, t3
    jr      t2
.option push
.option norelax
1:
    .set    number, 0
    .rept   TIERV_TIERS
    START   number
    .set    number, number + 1
    .endr
.option pop
2:  li      t2, 1
    sll     t2, t2, a0
    csrs    CSR_MTIERRUN, t2
    ret
.size context_start_tier, . - context_start_tier
