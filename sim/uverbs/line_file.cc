#include "sim/uverbs/line_file.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "sim/uverbs/real_calls.h"

namespace ringpost::sim::uverbs {

LineFile::LineFile(const char* variable) {
  const char* path = std::getenv(variable);
  if (path == nullptr || *path == '\0') return;
  char folder[PATH_MAX];
  if (*path != '/' && getcwd(folder, sizeof(folder)) != nullptr) path_ = std::string(folder) + "/";
  path_ += path;
}

void LineFile::Append(const std::string& line) const {
  const int before = errno;
  const int file = real::Open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file >= 0) {
    real::Write(file, line.data(), line.size());
    real::Close(file);
  }
  errno = before;
}

}  // namespace ringpost::sim::uverbs
