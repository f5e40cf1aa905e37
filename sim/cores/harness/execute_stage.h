// When an instruction came to a core's execute stage, to be known when it retires.
#pragma once

#include <array>
#include <cstdint>

class ExecuteStage {
   public:
    // To be called once in each cycle: what is in the stage, and whether it leaves it.
    void observe(uint64_t cycle, bool valid, uint32_t pc, bool leaves) {
        if (valid && (entered_ || pc != pc_)) begun_[slot(pc)] = cycle;
        // The next one, if any, is new in the stage.
        entered_ = !valid || leaves;
        pc_ = pc;
    }

    // Cycles since the instruction at `pc` came.
    uint32_t age(uint64_t cycle, uint32_t pc) const {
        return static_cast<uint32_t>(cycle - begun_[slot(pc)]);
    }

   private:
    static size_t slot(uint32_t pc) { return pc >> 2 & 0xff; }

    uint32_t pc_ = 0;
    bool entered_ = true;
    std::array<uint64_t, 256> begun_{};
};
