// The host's side of tohost and fromhost, as riscv-tests and their relatives use them.
#pragma once

#include <cstdint>

#include "memory.h"

// Commands that a program gives by writing the doubleword tohost: bits 63:56 are the device, 55:48
// the command. Device 0, command 0: an odd payload ends the program with payload >> 1, 0 for
// success; an even one is the address of a system call, of which write and exit are served. Device
// 1, command 1: print a character.
//
// The core writes a doubleword in two halves, in either order; a command is carried out
// `settle_cycles` after the first.
class HostInterface {
   public:
    // `fromhost` 0: the program has none. System calls reach memory on the bus only.
    HostInterface(Memory& memory, uint32_t tohost, uint32_t fromhost, unsigned settle_cycles)
        : memory_(memory), tohost_(tohost), fromhost_(fromhost), settle_cycles_(settle_cycles) {}

    // A store of the program: bytes of the aligned word at `address`.
    void stored(uint64_t cycle, uint32_t address, uint32_t word, unsigned mask);
    // Carries out what is due; true once the program has ended.
    // Throws std::runtime_error for a command that there is not.
    bool serve(uint64_t cycle);
    // What the program ended with.
    uint32_t code() const { return code_; }

   private:
    bool carry_out(uint64_t command);
    bool call_system(uint32_t block);
    Region& region(uint32_t address) const;

    Memory& memory_;
    uint32_t tohost_, fromhost_;
    unsigned settle_cycles_;
    uint32_t halves_[2] = {};
    uint64_t due_ = 0;
    uint32_t code_ = 0;
};
