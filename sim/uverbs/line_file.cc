#include "sim/uverbs/line_file.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "sim/uverbs/real_calls.h"

namespace ringpost::sim::uverbs {

LineFile::LineFile(const char* variable) : variable_(variable) {
  const char* path = std::getenv(variable);
  if (path == nullptr || *path == '\0') return;
  char folder[PATH_MAX];
  if (*path != '/' && getcwd(folder, sizeof(folder)) != nullptr) path_ = std::string(folder) + "/";
  path_ += path;
}

int LineFile::Open() const {
  return real::Open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

std::string LineFile::WhyNot() const {
  if (!On()) return {};
  const int before = errno;
  const int file = Open();
  const std::string why = file < 0 ? std::strerror(errno) : "";
  if (file >= 0) real::Close(file);
  errno = before;
  if (why.empty()) return {};
  return variable_ + ": " + path_ + ": " + why + "; give a file in a folder that exists";
}

void LineFile::Append(const std::string& line) const {
  const int before = errno;
  const int file = Open();
  if (file >= 0) {
    real::Write(file, line.data(), line.size());
    real::Close(file);
  }
  errno = before;
}

}  // namespace ringpost::sim::uverbs
