#include "configs/schema/config_hash.h"

#include <fmt/format.h>

#include "configs/schema/loader.h"
#include "configs/schema/platform_loader.h"

namespace ringpost::config {

uint64_t HashOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV's offset basis and prime
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string ConfigHash(const Effective& effective, const sim::Platform& platform) {
  return fmt::format("{:016x}", HashOf(CanonicalText(effective) + CanonicalText(platform)));
}

}  // namespace ringpost::config
