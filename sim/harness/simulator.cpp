#include "simulator.h"

#include <cinttypes>
#include <cstdio>

using namespace generated;

namespace {

constexpr int64_t reset_cycles = 32;

}  // namespace

void Simulator::FrameOutlet::frame(const FrameOut& header, std::span<const uint8_t> bytes) {
    log_.frame(header, bytes);
    if (network_) network_->frame(header, bytes);
}

Simulator::Simulator(const Options& options)
    : options_(options), pins_(model_.pins()), back_door_(model_.memories()),
      lines_log_(options.lines_out), uart_log_(options.uart_out), sent_log_(options.frames_sent),
      retired_log_(options.retired_out),
      wires_(model_, options.wires), uart_sender_(wires_),
      uart_receiver_(pins_, options.uart_formats,
                     [this](const UartOut& character) { take_character(character); }),
      lines_(model_, lines_log_),
      mailbox_(options.mailbox_out, lines_, options.show_text ? options.shown() : nullptr),
      network_(options.network_fd < 0 ? nullptr
                                      : std::make_unique<LiveNetwork>(options.network_fd)),
      frame_source_(std::make_unique<FrameFile>(
          options.frames.empty() ? RecordReader() : RecordReader(options.frames))),
      frame_outlet_(options, network_.get()), mii_sender_(model_, frame_source(), sent_log_),
      mii_receiver_(pins_, frame_outlet_), cycle_(-reset_cycles),
      uart_levels_((1u << uarts) - 1) {
    if (options.console) {
        console_.emplace(uart_sender_, options.uart_formats[0].bit_q8, !options.any_character);
    }
    load();
}

FrameSource& Simulator::frame_source() {
    if (!network_) return *frame_source_;
    return *network_;
}

void Simulator::load() {
    if (!options_.wave.empty()) {
        model_.trace(options_.wave, options_.wave_from, options_.wave_to);
    }
    for (const std::string& image : options_.images) back_door_.load(image);
    if (!options_.uart.empty()) uart_sender_.load(RecordReader(options_.uart));
    if (!options_.lines.empty()) lines_.load(RecordReader(options_.lines));
    for (const RandomLine& line : options_.random_lines) lines_.add(line);
    agenda_.add(uart_sender_);
    agenda_.add(uart_receiver_);
    agenda_.add(lines_);
#if HARNESS_DEBUG
    if (options_.jtag_port) agenda_.add(jtag_.emplace(model_, *options_.jtag_port));
#endif
}

void Simulator::rise() {
    mii_phase_ += options_.mii_hz;
    if (!HARNESS_ETHERNET || mii_phase_ < sys_clk_hz) {
        model_.rise(cycle_, false);
        return;
    }
    mii_phase_ -= sys_clk_hz;
    mii_receiver_.before_edge(cycle_);
    model_.rise(cycle_, true);
    mii_sender_.after_edge(cycle_);
    while (mii_phase_ >= sys_clk_hz) {
        mii_phase_ -= sys_clk_hz;
        mii_receiver_.before_edge(cycle_);
        model_.rise_mii();
        mii_sender_.after_edge(cycle_);
    }
    if (mii_receiver_.frames() >= options_.stop_frames) end_ = run_end_condition;
}

void Simulator::reset() {
    for (; cycle_ < 0; cycle_++) {
        rise();
        model_.fall(true);
    }
    rise();
    // The first cycle begins as the last of the reset, with the count of the mailbox at 0.
    model_.set_reset(false);
    agenda_.update();
}

void Simulator::look_at_pins() {
    if (pins_.uarts_tx != uart_levels_) [[unlikely]] {
        uart_levels_ = pins_.uarts_tx;
        uart_receiver_.edges(cycle_);
        wires_.follow(uart_levels_);
        agenda_.update();
    }
    if (cycle_ >= agenda_.due()) [[unlikely]] {
        agenda_.run(cycle_);
        if (lines_.last_rise() == cycle_) watch_until_ = cycle_ + options_.watch_cycles;
    }
    if (cycle_ < watch_until_) [[unlikely]] watch();
    if (pins_.mailbox_valid) [[unlikely]] {
        mailbox_.write(cycle_, pins_.mailbox_offset, pins_.mailbox_data);
        if (mailbox_.exit_code()) end_ = run_end_exit;
        agenda_.update();
    }
}

void Simulator::watch() {
    if (!pins_.retire_valid) return;
    retired_log_.record(RetireOut{static_cast<uint64_t>(cycle_), pins_.retire_pc,
                                  pins_.retire_tier});
}

void Simulator::step() {
    look_at_pins();
    // The MII clocks fall at least half a cycle before they rise again.
    model_.fall(mii_phase_ + options_.mii_hz >= sys_clk_hz || mii_phase_ * 2 >= sys_clk_hz);
    if (++cycle_ >= options_.cycles) [[unlikely]] {
        if (!end_) end_ = run_end_limit;
        return;
    }
    rise();
}

uint32_t Simulator::run() {
    started_ = shown_ = std::chrono::steady_clock::now();
    reset();
    while (!end_) {
        const int64_t pause = cycle_ + housekeeping_cycles;
        while (!end_ && cycle_ < pause) step();
        if (!end_) housekeeping();
    }
    if (options_.progress) std::fputc('\n', options_.shown());
    return *end_;
}

void Simulator::take_character(const UartOut& character) {
    uart_log_.record(character);
    if (console_ && character.port == 0) console_->show(static_cast<uint8_t>(character.data));
    if (!options_.stop_text || character.port != options_.stop_text->port) return;
    const std::string& text = options_.stop_text->text;
    recent_text_ += static_cast<char>(character.data);
    if (recent_text_.ends_with(text)) end_ = run_end_condition;
    if (recent_text_.size() > 2 * text.size() + 64) {
        recent_text_.erase(0, recent_text_.size() - text.size());
    }
}

void Simulator::housekeeping() {
    if (console_) {
        if (!console_->poll(cycle_)) end_ = run_end_quit;
        agenda_.update();
    }
    if (network_) network_->poll();
    if (options_.stop_after) check_quiet();
    if (options_.progress) show_progress();
}

void Simulator::check_quiet() {
    const bool frames_finished = !HARNESS_ETHERNET || mii_sender_.finished();
    if (!frames_finished || !uart_sender_.finished() || lines_.due() != never) {
        quiet_since_ = never;
        return;
    }
    if (quiet_since_ == never) quiet_since_ = cycle_;
    if (cycle_ - quiet_since_ >= *options_.stop_after) end_ = run_end_condition;
}

double Simulator::seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
}

void Simulator::show_progress() {
    const auto now = std::chrono::steady_clock::now();
    if (now - shown_ < std::chrono::seconds(1)) return;
    shown_ = now;
    std::fprintf(options_.shown(),
                 "\r%.1f M cycles, %.2f M cycles/s, %" PRIu64 " frames in, %" PRIu64 " out ",
                 static_cast<double>(cycle_) * 1e-6, static_cast<double>(cycle_) * 1e-6 / seconds(),
                 mii_sender_.frames(), mii_receiver_.frames());
}

void Simulator::write_results(uint32_t end) {
    if (!options_.summary.empty()) {
        char text[256];
        std::snprintf(text, sizeof text,
                      "{\"end\": %" PRIu32 ", \"exit_code\": %" PRId64 ", \"cycles\": %" PRId64
                      ", \"wall_seconds\": %.6f, \"frames_in\": %" PRIu64
                      ", \"frames_out\": %" PRIu64 ", \"bad_frames_out\": %" PRIu64 "}\n",
                      end, int64_t{mailbox_.exit_code().value_or(0)}, cycle_, seconds(),
                      mii_sender_.frames(), mii_receiver_.frames(), mii_receiver_.bad_frames());
        RecordWriter summary(options_.summary);
        summary.bytes({reinterpret_cast<const uint8_t*>(text), std::strlen(text)});
        summary.close();
    }
    RecordWriter peeks(options_.peeks_path);
    for (const auto& [address, bytes] : options_.peeks) peeks.bytes(back_door_.read(address, bytes));
    peeks.close();
    for (RecordWriter* log : {&lines_log_, &uart_log_, &sent_log_, &retired_log_}) log->close();
    mailbox_.close();
    frame_outlet_.close();
    model_.close_trace();
}
