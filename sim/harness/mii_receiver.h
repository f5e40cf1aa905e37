// The transmit half of an MII or GMII PHY: takes frames from tx_en and tx_data and checks them.
#pragma once

#include "frames.h"
#include "model.h"

class MiiReceiver {
  public:
    MiiReceiver(const Vsim& pins, FrameSink& sink) : pins_(pins), sink_(sink) {}

    // To be called before each rising edge of the transmit clock: samples what the SoC put on the
    // pins after the edge before.
    void before_edge(int64_t cycle) {
#if HARNESS_ETHERNET
        if (pins_.eth_tx_en) {
            take_clock();
        } else if (!nibbles_.empty()) {
            end_frame();
        } else {
            idle_nibbles_ += nibbles_per_clock;
        }
#endif
        last_edge_ = cycle;
    }

    uint64_t frames() const { return frames_; }
    uint64_t bad_frames() const { return bad_frames_; }

  private:
    const Vsim& pins_;
    FrameSink& sink_;
    int64_t last_edge_ = 0;
    int64_t first_edge_ = 0;
    uint32_t gap_nibbles_ = 0;
    // There was no frame before the first one.
    uint32_t idle_nibbles_ = default_gap_nibbles;
    std::vector<uint8_t> nibbles_;
    uint64_t frames_ = 0;
    uint64_t bad_frames_ = 0;

    void take_clock();
    void end_frame();
};
