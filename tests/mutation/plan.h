// plan.h: which one operation of the transport a run changes, and how; or, in a recording run,
// which ordered operations there are to change.
//
// An operation is named by the line that performs it and by the line of the policy that called the
// ordering: the same fence of ordering.h counts once for each place that relies on it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transport/host_device.h"
#include "transport/order.h"

namespace ringpost::mutation {

enum class Kind : uint8_t { kFence, kStore, kLoad, kModify, kRecord, kDoorbell, kSyncWarp };

enum class Mutation : uint8_t {
  kNone,
  kDrop,         // the fence is not there
  kRelax,        // the access is relaxed
  kAcquireHalf,  // an acq_rel or sc fence only acquires
  kReleaseHalf,  // an acq_rel or sc fence only releases
  kNarrow,       // the scope is the next smaller one
  kPlainStore,   // a store instead of the compare-exchange
  kNoOrder,      // the warp meets, but its lanes do not see each other's stores
};

// Who calls an ordering policy.
struct Caller {
  Site site;
  const char* function = "";
  static constexpr Caller Here(const char* function = __builtin_FUNCTION(),
                               const char* file = __builtin_FILE(),
                               uint32_t line = __builtin_LINE()) {
    return {{file, line}, function};
  }
};

struct Point {
  Kind kind = Kind::kFence;
  Order order = Order::kRelaxed;
  Scope scope = Scope::kSystem;
  Site site;
  Caller caller;          // no file where no ordering policy was called
  const char* role = "";  // the function of the ordering policy
  bool operator==(const Point& other) const;
};

// All ports of one run share it. One thread of the operating system runs them.
class Plan {
 public:
  // Changes nothing and notes every point that executes.
  Plan() = default;
  Plan(const Point& target, Mutation mutation) : target_(target), mutation_(mutation) {}

  Mutation At(const Point& point);
  const std::vector<Point>& Points() const { return points_; }
  // Whether the target was reached: a mutant that never runs proves nothing.
  bool Applied() const { return applied_; }

 private:
  Point target_;
  Mutation mutation_ = Mutation::kNone;
  bool applied_ = false;
  std::vector<Point> points_;
};

// The mutations that make a difference at this point by the words of the memory model.
std::vector<Mutation> MutationsOf(const Point& point);

std::string_view NameOf(Mutation mutation);
// "locked.h:30 Post, TakeTurn: fence.acq_rel.gpu".
std::string Describe(const Point& point);
// The caller's name without template arguments.
std::string_view FunctionOf(const Caller& caller);
// The file's name without folders.
std::string_view FileOf(const Site& site);

constexpr Scope Narrower(Scope scope) {
  return scope == Scope::kSystem ? Scope::kGpu : Scope::kCta;
}

}  // namespace ringpost::mutation
