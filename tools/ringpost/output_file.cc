#include "tools/ringpost/output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "configs/schema/config_error.h"

namespace ringpost::tools {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Refuse(const std::string& option, const std::string& wrong,
                         const std::string& right) {
  throw config::ConfigError({"command line", 1, 1}, option, {wrong, right});
}

}  // namespace

OutputFile::OutputFile(const std::string& option, const std::string& path,
                       const std::vector<std::string>& taken) {
  std::error_code error;
  fs::path target = path;
  if (fs::is_directory(target, error)) {
    Refuse(option, fmt::format("'{}' is a folder", path), "give the name of a file");
  }
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (path.empty() || !fs::is_directory(folder, error)) {
    Refuse(option, fmt::format("there is no folder '{}'", folder.string()),
           "create it, or name a file elsewhere");
  }
  const bool is_file = fs::is_regular_file(target, error);
  const bool renamed = is_file || !fs::exists(target, error);
  // The file behind a link is replaced, not the link. A pipe behind one has no other name.
  if (is_file) target = fs::canonical(target, error);
  target_ = target.string();
  for (const std::string& other : taken) {
    // Absolute first: of a relative path of which nothing exists no more is known.
    const fs::path its = fs::weakly_canonical(fs::absolute(other, error), error);
    if (renamed && its == fs::weakly_canonical(fs::absolute(target, error), error)) {
      Refuse(option, fmt::format("'{}' is a file that this run reads, or writes already", path),
             "name another file");
    }
  }
  const fs::path real_folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (renamed && access(real_folder.c_str(), W_OK) != 0) {
    Refuse(option, fmt::format("'{}' cannot be written to", real_folder.string()),
           "name a file elsewhere");
  }
  pending_ = renamed ? fmt::format("{}.{}.partial", target_, getpid()) : target_;
}

OutputFile::~OutputFile() {
  std::error_code error;
  if (pending_ != target_) fs::remove(pending_, error);
}

void OutputFile::Write(const std::string& text) {
  {
    std::ofstream file(pending_, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file) throw std::runtime_error(fmt::format("cannot write {}", target_));
  }
  Commit();
}

void OutputFile::Commit() {
  if (pending_ == target_) return;
  std::error_code error;
  fs::rename(pending_, target_, error);
  if (error) {
    throw std::runtime_error(fmt::format("cannot write {}: {}", target_, error.message()));
  }
}

}  // namespace ringpost::tools
