// platform_text.h: platform files that differ from one of configs/platforms, and what is said of
// them.
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>

#include "configs/schema/config_error.h"
#include "configs/schema/platform_loader.h"
#include "configs/schema/root.h"
#include "configs/schema/yaml_file.h"
#include "tests/configs/scratch.h"

namespace ringpost::config {

// P-IB with one piece of its text replaced.
inline std::string Changed(const std::string& from, const std::string& to) {
  std::string text = ReadText(PlatformPath("p_ib"));
  const size_t at = text.find(from);
  BOOST_TEST_REQUIRE(at != std::string::npos, "no '" << from << "' in p_ib.yaml");
  return text.replace(at, from.size(), to);
}

// What is said about a platform, without file, line and column; empty when it loads.
inline std::string ErrorOf(const std::string& text) {
  const std::string path = WriteScratch("p.yaml", text);
  try {
    LoadPlatformFile(path);
  } catch (const ConfigError& error) {
    const std::string line = std::string(error.what()).substr(path.size());
    return line.substr(line.find(": ") + 2);
  }
  return "";
}

// A platform whose base is P-H100, which has P-IB as its base.
inline std::string OverH100(const std::string& text) { return ErrorOf("base: p_h100\n" + text); }

inline constexpr char kTimeForm[] =
    "give {value: 369 ns, provenance: ..., source: ...} or {cycles: 120, time: 40 ns, ...}";

}  // namespace ringpost::config
