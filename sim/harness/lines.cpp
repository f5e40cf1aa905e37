#include "lines.h"

using namespace generated;

void Lines::load(RecordReader reader) {
    while (!reader.at_end()) {
        const auto entry = reader.record<LineIn>();
        if (!schedule_.empty() && entry.cycle < schedule_.back().cycle) {
            throw std::runtime_error("line levels must be in order of cycles");
        }
        if ((entry.raise_mask | entry.lower_mask) >> external_lines) {
            throw std::runtime_error("there are only " + std::to_string(external_lines) +
                                     " external lines");
        }
        schedule_.push_back(entry);
    }
    update_due();
}

void Lines::add(const RandomLine& line) {
    if (line.line >= external_lines) {
        throw std::runtime_error("no external line " + std::to_string(line.line));
    }
    if (line.min_cycles > line.max_cycles) {
        throw std::runtime_error("min_cycles of a line must not exceed max_cycles");
    }
    if (!line.count) return;
    Source source{line, line.seed, 0};
    source.due = line.start + random_interval(source);
    sources_.push_back(source);
    update_due();
}

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): any seed gives a good sequence.
int64_t Lines::random_interval(Source& source) {
    uint64_t mixed = source.state += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    mixed ^= mixed >> 31;
    const uint64_t span = uint64_t{source.settings.max_cycles} - source.settings.min_cycles + 1;
    return static_cast<int64_t>(source.settings.min_cycles + mixed % span);
}

void Lines::fire_source(Source& source, int64_t cycle) {
    const uint32_t mask = 1u << source.settings.line;
    if (!source.high) {
        source.high = true;
        --source.settings.count;
        set(cycle, mask, 0);
        source.due = source.settings.hold_cycles ? cycle + source.settings.hold_cycles : never;
    } else {
        set(cycle, 0, mask);
    }
}

void Lines::set(int64_t cycle, uint32_t raise_mask, uint32_t lower_mask) {
    const uint32_t before = model_.pins().lines;
    const uint32_t after = (before & ~lower_mask) | raise_mask;
    model_.set_lines(after);
    if (after & ~before) last_rise_ = cycle;
    for (uint32_t line = 0; line < external_lines; line++) {
        if ((before ^ after) >> line & 1) {
            log_.record(LineOut{static_cast<uint64_t>(cycle), line, after >> line & 1});
        }
    }
    for (Source& source : sources_) {
        if (!source.high || after >> source.settings.line & 1) continue;
        source.high = false;
        // A fall and a rise in one cycle would be no fall.
        const int64_t interval = std::max<int64_t>(1, random_interval(source));
        source.due = source.settings.count ? cycle + interval : never;
    }
}

void Lines::acknowledge(int64_t cycle, uint32_t mask) {
    lower_mask_ |= mask;
    lower_at_ = cycle + 1;
    update_due();
}

void Lines::fire(int64_t cycle) {
    if (lower_at_ <= cycle) {
        set(cycle, 0, lower_mask_);
        lower_mask_ = 0;
        lower_at_ = never;
    }
    for (; position_ < schedule_.size(); position_++) {
        const LineIn& entry = schedule_[position_];
        if (static_cast<int64_t>(entry.cycle) > cycle) break;
        set(cycle, entry.raise_mask, entry.lower_mask);
    }
    for (Source& source : sources_) {
        if (source.due <= cycle) fire_source(source, cycle);
    }
    update_due();
}

void Lines::update_due() {
    due_ = lower_at_;
    if (position_ < schedule_.size()) {
        due_ = std::min(due_, static_cast<int64_t>(schedule_[position_].cycle));
    }
    for (const Source& source : sources_) due_ = std::min(due_, source.due);
}
