#include "uart_sender.h"

#include <string>

using namespace generated;

namespace {

// Cycle of the boundary before bit `bit`, to the nearest.
int64_t boundary(int64_t start, const UartIn& character, uint32_t bit) {
    return start + static_cast<int64_t>((uint64_t{bit} * character.bit_q8 + 128) >> 8);
}

}  // namespace

UartSender::UartSender(Wires& wires) : wires_(wires), ports_(uarts) {}

void UartSender::load(RecordReader reader) {
    while (!reader.at_end()) add(reader.record<UartIn>());
}

void UartSender::add(const UartIn& character) {
    if (character.port >= uarts) {
        throw std::runtime_error("no serial port " + std::to_string(character.port));
    }
    Port& port = ports_[character.port];
    port.characters.push_back(character);
    if (port.due == never) {
        port.due = std::max(port.free_at, static_cast<int64_t>(character.cycle));
    }
    update_due();
}

void UartSender::fire_port(unsigned index, int64_t cycle) {
    Port& port = ports_[index];
    const UartIn& character = port.characters.front();
    if (!port.sending) {
        port.sending = true;
        port.start = cycle;
        port.bit = 0;
    }
    if (port.bit < character.bits) {
        wires_.drive(index, character.pattern >> port.bit & 1);
        ++port.bit;
        port.due = boundary(port.start, character, port.bit);
        return;
    }
    wires_.drive(index, true);
    port.sending = false;
    port.free_at = cycle;
    port.characters.pop_front();
    port.due = port.characters.empty()
                   ? never
                   : std::max(cycle, static_cast<int64_t>(port.characters.front().cycle));
    if (port.due <= cycle) fire_port(index, cycle);
}

void UartSender::fire(int64_t cycle) {
    for (unsigned index = 0; index < ports_.size(); index++) {
        if (ports_[index].due <= cycle) fire_port(index, cycle);
    }
    update_due();
}

void UartSender::update_due() {
    due_ = never;
    for (const Port& port : ports_) due_ = std::min(due_, port.due);
}
