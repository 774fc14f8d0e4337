// Writes configs/README.md of the workspace that `bazel run` was called in; otherwise prints it.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "configs/schema/readme.h"

int main() {
  const std::string text = ringpost::config::ReadmeText();
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) {
    std::cout << text;
    return std::cout ? 0 : 1;
  }
  std::ofstream file(std::string(workspace) + "/configs/README.md", std::ios::binary);
  file << text;
  file.close();
  return file ? 0 : 1;
}
