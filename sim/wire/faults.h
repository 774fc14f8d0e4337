// faults.h: what goes wrong on purpose: an overlay over a NIC and a wire that are otherwise clean.
//
// A driver of NICs asks Judge() about each packet, doorbell, CQE and fetch that passes a place for
// which there are rules, and does to it what the verdict says. Each rule draws from a stream of its
// own, by seed, so that another rule does not shift its choices.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/engine/random.h"
#include "sim/engine/time.h"
#include "transport/abi/cqe.h"

namespace ringpost::sim {

enum class FaultWhere : uint8_t { kResponder, kRequester, kWire, kDoorbell, kCqe, kFetch };
enum class FaultKind : uint8_t {
  kDelay,
  kError,  // of a WQE: Rnic::InjectFailure, not a matter of Judge()
  kDrop,
  kDuplicate,  // comes again, `amount` later
  kReorder,    // held back by `amount`, while those behind it go on
  kCorrupt,
  kPause,     // nothing of this QP goes on for `amount`
  kLinkDown,  // of the node's port, for `amount`: nothing leaves and nothing comes in
};

// Applies to what matches every selector that is set. `qp` counts a node's QPs from 0 in order of
// creation; `wqe` is the WQE's index in WQEBBs. On the wire they are those of the sender, and an
// answer has no WQE; a doorbell stands for the last WQEBB that it announces.
struct FaultRule {
  FaultWhere where = FaultWhere::kResponder;
  FaultKind kind = FaultKind::kDelay;
  std::optional<uint32_t> node = {};  // the requester's
  std::optional<uint32_t> qp = {};
  std::optional<uint64_t> wqe = {};
  Duration amount = {};
  double probability = 1;              // of each that matches
  std::optional<uint64_t> count = {};  // how often at most; of kLinkDown once, if not set
  abi::Syndrome syndrome = abi::Syndrome::kLocalQpOperation;  // of kError
};

// What passes: WQEBBs [wqe, end) of a QP; none if the two are equal.
struct FaultPoint {
  uint32_t node = 0;
  uint32_t qp = 0;
  uint64_t wqe = 0;
  uint64_t end = 0;
};

struct FaultVerdict {
  bool lost = false;
  bool corrupt = false;
  Duration delay;  // those behind it wait
  Duration held;   // those behind it do not
  std::optional<Duration> again;
};

class Faults {
 public:
  explicit Faults(uint64_t seed = 1) : seed_(seed) {}

  void Add(const FaultRule& rule);
  bool Empty() const { return rules_.empty(); }
  // Whether Judge() need be asked.
  bool At(FaultWhere where) const { return at_[static_cast<size_t>(where)]; }
  const std::vector<FaultRule>& Rules() const { return rules_; }

  FaultVerdict Judge(FaultWhere where, const FaultPoint& point, Time now);
  bool LinkIsDown(uint32_t node, Time now) const {
    return node < down_until_.size() && now < down_until_[node];
  }

 private:
  struct State {
    Rng random;
    uint64_t left;  // how often it may still apply
  };
  static bool Matches(const FaultRule& rule, const FaultPoint& point);
  bool Strikes(size_t rule);

  uint64_t seed_;
  std::vector<FaultRule> rules_;
  std::vector<State> states_;
  std::vector<Time> down_until_;  // by node
  std::array<bool, 6> at_{};
};

}  // namespace ringpost::sim
