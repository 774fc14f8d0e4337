// qp_states.h: the states of a QP, what each transition between them must and may be given, per QP
// type (IBA specification 11.2.5.2; the mlx5 provider for DC), and the attributes themselves.
#pragma once

#include <cstdint>
#include <string>

#include "sim/nic/address.h"

namespace ringpost::sim {

enum class QpType : uint8_t { kRc, kUc, kUd, kDci, kDct };

// The values of QPC.state.
enum class State : uint8_t {
  kReset = 0,
  kInit = 1,
  kReadyToReceive = 2,
  kReadyToSend = 3,
  kSendQueueError = 4,
  kSendQueueDrain = 5,
  kError = 6,
};
inline constexpr int kStates = 7;

const char* NameOf(State state);
const char* NameOf(QpType type);

// The values of the verbs' attribute mask.
enum Attribute : uint32_t {
  kAttrState = 1 << 0,
  kAttrCurrentState = 1 << 1,
  kAttrDrainNotify = 1 << 2,
  kAttrAccess = 1 << 3,
  kAttrPkeyIndex = 1 << 4,
  kAttrPort = 1 << 5,
  kAttrQkey = 1 << 6,
  kAttrAddress = 1 << 7,
  kAttrPathMtu = 1 << 8,
  kAttrTimeout = 1 << 9,
  kAttrRetryCount = 1 << 10,
  kAttrRnrRetry = 1 << 11,
  kAttrReceivePsn = 1 << 12,
  kAttrMaxRdAtomic = 1 << 13,
  kAttrAlternatePath = 1 << 14,
  kAttrMinRnrTimer = 1 << 15,
  kAttrSendPsn = 1 << 16,
  kAttrMaxDestRdAtomic = 1 << 17,
  kAttrPathMigration = 1 << 18,
  kAttrCapabilities = 1 << 19,
  kAttrDestQpn = 1 << 20,
};

struct QpAttributes {
  State state = State::kReset;
  State current_state = State::kReset;
  bool drain_notify = false;
  uint8_t access = 0;  // rights that peers have through this QP
  uint16_t pkey_index = 0;
  uint8_t port = 1;
  uint32_t qkey = 0;
  Address address;
  uint32_t path_mtu = 0;  // bytes
  uint8_t timeout = 0;
  uint8_t retry_count = 0;
  uint8_t rnr_retry = 0;
  uint32_t receive_psn = 0;
  uint8_t max_rd_atomic = 0;
  Address alternate_address;
  uint8_t min_rnr_timer = 0;
  uint32_t send_psn = 0;
  uint8_t max_dest_rd_atomic = 0;
  uint8_t path_migration = 0;
  uint32_t dest_qpn = 0;
};

struct Transition {
  bool allowed = false;
  uint32_t required = 0;
  uint32_t optional = 0;
};

// What the table says of one transition; kAttrState itself is not listed.
Transition TransitionOf(QpType type, State from, State to);

// An empty string if the transition may be made with these attributes, else why not, in one line.
std::string CheckTransition(QpType type, State from, State to, uint32_t mask);

// Copies what `mask` names.
void Assign(QpAttributes& to, const QpAttributes& from, uint32_t mask);

}  // namespace ringpost::sim
