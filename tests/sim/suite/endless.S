// Never ends.
#include "env.h"

    CODE_BEGIN
    j       .
    HOST_DATA
