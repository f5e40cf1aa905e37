// The external interrupt lines: levels from a file, or raised at random.
#pragma once

#include <string>
#include <vector>

#include "events.h"
#include "files.h"
#include "model.h"

// A line that is raised again and again, at random intervals.
struct RandomLine {
    uint32_t line;
    // Cycles from the fall of the line, or from the start, to the next rise: both included.
    uint32_t min_cycles, max_cycles;
    // Cycles that it stays high; 0: until firmware lowers it.
    uint32_t hold_cycles;
    uint64_t seed;
    int64_t start;
    // How often it is raised.
    uint64_t count;
};

class Lines : public Timed {
  public:
    Lines(Model& model, RecordWriter& log) : model_(model), log_(log) {}

    void load(RecordReader reader);
    void add(const RandomLine& line);

    void fire(int64_t cycle) override;
    // The latest cycle in which a line rose.
    int64_t last_rise() const { return last_rise_; }
    // Lowers the lines of the mask in the next cycle, as a register in a peripheral would.
    void acknowledge(int64_t cycle, uint32_t mask);

  private:
    struct Source {
        RandomLine settings;
        uint64_t state;
        int64_t due;
        bool high = false;
    };

    Model& model_;
    RecordWriter& log_;
    std::vector<generated::LineIn> schedule_;
    size_t position_ = 0;
    std::vector<Source> sources_;
    uint32_t lower_mask_ = 0;
    int64_t lower_at_ = never;
    int64_t last_rise_ = -never;

    void set(int64_t cycle, uint32_t raise_mask, uint32_t lower_mask);
    void fire_source(Source& source, int64_t cycle);
    static int64_t random_interval(Source& source);
    void update_due();
};
