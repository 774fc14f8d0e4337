// root.h: where the files of configs/ are.
#pragma once

#include <string>
#include <vector>

namespace ringpost::config {

// The folder that holds configs/: RINGPOST_ROOT, or else the program's runfiles, or else the
// nearest folder above the program that has configs/platforms, or else the current folder.
std::string FindRoot();

// The file of a platform: FindRoot()/configs/platforms/<name>.yaml, or `name` itself when it ends
// in .yaml. The file need not exist.
std::string PlatformPath(const std::string& name);

// The names under configs/platforms, sorted.
std::vector<std::string> PlatformNames();

// The same of libraries.
std::string LibraryPath(const std::string& name);
std::vector<std::string> LibraryNames();

}  // namespace ringpost::config
