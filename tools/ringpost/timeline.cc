#include "tools/ringpost/timeline.h"

#include <fmt/format.h>

#include <charconv>

#include "backends/sim/put_path.h"
#include "configs/schema/config_error.h"

namespace ringpost::tools {
namespace {

constexpr char kOption[] = "--timeline";

[[noreturn]] void Refuse(const std::string& wrong, const std::string& right) {
  throw config::ConfigError({"command line", 1, 1}, kOption, {wrong, right});
}

// Times are whole picoseconds, so that what is printed adds up.
std::string Nanoseconds(int64_t ps) { return fmt::format("{}.{:03}", ps / 1000, ps % 1000); }

template <class Number>
bool Parse(const std::string& text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && at == end;
}

}  // namespace

workloads::TimelineWish ParseWish(const std::string& text) {
  if (text.empty()) return {};
  const size_t colon = text.find(':');
  uint32_t qpn = 0;
  workloads::TimelineWish wish;
  if (colon == std::string::npos || !Parse(text.substr(0, colon), qpn) ||
      !Parse(text.substr(colon + 1), wish.wqe)) {
    Refuse(fmt::format("'{}' names no put", text),
           "give QPN:WQE, such as 64:10, or nothing for one of median latency");
  }
  wish.qpn = qpn;
  return wish;
}

std::string TimelineText(const workloads::TimelineWish& wish, const workloads::RunResult& result) {
  if (!result.timeline) {
    if (!wish.qpn) Refuse("no put of this run has ended with a CQE that was read", "leave it out");
    Refuse(fmt::format("no thread posted WQE {} of QP {}", wish.wqe, *wish.qpn),
           "look for its number in the file of --trace");
  }
  const PutPath& path = *result.timeline;
  const int64_t start = path.Begin().ps;
  std::string text =
      fmt::format("WQE {} of QP {}, from thread {} of node {}, {} ns after the start", path.wqe,
                  path.qpn, path.thread, path.node, Nanoseconds(start));
  text += fmt::format("\n{:<18}{:>14}{:>14}{:>14}\n", "stage", "begin ns", "end ns", "duration ns");
  for (const PathStage& stage : path.stages) {
    text +=
        fmt::format("{:<18}{:>14}{:>14}{:>14}\n", stage.name, Nanoseconds(stage.begin.ps - start),
                    Nanoseconds(stage.end.ps - start), Nanoseconds((stage.end - stage.begin).ps));
  }
  text += fmt::format("{:<18}{:>14}{:>14}{:>14}\n", "sum", "", "",
                      Nanoseconds((path.End() - path.Begin()).ps));
  text += fmt::format("the thread went on after {} ns; {}\n", Nanoseconds(path.issued.ps - start),
                      path.complete ? fmt::format("thread {} read the CQE", path.waiter)
                                    : "no thread has read its CQE");
  return text;
}

}  // namespace ringpost::tools
