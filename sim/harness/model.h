// The Verilated SoC: its pins, its clocks and its memories.
//
// A cycle is one call of rise(), after which outputs are valid and inputs may be set, and one of
// fall(). Inputs take effect at the next rising edge.
//
// The design has no logic that a falling edge triggers, and no clocks of its own. So with
// HARNESS_FAST_EVAL fall() does nothing and the clock pins stay high: what Verilator remembers as
// their previous level is lowered instead, logic behind the other inputs is evaluated only after
// one has changed, and the loops of Vsim::eval() until nothing changes any more are left out.
// Builds that write waveforms do all that.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "Vsim.h"
#include "generated.h"
#if HARNESS_FAST_EVAL
#include "Vsim___024root.h"
// The steps of Vsim::eval(): what depends on inputs, which clocks rise, what they trigger.
bool Vsim___024root___eval_phase__ico(Vsim___024root* root);
bool Vsim___024root___eval_phase__act(Vsim___024root* root);
bool Vsim___024root___eval_phase__nba(Vsim___024root* root);
#endif

class Waveform;

// Bytes of the address space that the back door reaches: arrays of words that take turns.
struct BackDoorMemory {
    std::string name;
    uint32_t origin, bytes;
    uint32_t word_bytes;
    std::vector<std::span<uint8_t>> columns;

    uint8_t& at(uint32_t offset) {
        const uint32_t word = offset / word_bytes;
        const auto column = columns[word % columns.size()];
        return column[word / columns.size() * word_bytes + offset % word_bytes];
    }
};

class Model {
  public:
    Model();
    ~Model();

    // Writes the cycles from the first, 0 or later, to before the last to a waveform file.
    void trace(const std::string& path, int64_t first_cycle, int64_t last_cycle);
    // Throws unless all of the waveform has been written, if there is one.
    void close_trace();

    // Finds the memories. Throws if the model has no array by a name in the table.
    std::vector<BackDoorMemory> memories();

    // To be read only; inputs are set by the functions below.
    const Vsim& pins() const { return *top_; }

    void set_reset(bool active) { set(top_->sys_rst, active); }
    void set_lines(uint32_t levels) { set(top_->lines, levels); }
    void set_uarts_rx(uint32_t levels) { set(top_->uarts_rx, levels); }
#if HARNESS_ETHERNET
    void set_mii_rx(bool valid, uint32_t data, bool error) {
        set(top_->eth_rx_dv, valid);
        set(top_->eth_rx_data, data);
        set(top_->eth_rx_er, error);
    }
#endif

#if HARNESS_DEBUG
    void set_jtag(bool tck, bool tms, bool tdi) {
        set(top_->jtag_tck, tck);
        set(top_->jtag_tms, tms);
        set(top_->jtag_tdi, tdi);
    }
#endif

    // Rising edge of the system clock, and of the MII clocks with it.
    void rise(int64_t cycle, bool mii);
    // Another rising edge of the MII clocks in the same cycle.
    void rise_mii();
    // The middle of the cycle; `mii_low` lowers the MII clocks.
    void fall(bool mii_low);

  private:
    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<Vsim> top_;
    std::unique_ptr<Waveform> waveform_;
    int64_t first_traced_ = 0, last_traced_ = 0;
    int64_t cycle_ = 0;
    bool inputs_changed_ = false;

    template <typename Pin> void set(Pin& pin, uint32_t value) {
        pin = static_cast<Pin>(value);
        inputs_changed_ = true;
    }
    void evaluate();
    void dump(bool low_half);
    VerilatedVar& find_array(const std::string& module, const std::string& array);
};

#if HARNESS_FAST_EVAL

inline void Model::evaluate() {
    Vsim___024root* root = top_->rootp;
    if (inputs_changed_) {
        inputs_changed_ = false;
        root->__VicoFirstIteration = 1;
        Vsim___024root___eval_phase__ico(root);
        root->__VicoFirstIteration = 0;
    }
    Vsim___024root___eval_phase__act(root);
    Vsim___024root___eval_phase__nba(root);
}

inline void Model::rise(int64_t, bool mii) {
    top_->rootp->__Vtrigprevexpr___TOP__sys_clk__0 = 0;
    if (mii) {
        rise_mii();
    } else {
        evaluate();
    }
}

inline void Model::rise_mii() {
#if HARNESS_ETHERNET
    top_->rootp->__Vtrigprevexpr___TOP__eth_clocks_rx__0 = 0;
    top_->rootp->__Vtrigprevexpr___TOP__eth_clocks_tx__0 = 0;
#endif
    evaluate();
}

inline void Model::fall(bool) {}

#endif
