#include "memory.h"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

void Memory::add(uint32_t base, uint32_t size) {
  regions_.push_back({base, std::vector<uint8_t>(size)});
}

Region *Memory::find(uint32_t address) {
  for (Region &region : regions_)
    if (region.contains(address)) return &region;
  return nullptr;
}

uint32_t Memory::read(const Region &region, uint32_t address) const {
  uint32_t word;
  std::memcpy(&word, &region.bytes[address - region.base], sizeof word);
  return word;
}

void Memory::write(Region &region, uint32_t address, uint32_t word, unsigned mask) {
  for (unsigned lane = 0; lane < 4; lane++)
    if (mask >> lane & 1)
      region.bytes[address - region.base + lane] = static_cast<uint8_t>(word >> (8 * lane));
}

Program::Program(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  const std::vector<char> image{std::istreambuf_iterator<char>(file), {}};
  const auto bad = [&](const char *why) {
    return std::runtime_error(path + " is not an executable for this core: " + why);
  };
  Elf32_Ehdr header;
  if (image.size() < sizeof header) throw bad("too short");
  std::memcpy(&header, image.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) throw bad("no ELF header");
  if (header.e_ident[EI_CLASS] != ELFCLASS32 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    throw bad("not 32-bit little-endian");
  if (header.e_machine != EM_RISCV) throw bad("not RISC-V");
  // Copies `count` records at `offset`, checking that they lie in the file.
  const auto table = [&](auto record, size_t offset, size_t count) {
    std::vector<decltype(record)> records(count);
    const size_t size = count * sizeof record;
    if (offset > image.size() || size > image.size() - offset) throw bad("truncated");
    std::memcpy(records.data(), image.data() + offset, size);
    return records;
  };
  for (const auto &part : table(Elf32_Phdr{}, header.e_phoff, header.e_phnum)) {
    if (part.p_type != PT_LOAD || part.p_memsz == 0) continue;
    Segment segment{part.p_paddr, std::vector<uint8_t>(part.p_memsz)};
    const auto bytes = table(uint8_t{}, part.p_offset, part.p_filesz);
    if (bytes.size() > segment.bytes.size()) throw bad("segment larger than its memory");
    std::copy(bytes.begin(), bytes.end(), segment.bytes.begin());
    segments_.push_back(std::move(segment));
  }
  const auto sections = table(Elf32_Shdr{}, header.e_shoff, header.e_shnum);
  for (const auto &section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const auto &strings = sections[section.sh_link];
    const auto names = table(char{}, strings.sh_offset, strings.sh_size);
    const size_t count = section.sh_size / sizeof(Elf32_Sym);
    for (const auto &symbol : table(Elf32_Sym{}, section.sh_offset, count)) {
      if (symbol.st_name == 0 || symbol.st_name >= names.size()) continue;
      const char *name = &names[symbol.st_name];
      const size_t length = strnlen(name, names.size() - symbol.st_name);
      symbols_.emplace_back(std::string(name, length), symbol.st_value);
    }
  }
}

bool Program::symbol(const std::string &name, uint32_t &address) const {
  for (const auto &[symbol, value] : symbols_)
    if (symbol == name) {
      address = value;
      return true;
    }
  return false;
}
