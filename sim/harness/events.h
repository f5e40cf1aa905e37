// Next-event scheduling: a model of something outside the SoC says when it wants to be called.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

constexpr int64_t never = INT64_MAX;

// Something that acts on the pins at cycles that it knows beforehand.
class Timed {
  public:
    virtual ~Timed() = default;
    // Called in cycle due(); must move it on.
    virtual void fire(int64_t cycle) = 0;
    int64_t due() const { return due_; }

  protected:
    int64_t due_ = never;
};

// The models and the earliest cycle at which one of them is due.
class Agenda {
  public:
    void add(Timed& timed) { all_.push_back(&timed); }

    // To be called after anything has changed when a model is due.
    void update() {
        due_ = never;
        for (const Timed* timed : all_) due_ = std::min(due_, timed->due());
    }

    void run(int64_t cycle) {
        for (Timed* timed : all_) {
            if (timed->due() <= cycle) timed->fire(cycle);
        }
        update();
    }

    int64_t due() const { return due_; }

  private:
    std::vector<Timed*> all_;
    int64_t due_ = never;
};
