#include "tests/mutation/plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace ringpost::mutation {
namespace {

std::string_view NameOf(Kind kind) {
  constexpr std::string_view kNames[] = {"fence",  "store",    "load",    "modify",
                                         "record", "doorbell", "syncwarp"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view NameOf(Order order) {
  constexpr std::string_view kNames[] = {"relaxed", "acquire", "release", "acq_rel", "sc"};
  return kNames[static_cast<size_t>(order)];
}

std::string_view NameOf(Scope scope) {
  constexpr std::string_view kNames[] = {"thread", "cta", "gpu", "sys"};
  return kNames[static_cast<size_t>(scope)];
}

bool Same(const Site& a, const Site& b) { return a.line == b.line && FileOf(a) == FileOf(b); }

}  // namespace

std::string_view FileOf(const Site& site) {
  const std::string_view path = site.file == nullptr ? "" : site.file;
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view FunctionOf(const Caller& caller) {
  const std::string_view name = caller.function;
  return name.substr(0, name.find('<'));
}

bool Point::operator==(const Point& other) const {
  return kind == other.kind && order == other.order && scope == other.scope &&
         Same(site, other.site) && Same(caller.site, other.caller.site);
}

Mutation Plan::At(const Point& point) {
  if (mutation_ == Mutation::kNone) {
    const bool known = std::find(points_.begin(), points_.end(), point) != points_.end();
    if (!known) points_.push_back(point);
    return Mutation::kNone;
  }
  if (!(point == target_)) return Mutation::kNone;
  applied_ = true;
  return mutation_;
}

std::vector<Mutation> MutationsOf(const Point& point) {
  if (point.kind == Kind::kSyncWarp) return {Mutation::kNoOrder};
  std::vector<Mutation> all;
  if (point.kind == Kind::kModify) all.push_back(Mutation::kPlainStore);
  if (point.order == Order::kRelaxed) return all;
  if (point.kind == Kind::kFence) {
    all.push_back(Mutation::kDrop);
    if (point.order == Order::kAcqRel || point.order == Order::kSeqCst) {
      all.push_back(Mutation::kAcquireHalf);
      all.push_back(Mutation::kReleaseHalf);
    }
  } else {
    all.push_back(Mutation::kRelax);
  }
  all.push_back(Mutation::kNarrow);
  return all;
}

std::string_view NameOf(Mutation mutation) {
  constexpr std::string_view kNames[] = {"none",         "drop",   "relax",       "acquire only",
                                         "release only", "narrow", "plain store", "no order"};
  return kNames[static_cast<size_t>(mutation)];
}

std::string Describe(const Point& point) {
  const bool called = point.caller.site.file != nullptr;
  const Site& at = called ? point.caller.site : point.site;
  return fmt::format("{}:{} {}{}{}: {}.{}.{}", FileOf(at), at.line, FunctionOf(point.caller),
                     called ? ", " : "", point.role, NameOf(point.kind), NameOf(point.order),
                     NameOf(point.scope));
}

}  // namespace ringpost::mutation
