// The back door: bytes of the SoC's memories by address, without the bus.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model.h"

class BackDoor {
  public:
    explicit BackDoor(std::vector<BackDoorMemory> memories) : memories_(std::move(memories)) {}

    // Each throws and names the address if a byte is in no memory.
    void write(uint32_t address, std::span<const uint8_t> data);
    std::vector<uint8_t> read(uint32_t address, uint32_t length);

    // Writes the segments of an image file.
    void load(const std::string& path);

  private:
    std::vector<BackDoorMemory> memories_;

    // The memory that has all the bytes.
    BackDoorMemory& find(uint32_t address, size_t length);
};
