// view.h: what an agent must be able to read, by where the memory lives.
//
// A NIC that reads GPU memory through L2 sees what was released at GPU scope, but host memory only
// what was released at system scope. So a view has two clocks: `local` for memory of the agent's
// own GPU, `system` for all other memory; `system` never knows more than `local`. `seen` names
// single messages that were read without knowing all their writer did; it is kept only in
// adversarial mode, where a reader could otherwise go back in time.
#pragma once

#include <algorithm>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <vector>

#include "sim/engine/time.h"
#include "sim/memory/clock.h"

namespace ringpost::sim {

struct SeenMessage {
  uint64_t id;
  Time settled;     // from then on everybody reads it
  bool local_only;  // as `local`: it counts for memory of the agent's own GPU alone
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
    JoinSeen(other.seen, false);
  }
  bool SameAs(const View& other) const {
    return local.SameAs(other.local) && system.SameAs(other.system) && seen == other.seen;
  }
  void JoinLocal(const View& other) {
    local.Join(other.local);
    JoinSeen(other.seen, true);
  }
  void Raise(Key key, uint64_t stamp) {
    const bool same = local.SameAs(system);
    if (same) system = {};  // then nobody else may see it, and it need not be copied
    local.Raise(key, stamp);
    if (same) {
      system = local;
    } else {
      system.Raise(key, stamp);
    }
  }
  bool HasSeen(uint64_t id, bool local) const {
    if (seen == nullptr) return false;
    const auto found = std::lower_bound(
        seen->messages.begin(), seen->messages.end(), id,
        [](const SeenMessage& message, uint64_t wanted) { return message.id < wanted; });
    return found != seen->messages.end() && found->id == id && (local || !found->local_only);
  }
  void See(uint64_t id, Time settled, Time now) {
    const boost::intrusive_ptr<SeenList> one(new SeenList);
    one->messages.push_back({id, settled, false});
    JoinSeen(one, false, now);
  }

 private:
  void JoinSeen(const boost::intrusive_ptr<SeenList>& other, bool local_only, Time now = {}) {
    if (other == nullptr || other == seen) return;
    if (seen == nullptr && !local_only) {
      seen = other;
      return;
    }
    const boost::intrusive_ptr<SeenList> joined(new SeenList);
    std::vector<SeenMessage>& messages = joined->messages;
    if (seen != nullptr) messages = seen->messages;
    for (SeenMessage message : other->messages) {
      message.local_only |= local_only;
      messages.push_back(message);
    }
    // Of two entries of one message the wider one stays.
    std::sort(messages.begin(), messages.end(), [](const SeenMessage& a, const SeenMessage& b) {
      return a.id != b.id ? a.id < b.id : a.local_only < b.local_only;
    });
    const auto same = [](const SeenMessage& a, const SeenMessage& b) { return a.id == b.id; };
    messages.erase(std::unique(messages.begin(), messages.end(), same), messages.end());
    std::erase_if(messages, [now](const SeenMessage& message) { return message.settled <= now; });
    seen = joined;
  }
};

}  // namespace ringpost::sim
