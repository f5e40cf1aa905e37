// Serial characters from the SoC, at pin level.
#pragma once

#include <functional>
#include <vector>

#include "events.h"
#include "files.h"
#include "model.h"

enum class Parity { none, even, odd };

// How the characters of a port are read.
struct UartFormat {
    uint32_t bit_q8;
    uint32_t data_bits = 8;
    Parity parity = Parity::none;
};

// Takes characters from all ports: samples each bit in its middle.
class UartReceiver : public Timed {
  public:
    using Sink = std::function<void(const generated::UartOut&)>;

    UartReceiver(const Vsim& pins, const std::vector<UartFormat>& formats, Sink sink);

    // To be called when the level of a port's pin has changed.
    void edges(int64_t cycle);
    void fire(int64_t cycle) override;
    uint64_t characters() const { return characters_; }

  private:
    enum class State { idle, bits, low };

    struct Port {
        UartFormat format;
        State state = State::idle;
        int64_t start = 0;
        uint32_t bit = 0;
        uint32_t levels = 0;
        generated::UartOut character{};
        int64_t due = never;
    };

    const Vsim& pins_;
    Sink sink_;
    std::vector<Port> ports_;
    uint64_t characters_ = 0;

    bool level(size_t index) const { return pins_.uarts_tx >> index & 1; }
    void sample(size_t index, int64_t cycle);
    void decode(size_t index, int64_t cycle);
    void emit(Port& port, int64_t end_cycle);
    void update_due();
};
