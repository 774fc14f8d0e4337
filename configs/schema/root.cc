#include "configs/schema/root.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace ringpost::config {
namespace {

namespace fs = std::filesystem;

bool HoldsConfigs(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder / "configs" / "platforms", error);
}

std::string PathIn(const char* folder, const std::string& name) {
  if (name.ends_with(".yaml")) return name;
  return FindRoot() + "/configs/" + folder + "/" + name + ".yaml";
}

std::vector<std::string> NamesIn(const char* folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(FindRoot() + "/configs/" + folder, error)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::string FindRoot() {
  if (const char* root = std::getenv("RINGPOST_ROOT"); root != nullptr && *root != '\0') {
    return root;
  }
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path runfiles = program.string() + ".runfiles/ringpost";
    if (HoldsConfigs(runfiles)) return runfiles.string();
    for (fs::path folder = program.parent_path(); folder != folder.parent_path();
         folder = folder.parent_path()) {
      if (HoldsConfigs(folder)) return folder.string();
    }
  }
  return ".";
}

std::string PlatformPath(const std::string& name) { return PathIn("platforms", name); }

std::vector<std::string> PlatformNames() { return NamesIn("platforms"); }

std::string LibraryPath(const std::string& name) { return PathIn("libraries", name); }

std::vector<std::string> LibraryNames() { return NamesIn("libraries"); }

}  // namespace ringpost::config
