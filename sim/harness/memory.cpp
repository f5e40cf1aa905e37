#include "memory.h"

#include <cinttypes>
#include <cstdio>

#include "files.h"

BackDoorMemory& BackDoor::find(uint32_t address, size_t length) {
    for (BackDoorMemory& memory : memories_) {
        if (address < memory.origin || address - memory.origin >= memory.bytes) continue;
        if (length > memory.bytes - (address - memory.origin)) {
            char text[128];
            std::snprintf(text, sizeof text,
                          "%zu bytes at 0x%08" PRIx32 " do not fit in %s, which ends at 0x%08" PRIx32,
                          length, address, memory.name.c_str(), memory.origin + memory.bytes);
            throw std::runtime_error(text);
        }
        return memory;
    }
    char text[64];
    std::snprintf(text, sizeof text, "no memory at 0x%08" PRIx32, address);
    throw std::runtime_error(text);
}

void BackDoor::write(uint32_t address, std::span<const uint8_t> data) {
    BackDoorMemory& memory = find(address, data.size());
    for (const uint8_t byte : data) memory.at(address++ - memory.origin) = byte;
}

std::vector<uint8_t> BackDoor::read(uint32_t address, uint32_t length) {
    BackDoorMemory& memory = find(address, length);
    std::vector<uint8_t> data(length);
    for (uint8_t& byte : data) byte = memory.at(address++ - memory.origin);
    return data;
}

void BackDoor::load(const std::string& path) {
    RecordReader image(path);
    while (!image.at_end()) {
        const auto segment = image.record<generated::Segment>();
        write(segment.address, image.take(segment.length));
    }
}
