#include "sim/uverbs/fail_once.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace ringpost::sim::uverbs {
namespace {

constexpr struct {
  const char* name;
  int error;
} kErrors[] = {{"ENOMEM", ENOMEM},      {"EINVAL", EINVAL}, {"EOPNOTSUPP", EOPNOTSUPP},
               {"EBUSY", EBUSY},        {"EIO", EIO},       {"EAGAIN", EAGAIN},
               {"EPERM", EPERM},        {"EFAULT", EFAULT}, {"ENODEV", ENODEV},
               {"EREMOTEIO", EREMOTEIO}};

int ErrorOf(std::string_view name) {
  for (const auto& row : kErrors) {
    if (name == row.name) return row.error;
  }
  return 0;
}

// [NAME][#ORDINAL]=ERRNO
std::optional<PlannedFailure> ParseOne(std::string_view text) {
  PlannedFailure failure;
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  failure.error = ErrorOf(text.substr(equals + 1));
  text = text.substr(0, equals);
  const size_t number = text.find('#');
  failure.name = text.substr(0, number);
  if (number != std::string_view::npos) {
    const char* end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data() + number + 1, end, failure.ordinal);
    if (error != std::errc() || last != end || failure.ordinal == 0) return std::nullopt;
  } else if (failure.name.empty()) {
    return std::nullopt;
  }
  return failure.error == 0 ? std::nullopt : std::optional(failure);
}

}  // namespace

Result<std::vector<PlannedFailure>> FailOnce::Parse(const std::string& text) {
  std::vector<PlannedFailure> plan;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string one = text.substr(at, end - at);
    const auto failure = ParseOne(one);
    if (!failure) {
      std::string names;
      for (const auto& row : kErrors) names += std::string(names.empty() ? "" : ", ") + row.name;
      return Error{
          std::string(kVariable) + ": '" + one +
          "' is no failure; write COMMAND=ERRNO, COMMAND#N=ERRNO or #N=ERRNO, with one of " +
          names};
    }
    plan.push_back(*failure);
    at = end + 1;
  }
  return plan;
}

FailOnce& FailOnce::OfProcess() {
  // Never destroyed: other libraries' destructors may still call.
  static FailOnce* const process = [] {
    const char* text = std::getenv(kVariable);
    auto plan = Parse(text == nullptr ? "" : text);
    if (!plan.Ok()) {
      std::fprintf(stderr, "ringpost: %s\n", plan.Message().c_str());
      std::_Exit(2);
    }
    return new FailOnce(std::move(plan.Value()));
  }();
  return *process;
}

int FailOnce::Next(const char* name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (plan_.empty()) return 0;
  ++commands_;
  const uint64_t of_name = ++of_name_[name];
  const auto due = std::find_if(plan_.begin(), plan_.end(), [&](const PlannedFailure& planned) {
    return planned.name.empty() ? planned.ordinal == commands_
                                : planned.name == name && planned.ordinal == of_name;
  });
  if (due == plan_.end()) return 0;
  const int error = due->error;
  plan_.erase(due);
  return error;
}

}  // namespace ringpost::sim::uverbs
