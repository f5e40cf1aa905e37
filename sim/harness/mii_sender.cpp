#include "mii_sender.h"

#if HARNESS_ETHERNET

using namespace generated;

void MiiSender::send_clock() {
    uint32_t data = 0;
    bool error = false;
    for (uint32_t i = 0; i < nibbles_per_clock && position_ < nibbles_.size(); i++) {
        const uint8_t nibble = nibbles_[position_++];
        data |= (nibble & 15u) << (4 * i);
        error = error || nibble >> 4;
    }
    model_.set_mii_rx(true, data, error);
}

void MiiSender::end_frame() {
    model_.set_mii_rx(false, 0, false);
    idle_nibbles_ = nibbles_per_clock;
}

void MiiSender::try_begin(int64_t cycle) {
    if (!waiting_) waiting_ = source_.next(frame_);
    if (!waiting_ || cycle < static_cast<int64_t>(frame_.header.cycle)) return;
    // This edge ends the idle clock before the frame.
    if (idle_nibbles_ < frame_.header.gap_nibbles + nibbles_per_clock) return;
    waiting_ = false;
    build_nibbles();
    ++frames_;
    sent_.record(FrameSent{static_cast<uint64_t>(cycle)});
    send_clock();
}

void MiiSender::build_nibbles() {
    const FrameIn& header = frame_.header;
    std::vector<uint8_t>& bytes = frame_.bytes;
    const bool pad = !(header.flags & (frame_flag_no_pad | frame_flag_no_fcs));
    if (pad && bytes.size() < min_frame_bytes - fcs_bytes) {
        bytes.resize(min_frame_bytes - fcs_bytes, 0);
    }
    if (!(header.flags & frame_flag_no_fcs)) {
        uint32_t sequence = frame_check_sequence(bytes);
        if (header.flags & frame_flag_bad_fcs) sequence = ~sequence;
        for (int i = 0; i < 4; i++) bytes.push_back(static_cast<uint8_t>(sequence >> (8 * i)));
    }
    nibbles_.clear();
    position_ = 0;
    const auto append = [this](uint8_t byte) {
        nibbles_.push_back(byte & 15);
        nibbles_.push_back(byte >> 4);
    };
    for (uint32_t i = 0; i < header.preamble_bytes; i++) append(0x55);
    append(header.flags & frame_flag_no_delimiter ? 0x55 : 0xD5);
    for (const uint8_t byte : bytes) append(byte);
    if (header.flags & frame_flag_rx_error) nibbles_.back() |= 16;
    if (header.flags & frame_flag_dribble) nibbles_.push_back(0);
}

#endif
