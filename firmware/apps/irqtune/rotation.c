#include "rotation.h"

bool rotation_priorities(uint32_t master, uint32_t slave, uint8_t priority[ROTATION_IRQS])
{
    uint8_t next = 0;

    if (master > 7 || slave < 8 || slave > 15) {
        return false;
    }
    for (uint32_t place = 0; place < 8; place++) {
        uint32_t irq = (master + place) % 8;
        priority[irq] = next++;
        for (uint32_t behind = 0; irq == ROTATION_CASCADE && behind < 8; behind++) {
            priority[8 + (slave + behind) % 8] = next++;
        }
    }
    return true;
}
