// What stands behind a port of a core: RAM and the bench's page, in so many cycles an access.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "device.h"
#include "memory.h"

// What a master asks for in a cycle. `address` is that of a word.
struct Request {
    bool valid = false, write = false;
    uint32_t address = 0, data = 0;
    unsigned mask = 0;
};

// Serves one request at a time. A request stays until it is acknowledged.
class Port {
   public:
    // An access takes so many cycles; 1: it is acknowledged in the cycle of the request.
    Port(Memory& memory, Device& device, unsigned ram_cycles, unsigned device_cycles)
        : memory_(memory), device_(device), ram_cycles_(ram_cycles), device_cycles_(device_cycles) {}

    // To be called once in each cycle; true if this is the last cycle of the request.
    bool serve(const Request& request, uint32_t& read) {
        if (!request.valid) {
            elapsed_ = 0;
            return false;
        }
        const bool device = Device::holds(request.address);
        if (elapsed_++ == 0 && device && request.write)
            device_.offered(request.address, request.data);
        if (elapsed_ < (device ? device_cycles_ : ram_cycles_)) return false;
        elapsed_ = 0;
        if (device) {
            read = device_.read(request.address);
            if (request.write) device_.write(request.address, request.data);
            return true;
        }
        Region* region = memory_.find(request.address);
        if (!region) {
            // A pipeline may fetch or load beyond the end of what it executes.
            if (!request.write) return read = 0, true;
            throw std::runtime_error("the program writes to " + std::to_string(request.address) +
                                     ", where nothing is");
        }
        read = memory_.read(*region, request.address);
        if (request.write) memory_.write(*region, request.address, request.data, request.mask);
        return true;
    }

   private:
    Memory& memory_;
    Device& device_;
    unsigned ram_cycles_, device_cycles_;
    unsigned elapsed_ = 0;
};

// Two masters on one port, as LiteX's `InterconnectShared` does it: the grant changes, a cycle
// later, when its holder asks for nothing.
class SharedPort {
   public:
    explicit SharedPort(const Port& port) : port_(port) {}

    // Serves the master that has the grant; returns its number if it is acknowledged, else -1.
    int serve(const Request (&masters)[2], uint32_t& read) {
        const bool done = port_.serve(masters[grant_], read);
        const int served = done ? static_cast<int>(grant_) : -1;
        if (!masters[grant_].valid && masters[1 - grant_].valid) grant_ = 1 - grant_;
        return served;
    }

   private:
    Port port_;
    unsigned grant_ = 0;
};
