// Runs a program on the Verilated core with its local memories, a bus with RAM, wait states and
// errors, and interrupt lines that rise at random.
#include <getopt.h>
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "bench.h"
#include "number.h"
#include "sweep.h"

namespace {

const char kUsage[] = R"(usage: core_bench [options] PROGRAM.elf
  --cycles N           give up after N cycles (10000000)
  --memory BASE:SIZE   RAM on the bus; may be repeated (0x0:0x10000 and 0x40000000:0x100000)
  --console BASE       page of the console and exit registers (0xf0000000)
  --tohost ADDRESS     host interface, host.h (the symbol tohost if there is one)
  --signature FILE     write the words from begin_signature to end_signature, a line each
  --result FILE        write how the program ended, as JSON
  --trace FILE         write a record of every retired instruction
  --events FILE        write a line for each change of lines or timers and each console mark
  --wait-states N      0 to N wait states a transfer, at random (0)
  --line-period N      raise one line every N cycles on average, at random (never)
  --timer-period N     raise a tier's timer every N cycles on average, at random (never)
  --line-calm N        both a sixteenth as often from cycle N on (never)
  --pulse N            lower them again after N cycles (when the program does)
  --seed N             of everything random (1)
  --wave FILE          write a VCD
  --mutation N         of a model with planted faults, the active one (none)
  --coverage FILE      write what was covered, as Verilator does
  --sweep FILE         instead: sweep.h, writes a line for each run
  --sweep-tiers A[,B]  the tiers that wait for line 0 and line 1
  --sweep-step N       cycles between single lines (1), 0: none
  --sweep-pairs N      cycles of the grid of pairs (0: none)
exit status: what the program wrote to the exit register or ended with through tohost, 0 for a pass,
and 123 for more than that; 124 after --cycles; 125 for what can't be.
Console page: +0 exit, +4 print a byte, +8 raise lines, +12 lower lines, +16 print a word,
+20 mark, +24 raise timers; reads give the cycle.
)";

// What is to be done.
struct Job {
    Bench::Options options;
    std::string program;
    std::string sweep_file;
    Sweep sweep;
};

// BASE:SIZE
std::pair<uint32_t, uint32_t> memory_of(const std::string& text) {
    const size_t colon = text.find(':');
    if (colon == std::string::npos)
        throw std::invalid_argument("memory must be BASE:SIZE, not " + text);
    const uint64_t base = number(text.substr(0, colon)), size = number(text.substr(colon + 1));
    constexpr uint64_t kEnd = 1ull << 32;
    if (base % 4 || size % 4 || base >= kEnd || size >= kEnd || base + size > kEnd)
        throw std::invalid_argument(
            "memory must be multiples of 4 below 2**32 and not go beyond, not " + text);
    return {static_cast<uint32_t>(base), static_cast<uint32_t>(size)};
}

Job parse(int argc, char** argv) {
    enum { kCycles = 1, kMemory, kConsole, kTohost, kSignature, kTrace, kEvents, kWait, kPeriod,
           kTimer, kCalm, kPulse, kSeed, kWave, kResult, kSweep, kSweepTiers,
           kSweepStep, kSweepPairs, kCoverage, kMutation, kHelp };
    const option known[] = {{"cycles", 1, nullptr, kCycles},
                            {"memory", 1, nullptr, kMemory},
                            {"console", 1, nullptr, kConsole},
                            {"tohost", 1, nullptr, kTohost},
                            {"signature", 1, nullptr, kSignature},
                            {"trace", 1, nullptr, kTrace},
                            {"events", 1, nullptr, kEvents},
                            {"wait-states", 1, nullptr, kWait},
                            {"line-period", 1, nullptr, kPeriod},
                            {"timer-period", 1, nullptr, kTimer},
                            {"line-calm", 1, nullptr, kCalm},
                            {"pulse", 1, nullptr, kPulse},
                            {"seed", 1, nullptr, kSeed},
                            {"wave", 1, nullptr, kWave},
                            {"result", 1, nullptr, kResult},
                            {"mutation", 1, nullptr, kMutation},
                            {"coverage", 1, nullptr, kCoverage},
                            {"sweep", 1, nullptr, kSweep},
                            {"sweep-tiers", 1, nullptr, kSweepTiers},
                            {"sweep-step", 1, nullptr, kSweepStep},
                            {"sweep-pairs", 1, nullptr, kSweepPairs},
                            {"help", 0, nullptr, kHelp},
                            {}};
    Job job;
    Bench::Options& options = job.options;
    for (int code; (code = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
        switch (code) {
            case kCycles: options.cycles = number(optarg); break;
            case kMemory: options.memories.push_back(memory_of(optarg)); break;
            case kConsole: options.console = word(optarg); break;
            case kTohost:
                options.has_tohost = true;
                options.tohost = word(optarg);
                break;
            case kSignature: options.signature = optarg; break;
            case kTrace: options.trace = optarg; break;
            case kEvents: options.events = optarg; break;
            case kWait: options.wait_states = word(optarg); break;
            case kPeriod: options.line_period = word(optarg); break;
            case kTimer: options.timer_period = word(optarg); break;
            case kCalm: options.line_calm = number(optarg); break;
            case kPulse: options.pulse = word(optarg); break;
            case kSeed: options.seed = number(optarg); break;
            case kWave: options.wave = optarg; break;
            case kResult: options.result = optarg; break;
            case kMutation: options.mutation = word(optarg); break;
            case kCoverage: options.coverage = optarg; break;
            case kSweep: job.sweep_file = optarg; break;
            case kSweepTiers: {
                const std::string text = optarg;
                const size_t comma = text.find(',');
                job.sweep.first_tier = word(text.substr(0, comma));
                if (comma != std::string::npos)
                    job.sweep.second_tier = word(text.substr(comma + 1));
                break;
            }
            case kSweepStep: job.sweep.single_step = word(optarg); break;
            case kSweepPairs: job.sweep.pair_step = word(optarg); break;
            case kHelp: std::cout << kUsage; std::exit(0);
            default: throw std::invalid_argument("see --help");
        }
    }
    if (optind != argc - 1) throw std::invalid_argument("one program expected; see --help");
    job.program = argv[optind];
    if (options.memories.empty()) options.memories = {{0x0, 0x10000}, {0x40000000, 0x100000}};
    return job;
}

}  // namespace

int main(int argc, char** argv) {
    // Nobody waits for the results of a run whose caller was killed.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    try {
        const Job job = parse(argc, argv);
        const Program program(job.program);
        if (job.sweep_file.empty()) return Bench(job.options).run(program);
        TextFile file(job.sweep_file);
        job.sweep.run(job.options, program, file);
        file.close();
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "core_bench: " << error.what() << "\n";
        return 125;
    }
}
