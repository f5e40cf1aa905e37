#include "options.h"

#include <functional>
#include <map>
#include <stdexcept>

#include "number.h"

namespace {

using generated::sys_clk_hz;

int64_t cycles(const std::string& text) {
    return static_cast<int64_t>(number_of_bits(63, text));
}

int file_descriptor(const std::string& text) {
    return static_cast<int>(number_of_bits(31, text));
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    size_t start = 0;
    for (size_t end; (end = text.find(separator, start)) != std::string::npos; start = end + 1) {
        parts.push_back(text.substr(start, end - start));
    }
    parts.push_back(text.substr(start));
    return parts;
}

std::vector<std::string> split_into(size_t count, const std::string& text) {
    const auto parts = split(text, ',');
    if (parts.size() != count) {
        throw std::runtime_error(std::to_string(count) + " numbers must be given, not '" + text +
                                 "'");
    }
    return parts;
}

// PORT:BAUD[:DATA_BITS[:N|E|O]]
void set_uart_format(std::vector<UartFormat>& formats, const std::string& text) {
    const auto parts = split(text, ':');
    if (parts.size() < 2 || parts.size() > 4) {
        throw std::runtime_error("PORT:BAUD[:BITS[:N|E|O]] must be given, not '" + text + "'");
    }
    const uint64_t port = number(parts[0]);
    if (port >= formats.size()) throw std::runtime_error("no serial port " + parts[0]);
    UartFormat format{bit_q8(number(parts[1]))};
    if (parts.size() > 2) format.data_bits = word(parts[2]);
    if (format.data_bits < 5 || format.data_bits > 9) {
        throw std::runtime_error("data bits must be from 5 to 9, not " + parts[2]);
    }
    if (parts.size() > 3) {
        const std::map<std::string, Parity> parities{
            {"N", Parity::none}, {"E", Parity::even}, {"O", Parity::odd}};
        const auto found = parities.find(parts[3]);
        if (found == parities.end()) {
            throw std::runtime_error("parity must be N, E or O, not " + parts[3]);
        }
        format.parity = found->second;
    }
    formats[port] = format;
}

uint32_t ports_mask(const std::string& text) {
    uint32_t mask = 0;
    for (const std::string& part : split(text, ',')) {
        const uint64_t port = number(part);
        if (port >= generated::uarts) throw std::runtime_error("no serial port " + part);
        mask |= 1u << port;
    }
    return mask;
}

RandomLine random_line(const std::string& text) {
    const auto v = split_into(7, text);
    return {word(v[0]),   word(v[1]),   word(v[2]),  word(v[3]),
            number(v[4]), cycles(v[5]), number(v[6])};
}

#if HARNESS_DEBUG
uint16_t tcp_port(const std::string& text) {
    const uint64_t port = number(text);
    if (port > 65535) throw std::runtime_error("a port must be from 0 to 65535, not " + text);
    return static_cast<uint16_t>(port);
}
#endif

struct Option {
    std::string value;
    std::string help;
    std::function<void(Options&, const std::string&)> set;
};

const std::map<std::string, Option>& table() {
    using O = Options;
    using S = const std::string&;
    static const std::map<std::string, Option> options{
        {"--image", {"FILE", "load segments", [](O& o, S v) { o.images.push_back(v); }}},
        {"--peek", {"ADDRESS,BYTES", "read memory after the run", [](O& o, S v) {
             const auto n = split_into(2, v);
             o.peeks.push_back({word(n[0]), word(n[1])});
         }}},
        {"--peeks-out", {"FILE", "what was read, in order", [](O& o, S v) { o.peeks_path = v; }}},
        {"--frames", {"FILE", "frames for the SoC", [](O& o, S v) { o.frames = v; }}},
        {"--frames-out", {"FILE", "frames from the SoC", [](O& o, S v) { o.frames_out = v; }}},
        {"--frames-sent", {"FILE", "when frames began", [](O& o, S v) { o.frames_sent = v; }}},
        {"--pcap", {"FILE", "frames from the SoC as pcap", [](O& o, S v) { o.pcap = v; }}},
        {"--mii-hz", {"HZ", "rate of the clocks of MII or GMII", [](O& o, S v) { o.mii_hz = number(v); }}},
        {"--uart", {"FILE", "characters for the SoC", [](O& o, S v) { o.uart = v; }}},
        {"--uart-out", {"FILE", "characters from the SoC", [](O& o, S v) { o.uart_out = v; }}},
        {"--uart-format", {"PORT:BAUD[:BITS[:N|E|O]]", "how characters from the SoC are read",
                           [](O& o, S v) { set_uart_format(o.uart_formats, v); }}},
        {"--wire", {"PORT,...", "serial ports that share a wire: low if one of them is",
                    [](O& o, S v) { o.wires.push_back(ports_mask(v)); }}},
        {"--lines", {"FILE", "levels of the external lines", [](O& o, S v) { o.lines = v; }}},
        {"--lines-out", {"FILE", "changes of the lines", [](O& o, S v) { o.lines_out = v; }}},
        {"--random-line", {"LINE,MIN,MAX,HOLD,SEED,START,COUNT", "raise a line at random",
                           [](O& o, S v) { o.random_lines.push_back(random_line(v)); }}},
        {"--retired-out", {"FILE", "instructions after a rise of an external line",
                           [](O& o, S v) { o.retired_out = v; }}},
        {"--watch-cycles", {"N", "for so many cycles each time",
                            [](O& o, S v) { o.watch_cycles = cycles(v); }}},
        {"--mailbox-out", {"FILE", "writes to the mailbox", [](O& o, S v) { o.mailbox_out = v; }}},
        {"--summary", {"FILE", "how the run ended, as JSON", [](O& o, S v) { o.summary = v; }}},
        {"--wave", {"FILE", "waveform", [](O& o, S v) { o.wave = v; }}},
        {"--wave-from", {"CYCLE", "first cycle in it",
                         [](O& o, S v) { o.wave_from = cycles(v); }}},
        {"--wave-to", {"CYCLE", "cycle after the last in it",
                       [](O& o, S v) { o.wave_to = cycles(v); }}},
        {"--text", {"", "show the mailbox's text", [](O& o, S) { o.show_text = true; }}},
        {"--progress", {"", "show how far it is", [](O& o, S) { o.progress = true; }}},
        {"--cycles", {"N", "end, with an error, after N cycles",
                      [](O& o, S v) { o.cycles = cycles(v); }}},
        {"--stop-frames", {"N", "end after N frames from the SoC",
                           [](O& o, S v) { o.stop_frames = number(v); }}},
        {"--stop-after", {"N", "end N cycles after the last stimulus",
                          [](O& o, S v) { o.stop_after = cycles(v); }}},
        {"--stop-text", {"PORT:TEXT", "end when a serial port has sent the text", [](O& o, S v) {
             const size_t colon = v.find(':');
             if (colon == std::string::npos) throw std::runtime_error("PORT:TEXT must be given");
             const uint32_t port = word(v.substr(0, colon));
             if (port >= generated::uarts) {
                 throw std::runtime_error("no serial port " + std::to_string(port));
             }
             o.stop_text = {port, v.substr(colon + 1)};
         }}},
        {"--console", {"", "serial port 0 on the terminal", [](O& o, S) { o.console = true; }}},
        {"--any-character", {"", "Ctrl-] on it does not end the simulation",
                             [](O& o, S) { o.any_character = true; }}},
#if HARNESS_DEBUG
        {"--jtag-port", {"PORT", "JTAG for OpenOCD's remote_bitbang; 0: a free port",
                         [](O& o, S v) { o.jtag_port = tcp_port(v); }}},
#endif
        {"--network-fd", {"N", "TAP device or datagram socket",
                          [](O& o, S v) { o.network_fd = file_descriptor(v); }}},
    };
    return options;
}

}  // namespace

uint32_t bit_q8(uint64_t baud) {
    if (baud == 0 || baud > sys_clk_hz / 4) {
        throw std::runtime_error("baud must be from 1 to " + std::to_string(sys_clk_hz / 4) +
                                 ", not " + std::to_string(baud));
    }
    const uint64_t bit = (uint64_t{sys_clk_hz} * 256 + baud / 2) / baud;
    if (bit > UINT32_MAX) {
        throw std::runtime_error("a bit must take less than 2**24 cycles, which at " +
                                 std::to_string(baud) + " baud it does not");
    }
    return static_cast<uint32_t>(bit);
}

Options parse_options(int argc, char** argv) {
    Options options;
    options.uart_formats.assign(generated::uarts, UartFormat{bit_q8(generated::uart_baud)});
    for (int i = 1; i < argc; i++) {
        const auto found = table().find(argv[i]);
        if (found == table().end()) {
            throw std::runtime_error(std::string("no option ") + argv[i] + "; there are:\n" +
                                     usage());
        }
        const bool has_value = !found->second.value.empty();
        if (has_value && i + 1 == argc) {
            throw std::runtime_error(found->first + " needs " + found->second.value);
        }
        try {
            found->second.set(options, has_value ? argv[++i] : "");
        } catch (const std::exception& error) {
            throw std::runtime_error(found->first + ": " + error.what());
        }
    }
    if (options.mii_hz == 0 || options.mii_hz > uint64_t{sys_clk_hz} * 8) {
        throw std::runtime_error("--mii-hz must be from 1 to 8 times the system clock, not " +
                                 std::to_string(options.mii_hz));
    }
    return options;
}

std::string usage() {
    std::string text;
    for (const auto& [name, option] : table()) {
        text += "  " + name + " " + option.value + "  " + option.help + "\n";
    }
    return text;
}
