#include "sim/service/process_id.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <sstream>
#include <string>

namespace ringpost::sim::service {
namespace {

struct ProcessState {
  char state = '?';
  int64_t threads = 0;
  uint64_t start_time = 0;
};

// Empty if there is no such process, also if it goes while its file is read.
std::string ReadStat(int32_t pid) {
  const int file = open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  std::array<char, 2048> text;  // some 400 bytes
  const ssize_t bytes = read(file, text.data(), text.size());
  close(file);
  return bytes > 0 ? std::string(text.data(), static_cast<size_t>(bytes)) : "";
}

// proc(5): "PID (NAME) STATE ..." where the name may hold anything, parentheses included.
std::optional<ProcessState> ReadState(int32_t pid) {
  const std::string text = ReadStat(pid);
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  ProcessState found;
  fields >> found.state;
  std::string skipped;
  for (int field = 4; field < 20; ++field) fields >> skipped;
  fields >> found.threads >> skipped >> found.start_time;  // fields 20, 21, 22
  if (!fields) return std::nullopt;
  return found;
}

}  // namespace

ProcessId ProcessId::OfThisProcess() {
  const int32_t pid = getpid();
  const auto state = ReadState(pid);
  return {pid, state ? state->start_time : 0};
}

bool ProcessId::IsRunning() const {
  const auto state = ReadState(pid);
  if (!state || state->start_time != start_time) return false;
  // A zombie has ended, unless only its first thread has.
  const bool is_zombie = state->state == 'Z' || state->state == 'X';
  return !is_zombie || state->threads > 1;
}

uint64_t PidNamespace() {
  struct stat status {};
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

}  // namespace ringpost::sim::service
