// Numbers on the command lines of the simulations' programs.
#pragma once

#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>

// Digits, or hexadecimal ones behind 0x, without a sign or anything around them. Throws for
// anything else, and for what 64 bits don't hold.
inline uint64_t number(const std::string& text) {
    const bool is_hex = text.size() > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char* end = text.data() + text.size();
    uint64_t value = 0;
    const auto [used, error] =
        std::from_chars(text.data() + (is_hex ? 2 : 0), end, value, is_hex ? 16 : 10);
    if (error == std::errc::result_out_of_range) {
        throw std::invalid_argument("must be below 2**64, not '" + text + "'");
    }
    if (error != std::errc{} || used != end) {
        throw std::invalid_argument("a number must be given, not '" + text + "'");
    }
    return value;
}

// Throws as well for a number that has more than so many bits.
inline uint64_t number_of_bits(unsigned bits, const std::string& text) {
    const uint64_t value = number(text);
    if (value >> bits) {
        throw std::invalid_argument("must be below 2**" + std::to_string(bits) + ", not '" + text +
                                    "'");
    }
    return value;
}

inline uint32_t word(const std::string& text) {
    return static_cast<uint32_t>(number_of_bits(32, text));
}
