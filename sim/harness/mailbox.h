// What firmware writes to the mailbox: the log, and the entries that the harness acts on.
#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "files.h"
#include "lines.h"

class Mailbox {
  public:
    // Shows the debug text on `shown`, if there is one.
    Mailbox(const std::string& log_path, Lines& lines, std::FILE* shown)
        : log_(log_path), lines_(lines), shown_(shown) {}

    void write(int64_t cycle, uint32_t offset, uint32_t data);
    void close() { log_.close(); }

    // The value that firmware ended the run with.
    std::optional<uint32_t> exit_code() const { return exit_code_; }

  private:
    RecordWriter log_;
    Lines& lines_;
    std::FILE* shown_;
    std::optional<uint32_t> exit_code_;
};
