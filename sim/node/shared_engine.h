// shared_engine.h: the packet engine of a NIC whose directions share it: whose turn it is to send,
// what has arrived and not been taken, and which sender waits for which receiver.
//
// It takes a packet at a time, from either side in turn where both have one. Requester contexts are
// fetched ahead of the QPs' turns, so that a miss holds up its own QP; what arrives is taken in
// order, so that a responder's miss holds up all that came after, while the other side sends on.
#pragma once

#include <vector>

#include "sim/engine/time.h"
#include "sim/node/items.h"
#include "sim/node/lane.h"
#include "sim/node/station.h"

namespace ringpost::sim {

class NicNode;

class SharedEngine {
 public:
  explicit SharedEngine(NicNode& node);

  // Something may have changed for QPs that want to send.
  void Run();
  // A packet has arrived that goes through the engine.
  void Put(PacketItem& item);
  // A packet leaves for `peer`: it takes room there. One that did not fit stays at the head of this
  // NIC's link, whatever is behind it.
  void TakeRoom(NicNode& peer, PacketItem& item);
  // At the node that the packet was sent to.
  void GiveRoom(PacketItem& item);
  // Whether the QP answers now, where a packet of it asks to (`asked`) or did: one answer is for
  // all of its packets that have arrived together from the QP `from_qp` of `from_node`. A DCT has
  // others' packets too, and answers each for itself.
  bool Answers(Lane& lane, uint32_t from_node, uint32_t from_qp, bool asked);
  Duration Busy() const { return stage_.Busy(); }

 private:
  // A QP in its turn, or soon to have one.
  struct Turn {
    Lane* lane = nullptr;
    Time ready;         // when its context is at hand
    uint32_t left = 0;  // packets that it may still send
  };

  void Wake(Time at);
  Time NextReceive();
  Time NextSend(size_t* turn);
  bool Send(size_t turn);
  void Receive(Time done);

  NicNode& node_;
  Station stage_;
  Time free_at_;
  Time wake_at_ = Time::Never();  // when `event_` comes next
  uint32_t event_ = 0;
  bool running_ = false;  // what a packet sets off does not start the engine again
  bool received_last_ = false;
  std::vector<Turn> turns_;              // in order, no more than contexts_ahead
  PacketItem* first_arrived_ = nullptr;  // a FIFO
  PacketItem* last_arrived_ = nullptr;
  bool looked_up_ = false;  // the first one's context,
  Time context_at_;         // which is there from then on
  // Of its receive buffer, counted from when a packet leaves for it.
  uint64_t held_bytes_ = 0;
  std::vector<NicNode*> held_up_;  // senders, in the order in which they came
  bool waits_ = false;             // for room at a peer
};

}  // namespace ringpost::sim
