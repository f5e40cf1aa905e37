// The page of the bench: what a program under test says to it, and the interrupt lines.
#pragma once

#include <cstdint>
#include <ostream>

#include "bench_device.h"

// When one line rises, by itself and again and again.
struct RiseSchedule {
    unsigned line = 0;
    uint64_t first = 0, count = 0;
    // Cycles from one rise to the next: any number from `shortest` to `longest`.
    uint64_t shortest = 1, longest = 1;
    // Cycles after which it falls again; 0: when the program lowers it.
    uint64_t pulse = 0;
    uint64_t seed = 1;
};

// Everything at DEVICE_BASE. Accesses are words.
class Device {
   public:
    // Rises, marks and stores go to `events` as lines of text.
    Device(const RiseSchedule& schedule, std::ostream& events);

    static bool holds(uint32_t address) { return (address & ~0xfffu) == DEVICE_BASE; }
    // A store is on the port for the first time; `cycle` is the current one.
    void offered(uint32_t address, uint32_t data);
    // The access is carried out: this is its last cycle.
    uint32_t read(uint32_t address) const;
    void write(uint32_t address, uint32_t data);

    // Moves to a cycle in which the program has retired so many instructions: lines rise and fall.
    void advance(uint64_t cycle, uint64_t retired);
    uint32_t lines() const { return lines_; }
    bool ended() const { return ended_; }
    int status() const { return status_; }

   private:
    void note(const char* kind, uint32_t first, uint32_t second);
    uint64_t random();

    RiseSchedule schedule_;
    std::ostream& events_;
    uint64_t cycle_ = 0, retired_ = 0;
    uint64_t next_rise_, next_fall_ = 0, random_state_;
    uint32_t lines_ = 0, seen_ = 0;
    bool ended_ = false;
    int status_ = 0;
};
