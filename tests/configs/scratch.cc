#include "tests/configs/scratch.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ringpost {

std::string ScratchPath(const std::string& name) {
  const char* folder = std::getenv("TEST_TMPDIR");
  // Tests that run without Bazel, and at the same time, must not share files.
  const std::filesystem::path root =
      folder != nullptr ? std::filesystem::path(folder)
                        : std::filesystem::temp_directory_path() / std::to_string(getpid());
  std::filesystem::create_directories(root);
  std::filesystem::remove(root / name);
  return (root / name).string();
}

std::string WriteScratch(const std::string& name, const std::string& text) {
  const std::string path = ScratchPath(name);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

}  // namespace ringpost
