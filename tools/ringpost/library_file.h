// library_file.h: where a shared library lies that was built with this program.
#pragma once

#include <string>

namespace ringpost::tools {

// `package` is where Bazel builds it: "sim/uverbs". Beside the program, in its runfiles, or where
// Bazel built both; empty where it is in none of these.
std::string FindLibrary(const std::string& package, const std::string& name);

}  // namespace ringpost::tools
