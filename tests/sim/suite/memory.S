// Loads and stores of every size, and code that the program itself has written.
#include "env.h"

    CODE_BEGIN
    la      s0, bytes
    TEST(2, a0, 0xffffff80, lb a0, 3(s0))
    TEST(3, a0, 0x80, lbu a0, 3(s0))
    TEST(4, a0, 0xffff8070, lh a0, 2(s0))
    TEST(5, a0, 0x8070, lhu a0, 2(s0))
    TEST(6, a0, 0x80706050, lw a0, 0(s0))
    TEST(7, a0, 0x80aa6050, li a1, 0xaa; sb a1, 2(s0); lw a0, 0(s0))
    TEST(8, a0, 0xbeef6050, li a1, 0xdeadbeef; sh a1, 2(s0); lw a0, 0(s0))
    TEST(9, a0, 0, la a1, zeros; lw a0, 0x7fc(a1))
    // addi a0, zero, 42 in the place of addi a0, zero, 1.
    TEST(10, a0, 42, la a1, 2f; li a2, 0x02a00513; sw a2, 0(a1); fence.i; 2: li a0, 1)
    CODE_END
    HOST_DATA

    .data
    .balign 4
bytes:
    .word   0x80706050
    .bss
    .balign 4
zeros:
    .space  0x800
