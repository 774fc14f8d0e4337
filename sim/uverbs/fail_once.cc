#include "sim/uverbs/fail_once.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <numeric>
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

// How many letters must be changed, put in or left out between two names.
size_t Distance(const std::string& from, const std::string& to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < from.size(); ++i) {
    size_t before = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < to.size(); ++j) {
      const size_t changed = before + (from[i] == to[j] ? 0 : 1);
      before = row[j + 1];
      row[j + 1] = std::min({changed, before + 1, row[j] + 1});
    }
  }
  return row.back();
}

// There is one.
const std::string& Closest(const std::string& name, const std::set<std::string>& known) {
  return *std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
    return Distance(name, a) < Distance(name, b);
  });
}

}  // namespace

Result<std::vector<PlannedFailure>> FailOnce::Parse(const std::string& text,
                                                    const std::set<std::string>& known) {
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
    if (!failure->name.empty() && !known.contains(failure->name)) {
      return Error{std::string(kVariable) + ": there is no command '" + failure->name +
                   "'; write a name as RINGPOST_UVERBS_LOG has it, such as " +
                   Closest(failure->name, known)};
    }
    const bool again = std::any_of(plan.begin(), plan.end(), [&](const PlannedFailure& other) {
      return other.name == failure->name && other.ordinal == failure->ordinal;
    });
    if (again) {
      return Error{std::string(kVariable) + ": '" + one +
                   "' plans a command that is planned before it; leave one out, or number it as in "
                   "COMMAND#2"};
    }
    plan.push_back(*failure);
    at = end + 1;
  }
  return plan;
}

FailOnce& FailOnce::OfProcess(std::set<std::string> (*known)()) {
  // Never destroyed: other libraries' destructors may still call.
  static FailOnce* const process = [known] {
    const char* text = std::getenv(kVariable);
    auto plan = Parse(text == nullptr ? "" : text, known());
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
