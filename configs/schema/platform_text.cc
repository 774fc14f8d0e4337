// What a loaded platform says: its files, its numbers as text, and where they come from.
#include <fmt/format.h>

#include "configs/schema/cache_reader.h"
#include "configs/schema/parameter_reader.h"
#include "configs/schema/platform_caches.h"
#include "configs/schema/platform_loader.h"

namespace ringpost::config {
namespace {

using sim::Parameter;
using sim::ParameterInfo;

// Those that the platform has.
std::vector<ParameterInfo> ParametersOf(const sim::Platform& platform) {
  std::vector<ParameterInfo> all = sim::Parameters();
  const std::vector<ParameterInfo>& shared = sim::SharedEngineParameters();
  if (platform.has_shared_engine) all.insert(all.end(), shared.begin(), shared.end());
  return all;
}

}  // namespace

std::vector<std::string> FilesOf(const sim::Platform& platform) {
  std::vector<std::string> files;
  for (const PlatformCache& cache : PlatformCaches()) {
    const sim::CacheSpec& spec = platform.*(cache.spec);
    if (!spec.file.empty()) files.push_back(spec.file);
  }
  if (!platform.context.file.empty()) files.push_back(platform.context.file);
  return files;
}

std::string CanonicalText(const sim::Platform& platform) {
  std::string text = "link_layer: " + platform.link_layer + "\n";
  for (const ParameterInfo& info : ParametersOf(platform)) {
    text += fmt::format("{}: {}\n", info.key, NumberText(info, platform.*(info.member)));
  }
  // Where they are not given they are not told, so that hashes stay what they are.
  const auto add = [&](bool required) {
    for (const PlatformCache& cache : PlatformCaches()) {
      if (cache.required != required || !IsGiven(cache, platform)) continue;
      const CacheChoice choice{platform.*(cache.spec), platform.*(cache.times)};
      text += fmt::format("{}: {}\n", cache.key, CacheText(choice));
    }
  };
  add(true);
  if (platform.has_shared_engine) {
    const CacheChoice choice{platform.context, platform.requester_times};
    text += fmt::format("context: {}\n", CacheText(choice));
  }
  add(false);
  return text;
}

std::set<std::string> ParametersOf(const std::vector<sim::Platform>& platforms,
                                   sim::Provenance provenance) {
  std::set<std::string> texts;
  for (const sim::Platform& platform : platforms) {
    for (const ParameterInfo& info : ParametersOf(platform)) {
      const Parameter& parameter = platform.*(info.member);
      if (parameter.provenance != provenance) continue;
      texts.insert(fmt::format("{}: {}", info.key, NumberText(info, parameter)));
    }
    for (const PlatformCache& cache : PlatformCaches()) {
      for (const auto& [key, time] : TimesOf(PathOf(cache), platform.*(cache.times))) {
        if (time->provenance == provenance) texts.insert(TimeText(key, *time));
      }
    }
  }
  return texts;
}

}  // namespace ringpost::config
