#include "mii_receiver.h"

#if HARNESS_ETHERNET

using namespace generated;

namespace {

// Seven bytes of preamble and the start delimiter, low nibble first.
constexpr size_t preamble_nibbles = 16;

bool proper_preamble(std::span<const uint8_t> nibbles) {
    if (nibbles.size() < preamble_nibbles) return false;
    for (size_t i = 0; i + 1 < preamble_nibbles; i++) {
        if (nibbles[i] != 5) return false;
    }
    return nibbles[preamble_nibbles - 1] == 0xD;
}

}  // namespace

void MiiReceiver::take_clock() {
    if (nibbles_.empty()) {
        first_edge_ = last_edge_;
        gap_nibbles_ = idle_nibbles_;
    }
    for (uint32_t i = 0; i < nibbles_per_clock; i++) {
        nibbles_.push_back(pins_.eth_tx_data >> (4 * i) & 15);
    }
}

void MiiReceiver::end_frame() {
    FrameOut header{};
    header.cycle = static_cast<uint64_t>(first_edge_);
    header.end_cycle = static_cast<uint64_t>(last_edge_);
    header.gap_nibbles = gap_nibbles_;
    if (gap_nibbles_ < default_gap_nibbles) header.errors |= frame_error_short_gap;
    if (!proper_preamble(nibbles_)) header.errors |= frame_error_preamble;
    if (nibbles_.size() & 1) header.errors |= frame_error_half_byte;

    std::vector<uint8_t> bytes;
    for (size_t i = preamble_nibbles; i + 1 < nibbles_.size(); i += 2) {
        bytes.push_back(static_cast<uint8_t>(nibbles_[i] | nibbles_[i + 1] << 4));
    }
    if (bytes.size() < min_frame_bytes) header.errors |= frame_error_runt;
    if (bytes.size() > max_frame_bytes) header.errors |= frame_error_oversize;
    uint32_t received = 0;
    const size_t length = bytes.size() < fcs_bytes ? 0 : bytes.size() - fcs_bytes;
    for (size_t i = 0; length + i < bytes.size(); i++) {
        received |= static_cast<uint32_t>(bytes[length + i]) << (8 * i);
    }
    bytes.resize(length);
    if (frame_check_sequence(bytes) != received) header.errors |= frame_error_fcs;
    header.length = static_cast<uint32_t>(length);

    ++frames_;
    bad_frames_ += header.errors != 0;
    sink_.frame(header, bytes);
    nibbles_.clear();
    idle_nibbles_ = nibbles_per_clock;
}

#endif
