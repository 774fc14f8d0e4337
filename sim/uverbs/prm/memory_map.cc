#include "sim/uverbs/prm/memory_map.h"

#include <cinttypes>
#include <cstdio>
#include <memory>

namespace ringpost::sim::uverbs::prm {

bool IsMapped(uint64_t address, uint64_t bytes, bool writable) {
  const uint64_t end = address + bytes;
  if (bytes == 0 || end < address) return false;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"),
                                                             std::fclose);
  if (maps == nullptr) return false;
  // Lines are sorted: "begin-end rwxp ..."; what a line has beyond the buffer begins no number.
  char line[512];
  uint64_t covered = address;
  while (covered < end && std::fgets(line, sizeof(line), maps.get()) != nullptr) {
    uint64_t first = 0, last = 0;
    char rights[5] = {};
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &first, &last, rights) != 3) continue;
    if (last <= covered) continue;
    if (first > covered || rights[0] != 'r' || (writable && rights[1] != 'w')) return false;
    covered = last;
  }
  return covered >= end;
}

}  // namespace ringpost::sim::uverbs::prm
