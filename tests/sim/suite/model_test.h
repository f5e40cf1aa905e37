// The target that the sources of riscv-arch-test include: how a test begins and ends, and where its
// signature is.
#pragma once

#include "env.h"

// The sources put their entry behind this.
.section .text.init, "ax"
.globl _start
_start:
    j       rvtest_entry_point

#define RVMODEL_BOOT

#define RVMODEL_HALT                        \
    li      x1, 1;                          \
    la      x5, tohost;                     \
1:  sw      x1, 0(x5);                      \
    sw      x0, 4(x5);                      \
    j       1b;

#define RVMODEL_DATA_BEGIN                  \
    HOST_DATA;                              \
    SIGNATURE_BEGIN
#define RVMODEL_DATA_END SIGNATURE_END

// Checks of a simulator, and its console.
#define RVMODEL_IO_INIT
#define RVMODEL_IO_WRITE_STR(register, text)
#define RVMODEL_IO_ASSERT_GPR_EQ(scratch, register, value)
