// An exception that nobody expects, in test 6.
#include "env.h"

    CODE_BEGIN
    TEST(6, a0, 0, .word 0xffffffff)
    CODE_END
    HOST_DATA
