// The SoC and everything around it, cycle by cycle.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "frame_files.h"
#include "live.h"
#include "mailbox.h"
#include "memory.h"
#include "mii_receiver.h"
#include "mii_sender.h"
#include "model.h"
#include "options.h"
#include "remote_bitbang.h"

class Simulator {
  public:
    explicit Simulator(const Options& options);

    // Runs to the end and returns why it ended.
    uint32_t run();
    // Finishes all files. Throws if one of them could not be written.
    void write_results(uint32_t end);

  private:
    // Logs the frames of the SoC and passes them on to the network, if there is one.
    class FrameOutlet : public FrameSink {
      public:
        FrameOutlet(const Options& options, LiveNetwork* network)
            : log_(options.frames_out, options.pcap), network_(network) {}
        void frame(const generated::FrameOut& header, std::span<const uint8_t> bytes) override;
        void close() { log_.close(); }

      private:
        FrameLog log_;
        LiveNetwork* network_;
    };

    Options options_;
    Model model_;
    const Vsim& pins_;
    BackDoor back_door_;

    RecordWriter lines_log_;
    RecordWriter uart_log_;
    RecordWriter sent_log_;
    RecordWriter retired_log_;
    Wires wires_;
    UartSender uart_sender_;
    UartReceiver uart_receiver_;
    Lines lines_;
    Mailbox mailbox_;
    Agenda agenda_;
    std::unique_ptr<LiveNetwork> network_;
    std::unique_ptr<FrameSource> frame_source_;
    FrameOutlet frame_outlet_;
    MiiSender mii_sender_;
    MiiReceiver mii_receiver_;
    std::optional<Console> console_;
#if HARNESS_DEBUG
    std::optional<RemoteBitbang> jtag_;
#endif

    int64_t cycle_;
    // Instructions are logged in cycles before this one.
    int64_t watch_until_ = 0;
    // Why the run ends, once it is known.
    std::optional<uint32_t> end_;
    uint32_t uart_levels_;
    // Rising MII edges are where this passes the frequency of the system clock.
    uint64_t mii_phase_ = 0;
    std::string recent_text_;
    int64_t quiet_since_ = never;
    std::chrono::steady_clock::time_point started_, shown_;

    FrameSource& frame_source();
    void load();
    void reset();
    void step();
    void rise();
    void look_at_pins();
    void watch();
    void take_character(const generated::UartOut& character);
    void housekeeping();
    void check_quiet();
    void show_progress();
    double seconds() const;
};
