// Prints with a system call and with characters, and ends with exit code 0 by a system call.
#include "env.h"

// A command of tohost, its low half first or last, and until it is carried out.
#define COMMAND_LOW_FIRST  sw a0, 0(s0); sw a1, 4(s0)
#define COMMAND_HIGH_FIRST sw a1, 4(s0); sw a0, 0(s0)
#define UNTIL_DONE         1: lw t0, 0(s0); lw t1, 4(s0); or t0, t0, t1; bnez t0, 1b

    CODE_BEGIN
    la      s0, tohost
    la      s1, fromhost
    la      a0, block
    li      a1, 0
    COMMAND_LOW_FIRST
1:  lw      t0, 0(s1)
    beqz    t0, 1b
    sw      zero, 0(s1)
    lw      t0, block
    li      t1, 6
    bne     t0, t1, .
    li      a1, 0x01010000
    li      a0, 'a'
    COMMAND_LOW_FIRST
    UNTIL_DONE
    li      a0, 'b'
    COMMAND_HIGH_FIRST
    UNTIL_DONE
    la      t0, block
    li      t1, 93
    sw      t1, 0(t0)
    sw      zero, 8(t0)
    mv      a0, t0
    li      a1, 0
    COMMAND_HIGH_FIRST
    j       .
    HOST_DATA

    .data
    .balign 64
block:
    .word   64, 0, 1, 0, text, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0
text:
    .ascii  "hello\n"
