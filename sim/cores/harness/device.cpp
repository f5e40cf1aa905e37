#include "device.h"

#include <cstdio>

#include "exit_status.h"

namespace {

constexpr uint64_t kNever = ~0ull;
// Words that a driver can read from the device.
uint32_t data_word(uint32_t offset) { return (offset >> 2) * DEVICE_DATA_FACTOR; }

}  // namespace

Device::Device(const RiseSchedule& schedule, std::ostream& events)
    : schedule_(schedule),
      events_(events),
      next_rise_(schedule.count ? schedule.first : kNever),
      random_state_(schedule.seed * 0x9e3779b97f4a7c15ull + 1) {}

uint64_t Device::random() {
    random_state_ ^= random_state_ << 13;
    random_state_ ^= random_state_ >> 7;
    random_state_ ^= random_state_ << 17;
    return random_state_ >> 16;
}

void Device::note(const char* kind, uint32_t first, uint32_t second) {
    events_ << kind << ' ' << cycle_ << ' ' << retired_ << ' ' << first << ' ' << second << '\n';
}

void Device::advance(uint64_t cycle, uint64_t retired) {
    cycle_ = cycle;
    retired_ = retired;
    if (cycle == next_fall_ && cycle) lines_ &= ~(1u << schedule_.line);
    if (cycle == next_rise_) {
        // One that has not been served is a fault of the schedule or of the program.
        if (lines_ >> schedule_.line & 1) note("missed", schedule_.line, 0);
        lines_ |= 1u << schedule_.line;
        next_fall_ = schedule_.pulse ? cycle + schedule_.pulse : 0;
        const uint64_t range = schedule_.longest - schedule_.shortest + 1;
        next_rise_ = --schedule_.count ? cycle + schedule_.shortest + random() % range : kNever;
    }
    for (uint32_t risen = lines_ & ~seen_; risen; risen &= risen - 1)
        note("rise", static_cast<uint32_t>(__builtin_ctz(risen)), 0);
    seen_ = lines_;
}

void Device::offered(uint32_t address, uint32_t data) { note("store", address & 0xfff, data); }

uint32_t Device::read(uint32_t address) const {
    const uint32_t offset = address & 0xfff;
    if (offset >= DEVICE_DATA) return data_word(offset);
    return static_cast<uint32_t>(offset == DEVICE_INSTRUCTIONS ? retired_ : cycle_);
}

void Device::write(uint32_t address, uint32_t data) {
    const uint32_t offset = address & 0xfff;
    note("written", offset, data);
    switch (offset) {
        case DEVICE_EXIT:
            ended_ = true;
            status_ = exit_status(data);
            break;
        case DEVICE_PUTC: std::putchar(static_cast<int>(data & 0xff)); break;
        case DEVICE_RAISE: lines_ |= data; break;
        case DEVICE_LOWER: lines_ &= ~data; break;
        default: break;
    }
}
