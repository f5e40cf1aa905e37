// What the SoC's serial ports receive: the stimulus, or what is on a wire that they share.
#pragma once

#include <cstdint>
#include <vector>

#include "model.h"

// Ports on one wire, as with LIN transceivers: a low level of the SoC or of the stimulus of any of
// them is what all of them receive. The SoC sees its own level a cycle later.
class Wires {
  public:
    // Each of `wires` is a mask of ports; throws if a port is on two or there is none.
    Wires(Model& model, const std::vector<uint32_t>& wires);

    // Level of the stimulus of a port.
    void drive(unsigned port, bool level);
    // To be called when a transmit pin of the SoC has changed.
    void follow(uint32_t transmitted);

  private:
    Model& model_;
    std::vector<uint32_t> wires_;
    uint32_t driven_;
    uint32_t transmitted_;

    void update();
};
