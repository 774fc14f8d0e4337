#include "tools/ringpost/library_file.h"

#include <filesystem>

namespace ringpost::tools {

std::string FindLibrary(const std::string& package, const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const std::string built = package + "/" + name;
  for (const fs::path& candidate :
       {program.parent_path() / name, fs::path(program.string() + ".runfiles/ringpost") / built,
        program.parent_path().parent_path().parent_path() / built}) {
    std::error_code error;
    if (fs::exists(candidate, error)) return candidate.string();
  }
  return "";
}

}  // namespace ringpost::tools
