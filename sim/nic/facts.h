// facts.h: what the NIC's function tells its driver, so that it can price, schedule and wake.
#pragma once

#include <cstdint>

#include "sim/nic/address.h"

namespace ringpost::sim {

struct QpContext;

enum class TimerKind : uint8_t { kAck, kRnr };

// A timer that is to run from now. When it has, the driver hands kind and generation to OnTimer;
// a generation that is no longer the QP's does nothing, so that no timer needs cancelling.
struct TimerRequest {
  bool arm = false;
  TimerKind kind = TimerKind::kAck;
  uint8_t code = 0;  // see timer_codes.h
  uint32_t generation = 0;
};

// kWindowFull: fetch on when Facts say that the QP may send.
enum class Fetched : uint8_t { kWqe, kNothing, kWindowFull };

enum class SendStatus : uint8_t { kSent, kEmpty, kBlocked };

// Why the next WQE may not leave yet, and what lets it: an acknowledgement or response (all but the
// last three), the RNR timer, a completion in another CQ, a modification of the QP.
enum class Blocked : uint8_t {
  kNot,
  kFence,        // an earlier READ or atomic is not complete
  kReadWindow,   // as many READs and atomics as the peer takes
  kPsnWindow,    // as many packets as may be without an acknowledgement
  kDestination,  // a DCI has work under way at another target
  kEarlier,      // a WQE that failed waits for those before it
  kRnr,
  kWait,
  kDraining,
};

struct Sent {
  SendStatus status = SendStatus::kEmpty;
  Blocked blocked = Blocked::kNot;
  bool retransmission = false;
  uint32_t wqe_index = 0;       // low 16 bits: first WQEBB
  const Address* to = nullptr;  // valid until the next call
  TimerRequest timer;
};

// After a packet or a timer. `qp` is null where the packet was for nobody.
struct Facts {
  QpContext* qp = nullptr;
  bool accepted = false;   // the packet was not a duplicate, out of order or dropped
  bool responses = false;  // NextResponse has something
  bool may_send = false;   // NextPacket may have something, or something again
  TimerRequest timer;
};

enum class EventKind : uint8_t {
  kCompletion,  // an armed CQ has one; `number` is the CQN
  kCqError,     // CQN
  kQpFatal,     // the rest: QPN
  kQpRequestError,
  kQpAccessError,
  kSendQueueDrained,
  kLastWqeReached,
  kEstablished,  // a packet arrived in RTR
  kSrqLimit,     // SRQN
  kWaitOver,     // not for software: a WAIT may go on
};

struct AsyncEvent {
  EventKind kind;
  uint32_t number;
};

}  // namespace ringpost::sim
