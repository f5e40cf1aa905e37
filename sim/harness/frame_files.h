// Frames from and to files: stimulus, log and pcap.
#pragma once

#include <string>

#include "files.h"
#include "frames.h"

// Frames of a stimulus file.
class FrameFile : public FrameSource {
  public:
    explicit FrameFile(RecordReader reader) : reader_(std::move(reader)) {}

    bool next(Frame& frame) override;
    int64_t not_before() const override { return finished() ? INT64_MAX : 0; }
    bool finished() const override { return reader_.at_end(); }

  private:
    RecordReader reader_;
};

// Capture file with nanosecond stamps (pcap 2.4, magic 0xa1b23c4d, link type Ethernet).
class PcapWriter {
  public:
    explicit PcapWriter(const std::string& path);
    void frame(uint64_t cycle, std::span<const uint8_t> bytes);
    void flush() { file_.flush(); }
    void close() { file_.close(); }

  private:
    RecordWriter file_;
};

// Logs what the SoC sends, and writes it to a pcap.
class FrameLog : public FrameSink {
  public:
    FrameLog(const std::string& log_path, const std::string& pcap_path)
        : log_(log_path), pcap_(pcap_path) {}
    void frame(const generated::FrameOut& header, std::span<const uint8_t> bytes) override;
    void close();

  private:
    RecordWriter log_;
    PcapWriter pcap_;
};
