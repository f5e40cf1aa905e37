// Ibex on memory that answers in the cycle after the request.
#include "Vcore.h"
#include "Vcore___024root.h"
#include "core.h"
#include "execute_stage.h"
#include "port.h"

namespace {

// ibex_pkg::IbexMuBiOn
constexpr unsigned kOn = 0b0101;
// The core starts so far behind its boot address, a multiple of 256: there a ROM jumps to the
// program, whose reset address is a multiple of 256 too.
constexpr uint32_t kBootOffset = 0x80, kBootAddress = RESET_ADDRESS - 0x100;
constexpr uint32_t kJump = 0x0800'006f;  // j . + 0x80
static_assert(kBootAddress + kBootOffset + 0x80 == RESET_ADDRESS);

class Ibex : public Core {
   public:
    Ibex(Memory& memory, Device& device, const BusCycles& cycles)
        : instructions_(memory, device, cycles.ram, cycles.device),
          data_(memory, device, cycles.ram, cycles.device) {
        memory.add(kBootAddress, 0x100);
        memory.write(*memory.find(kBootAddress), kBootAddress + kBootOffset, kJump, 0xf);
    }

    void start(const Program&) override {
        core_.boot_addr_i = kBootAddress;
        core_.fetch_enable_i = kOn;
        // The gated clock stands still meanwhile: only an edge of the reset resets.
        core_.rst_ni = 1;
        core_.eval();
        core_.rst_ni = 0;
        for (int i = 0; i < 4; i++) {
            core_.clk_i = 0;
            core_.eval();
            clock();
        }
        core_.rst_ni = 1;
    }

    bool settle(uint32_t lines, Retired& retired) override {
        core_.clk_i = 0;
        core_.irq_fast_i = lines & 0x7fff;
        // What the memories have read for the last cycle's requests.
        core_.instr_rvalid_i = instruction_.valid;
        core_.instr_rdata_i = instruction_.word;
        core_.data_rvalid_i = datum_.valid;
        core_.data_rdata_i = datum_.word;
        core_.instr_gnt_i = core_.data_gnt_i = 0;
        core_.eval();
        const Request fetch{bool(core_.instr_req_o), false, core_.instr_addr_o, 0, 0};
        const Request access{bool(core_.data_req_o), bool(core_.data_we_o), core_.data_addr_o,
                             core_.data_wdata_o, core_.data_be_o};
        core_.instr_gnt_i = instruction_.valid = instructions_.serve(fetch, instruction_.word);
        core_.data_gnt_i = datum_.valid = data_.serve(access, datum_.word);
        core_.eval();
        const auto& inside = *core_.rootp;
        stage_.observe(cycle_, inside.ibex_top__DOT__u_ibex_core__DOT__instr_valid_id,
                       inside.ibex_top__DOT__u_ibex_core__DOT__pc_id,
                       inside.ibex_top__DOT__u_ibex_core__DOT__instr_id_done);
        if (!inside.ibex_top__DOT__u_ibex_core__DOT__instr_done_wb) return false;
        const uint32_t pc = inside.ibex_top__DOT__u_ibex_core__DOT__pc_wb;
        retired = {pc, 0, stage_.age(cycle_, pc)};
        return true;
    }

    void clock() override {
        core_.clk_i = 1;
        core_.eval();
        cycle_++;
    }

   private:
    struct Answer {
        bool valid = false;
        uint32_t word = 0;
    };

    Vcore core_;
    Port instructions_, data_;
    Answer instruction_, datum_;
    uint64_t cycle_ = 0;
    ExecuteStage stage_;
};

}  // namespace

std::unique_ptr<Core> make_core(Memory& memory, Device& device, const BusCycles& cycles) {
    return std::make_unique<Ibex>(memory, device, cycles);
}
