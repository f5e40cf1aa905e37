// PicoRV32 with its native memory interface, as LiteX connects it to Wishbone.
#include "Vcore.h"
#include "Vcore___024root.h"
#include "core.h"
#include "port.h"

namespace {

constexpr unsigned kFetch = 0x40;  // cpu_state_fetch

class PicoRv32 : public Core {
   public:
    PicoRv32(Memory& memory, Device& device, const BusCycles& cycles)
        : port_(memory, device, cycles.ram, cycles.device) {}

    void start(const Program&) override {
        core_.resetn = 0;
        for (int i = 0; i < 4; i++) {
            core_.clk = 0;
            core_.eval();
            clock();
        }
        core_.resetn = 1;
    }

    bool settle(uint32_t lines, Retired& retired) override {
        core_.clk = 0;
        core_.irq = lines;
        core_.mem_ready = 0;
        core_.eval();
        if (core_.trap) throw std::runtime_error("PicoRV32 has stopped at a trap");
        uint32_t word = 0;
        const Request request{bool(core_.mem_valid), core_.mem_wstrb != 0, core_.mem_addr,
                              core_.mem_wdata, core_.mem_wstrb};
        core_.mem_ready = port_.serve(request, word);
        core_.mem_rdata = word;
        core_.eval();
        const auto& inside = *core_.rootp;
        // An instruction is done in the first cycle in which the next one could begin: there its
        // result is written.
        const bool done = open_ && inside.picorv32__DOT__cpu_state == kFetch;
        if (done) retired = {inside.picorv32__DOT__dbg_insn_addr, 0, uint32_t(cycle_ - begun_)};
        if (done) open_ = false;
        if (inside.picorv32__DOT__launch_next_insn) {
            open_ = true;
            begun_ = cycle_ + 1;
        }
        return done;
    }

    void clock() override {
        core_.clk = 1;
        core_.eval();
        cycle_++;
    }

   private:
    Vcore core_;
    Port port_;
    uint64_t cycle_ = 0, begun_ = 0;
    bool open_ = false;
};

}  // namespace

std::unique_ptr<Core> make_core(Memory& memory, Device& device, const BusCycles& cycles) {
    return std::make_unique<PicoRv32>(memory, device, cycles);
}
