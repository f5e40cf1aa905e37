// The Verilated core and everything around it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Vcluster.h"
#include "core_config.h"
#include "files.h"
#include "host.h"
#include "memory.h"
#include "pulses.h"
#include "waveform.h"

class Bench {
   public:
    // A line rises for one cycle; the tier waits for it.
    struct Raise {
        uint64_t cycle;
        unsigned line, tier;
    };

    struct Options {
        uint64_t cycles = 10'000'000;
        // Bases and sizes in bytes, multiples of 4 that are at most 2**32 together.
        std::vector<std::pair<uint32_t, uint32_t>> memories;
        uint32_t console = 0xf0000000;
        bool has_tohost = false;
        uint32_t tohost = 0;
        std::string signature, trace, events, wave, result, coverage;
        unsigned wait_states = 0;
        unsigned line_period = 0, timer_period = 0;
        uint64_t line_calm = UINT64_MAX;
        unsigned pulse = 0;
        std::vector<Raise> raises;
        uint64_t seed = 1;
        // Of a model that has planted faults, the one that is active; 0: none.
        unsigned mutation = 0;
    };

    // How a run ended, and with what: the word written to the exit register, or tohost >> 1.
    enum class End { kLimit, kExit, kToHost };
    static constexpr int kLimitStatus = 124;

    explicit Bench(const Options& options);
    // Loads and runs the program; returns the exit status.
    int run(const Program& program);

    // Of the run.
    End end() const { return end_; }
    uint32_t code() const { return code_; }
    const Memory& memory() const { return memory_; }
    // (cycle, word) of each mark of the console.
    const std::vector<std::pair<uint64_t, uint32_t>>& marks() const { return marks_; }
    // For each of `raises`, cycles until an instruction of its tier issued; -1 if none did.
    const std::vector<int64_t>& latencies() const { return latencies_; }
    // The same until the first instruction of its tier's trap handler for a line retired.
    const std::vector<int64_t>& trap_latencies() const { return trap_latencies_; }

   private:
    void clock();
    void load(const Program& program);
    // Writes bytes of a local memory's word through its bus port; false if it is none. In reset.
    bool load_local(uint32_t address, uint32_t word, unsigned mask);
    void serve_bus();
    int draw_wait_states();
    void serve_console(uint32_t offset);
    void drive_inputs();
    // From the cycle on, until it falls by itself, if pulses do.
    void rise(Pulses& inputs, unsigned input, uint64_t cycle);
    // Those in the word, of so many, from the next cycle on.
    void rise_all(Pulses& inputs, uint32_t word, unsigned count);
    // At random, once in a period of cycles, one of the inputs rises.
    void draw_rise(Pulses& inputs, unsigned period, unsigned count);
    void record();
    // What retires, and what issues.
    void observe();
    // The first instruction of a handler for a line retires.
    void note_trap(uint32_t tier);
    void write_signature(const Program& program);
    void write_result() const;
    void write_coverage();
    // A word of any memory, after the run.
    uint32_t peek(uint32_t address);
    uint32_t random();

    Options options_;
    Vcluster core_;
    Memory memory_;
    uint64_t random_state_;
    uint64_t cycle_ = 0;
    Pulses lines_, timer_;
    int wait_ = -1, memory_wait_ = -1;
    End end_ = End::kLimit;
    uint32_t code_ = 0;
    uint64_t instructions_ = 0;
    std::unique_ptr<HostInterface> host_;
    std::vector<std::pair<uint64_t, uint32_t>> marks_;
    std::vector<int64_t> latencies_, trap_latencies_;
    RecordWriter trace_;
    std::optional<TextFile> events_;
    std::unique_ptr<Waveform> wave_;
    uint64_t wave_time_ = 0;
};
