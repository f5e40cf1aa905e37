// Waveform files of models that were built for them. Verilator's own end the program when they can't
// be written, or say nothing.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#if VM_TRACE_FST
#include "verilated_fst_c.h"
#elif VM_TRACE
#include "verilated_vcd_c.h"
#endif

#if VM_TRACE_FST

class Waveform {
  public:
    template <typename Top> Waveform(Top& top, const std::string& path) : path_(path) {
        top.trace(&file_, 99);
        file_.open(path.c_str());
    }

    void dump(uint64_t time) { file_.dump(time); }

    // Throws unless all has been written, or ends the program where Verilator would abort it.
    void close() {
        const auto before = std::signal(SIGABRT, [](int) {
            std::fputs("error: cannot write all of the waveform\n", stderr);
            std::_Exit(EXIT_FAILURE);
        });
        file_.close();
        std::signal(SIGABRT, before);
        // The header, with its length, is written last, and not behind anything that failed.
        unsigned char header[9] = {};
        std::FILE* file = std::fopen(path_.c_str(), "rb");
        const bool is_there = file && std::fread(header, sizeof header, 1, file) == 1;
        if (file) std::fclose(file);
        if (!is_there || header[8] == 0) throw std::runtime_error("cannot write all of " + path_);
    }

  private:
    std::string path_;
    VerilatedFstC file_;
};

#elif VM_TRACE

class Waveform {
  public:
    template <typename Top> Waveform(Top& top, const std::string& path) : path_(path) {
        top.trace(&writer_, 99);
        errno = 0;
        writer_.open(path.c_str());
        if (!writer_.isOpen()) file_.error = errno;
        check();
    }

    void dump(uint64_t time) {
        writer_.dump(time);
        check();
    }

    // Throws unless all has been written.
    void close() {
        writer_.close();
        check();
    }

  private:
    struct File : VerilatedVcdFile {
        int error = 0;

        ssize_t write(const char* data, ssize_t bytes) override {
            const ssize_t written = VerilatedVcdFile::write(data, bytes);
            if (written >= 0 || errno == EAGAIN || errno == EINTR) return written;
            error = errno;
            return bytes;
        }
    };

    std::string path_;
    File file_;
    VerilatedVcdC writer_{&file_};

    void check() const {
        if (file_.error)
            throw std::runtime_error("cannot write " + path_ + ": " + std::strerror(file_.error));
    }
};

#else

class Waveform {
  public:
    template <typename Top> Waveform(Top&, const std::string&) {
        throw std::runtime_error("this model was built without waveforms");
    }
    void dump(uint64_t) {}
    void close() {}
};

#endif
