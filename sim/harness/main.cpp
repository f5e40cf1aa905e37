// The simulation of the SoC as a program: what goes in and what comes out are files, named on the
// command line; sim/run.py writes and reads them.
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "simulator.h"

int main(int argc, char** argv) {
    // Nobody waits for the results of a run whose caller was killed.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    // What it shows is shown at once.
    std::setvbuf(stdout, nullptr, _IONBF, 0);
    try {
        Simulator simulator(parse_options(argc, argv));
        const uint32_t end = simulator.run();
        simulator.write_results(end);
        return static_cast<int>(end);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return generated::run_end_error;
    }
}
