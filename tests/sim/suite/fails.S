// Fails at test 5.
#include "env.h"

    CODE_BEGIN
    TEST(4, a0, 4, li a0, 4)
    TEST(5, a0, 5, li a0, 4)
    CODE_END
    HOST_DATA
