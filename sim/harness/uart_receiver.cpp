#include "uart_receiver.h"

#include <bit>

using namespace generated;

namespace {

// Start, data, parity and one stop bit; a second stop bit looks like idle.
uint32_t character_bits(const UartFormat& format) {
    return 2 + format.data_bits + (format.parity != Parity::none);
}

int64_t middle(int64_t start, const UartFormat& format, uint32_t bit) {
    return start + static_cast<int64_t>(((2 * uint64_t{bit} + 1) * format.bit_q8) >> 9);
}

}  // namespace

UartReceiver::UartReceiver(const Vsim& pins, const std::vector<UartFormat>& formats, Sink sink)
    : pins_(pins), sink_(std::move(sink)) {
    for (const UartFormat& format : formats) ports_.push_back(Port{.format = format});
}

void UartReceiver::edges(int64_t cycle) {
    for (size_t index = 0; index < ports_.size(); index++) {
        Port& port = ports_[index];
        if (port.state == State::idle && !level(index)) {
            port.state = State::bits;
            port.start = cycle;
            port.bit = 0;
            port.levels = 0;
            port.due = middle(cycle, port.format, 0);
        } else if (port.state == State::low && level(index)) {
            emit(port, cycle);
        }
    }
    update_due();
}

void UartReceiver::fire(int64_t cycle) {
    for (size_t index = 0; index < ports_.size(); index++) {
        if (ports_[index].due <= cycle) sample(index, cycle);
    }
    update_due();
}

void UartReceiver::sample(size_t index, int64_t cycle) {
    Port& port = ports_[index];
    const bool high = level(index);
    if (port.bit == 0 && high) {
        // A glitch, shorter than half a bit.
        port.state = State::idle;
        port.due = never;
        return;
    }
    port.levels |= static_cast<uint32_t>(high) << port.bit;
    if (++port.bit < character_bits(port.format)) {
        port.due = middle(port.start, port.format, port.bit);
        return;
    }
    port.due = never;
    decode(index, cycle);
}

void UartReceiver::decode(size_t index, int64_t cycle) {
    Port& port = ports_[index];
    const uint32_t mask = (1u << port.format.data_bits) - 1;
    const uint32_t data = port.levels >> 1 & mask;
    const bool stop = port.levels >> (character_bits(port.format) - 1) & 1;
    uint32_t errors = 0;
    if (port.format.parity != Parity::none) {
        const uint32_t parity = port.levels >> (1 + port.format.data_bits) & 1;
        const bool odd = (std::popcount(data) + parity) & 1;
        if (odd != (port.format.parity == Parity::odd)) errors |= uart_error_parity;
    }
    if (!stop) errors |= port.levels ? uart_error_framing : uart_error_break;
    port.character = UartOut{static_cast<uint64_t>(port.start), 0, static_cast<uint16_t>(data),
                             static_cast<uint8_t>(index), static_cast<uint8_t>(errors)};
    if (stop) {
        emit(port, cycle);
    } else {
        port.state = State::low;
    }
}

void UartReceiver::emit(Port& port, int64_t end_cycle) {
    port.character.duration_cycles = static_cast<uint32_t>(end_cycle - port.start);
    port.state = State::idle;
    ++characters_;
    sink_(port.character);
}

void UartReceiver::update_due() {
    due_ = never;
    for (const Port& port : ports_) due_ = std::min(due_, port.due);
}
