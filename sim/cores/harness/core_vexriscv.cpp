// VexRiscv as LiteX has it: caches, Wishbone for instructions and for data.
#include "Vcore.h"
#include "Vcore___024root.h"
#include "core.h"
#include "execute_stage.h"
#include "port.h"

namespace {

class VexRiscv : public Core {
   public:
    VexRiscv(Memory& memory, Device& device, const BusCycles& cycles)
        : instructions_(memory, device, cycles.ram, cycles.device),
          data_(memory, device, cycles.ram, cycles.device),
          shared_(data_),
          share_(cycles.shared) {}

    void start(const Program&) override {
        core_.externalResetVector = RESET_ADDRESS;
        core_.reset = 1;
        for (int i = 0; i < 4; i++) {
            core_.clk = 0;
            core_.eval();
            clock();
        }
        core_.reset = 0;
    }

    bool settle(uint32_t lines, Retired& retired) override {
        core_.clk = 0;
        core_.externalInterruptArray = lines;
        core_.iBusWishbone_ACK = core_.dBusWishbone_ACK = 0;
        core_.eval();
        serve();
        const auto& inside = *core_.rootp;
        stage_.observe(cycle_, inside.VexRiscv__DOT__execute_arbitration_isValid,
                       inside.VexRiscv__DOT__decode_to_execute_PC,
                       !inside.VexRiscv__DOT__execute_arbitration_isStuck);
        if (!inside.VexRiscv__DOT__writeBack_arbitration_isFiring) return false;
        const uint32_t pc = inside.VexRiscv__DOT__memory_to_writeBack_PC;
        retired = {pc, 0, stage_.age(cycle_, pc)};
        return true;
    }

    void clock() override {
        core_.clk = 1;
        core_.eval();
        cycle_++;
    }

   private:
    void serve() {
        const Request masters[2] = {
            {core_.iBusWishbone_CYC && core_.iBusWishbone_STB, false, core_.iBusWishbone_ADR << 2,
             0, 0},
            {core_.dBusWishbone_CYC && core_.dBusWishbone_STB, bool(core_.dBusWishbone_WE),
             core_.dBusWishbone_ADR << 2, core_.dBusWishbone_DAT_MOSI, core_.dBusWishbone_SEL}};
        uint32_t word = 0;
        if (share_) {
            const int served = shared_.serve(masters, word);
            core_.iBusWishbone_ACK = served == 0;
            core_.dBusWishbone_ACK = served == 1;
            core_.iBusWishbone_DAT_MISO = core_.dBusWishbone_DAT_MISO = word;
        } else {
            core_.iBusWishbone_ACK = instructions_.serve(masters[0], word);
            core_.iBusWishbone_DAT_MISO = word;
            core_.dBusWishbone_ACK = data_.serve(masters[1], word);
            core_.dBusWishbone_DAT_MISO = word;
        }
        core_.eval();
    }

    Vcore core_;
    Port instructions_, data_;
    SharedPort shared_;
    bool share_;
    uint64_t cycle_ = 0;
    ExecuteStage stage_;
};

}  // namespace

std::unique_ptr<Core> make_core(Memory& memory, Device& device, const BusCycles& cycles) {
    return std::make_unique<VexRiscv>(memory, device, cycles);
}
