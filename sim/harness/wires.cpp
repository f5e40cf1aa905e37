#include "wires.h"

#include <stdexcept>
#include <string>

namespace {

constexpr uint32_t all_ports = (1u << generated::uarts) - 1;

}  // namespace

Wires::Wires(Model& model, const std::vector<uint32_t>& wires)
    : model_(model), wires_(wires), driven_(all_ports), transmitted_(all_ports) {
    uint32_t taken = 0;
    for (const uint32_t wire : wires_) {
        if (!wire || wire & ~all_ports) throw std::runtime_error("a wire has no such serial port");
        if (wire & taken) throw std::runtime_error("a serial port can be on one wire only");
        taken |= wire;
    }
}

void Wires::drive(unsigned port, bool level) {
    driven_ = (driven_ & ~(1u << port)) | static_cast<uint32_t>(level) << port;
    update();
}

void Wires::follow(uint32_t transmitted) {
    transmitted_ = transmitted;
    if (!wires_.empty()) update();
}

void Wires::update() {
    uint32_t levels = driven_;
    for (const uint32_t wire : wires_) {
        if ((driven_ & transmitted_ & wire) != wire) levels &= ~wire;
    }
    if (levels != model_.pins().uarts_rx) model_.set_uarts_rx(levels);
}
