#include "frames.h"

#include <array>

namespace {

constexpr std::array<uint32_t, 256> make_table() {
    std::array<uint32_t, 256> table{};
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t rest = byte;
        for (int bit = 0; bit < 8; bit++) rest = (rest >> 1) ^ ((rest & 1) ? 0xEDB88320u : 0);
        table[byte] = rest;
    }
    return table;
}

constexpr auto crc_table = make_table();

}  // namespace

uint32_t frame_check_sequence(std::span<const uint8_t> bytes) {
    uint32_t rest = 0xFFFFFFFFu;
    for (const uint8_t byte : bytes) rest = (rest >> 8) ^ crc_table[(rest ^ byte) & 0xFF];
    return ~rest;
}
