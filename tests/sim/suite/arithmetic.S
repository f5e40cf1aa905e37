// Results of RV32IM instructions, as the ISA manual has them.
#include "env.h"

    CODE_BEGIN
    TEST(2, a0, 0x00000001, li a1, 0x7fffffff; li a2, -0x7ffffffe; add a0, a1, a2)
    TEST(3, a0, 0x80000000, li a1, 0x7fffffff; addi a0, a1, 1)
    TEST(4, a0, 0xffffffff, li a1, 0x80000000; srai a0, a1, 31)
    TEST(5, a0, 1, li a1, -1; sltu a0, zero, a1)
    TEST(6, a0, 0xffffffff, li a1, -1; li a2, 1; mulh a0, a1, a2)
    TEST(7, a0, 0xfffffffe, li a1, -1; mulhu a0, a1, a1)
    TEST(8, a0, 0xffffffff, li a1, 7; div a0, a1, zero)
    TEST(9, a0, 0x80000000, li a1, 0x80000000; li a2, -1; div a0, a1, a2)
    TEST(10, a0, 0, li a1, 0x80000000; li a2, -1; rem a0, a1, a2)
    TEST(11, a0, 7, li a1, 7; remu a0, a1, zero)
    TEST(12, a0, 0x12345000, lui a0, 0x12345)
    TEST(13, a0, 4, jal a1, 2f; nop; 2: auipc a2, 0; sub a0, a2, a1)
    CODE_END
    HOST_DATA
