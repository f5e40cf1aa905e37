#include "bench.h"

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <stdexcept>

#include "exit_status.h"

#if VM_COVERAGE
#include "verilated_cov.h"
#endif

namespace {

// How much rarer lines are from the calm cycle on.
constexpr unsigned kCalmFactor = 16;

// Signals of all RVFI channels side by side.
uint64_t channel64(const VlWide<4>& value, unsigned channel) {
    return value[2 * channel] | static_cast<uint64_t>(value[2 * channel + 1]) << 32;
}

uint32_t channel(uint64_t value, unsigned channel, unsigned width) {
    return static_cast<uint32_t>(value >> (channel * width) & ((1ull << width) - 1));
}

// What RVFI gives for mcause of a line's interrupt: the interrupt bit above five of the code.
constexpr uint32_t kExternalInterrupt = 1u << 5 | 11;

// Serves the memory port of a core with caches; `wait` is -1 between transactions.
template <typename Core, typename WaitStates>
void serve_memory_port(Core& core, Memory& memory, int& wait, WaitStates wait_states) {
    if constexpr (requires { core.mem_cyc; }) {
        core.mem_ack = core.mem_err = 0;
        if (!core.mem_cyc || !core.mem_stb) return;
        if (wait < 0) wait = wait_states();
        if (wait > 0) {
            wait--;
            return;
        }
        wait = -1;
        const uint32_t address = core.mem_adr << 2;
        Region* region = memory.find(address);
        core.mem_err = !region;
        core.mem_ack = !!region;
        core.mem_dat_r = region ? memory.read(*region, address) : 0xdeadbeef;
        if (region && core.mem_we) memory.write(*region, address, core.mem_dat_w, core.mem_sel);
    }
}

// Only models made for it have the port.
template <typename Core>
void choose_mutation(Core& core, unsigned mutation) {
    if constexpr (requires { core.mutation; })
        core.mutation = mutation;
    else if (mutation)
        throw std::runtime_error("this model has no mutations");
}

}  // namespace

Bench::Bench(const Options& options)
    : options_(options),
      random_state_(options.seed * 0x9e3779b97f4a7c15ull + 1),
      latencies_(options.raises.size(), -1),
      trap_latencies_(options.raises.size(), -1),
      trace_(options.trace) {
    for (const auto& [base, size] : options.memories) memory_.add(base, size);
    if (!options.events.empty()) events_.emplace(options.events);
    if (!options.wave.empty()) {
        Verilated::traceEverOn(true);
        wave_ = std::make_unique<Waveform>(core_, options.wave);
    }
}

uint32_t Bench::random() {
    random_state_ ^= random_state_ << 13;
    random_state_ ^= random_state_ >> 7;
    random_state_ ^= random_state_ << 17;
    return static_cast<uint32_t>(random_state_ >> 16);
}

void Bench::clock() {
    core_.clk = 1;
    core_.eval();
    if (wave_) wave_->dump(wave_time_++);
    core_.clk = 0;
    core_.eval();
    if (wave_) wave_->dump(wave_time_++);
}

bool Bench::load_local(uint32_t address, uint32_t word, unsigned mask) {
    if (address - IMEM_BASE < IMEM_BYTES) {
        core_.imem_wb_cyc = core_.imem_wb_stb = core_.imem_wb_we = 1;
        core_.imem_wb_sel = mask;
        core_.imem_wb_adr = address >> 2;
        core_.imem_wb_dat_w = word;
    } else if (address - DMEM_BASE < DMEM_BYTES) {
        core_.dmem_wb_cyc = core_.dmem_wb_stb = core_.dmem_wb_we = 1;
        core_.dmem_wb_sel = mask;
        core_.dmem_wb_adr = address >> 2;
        core_.dmem_wb_dat_w = word;
    } else {
        return false;
    }
    // In reset there is no acknowledge, so that each cycle writes.
    clock();
    core_.imem_wb_cyc = core_.imem_wb_stb = core_.imem_wb_we = 0;
    core_.dmem_wb_cyc = core_.dmem_wb_stb = core_.dmem_wb_we = 0;
    return true;
}

void Bench::load(const Program& program) {
    for (const Segment& segment : program.segments()) {
        const uint64_t end = uint64_t{segment.address} + segment.bytes.size();
        for (uint64_t address = segment.address & ~3u; address < end; address += 4) {
            uint32_t word = 0;
            unsigned mask = 0;
            for (unsigned lane = 0; lane < 4; lane++) {
                const uint64_t byte = address + lane;
                if (byte < segment.address || byte >= end) continue;
                word |= static_cast<uint32_t>(segment.bytes[byte - segment.address]) << (8 * lane);
                mask |= 1u << lane;
            }
            const uint32_t place = static_cast<uint32_t>(address);
            if (load_local(place, word, mask)) continue;
            Region* region = memory_.find(place);
            if (!region || !region->contains(place + 3)) {
                char text[64];
                std::snprintf(text, sizeof text, "no memory at 0x%08x for the program", place);
                throw std::runtime_error(text);
            }
            memory_.write(*region, place, word, mask);
        }
    }
}

void Bench::serve_console(uint32_t offset) {
    core_.wb_ack = 1;
    core_.wb_dat_r = static_cast<uint32_t>(cycle_);
    if (!core_.wb_we) return;
    const uint32_t word = core_.wb_dat_w;
    switch (offset) {
        case 0:
            end_ = End::kExit;
            code_ = word;
            break;
        case 4: std::putchar(static_cast<int>(word & 0xff)); break;
        case 8: rise_all(lines_, word, LINES); break;
        case 12: lines_.high &= ~word; break;
        case 16: std::printf("%08x\n", word); break;
        case 20:
            marks_.emplace_back(cycle_, word);
            if (events_) *events_ << cycle_ << " mark " << word << "\n";
            break;
        case 24: rise_all(timer_, word, TIERS); break;
        default: break;
    }
}

int Bench::draw_wait_states() {
    return options_.wait_states ? static_cast<int>(random() % (options_.wait_states + 1)) : 0;
}

void Bench::serve_bus() {
    serve_memory_port(core_, memory_, memory_wait_, [this] { return draw_wait_states(); });
    core_.wb_ack = core_.wb_err = 0;
    core_.imem_wb_cyc = core_.imem_wb_stb = core_.dmem_wb_cyc = core_.dmem_wb_stb = 0;
    if (!core_.wb_cyc || !core_.wb_stb) return;
    if (wait_ < 0) wait_ = draw_wait_states();
    if (wait_ > 0) {
        wait_--;
        return;
    }
    const uint32_t address = core_.wb_adr << 2;
    if (address - IMEM_BASE < IMEM_BYTES) {
        core_.imem_wb_cyc = core_.imem_wb_stb = 1;
        core_.imem_wb_we = core_.wb_we;
        core_.imem_wb_adr = core_.wb_adr;
        core_.imem_wb_sel = core_.wb_sel;
        core_.imem_wb_dat_w = core_.wb_dat_w;
        core_.wb_ack = core_.imem_wb_ack;
        core_.wb_dat_r = core_.imem_wb_dat_r;
    } else if (address - DMEM_BASE < DMEM_BYTES) {
        core_.dmem_wb_cyc = core_.dmem_wb_stb = 1;
        core_.dmem_wb_we = core_.wb_we;
        core_.dmem_wb_adr = core_.wb_adr;
        core_.dmem_wb_sel = core_.wb_sel;
        core_.dmem_wb_dat_w = core_.wb_dat_w;
        core_.wb_ack = core_.dmem_wb_ack;
        core_.wb_dat_r = core_.dmem_wb_dat_r;
    } else if (Region* region = memory_.find(address)) {
        core_.wb_ack = 1;
        core_.wb_dat_r = memory_.read(*region, address);
        if (core_.wb_we) memory_.write(*region, address, core_.wb_dat_w, core_.wb_sel);
    } else if (address - options_.console < 4096) {
        serve_console(address - options_.console);
    } else {
        core_.wb_err = 1;
    }
    if (core_.wb_ack || core_.wb_err) wait_ = -1;
}

void Bench::rise(Pulses& inputs, unsigned input, uint64_t cycle) {
    inputs.rise(input, options_.pulse ? cycle + options_.pulse : 0);
}

void Bench::rise_all(Pulses& inputs, uint32_t word, unsigned count) {
    for (unsigned input = 0; input < count; input++)
        if (word >> input & 1) rise(inputs, input, cycle_ + 1);
}

void Bench::draw_rise(Pulses& inputs, unsigned period, unsigned count) {
    period *= cycle_ < options_.line_calm ? 1 : kCalmFactor;
    if (period && random() % period == 0)
        rise(inputs, random() % count, cycle_);
}

void Bench::drive_inputs() {
    draw_rise(lines_, options_.line_period, LINES);
    draw_rise(timer_, options_.timer_period, TIERS);
    for (const Raise& raise : options_.raises)
        if (raise.cycle == cycle_) lines_.rise(raise.line, cycle_ + 1);
    lines_.fall(cycle_);
    timer_.fall(cycle_);
    if (lines_.high != core_.lines && events_)
        *events_ << cycle_ << " lines " << std::hex << lines_.high << std::dec << "\n";
    if (timer_.high != core_.timer && events_)
        *events_ << cycle_ << " timer " << std::hex << timer_.high << std::dec << "\n";
    core_.lines = lines_.high;
    core_.timer = timer_.high;
}

void Bench::record() {
    for (unsigned c = 0; c < 2; c++) {
        if (!(core_.rvfi_valid >> c & 1)) continue;
        TraceRecord record{};
        record.order = channel64(core_.rvfi_order, c);
        record.cycle = cycle_;
        record.instruction = channel(core_.rvfi_insn, c, 32);
        record.pc = channel(core_.rvfi_pc_rdata, c, 32);
        record.next_pc = channel(core_.rvfi_pc_wdata, c, 32);
        record.rs1_value = channel(core_.rvfi_rs1_rdata, c, 32);
        record.rs2_value = channel(core_.rvfi_rs2_rdata, c, 32);
        record.rd_value = channel(core_.rvfi_rd_wdata, c, 32);
        record.memory_address = channel(core_.rvfi_mem_addr, c, 32);
        record.memory_read = channel(core_.rvfi_mem_rdata, c, 32);
        record.memory_written = channel(core_.rvfi_mem_wdata, c, 32);
        record.tier = static_cast<uint8_t>(channel(core_.rvfi_ctx, c, TIER_BITS));
        record.rs1 = static_cast<uint8_t>(channel(core_.rvfi_rs1_addr, c, 5));
        record.rs2 = static_cast<uint8_t>(channel(core_.rvfi_rs2_addr, c, 5));
        record.rd = static_cast<uint8_t>(channel(core_.rvfi_rd_addr, c, 5));
        record.read_mask = static_cast<uint8_t>(channel(core_.rvfi_mem_rmask, c, 4));
        record.write_mask = static_cast<uint8_t>(channel(core_.rvfi_mem_wmask, c, 4));
        record.trap = core_.rvfi_trap >> c & 1;
        record.interrupt = core_.rvfi_intr >> c & 1;
        record.cause = static_cast<uint8_t>(channel(core_.rvfi_cause, c, 6));
        trace_.record(record);
    }
}

void Bench::observe() {
    for (unsigned c = 0; c < 2; c++) {
        if (!(core_.rvfi_valid >> c & 1)) continue;
        instructions_ += !(core_.rvfi_trap >> c & 1);
        if (channel(core_.rvfi_cause, c, 6) == kExternalInterrupt && core_.rvfi_intr >> c & 1)
            note_trap(channel(core_.rvfi_ctx, c, TIER_BITS));
        if (host_)
            host_->stored(cycle_, channel(core_.rvfi_mem_addr, c, 32),
                          channel(core_.rvfi_mem_wdata, c, 32),
                          channel(core_.rvfi_mem_wmask, c, 4));
    }
    for (size_t index = 0; core_.issue_valid && index < latencies_.size(); index++) {
        const Raise& raise = options_.raises[index];
        if (latencies_[index] < 0 && cycle_ >= raise.cycle && core_.issue_tier == raise.tier)
            latencies_[index] = static_cast<int64_t>(cycle_ - raise.cycle);
    }
    if (host_ && host_->serve(cycle_)) {
        end_ = End::kToHost;
        code_ = host_->code();
    }
}

void Bench::note_trap(uint32_t tier) {
    for (size_t index = 0; index < trap_latencies_.size(); index++) {
        const Raise& raise = options_.raises[index];
        if (trap_latencies_[index] < 0 && cycle_ >= raise.cycle && raise.tier == tier)
            trap_latencies_[index] = static_cast<int64_t>(cycle_ - raise.cycle);
    }
}

uint32_t Bench::peek(uint32_t address) {
    const bool in_imem = address - IMEM_BASE < IMEM_BYTES;
    if (in_imem || address - DMEM_BASE < DMEM_BYTES) {
        // The core goes on meanwhile, up to its next access to the bus, which is not served.
        core_.wb_ack = core_.wb_err = 0;
        core_.imem_wb_we = core_.dmem_wb_we = 0;
        core_.imem_wb_cyc = core_.imem_wb_stb = in_imem;
        core_.dmem_wb_cyc = core_.dmem_wb_stb = !in_imem;
        core_.imem_wb_adr = core_.dmem_wb_adr = address >> 2;
        clock();
        if (!(in_imem ? core_.imem_wb_ack : core_.dmem_wb_ack)) clock();
        const uint32_t word = in_imem ? core_.imem_wb_dat_r : core_.dmem_wb_dat_r;
        core_.imem_wb_cyc = core_.imem_wb_stb = core_.dmem_wb_cyc = core_.dmem_wb_stb = 0;
        clock();
        return word;
    }
    Region* region = memory_.find(address);
    if (!region) throw std::runtime_error("the signature is not in a memory");
    return memory_.read(*region, address);
}

void Bench::write_signature(const Program& program) {
    uint32_t begin, end;
    if (!program.symbol("begin_signature", begin) || !program.symbol("end_signature", end))
        throw std::runtime_error("the program has no begin_signature and end_signature");
    TextFile file(options_.signature);
    for (uint32_t address = begin; address < end; address += 4)
        file << std::hex << std::setw(8) << std::setfill('0') << peek(address) << "\n";
    file.close();
}

void Bench::write_result() const {
    static const char* const kNames[] = {"limit", "exit", "tohost"};
    TextFile file(options_.result);
    file << "{\"end\": \"" << kNames[static_cast<int>(end_)] << "\", \"code\": " << code_
         << ", \"cycles\": " << cycle_ << ", \"instructions\": " << instructions_ << "}\n";
    file.close();
}

void Bench::write_coverage() {
#if VM_COVERAGE
    core_.contextp()->coveragep()->write(options_.coverage.c_str());
#else
    throw std::runtime_error("this model was built without --coverage");
#endif
}

int Bench::run(const Program& program) {
    choose_mutation(core_, options_.mutation);
    core_.rst = 1;
    core_.timer = 0;
    core_.lines = 0;
    core_.wb_ack = core_.wb_err = 0;
    core_.imem_wb_cyc = core_.imem_wb_stb = core_.dmem_wb_cyc = core_.dmem_wb_stb = 0;
    clock();
    clock();
    load(program);
    if (options_.has_tohost || program.symbol("tohost", options_.tohost)) {
        uint32_t fromhost = 0;
        program.symbol("fromhost", fromhost);
        // Two stores next to each other are not further apart than this.
        const unsigned settle = 100 + 10 * options_.wait_states;
        host_ = std::make_unique<HostInterface>(memory_, options_.tohost, fromhost, settle);
    }
    core_.rst = 0;
    for (; end_ == End::kLimit && cycle_ < options_.cycles; cycle_++) {
        drive_inputs();
        core_.eval();
        serve_bus();
        core_.eval();
        observe();
        if (!options_.trace.empty()) record();
        clock();
    }
    if (std::fflush(stdout) || std::ferror(stdout))
        throw std::runtime_error("cannot write what the program prints");
    trace_.close();
    if (events_) events_->close();
    if (wave_) wave_->close();
    if (!options_.signature.empty()) write_signature(program);
    if (!options_.result.empty()) write_result();
    if (!options_.coverage.empty()) write_coverage();
    switch (end_) {
        case End::kExit:
        case End::kToHost: return exit_status(code_);
        default: return kLimitStatus;
    }
}
