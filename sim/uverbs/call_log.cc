#include "sim/uverbs/call_log.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>

#include "sim/uverbs/line_file.h"

namespace ringpost::sim::uverbs::call_log {
namespace {

// Never destroyed: other libraries' destructors may still call.
const LineFile& File() {
  static const LineFile* const file = new LineFile("RINGPOST_UVERBS_LOG");
  return *file;
}

void Line(std::string text) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto time = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  File().Append(fmt::format("{}.{:06} {} {}\n", time / 1'000'000, time % 1'000'000,
                            syscall(SYS_gettid), text));
}

std::string Outcome(const char* name, int error) {
  std::string text = name == nullptr ? "unknown" : name;
  return error == 0 ? text + " = 0" : fmt::format("{} = errno {}", text, error);
}

}  // namespace

bool On() { return File().On(); }
std::string WhyNot() { return File().WhyNot(); }

void Open(const char* path, int file) {
  if (On()) Line(fmt::format("open {} = {}", path, file));
}

void Close(int file) {
  if (On()) Line(fmt::format("close {}", file));
}

void Map(int file, uint64_t offset, const void* address) {
  if (On()) Line(fmt::format("mmap {} offset {:#x} = {}", file, offset, address));
}

void Redirect(const char* call, const char* from, const char* to) {
  if (On()) Line(fmt::format("{} {} -> {}", call, from, to));
}

void WriteCommand(const Command& command, const char* name, int error) {
  if (!On()) return;
  Line(fmt::format("command {}{} in {}+{} out {}+{} {}", command.extended ? "ex " : "",
                   command.number, command.in.size(), command.driver_in.size(), command.out.size(),
                   command.driver_out.size(), Outcome(name, error)));
}

void Method(const Attributes& attributes, const char* name, int error) {
  if (!On()) return;
  std::string text;
  for (const ib_uverbs_attr& attribute : attributes.All()) {
    text += fmt::format(" {:#x}/{}", attribute.attr_id, attribute.len);
  }
  Line(fmt::format("ioctl object {:#x} method {:#x} attributes{} {}", attributes.Object(),
                   attributes.Method(), text, Outcome(name, error)));
}

}  // namespace ringpost::sim::uverbs::call_log
