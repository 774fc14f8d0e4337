// scratch.h: files in the test's own folder.
#pragma once

#include <string>

namespace ringpost {

// Writes `text` to a file of that name and returns its path.
std::string WriteScratch(const std::string& name, const std::string& text);

// The path of a file of that name, which is not there.
std::string ScratchPath(const std::string& name);

}  // namespace ringpost
