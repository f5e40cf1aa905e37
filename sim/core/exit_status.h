// Exit statuses of the benches.
#pragma once

#include <algorithm>
#include <cstdint>

// Of a program that ended with such a word: a larger one is a failure, too, but the statuses from
// 124 on are the benches' own.
inline int exit_status(uint32_t word) { return static_cast<int>(std::min(word, 123u)); }
