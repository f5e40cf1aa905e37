// Inputs of the core that rise one by one, and may fall by themselves.
#pragma once

#include <cstdint>

class Pulses {
   public:
    // Those that are high now.
    uint32_t high = 0;

    // The cycle in which it falls again; 0: not by itself.
    void rise(unsigned input, uint64_t falls) {
        high |= 1u << input;
        falls_[input] = falls;
    }

    void fall(uint64_t cycle) {
        for (unsigned input = 0; input < 32; input++)
            if (falls_[input] == cycle && cycle) high &= ~(1u << input);
    }

   private:
    uint64_t falls_[32] = {};
};
