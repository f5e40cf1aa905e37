// Serial characters for the SoC, at pin level.
#pragma once

#include <deque>
#include <vector>

#include "events.h"
#include "files.h"
#include "wires.h"

// Sends characters of any form, as levels of bit time, to all ports.
class UartSender : public Timed {
  public:
    explicit UartSender(Wires& wires);

    // Adds the characters of a stimulus file.
    void load(RecordReader reader);
    // Adds one character, not to be sent before its cycle nor before those added earlier.
    void add(const generated::UartIn& character);
    // Characters that wait on a port.
    size_t waiting(unsigned port) const { return ports_[port].characters.size(); }
    bool finished() const { return due_ == never; }

    void fire(int64_t cycle) override;

  private:
    struct Port {
        std::deque<generated::UartIn> characters;
        // The character on the wire began at `start`; its levels up to `bit` have been set.
        bool sending = false;
        int64_t start = 0;
        uint32_t bit = 0;
        int64_t free_at = 0;
        int64_t due = never;
    };

    Wires& wires_;
    std::vector<Port> ports_;

    void fire_port(unsigned index, int64_t cycle);
    void update_due();
};
