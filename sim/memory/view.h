// view.h: what an agent must be able to read, by where the memory lives.
//
// A NIC that reads GPU memory through L2 sees what was released at GPU scope, but host memory only
// what was released at system scope. So a view has two clocks: `local` for memory of the agent's
// own GPU, `system` for all other memory; `system` never knows more than `local`. `seen` names
// single messages that were read without knowing all their writer did; it is kept only in
// adversarial mode, where a reader could otherwise go back in time.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "sim/engine/time.h"
#include "sim/memory/clock.h"

namespace ringpost::sim {

struct SeenMessage {
  uint64_t id;
  Time settled;  // from then on everybody reads it
};
using SeenList = std::vector<SeenMessage>;  // sorted by id

struct View {
  ClockRef local;
  ClockRef system;
  std::shared_ptr<const SeenList> seen;

  void Join(const View& other) {
    const bool same = local.SameAs(system) && other.local.SameAs(other.system);
    local.Join(other.local);
    if (same) {
      system = local;
    } else {
      system.Join(other.system);
    }
    JoinSeen(other);
  }
  bool SameAs(const View& other) const {
    return local.SameAs(other.local) && system.SameAs(other.system) && seen == other.seen;
  }
  void JoinLocal(const View& other) {
    local.Join(other.local);
    JoinSeen(other);
  }
  void Raise(Key key, uint64_t stamp) {
    const bool same = local.SameAs(system);
    local.Raise(key, stamp);
    if (same) {
      system = local;
    } else {
      system.Raise(key, stamp);
    }
  }
  bool HasSeen(uint64_t id) const {
    if (seen == nullptr) return false;
    const auto found = std::lower_bound(
        seen->begin(), seen->end(), id,
        [](const SeenMessage& message, uint64_t wanted) { return message.id < wanted; });
    return found != seen->end() && found->id == id;
  }
  void See(uint64_t id, Time settled, Time now) {
    View one;
    one.seen = std::make_shared<const SeenList>(SeenList{{id, settled}});
    JoinSeen(one, now);
  }

 private:
  void JoinSeen(const View& other, Time now = {}) {
    if (other.seen == nullptr || other.seen == seen) return;
    if (seen == nullptr) {
      seen = other.seen;
      return;
    }
    SeenList joined;
    std::set_union(seen->begin(), seen->end(), other.seen->begin(), other.seen->end(),
                   std::back_inserter(joined),
                   [](const SeenMessage& a, const SeenMessage& b) { return a.id < b.id; });
    std::erase_if(joined, [now](const SeenMessage& message) { return message.settled <= now; });
    seen = std::make_shared<const SeenList>(std::move(joined));
  }
};

}  // namespace ringpost::sim
