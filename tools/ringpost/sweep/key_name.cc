#include "tools/ringpost/sweep/key_name.h"

#include <algorithm>

#include "configs/schema/schema.h"

namespace ringpost::tools {
namespace {

bool EndsWithWords(const std::string& path, const std::string& end) {
  return path == end || path.ends_with("." + end);
}

}  // namespace

std::string ShortName(const std::string& path) {
  const auto& keys = config::Keys();
  for (size_t dot = path.rfind('.'); dot != std::string::npos && dot > 0;
       dot = path.rfind('.', dot - 1)) {
    const std::string end = path.substr(dot + 1);
    const auto count = std::count_if(keys.begin(), keys.end(), [&end](const auto& key) {
      return EndsWithWords(key.info.path, end);
    });
    if (count == 1) return end;
  }
  return path;
}

}  // namespace ringpost::tools
