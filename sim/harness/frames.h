// Ethernet frames between files, sockets and the MII pins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "generated.h"

// IEEE 802.3, clauses 3 and 4: sizes in bytes, the FCS included, and the gap of 96 bit times.
constexpr uint32_t min_frame_bytes = 64;
constexpr uint32_t max_frame_bytes = 1518;
constexpr uint32_t fcs_bytes = 4;
constexpr uint32_t default_gap_nibbles = 24;
constexpr uint32_t default_preamble_bytes = 7;
// With each clock of MII one, of GMII two, the lower one first.
constexpr uint32_t nibbles_per_clock = generated::eth_bits_per_clock / 4;

// A frame for the SoC, and how it is to differ from a proper one.
struct Frame {
    generated::FrameIn header;
    std::vector<uint8_t> bytes;
};

// Where frames for the SoC come from, in the order in which they are to be sent.
class FrameSource {
  public:
    virtual ~FrameSource() = default;
    // True and the next frame if there is one by now.
    virtual bool next(Frame& frame) = 0;
    // A cycle before which next() has nothing to give.
    virtual int64_t not_before() const = 0;
    // True if next() will never again have a frame.
    virtual bool finished() const = 0;
};

// Takes the frames that the SoC has sent.
class FrameSink {
  public:
    virtual ~FrameSink() = default;
    virtual void frame(const generated::FrameOut& header, std::span<const uint8_t> bytes) = 0;
};

// CRC-32 of IEEE 802.3, as it is sent: least significant byte first.
uint32_t frame_check_sequence(std::span<const uint8_t> bytes);
