// The environment that the sources of riscv-tests include: its names for what env.h has.
#pragma once

#include "encoding.h"
#include "env.h"

#define TESTNUM gp
// Each says which instructions and privilege a test wants; all run in machine mode.
#define RVTEST_RV32U
#define RVTEST_RV64U
#define RVTEST_RV32M
#define RVTEST_RV64M
#define RVTEST_RV64S

#define RVTEST_CODE_BEGIN CODE_BEGIN
#define RVTEST_CODE_END unimp
#define RVTEST_PASS PASS
#define RVTEST_FAIL FAIL

#define RVTEST_DATA_BEGIN       \
    HOST_DATA;                  \
    SIGNATURE_BEGIN
#define RVTEST_DATA_END SIGNATURE_END
