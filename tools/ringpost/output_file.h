// output_file.h: a result that is there whole or not at all.
//
// The constructor refuses a path that cannot work, before anything runs. The text goes to a
// neighbour of the file first and takes its name in Commit(); without Commit() nothing changes.
#pragma once

#include <string>
#include <vector>

namespace ringpost::tools {

class OutputFile final {
 public:
  // `option` is what the user gave the path to ("--json"). Throws config::ConfigError when the
  // folder is not there, the path is a folder, or it leads to a file of `taken`: what is read, or
  // written besides.
  OutputFile(const std::string& option, const std::string& path,
             const std::vector<std::string>& taken = {});
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Where to write before Commit().
  const std::string& pending_path() const { return pending_; }

  // Writes the whole text and commits it; throws std::runtime_error.
  void Write(const std::string& text);

  // Gives the pending file its name; throws std::runtime_error.
  void Commit();

 private:
  std::string target_;
  std::string pending_;  // the target itself where it is a device or a pipe
};

}  // namespace ringpost::tools
