# Reset of tier 0, the entry of the other tiers, and the trap of a tier that expects none.

#include <generated/soc.h>

#include "../tier.h"

.section .start, "ax", @progbits
.global _start
.type _start, @function
_start:
.option push
.option norelax
    la      gp, __global_pointer$
.option pop
    la      sp, _stack_end
#if TIER_HAS_CSRS
    la      t0, .L_trap
    csrw    mtvec, t0
#endif
#ifdef CONFIG_FILLED_MEMORIES
    la      t0, _data_load
    la      t1, _data_start
    la      t2, _data_end
    j       4f
3:  lw      t3, 0(t0)
    sw      t3, 0(t1)
    addi    t0, t0, 4
    addi    t1, t1, 4
4:  bltu    t1, t2, 3b
#endif
    # There is always something: at least what a context needs.
    la      t0, _bss_start
    la      t1, _bss_end
1:  sw      zero, 0(t0)
    addi    t0, t0, 4
    bltu    t0, t1, 1b
    # What C calls a thread's own, like errno, all tiers share.
    la      tp, _tls_start
    call    main
    # main() does not return; if it does, that is the exit code.
    call    exit_run
.size _start, . - _start

#if TIER_HAS_CSRS

.section .text, "ax", @progbits

# A tier begins here; mscratch points at {function, argument, -, -} on top of its stack.
.global tier_entry
.type tier_entry, @function
tier_entry:
.option push
.option norelax
    la      gp, __global_pointer$
.option pop
    # To behind the code for traps, with its address.
    jal     t0, 1f

# An exception that nobody expects ends the run.
.L_trap:
    csrr    a0, mcause
    csrr    a1, mepc
    j       unexpected_trap

1:  csrw    mtvec, t0
    la      tp, _tls_start
    csrr    sp, mscratch
    lw      t0, 0(sp)
    lw      a0, 4(sp)
    addi    sp, sp, 16
    li      ra, 0
    jr      t0
.size tier_entry, . - tier_entry

#endif
