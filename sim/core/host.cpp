#include "host.h"

#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

// Numbers of the system calls, those of Linux.
constexpr uint32_t kWrite = 64, kExit = 93;
constexpr unsigned kPrintDevice = 1, kPrintCommand = 1;

std::string hexadecimal(uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

}  // namespace

void HostInterface::stored(uint64_t cycle, uint32_t address, uint32_t word, unsigned mask) {
    if ((address & ~7u) != (tohost_ & ~7u) || !mask) return;
    uint32_t& half = halves_[address >> 2 & 1];
    for (unsigned lane = 0; lane < 4; lane++)
        if (mask >> lane & 1)
            half = (half & ~(0xffu << (8 * lane))) | (word & 0xffu << (8 * lane));
    if (!due_) due_ = cycle + settle_cycles_;
}

bool HostInterface::serve(uint64_t cycle) {
    if (!due_ || cycle < due_) return false;
    due_ = 0;
    const uint64_t command = halves_[0] | static_cast<uint64_t>(halves_[1]) << 32;
    if (!command) return false;
    halves_[0] = halves_[1] = 0;
    for (uint32_t address = tohost_ & ~7u, end = address + 8; address < end; address += 4)
        if (Region* found = memory_.find(address)) memory_.write(*found, address, 0, 15);
    return carry_out(command);
}

bool HostInterface::carry_out(uint64_t command) {
    const unsigned device = command >> 56 & 0xff, code = command >> 48 & 0xff;
    const uint64_t payload = command & 0xffffffffffffull;
    if (device == 0 && code == 0) {
        if (payload & 1) {
            code_ = static_cast<uint32_t>(payload >> 1);
            return true;
        }
        return call_system(static_cast<uint32_t>(payload));
    }
    if (device == kPrintDevice && code == kPrintCommand) {
        std::putchar(static_cast<int>(payload & 0xff));
        return false;
    }
    throw std::runtime_error("the host serves exits, write and exit calls and characters, not the"
                             " tohost command " + hexadecimal(command));
}

// The block has eight doublewords: number, arguments; the result replaces the number.
bool HostInterface::call_system(uint32_t block) {
    const auto word = [&](unsigned index) {
        const uint32_t address = block + 8 * index;
        return memory_.read(region(address), address);
    };
    const uint32_t number = word(0), first = word(1), second = word(2), third = word(3);
    if (number == kExit) {
        code_ = first;
        return true;
    }
    if (number != kWrite)
        throw std::runtime_error("the host serves the calls write and exit, not number " +
                                 std::to_string(number));
    for (uint32_t address = second; address != second + third; address++)
        std::putchar(static_cast<int>(region(address).bytes[address - region(address).base]));
    memory_.write(region(block), block, third, 15);
    memory_.write(region(block + 4), block + 4, 0, 15);
    if (!fromhost_) throw std::runtime_error("a system call needs the symbol fromhost");
    memory_.write(region(fromhost_), fromhost_, 1, 15);
    return false;
}

Region& HostInterface::region(uint32_t address) const {
    Region* found = memory_.find(address);
    if (!found)
        throw std::runtime_error("a system call needs memory on the bus at " +
                                 hexadecimal(address));
    return *found;
}
