// lane.h: what virtual time adds to a QP: when its WQEs may leave, when its effects are seen, its
// place among the QPs that want to transmit, and its timers.
#pragma once

#include <array>
#include <boost/circular_buffer.hpp>
#include <deque>
#include <memory>

#include "sim/engine/engine.h"
#include "sim/nic/facts.h"
#include "sim/node/items.h"
#include "sim/node/station.h"

namespace ringpost::sim {

class NicNode;

enum class LaneState : uint8_t {
  kIdle,    // nothing to send, or something holds it up
  kTimed,   // its next WQE is still in the QP's own stages
  kQueued,  // it has something for the transmit stage
};

struct Lane {
  NicNode* node = nullptr;
  QpContext* qp = nullptr;
  AgentId agent = 0;
  uint32_t number = 0;  // in order of creation
  LaneState state = LaneState::kIdle;
  bool fence_held = false;  // its next payload was not read ahead
  Lane* next_queued = nullptr;
  Time last_write;  // memory effects keep their order
  Station serial;
  Time last_ready;  // WQEs leave their QP's stages in order
  // Of the WQEs that are fetched and have not left, and the number of the first one.
  boost::circular_buffer<Time> ready{4};
  uint32_t first_unsent = 0;
  uint32_t read_again = ~0u;  // the number of the WQE that was dropped, and fetched once more
  uint32_t ready_event = 0;
  ReleasedRef accepted;  // last packet view taken over
  Time last_arrival;     // of its requests at the peer
  // Responder.
  Time responder_free;
  Time last_response;      // when it is at the requester
  std::deque<Time> reads;  // when each pending response has been read from memory
  bool respond_timed = false;
  bool owes_answer = false;  // withheld, as more of the QP has arrived
  uint32_t respond_event = 0;
  // Packets that take effect later than they arrive; made when first used.
  std::unique_ptr<Channel<PacketItem>> requests, responses;
  Time requests_until, responses_until;
  Time fetches_from;                // a fault has paused its fetches until then
  Time fetched;                     // when its last fetch is there
  DoorbellItem* stalled = nullptr;  // fetches that wait until the window has room
  // Timers, by kind.
  struct Timer {
    Time due = Time::Never();
    uint32_t generation = 0;
  };
  std::array<Timer, 2> timers;
  uint32_t timer_event = 0;

  void PushReady(Time time) {
    if (ready.full()) ready.set_capacity(2 * ready.capacity());
    ready.push_back(time);
  }
};

}  // namespace ringpost::sim
