// The receive half of an MII or GMII PHY: puts frames on rx_dv, rx_er and rx_data.
#pragma once

#include "files.h"
#include "frames.h"
#include "model.h"

class MiiSender {
  public:
    // Logs to `sent` when each frame begins.
    MiiSender(Model& model, FrameSource& source, RecordWriter& sent)
        : model_(model), source_(source), sent_(sent) {}

    // To be called after each rising edge of the receive clock.
    void after_edge(int64_t cycle) {
#if HARNESS_ETHERNET
        if (position_ < nibbles_.size()) {
            send_clock();
        } else if (model_.pins().eth_rx_dv) {
            end_frame();
        } else {
            idle_nibbles_ += nibbles_per_clock;
            if (waiting_ || cycle >= source_.not_before()) try_begin(cycle);
        }
#endif
    }

    uint64_t frames() const { return frames_; }
    // True if all frames have been sent and none will follow.
    bool finished() const {
        return position_ >= nibbles_.size() && !waiting_ && source_.finished();
    }

  private:
    Model& model_;
    FrameSource& source_;
    RecordWriter& sent_;
    Frame frame_;
    bool waiting_ = false;
    // The frame on the wire, a nibble each; bit 4 is rx_er.
    std::vector<uint8_t> nibbles_;
    size_t position_ = 0;
    uint32_t idle_nibbles_ = default_gap_nibbles;
    uint64_t frames_ = 0;

    void send_clock();
    void end_frame();
    void try_begin(int64_t cycle);
    void build_nibbles();
};
