// Runs one program again and again, with lines that rise in another cycle each time.
#pragma once

#include <ostream>

#include "bench.h"

// The program marks the cycles that matter at its console: mark 1 begins them, mark 2 ends them. Its
// first run is undisturbed. Then, with lines that rise for a cycle:
//
// - `single_step` > 0: line 0 rises in every so many cycles, and line 1 too if `second_tier` is one,
//   each in a run of its own;
// - `pair_step` > 0: lines 0 and 1 rise in each pair of cycles of a grid of that step.
struct Sweep {
    static constexpr unsigned kNone = ~0u;

    // Tiers that wait for line 0, and for line 1.
    unsigned first_tier = 0, second_tier = kNone;
    unsigned single_step = 1, pair_step = 0;

    // Writes a line of comma-separated values for each run: cycle of line 0 and of line 1, -1 if it
    // does not rise; exit code, -1 if there was no end; cycles to the first instruction that the
    // tier of line 0, and of line 1, issues then; cycles until the first instruction of a trap handler
    // for line 0 retires, -1 if none does; the first address whose word in memory on the bus is not as
    // the undisturbed run leaves it, -1 if there is none. The undisturbed run comes first.
    // Throws std::runtime_error if that one has no marks or does not end.
    void run(const Bench::Options& options, const Program& program, std::ostream& output) const;
};
