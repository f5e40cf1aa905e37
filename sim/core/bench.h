// The Verilated core and everything around it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "Vcluster.h"
#include "core_config.h"
#include "memory.h"
#if VM_TRACE
#include "verilated_vcd_c.h"
#endif

class Bench {
   public:
    struct Options {
        uint64_t cycles = 10'000'000;
        std::vector<std::pair<uint64_t, uint64_t>> memories;
        uint32_t console = 0xf0000000;
        bool has_tohost = false;
        uint32_t tohost = 0;
        std::string signature, trace, events, wave;
        unsigned wait_states = 0;
        unsigned line_period = 0;
        unsigned pulse = 0;
        uint64_t seed = 1;
    };

    explicit Bench(const Options& options);
    ~Bench();
    // Loads and runs the program; returns the exit status.
    int run(const Program& program);

   private:
    void clock();
    void load(const Program& program);
    // Writes a word of a local memory through its bus port; false if it is none.
    bool load_local(uint32_t address, uint32_t word);
    void serve_bus();
    void serve_console(uint32_t offset);
    void drive_lines();
    void record();
    void write_signature(const Program& program);
    uint32_t random();

    Options options_;
    Vcluster core_;
    Memory memory_;
    uint64_t random_state_;
    uint64_t cycle_ = 0;
    uint32_t lines_ = 0;
    // Cycle at which each line falls again; 0: not by itself.
    uint64_t falls_[32] = {};
    int wait_ = -1;
    bool ended_ = false;
    int status_ = 124;
    FILE* trace_ = nullptr;
    std::ofstream events_;
#if VM_TRACE
    std::unique_ptr<VerilatedVcdC> wave_;
    uint64_t wave_time_ = 0;
#endif
};
