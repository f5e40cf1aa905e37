#include "model.h"

#include <stdexcept>

#include "verilated_syms.h"
#include "waveform.h"

Model::Model() : context_(std::make_unique<VerilatedContext>()) {
    context_->traceEverOn(true);
    top_ = std::make_unique<Vsim>(context_.get());
    top_->uarts_rx = (1u << generated::uarts) - 1;
    top_->lines = 0;
    top_->sys_rst = 1;
    top_->eval();
#if HARNESS_FAST_EVAL
    top_->sys_clk = 1;
#if HARNESS_ETHERNET
    top_->eth_clocks_rx = top_->eth_clocks_tx = 1;
#endif
    top_->eval();
#endif
}

Model::~Model() {
    waveform_.reset();
    top_->final();
}

VerilatedVar& Model::find_array(const std::string& module, const std::string& array) {
    // An instance has the name of its module, without the path that some tools put before it.
    const std::string instance = module.substr(module.rfind('.') + 1);
    for (const auto& [name, scope] : *context_->scopeNameMap()) {
        if (scope->identifier() != instance) continue;
        if (VerilatedVar* found = scope->varFind(array.c_str())) return *found;
    }
    throw std::runtime_error("the model has no memory " + module + "." + array);
}

std::vector<BackDoorMemory> Model::memories() {
    std::vector<BackDoorMemory> found;
    for (const generated::Memory& memory : generated::memories) {
        BackDoorMemory entry{memory.name, memory.origin, memory.bytes, 0, {}};
        size_t bytes = 0;
        for (uint32_t i = 0; i < memory.columns; i++) {
            VerilatedVar& array = find_array(memory.arrays[i].module, memory.arrays[i].array);
            entry.word_bytes = array.entSize();
            bytes += array.totalSize();
            entry.columns.push_back({static_cast<uint8_t*>(array.datap()), array.totalSize()});
        }
        if (bytes != memory.bytes) {
            throw std::runtime_error("memory " + entry.name + " must have " +
                                     std::to_string(memory.bytes) + " bytes, not " +
                                     std::to_string(bytes));
        }
        found.push_back(std::move(entry));
    }
    return found;
}

void Model::trace(const std::string& path, int64_t first_cycle, int64_t last_cycle) {
    waveform_ = std::make_unique<Waveform>(*top_, path);
    first_traced_ = first_cycle;
    last_traced_ = last_cycle;
}

void Model::close_trace() {
    if (waveform_) waveform_->close();
}

void Model::dump(bool low_half) {
    if (!waveform_ || cycle_ < first_traced_ || cycle_ >= last_traced_) return;
    // In the model's unit of 1 ps.
    const uint64_t half_ps = 500'000'000'000 / generated::sys_clk_hz;
    waveform_->dump((static_cast<uint64_t>(cycle_) * 2 + low_half) * half_ps);
}

#if !HARNESS_FAST_EVAL

void Model::evaluate() { top_->eval(); }

void Model::rise(int64_t cycle, bool mii) {
    cycle_ = cycle;
    top_->sys_clk = 1;
#if HARNESS_ETHERNET
    if (mii) top_->eth_clocks_rx = top_->eth_clocks_tx = 1;
#endif
    evaluate();
    dump(false);
}

void Model::rise_mii() {
#if HARNESS_ETHERNET
    top_->eth_clocks_rx = top_->eth_clocks_tx = 0;
    evaluate();
    top_->eth_clocks_rx = top_->eth_clocks_tx = 1;
#endif
    evaluate();
}

void Model::fall(bool mii_low) {
    top_->sys_clk = 0;
#if HARNESS_ETHERNET
    if (mii_low) top_->eth_clocks_rx = top_->eth_clocks_tx = 0;
#endif
    evaluate();
    dump(true);
}

#endif
