#include "tools/ringpost/system_files.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace ringpost::tools {
namespace {

constexpr char kSpace[] = " \t\n";

}  // namespace

std::optional<std::string> SystemFiles::Read(const std::string& path) const {
  std::ifstream file(root_ + path);
  std::ostringstream read;
  read << file.rdbuf();
  if (!file.is_open()) return std::nullopt;
  const std::string text = read.str();
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string SystemFiles::ReadOr(const std::string& path, const std::string& otherwise) const {
  const std::optional<std::string> text = Read(path);
  return text && !text->empty() ? *text : otherwise;
}

bool SystemFiles::Exists(const std::string& path) const {
  std::error_code error;
  return std::filesystem::exists(root_ + path, error);
}

bool SystemFiles::MayWrite(const std::string& path) const {
  return access((root_ + path).c_str(), R_OK | W_OK) == 0;
}

std::vector<std::string> SystemFiles::List(const std::string& folder) const {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(root_ + folder, error), end;
       !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename());
  }
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return names;
}

std::string SystemFiles::LinkName(const std::string& path) const {
  std::error_code error;
  return std::filesystem::read_symlink(root_ + path, error).filename();
}

}  // namespace ringpost::tools
