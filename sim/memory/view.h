// view.h: what an agent must be able to read, by where the memory lives.
//
// A NIC that reads GPU memory through L2 sees what was released at GPU scope, but host memory only
// what was released at system scope. So a view has two clocks: `local` for memory of the agent's
// own GPU, `system` for all other memory; `system` never knows more than `local`. `seen` names
// single messages that were read without knowing all their writer did; it is kept only in
// adversarial mode, where a reader could otherwise go back in time.
#pragma once

#include <algorithm>
#include <vector>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include "sim/engine/time.h"
#include "sim/memory/clock.h"

namespace ringpost::sim {

struct SeenMessage {
  uint64_t id;
  Time settled;  // from then on everybody reads it
};
struct SeenList : boost::intrusive_ref_counter<SeenList, boost::thread_unsafe_counter> {
  std::vector<SeenMessage> messages;  // sorted by id
};

struct View {
  ClockRef local;
  ClockRef system;
  boost::intrusive_ptr<SeenList> seen;

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
        seen->messages.begin(), seen->messages.end(), id,
        [](const SeenMessage& message, uint64_t wanted) { return message.id < wanted; });
    return found != seen->messages.end() && found->id == id;
  }
  void See(uint64_t id, Time settled, Time now) {
    View one;
    one.seen = new SeenList;
    one.seen->messages.push_back({id, settled});
    JoinSeen(one, now);
  }

 private:
  void JoinSeen(const View& other, Time now = {}) {
    if (other.seen == nullptr || other.seen == seen) return;
    if (seen == nullptr) {
      seen = other.seen;
      return;
    }
    const boost::intrusive_ptr<SeenList> joined(new SeenList);
    std::set_union(seen->messages.begin(), seen->messages.end(), other.seen->messages.begin(),
                   other.seen->messages.end(), std::back_inserter(joined->messages),
                   [](const SeenMessage& a, const SeenMessage& b) { return a.id < b.id; });
    std::erase_if(joined->messages,
                  [now](const SeenMessage& message) { return message.settled <= now; });
    seen = joined;
  }
};

}  // namespace ringpost::sim
