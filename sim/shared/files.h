// Binary files of records, as sim/records.py describes them, and files of text.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// A file that is read as a whole, record by record.
class RecordReader {
  public:
    RecordReader() = default;
    explicit RecordReader(const std::string& path) : path_(path) {
        std::FILE* file = std::fopen(path.c_str(), "rb");
        if (!file) throw std::runtime_error("cannot read " + path);
        uint8_t block[65536];
        while (size_t count = std::fread(block, 1, sizeof block, file)) {
            bytes_.insert(bytes_.end(), block, block + count);
        }
        std::fclose(file);
    }

    bool at_end() const { return position_ == bytes_.size(); }

    template <typename Record> Record record() {
        Record value;
        std::memcpy(&value, take(sizeof value).data(), sizeof value);
        return value;
    }

    std::span<const uint8_t> take(size_t count) {
        if (bytes_.size() - position_ < count) {
            throw std::runtime_error(path_ + " ends within a record");
        }
        position_ += count;
        return {bytes_.data() + position_ - count, count};
    }

  private:
    std::string path_;
    std::vector<uint8_t> bytes_;
    size_t position_ = 0;
};

// A file that is written record by record; without a path, nowhere. What could not be written is
// sure to be told of by close() only.
class RecordWriter {
  public:
    explicit RecordWriter(const std::string& path) : path_(path) {
        if (path.empty()) return;
        file_ = std::fopen(path.c_str(), "wb");
        check(file_);
    }
    ~RecordWriter() {
        if (file_) std::fclose(file_);
    }
    RecordWriter(const RecordWriter&) = delete;
    RecordWriter& operator=(const RecordWriter&) = delete;

    template <typename Record> void record(const Record& value) {
        bytes({reinterpret_cast<const uint8_t*>(&value), sizeof value});
    }

    void bytes(std::span<const uint8_t> data) {
        if (file_) check(std::fwrite(data.data(), 1, data.size(), file_) == data.size());
    }

    void flush() {
        if (file_) check(std::fflush(file_) == 0);
    }

    void close() {
        if (file_) check(std::fclose(std::exchange(file_, nullptr)) == 0);
    }

  private:
    std::string path_;
    std::FILE* file_ = nullptr;

    void check(bool good) const {
        if (!good) throw std::runtime_error("cannot write " + path_ + ": " + std::strerror(errno));
    }
};

// A text that is written to a file by close(); without a path, nowhere.
class TextFile : public std::ostringstream {
  public:
    explicit TextFile(const std::string& path) : file_(path) {}

    void close() {
        const std::string text = str();
        file_.bytes({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
        file_.close();
    }

  private:
    RecordWriter file_;
};
