#include "frame_files.h"

namespace {

struct PcapHeader {
    uint32_t magic = 0xA1B23C4D;
    uint16_t version_major = 2;
    uint16_t version_minor = 4;
    int32_t zone = 0;
    uint32_t accuracy = 0;
    uint32_t snapshot_bytes = 65535;
    uint32_t link_type = 1;
};

struct PcapRecord {
    uint32_t seconds;
    uint32_t nanoseconds;
    uint32_t stored_bytes;
    uint32_t wire_bytes;
};

}  // namespace

bool FrameFile::next(Frame& frame) {
    if (reader_.at_end()) return false;
    frame.header = reader_.record<generated::FrameIn>();
    const auto bytes = reader_.take(frame.header.length);
    frame.bytes.assign(bytes.begin(), bytes.end());
    return true;
}

PcapWriter::PcapWriter(const std::string& path) : file_(path) { file_.record(PcapHeader{}); }

void PcapWriter::frame(uint64_t cycle, std::span<const uint8_t> bytes) {
    const uint64_t seconds = cycle / generated::sys_clk_hz;
    const uint64_t rest = cycle % generated::sys_clk_hz;
    const auto length = static_cast<uint32_t>(bytes.size());
    file_.record(PcapRecord{static_cast<uint32_t>(seconds),
                            static_cast<uint32_t>(rest * 1'000'000'000 / generated::sys_clk_hz),
                            length, length});
    file_.bytes(bytes);
}

void FrameLog::frame(const generated::FrameOut& header, std::span<const uint8_t> bytes) {
    log_.record(header);
    log_.bytes(bytes);
    pcap_.frame(header.cycle, bytes);
    // A capture is often watched while it grows, and a run may be interrupted.
    pcap_.flush();
}

void FrameLog::close() {
    log_.close();
    pcap_.close();
}
