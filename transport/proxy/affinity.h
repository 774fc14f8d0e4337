// affinity.h: which cores the workers of a proxy run on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transport/result.h"

namespace ringpost::proxy {

// kNicNuma: any core of the NUMA node that `device` (/sys/class/infiniband) is at; where that is
// not known, as kInherit: those that the thread which starts the workers may use. kCores: the
// workers take `cores` in turn, one core each.
struct Affinity {
  enum class Kind : uint8_t { kNicNuma, kInherit, kCores };
  Kind kind = Kind::kInherit;
  std::vector<uint32_t> cores;
  std::string device;
};

// For each worker the cores that it may use; none: as it starts. One line if a core of `cores` is
// not there, or not ours.
Result<std::vector<std::vector<uint32_t>>> CoresOf(const Affinity& affinity, uint32_t workers);

// "0-3,8" as numbers; what is no such list: none.
std::vector<uint32_t> CoresIn(const std::string& list);

// Of the calling thread alone. Empty, or why not.
std::string PinThisThread(const std::vector<uint32_t>& cores);

}  // namespace ringpost::proxy
