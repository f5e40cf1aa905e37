// TierV with its local memories; the bench's page is on its bus.
#include <algorithm>
#include <cstring>

#include "Vcore.h"
#include "core.h"
#include "port.h"

namespace {

class TierV : public Core {
   public:
    TierV(Memory& memory, Device& device, const BusCycles& cycles)
        : port_(memory, device, cycles.ram, cycles.device) {}

    void start(const Program& program) override {
        core_.rst = 1;
        core_.timer = 0;
        for (int i = 0; i < 2; i++) tick();
        for (const Segment& segment : program.segments())
            for (size_t offset = 0; offset < segment.bytes.size(); offset += 4) {
                uint32_t word = 0;
                std::memcpy(&word, &segment.bytes[offset],
                            std::min<size_t>(4, segment.bytes.size() - offset));
                load(segment.address + static_cast<uint32_t>(offset), word);
            }
        core_.rst = 0;
    }

    bool settle(uint32_t lines, Retired& retired) override {
        core_.clk = 0;
        core_.lines = lines;
        core_.wb_ack = 0;
        core_.eval();
        const Request request{core_.wb_cyc && core_.wb_stb, bool(core_.wb_we), core_.wb_adr << 2,
                              core_.wb_dat_w, core_.wb_sel};
        if (request.valid || acknowledged_) {
            uint32_t word = 0;
            core_.wb_ack = acknowledged_ = port_.serve(request, word);
            core_.wb_dat_r = word;
            core_.eval();
        }
        if (!core_.retire_valid) return false;
        retired = {core_.retire_pc, core_.retire_tier, X_TO_RETIRE_CYCLES};
        return true;
    }

    void clock() override {
        core_.clk = 1;
        core_.eval();
    }

    uint32_t peek(Memory&, uint32_t address) override {
        // The core goes on meanwhile, up to its next access to the bus, which is not served.
        core_.wb_ack = core_.dmem_wb_we = 0;
        core_.dmem_wb_cyc = core_.dmem_wb_stb = 1;
        core_.dmem_wb_adr = address >> 2;
        tick();
        const uint32_t word = core_.dmem_wb_dat_r;
        core_.dmem_wb_cyc = core_.dmem_wb_stb = 0;
        tick();
        return word;
    }

   private:
    void tick() {
        core_.clk = 0;
        core_.eval();
        clock();
    }

    // Writes a word of a local memory through its port on the bus.
    void load(uint32_t address, uint32_t word) {
        const bool instructions = address - IMEM_BASE < IMEM_BYTES;
        core_.imem_wb_cyc = core_.imem_wb_stb = core_.imem_wb_we = instructions;
        core_.dmem_wb_cyc = core_.dmem_wb_stb = core_.dmem_wb_we = !instructions;
        core_.imem_wb_sel = core_.dmem_wb_sel = 15;
        core_.imem_wb_adr = core_.dmem_wb_adr = address >> 2;
        core_.imem_wb_dat_w = core_.dmem_wb_dat_w = word;
        tick();
        core_.imem_wb_cyc = core_.imem_wb_stb = core_.dmem_wb_cyc = core_.dmem_wb_stb = 0;
        tick();
    }

    Vcore core_;
    Port port_;
    bool acknowledged_ = false;
};

}  // namespace

std::unique_ptr<Core> make_core(Memory& memory, Device& device, const BusCycles& cycles) {
    return std::make_unique<TierV>(memory, device, cycles);
}
