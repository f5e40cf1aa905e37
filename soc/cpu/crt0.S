# Start-up of LiteX's software in tier 0: the trap handler, then data, bss and main.

.section .text, "ax", @progbits
.global _start
.global trap_entry
.type _start, @function
_start:
    j       .L_initialise

# Saves what a C function may change, and calls LiteX's isr(). 16 registers, 64 bytes of stack. A load or store that
# ends in a bus error is passed over, as where a bus tells no errors; any other exception is the end.
.balign 4
.type trap_entry, @function
trap_entry:
    addi    sp, sp, -64
    sw      t0, 4(sp)
    sw      t1, 8(sp)
    csrr    t0, mcause
    bgez    t0, .L_exception
    sw      ra, 0(sp)
    sw      t2, 12(sp)
    sw      a0, 16(sp)
    sw      a1, 20(sp)
    sw      a2, 24(sp)
    sw      a3, 28(sp)
    sw      a4, 32(sp)
    sw      a5, 36(sp)
    sw      a6, 40(sp)
    sw      a7, 44(sp)
    sw      t3, 48(sp)
    sw      t4, 52(sp)
    sw      t5, 56(sp)
    sw      t6, 60(sp)
    call    isr
    lw      ra, 0(sp)
    lw      t0, 4(sp)
    lw      t1, 8(sp)
    lw      t2, 12(sp)
    lw      a0, 16(sp)
    lw      a1, 20(sp)
    lw      a2, 24(sp)
    lw      a3, 28(sp)
    lw      a4, 32(sp)
    lw      a5, 36(sp)
    lw      a6, 40(sp)
    lw      a7, 44(sp)
    lw      t3, 48(sp)
    lw      t4, 52(sp)
    lw      t5, 56(sp)
    lw      t6, 60(sp)
    addi    sp, sp, 64
    mret

.L_exception:
    # 5 is a load's access fault, 7 a store's.
    andi    t0, t0, ~2
    li      t1, 5
1:  bne     t0, t1, 1b
    csrr    t0, mepc
    addi    t0, t0, 4
    csrw    mepc, t0
    lw      t0, 4(sp)
    lw      t1, 8(sp)
    addi    sp, sp, 64
    mret
.size trap_entry, . - trap_entry

.L_initialise:
    la      sp, _fstack
    la      t0, trap_entry
    csrw    mtvec, t0

    la      t0, _fdata
    la      t1, _edata
    la      t2, _fdata_rom
    j       2f
1:  lw      a0, 0(t2)
    sw      a0, 0(t0)
    addi    t0, t0, 4
    addi    t2, t2, 4
2:  bltu    t0, t1, 1b

    la      t0, _fbss
    la      t1, _ebss
    j       4f
3:  sw      zero, 0(t0)
    addi    t0, t0, 4
4:  bltu    t0, t1, 3b

    # Lines may interrupt as soon as the software sets mstatus.MIE.
    li      t0, 0x800
    csrw    mie, t0
    call    main
5:  wfi
    j       5b
.size _start, . - _start
