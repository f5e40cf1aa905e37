// What the core reaches over its bus: RAM regions, its own memories' second ports, a console page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// A RAM on the bus.
struct Region {
  uint32_t base;
  std::vector<uint8_t> bytes;

  bool contains(uint32_t address) const {
    return address >= base && address - base < bytes.size();
  }
};

// All RAM regions. Words are little-endian.
class Memory {
 public:
  // Adds `size` bytes of zeros at `base`; both multiples of 4.
  void add(uint32_t base, uint32_t size);
  // The region that holds `address`, or null.
  Region *find(uint32_t address);
  uint32_t read(const Region &region, uint32_t address) const;
  // Writes the bytes whose bit in `mask` is set.
  void write(Region &region, uint32_t address, uint32_t word, unsigned mask);
  const std::vector<Region> &regions() const { return regions_; }

 private:
  std::vector<Region> regions_;
};

// A loadable piece of a program.
struct Segment {
  uint32_t address;
  std::vector<uint8_t> bytes;
};

// A 32-bit little-endian ELF executable: what to load, and its symbols.
class Program {
 public:
  // Throws std::runtime_error naming the file if it is not such an executable.
  explicit Program(const std::string &path);

  const std::vector<Segment> &segments() const { return segments_; }
  // True, and `address` set, if the symbol exists.
  bool symbol(const std::string &name, uint32_t &address) const;

 private:
  std::vector<Segment> segments_;
  std::vector<std::pair<std::string, uint32_t>> symbols_;
};
