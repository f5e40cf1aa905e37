// What the bench wants of a core; core_tierv.cpp and its like have one each.
#pragma once

#include <cstdint>
#include <memory>

#include "device.h"
#include "memory.h"

// An instruction that retires.
struct Retired {
    uint32_t pc = 0;
    uint32_t tier = 0;
    // Cycles since its first one in the execute stage.
    uint32_t age = 0;
};

struct BusCycles {
    unsigned ram = 1, device = 1;
    // Instruction and data bus share one port.
    bool shared = false;
};

class Core {
   public:
    virtual ~Core() = default;
    // Loads what the core keeps in memories of its own, and leaves reset.
    virtual void start(const Program& program) = 0;
    // Everything that happens in one cycle before its edge; true if an instruction retires.
    virtual bool settle(uint32_t lines, Retired& retired) = 0;
    virtual void clock() = 0;
    // A word of data when the run is over; of `memory`, but for a core that has memories of its own.
    virtual uint32_t peek(Memory& memory, uint32_t address) {
        return memory.read(*memory.find(address), address);
    }
};

// The memory holds the program already.
std::unique_ptr<Core> make_core(Memory& memory, Device& device, const BusCycles& cycles);
