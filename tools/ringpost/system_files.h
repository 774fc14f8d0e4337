// system_files.h: what the kernel says of a machine, in files: below /, or below a folder that a
// test made. Nothing here throws; what cannot be read is as if it were not there.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ringpost::tools {

class SystemFiles {
 public:
  // `root` is empty, or stands before every path.
  explicit SystemFiles(std::string root = "") : root_(std::move(root)) {}

  // Without white space at its ends.
  std::optional<std::string> Read(const std::string& path) const;
  // The same, or `otherwise`.
  std::string ReadOr(const std::string& path, const std::string& otherwise) const;
  bool Exists(const std::string& path) const;
  bool MayWrite(const std::string& path) const;
  // What a folder holds, sorted, numbers in names by their value.
  std::vector<std::string> List(const std::string& folder) const;
  // The last part of what a symbolic link points to; empty if there is none.
  std::string LinkName(const std::string& path) const;

 private:
  std::string root_;
};

}  // namespace ringpost::tools
