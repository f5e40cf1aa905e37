// The command line of the harness.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "lines.h"
#include "uart_receiver.h"

struct Options {
    struct Peek {
        uint32_t address, bytes;
    };
    struct UartText {
        uint32_t port;
        std::string text;
    };

    // Inputs.
    std::vector<std::string> images;
    std::string frames, uart, lines;
    std::vector<RandomLine> random_lines;
    uint64_t mii_hz = generated::eth_clock_hz;
    std::vector<UartFormat> uart_formats;
    // Ports that share a wire, as masks.
    std::vector<uint32_t> wires;

    // Outputs.
    std::vector<Peek> peeks;
    std::string peeks_path, frames_out, frames_sent, pcap, uart_out, lines_out, mailbox_out,
        summary, wave;
    std::string retired_out;
    // Cycles for which instructions are logged after an external line has risen.
    int64_t watch_cycles = 0;
    int64_t wave_from = 0, wave_to = INT64_MAX;
    bool show_text = false, progress = false;

    // Ends.
    int64_t cycles = INT64_MAX;
    uint64_t stop_frames = UINT64_MAX;
    std::optional<UartText> stop_text;
    // Cycles to go on after the last stimulus.
    std::optional<int64_t> stop_after;

    // Interactive use.
    bool console = false;
    // Where text and progress go: not to a terminal's own stream, nor to that of errors.
    std::FILE* shown() const { return console ? stderr : stdout; }
    // Of the console: Ctrl-] is a character as any other.
    bool any_character = false;
    int network_fd = -1;
    // TCP port of the debugger; 0 for a free one.
    std::optional<uint16_t> jtag_port;
};

// Throws for an option that does not exist or whose value can't be read.
Options parse_options(int argc, char** argv);
std::string usage();

// A serial bit in 1/256 cycles.
uint32_t bit_q8(uint64_t baud);
