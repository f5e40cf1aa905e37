// Runs a program on a Verilated core in the memory that suits it, and writes down what happens.
#include <getopt.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

#include "core.h"
#include "files.h"
#include "number.h"
#include "port.h"
#include "trace_record.h"

namespace {

const char kUsage[] = R"(usage: core_run [options] PROGRAM.elf
  --cycles N           give up after N cycles (10000000)
  --ram-cycles N       an access to RAM over a bus takes N cycles (1)
  --device-cycles N    an access to the bench's page takes N cycles (1)
  --shared             instructions and data share one bus
  --events FILE        write a line "KIND CYCLE INSTRUCTIONS A B" for each rise (A: the line), each
                       store to the bench's page (offset, value) when it is first on the port and
                       when it is done, each rise that came too soon
  --address A --words N  write there, at the end, N words of data (0) from A on (address, value)
  --trace FILE         write a record of every retired instruction (sim/cores/model.py)
  --line N --first CYCLE --count N --shortest N --longest N --pulse N --seed N
                       line N rises COUNT times (0), SHORTEST to LONGEST cycles apart at random,
                       and falls after PULSE cycles (0: when the program lowers it)
exit status: what the program wrote to the exit register, and 123 for more than that; 124 after
--cycles; 125 for a mistake.
)";

struct Options {
    uint64_t cycles = 10'000'000;
    BusCycles bus;
    std::string events, trace, program;
    uint32_t address = 0, words = 0;
    RiseSchedule schedule;
};

unsigned cycles_of(const char* text) {
    const uint64_t value = number(text);
    if (value < 1 || value > 1000)
        throw std::invalid_argument(std::string("an access takes 1 to 1000 cycles, not ") + text);
    return static_cast<unsigned>(value);
}

Options parse(int argc, char** argv) {
    enum { kCycles = 1, kRam, kDevice, kShared, kEvents, kTrace, kLine, kFirst, kCount, kShortest,
           kLongest, kPulse, kSeed, kAddress, kWords, kHelp };
    const option known[] = {{"cycles", 1, nullptr, kCycles},     {"ram-cycles", 1, nullptr, kRam},
                            {"device-cycles", 1, nullptr, kDevice}, {"shared", 0, nullptr, kShared},
                            {"events", 1, nullptr, kEvents},     {"trace", 1, nullptr, kTrace},
                            {"line", 1, nullptr, kLine},         {"first", 1, nullptr, kFirst},
                            {"count", 1, nullptr, kCount},       {"shortest", 1, nullptr, kShortest},
                            {"longest", 1, nullptr, kLongest},   {"pulse", 1, nullptr, kPulse},
                            {"seed", 1, nullptr, kSeed},         {"address", 1, nullptr, kAddress},
                            {"words", 1, nullptr, kWords},       {"help", 0, nullptr, kHelp},
                            {}};
    Options options;
    RiseSchedule& rises = options.schedule;
    for (int code; (code = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
        switch (code) {
            case kCycles: options.cycles = number(optarg); break;
            case kRam: options.bus.ram = cycles_of(optarg); break;
            case kDevice: options.bus.device = cycles_of(optarg); break;
            case kShared: options.bus.shared = true; break;
            case kEvents: options.events = optarg; break;
            case kTrace: options.trace = optarg; break;
            case kLine: rises.line = word(optarg); break;
            case kFirst: rises.first = number(optarg); break;
            case kCount: rises.count = number(optarg); break;
            case kShortest: rises.shortest = number(optarg); break;
            case kLongest: rises.longest = number(optarg); break;
            case kPulse: rises.pulse = number(optarg); break;
            case kSeed: rises.seed = number(optarg); break;
            case kAddress: options.address = word(optarg); break;
            case kWords: options.words = word(optarg); break;
            case kHelp: std::cout << kUsage; std::exit(0);
            default: throw std::invalid_argument("see --help");
        }
    }
    if (optind != argc - 1) throw std::invalid_argument("one program expected; see --help");
    options.program = argv[optind];
    if (rises.line > 31) throw std::invalid_argument("there are lines 0 to 31");
    if (rises.shortest < 1 || rises.longest < rises.shortest)
        throw std::invalid_argument("--shortest must be 1 to --longest");
    if (options.address % 4) throw std::invalid_argument("--address must be a multiple of 4");
    const uint64_t end = options.address + 4 * uint64_t(options.words);
    if (options.words && (options.address < DMEM_BASE || end > uint64_t(DMEM_BASE) + DMEM_BYTES))
        throw std::invalid_argument("the words that are wanted are not in data memory");
    return options;
}

std::string place(const Segment& segment) {
    char text[64];
    std::snprintf(text, sizeof text, "a part of 0x%zx bytes at 0x%08x", segment.bytes.size(),
                  segment.address);
    return text;
}

void load(Memory& memory, const Program& program) {
    memory.add(IMEM_BASE, IMEM_BYTES);
    memory.add(DMEM_BASE, DMEM_BYTES);
    for (const Segment& segment : program.segments()) {
        Region* region = memory.find(segment.address);
        if (!region || region->bytes.size() - (segment.address - region->base) < segment.bytes.size())
            throw std::runtime_error(place(segment) + " of the program is where no memory is");
        std::copy(segment.bytes.begin(), segment.bytes.end(),
                  region->bytes.begin() + (segment.address - region->base));
    }
}

int run(const Options& options) {
    const Program program(options.program);
    Memory memory;
    load(memory, program);
    TextFile events(options.events);
    RecordWriter trace(options.trace);
    Device device(options.schedule, events);
    const std::unique_ptr<Core> core = make_core(memory, device, options.bus);
    core->start(program);
    uint64_t cycle = 0, instructions = 0;
    for (; !device.ended() && cycle < options.cycles; cycle++) {
        device.advance(cycle, instructions);
        Retired retired;
        if (core->settle(device.lines(), retired)) {
            instructions++;
            TraceRecord record{};
            record.cycle = static_cast<uint32_t>(cycle);
            record.pc = retired.pc;
            record.tier = static_cast<uint16_t>(retired.tier);
            record.age = static_cast<uint16_t>(retired.age < 0xffff ? retired.age : 0xffff);
            trace.record(record);
        }
        core->clock();
    }
    for (uint32_t index = 0; index < options.words; index++) {
        const uint32_t address = options.address + 4 * index;
        events << "word " << cycle << ' ' << instructions << ' ' << address << ' '
               << core->peek(memory, address) << '\n';
    }
    if (std::fflush(stdout) || std::ferror(stdout))
        throw std::runtime_error("cannot write what the program prints");
    events.close();
    trace.close();
    return device.ended() ? device.status() : 124;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(parse(argc, argv));
    } catch (const std::exception& error) {
        std::cerr << "core_run: " << error.what() << "\n";
        return 125;
    }
}
