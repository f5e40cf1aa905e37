#include "sweep.h"

#include <stdexcept>

namespace {

int64_t first_difference(const Memory& before, const Memory& after) {
    for (size_t index = 0; index < before.regions().size(); index++) {
        const Region &a = before.regions()[index], &b = after.regions()[index];
        if (a.bytes == b.bytes) continue;
        for (size_t offset = 0; offset < a.bytes.size(); offset++)
            if (a.bytes[offset] != b.bytes[offset]) return a.base + (offset & ~size_t{3});
    }
    return -1;
}

uint64_t marked(const Bench& bench, uint32_t word) {
    for (const auto& [cycle, mark] : bench.marks())
        if (mark == word) return cycle;
    throw std::runtime_error("the program does not reach mark " + std::to_string(word));
}

}  // namespace

void Sweep::run(const Bench::Options& options, const Program& program, std::ostream& output) const {
    Bench undisturbed(options);
    undisturbed.run(program);
    if (undisturbed.end() == Bench::End::kLimit)
        throw std::runtime_error("the program does not end by itself");
    const uint64_t begin = marked(undisturbed, 1), end = marked(undisturbed, 2);
    output << "-1,-1," << undisturbed.code() << ",-1,-1,-1,-1\n";

    const auto run_with = [&](int64_t first, int64_t second) {
        Bench::Options disturbed = options;
        disturbed.raises.clear();
        if (first >= 0) disturbed.raises.push_back({static_cast<uint64_t>(first), 0, first_tier});
        if (second >= 0)
            disturbed.raises.push_back({static_cast<uint64_t>(second), 1, second_tier});
        Bench bench(disturbed);
        bench.run(program);
        int64_t latencies[2] = {-1, -1};
        for (size_t index = 0; index < disturbed.raises.size(); index++)
            latencies[disturbed.raises[index].line] = bench.latencies()[index];
        const int64_t trapped = first >= 0 ? bench.trap_latencies()[0] : -1;
        const int64_t code = bench.end() == Bench::End::kLimit ? -1 : int64_t{bench.code()};
        output << first << ',' << second << ',' << code << ',' << latencies[0] << ','
               << latencies[1] << ',' << trapped << ',' << first_difference(undisturbed.memory(), bench.memory())
               << '\n';
    };
    if (single_step) {
        for (uint64_t cycle = begin; cycle < end; cycle += single_step) {
            run_with(static_cast<int64_t>(cycle), -1);
            if (second_tier != kNone) run_with(-1, static_cast<int64_t>(cycle));
        }
    }
    if (pair_step)
        for (uint64_t first = begin; first < end; first += pair_step)
            for (uint64_t second = begin; second < end; second += pair_step)
                run_with(static_cast<int64_t>(first), static_cast<int64_t>(second));
}
