// fail_once.h: commands that are told to fail, each once, for tests of what a program does then.
//
//   RINGPOST_UVERBS_FAIL="CREATE_QP=ENOMEM,UAR_ALLOC#2=EINVAL,#17=EOPNOTSUPP"
//
// the first CREATE_QP, the second UAR_ALLOC, and the seventeenth command of all. Names are those of
// the call log: of verbs' commands and methods, and of the firmware's commands where DevX carries
// one. A command that fails so has done nothing.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "transport/result.h"

namespace ringpost::sim::uverbs {

struct PlannedFailure {
  std::string name;  // empty: any
  uint64_t ordinal = 1;
  int error = 0;
};

// Any thread may call.
class FailOnce {
 public:
  static constexpr char kVariable[] = "RINGPOST_UVERBS_FAIL";

  // `known` are the names that there are.
  static Result<std::vector<PlannedFailure>> Parse(const std::string& text,
                                                   const std::set<std::string>& known);
  // Of the environment. A plan that cannot be read, or names what there is not, ends the program
  // with status 2 and one line.
  static FailOnce& OfProcess(std::set<std::string> (*known)());

  explicit FailOnce(std::vector<PlannedFailure> plan) : plan_(std::move(plan)) {}
  // Called once for each command; 0, or the errno with which it is to fail.
  int Next(const char* name);

 private:
  std::mutex mutex_;
  std::vector<PlannedFailure> plan_;  // guarded by mutex_, as are the rest
  uint64_t commands_ = 0;
  std::map<std::string, uint64_t> of_name_;
};

}  // namespace ringpost::sim::uverbs
