#include "sim/nic/qp_states.h"

#include <array>

namespace ringpost::sim {
namespace {

constexpr uint8_t Bit(QpType type) { return static_cast<uint8_t>(1 << static_cast<int>(type)); }
constexpr uint8_t kRc = Bit(QpType::kRc), kUc = Bit(QpType::kUc), kUd = Bit(QpType::kUd),
                  kDci = Bit(QpType::kDci), kDct = Bit(QpType::kDct);

struct Row {
  State from;
  State to;
  uint8_t types;
  uint32_t required;
  uint32_t optional;
};

using enum State;

constexpr uint32_t kPath = kAttrAlternatePath | kAttrPathMigration;
constexpr uint32_t kPorted = kAttrPkeyIndex | kAttrPort;
constexpr uint32_t kConnected = kAttrAddress | kAttrPathMtu | kAttrDestQpn | kAttrReceivePsn;
constexpr uint32_t kRetries = kAttrTimeout | kAttrRetryCount | kAttrRnrRetry;

constexpr Row kRows[] = {
    {kReset, kInit, kRc | kUc | kDct, kPorted | kAttrAccess, 0},
    {kReset, kInit, kUd, kPorted | kAttrQkey, 0},
    {kReset, kInit, kDci, kPorted, 0},
    {kInit, kInit, kRc | kUc | kDct, 0, kPorted | kAttrAccess},
    {kInit, kInit, kUd, 0, kPorted | kAttrQkey},
    {kInit, kInit, kDci, 0, kPorted},
    {kInit, kReadyToReceive, kRc, kConnected | kAttrMaxDestRdAtomic | kAttrMinRnrTimer,
     kAttrAlternatePath | kAttrAccess | kAttrPkeyIndex},
    {kInit, kReadyToReceive, kUc, kConnected, kAttrAlternatePath | kAttrAccess | kAttrPkeyIndex},
    {kInit, kReadyToReceive, kUd, 0, kAttrPkeyIndex | kAttrQkey},
    {kInit, kReadyToReceive, kDci, kAttrPathMtu, kAttrPkeyIndex | kAttrAddress},
    {kInit, kReadyToReceive, kDct, kAttrMinRnrTimer | kAttrAddress | kAttrPathMtu,
     kAttrAccess | kAttrPkeyIndex | kAttrMaxDestRdAtomic},
    {kReadyToReceive, kReadyToSend, kRc, kRetries | kAttrSendPsn | kAttrMaxRdAtomic,
     kAttrCurrentState | kPath | kAttrAccess | kAttrMinRnrTimer},
    {kReadyToReceive, kReadyToSend, kUc, kAttrSendPsn, kAttrCurrentState | kPath | kAttrAccess},
    {kReadyToReceive, kReadyToSend, kUd, kAttrSendPsn, kAttrCurrentState | kAttrQkey},
    {kReadyToReceive, kReadyToSend, kDci, kRetries | kAttrSendPsn | kAttrMaxRdAtomic,
     kAttrCurrentState | kAttrMinRnrTimer},
    {kReadyToSend, kReadyToSend, kRc, 0,
     kAttrCurrentState | kPath | kAttrAccess | kAttrMinRnrTimer},
    {kReadyToSend, kReadyToSend, kUc, 0, kAttrCurrentState | kPath | kAttrAccess},
    {kReadyToSend, kReadyToSend, kUd, 0, kAttrCurrentState | kAttrQkey},
    {kReadyToSend, kReadyToSend, kDci, 0, kAttrCurrentState | kAttrMinRnrTimer},
    {kReadyToSend, kSendQueueDrain, kRc | kUc | kUd | kDci, 0, kAttrDrainNotify},
    {kSendQueueDrain, kReadyToSend, kRc, 0,
     kAttrCurrentState | kPath | kAttrAccess | kAttrMinRnrTimer},
    {kSendQueueDrain, kReadyToSend, kUc, 0, kAttrCurrentState | kPath | kAttrAccess},
    {kSendQueueDrain, kReadyToSend, kUd, 0, kAttrCurrentState | kAttrQkey},
    {kSendQueueDrain, kReadyToSend, kDci, 0, kAttrCurrentState | kAttrMinRnrTimer},
    {kSendQueueDrain, kSendQueueDrain, kRc, 0,
     kAttrPort | kAttrAddress | kRetries | kAttrMaxRdAtomic | kAttrMaxDestRdAtomic | kPath |
         kAttrAccess | kAttrPkeyIndex | kAttrMinRnrTimer},
    {kSendQueueDrain, kSendQueueDrain, kUc, 0, kAttrAddress | kPath | kAttrAccess | kAttrPkeyIndex},
    {kSendQueueDrain, kSendQueueDrain, kUd, 0, kAttrPkeyIndex | kAttrQkey},
    {kSendQueueError, kReadyToSend, kUc, 0, kAttrCurrentState | kAttrAccess},
    {kSendQueueError, kReadyToSend, kUd, 0, kAttrCurrentState | kAttrQkey},
};

constexpr std::array<const char*, 21> kAttributeNames = {
    "state",          "current state", "drain notification", "access",         "pkey index",
    "port",           "qkey",          "address vector",     "path MTU",       "timeout",
    "retry count",    "RNR retry",     "receive PSN",        "max_rd_atomic",  "alternate path",
    "min RNR timer",  "send PSN",      "max_dest_rd_atomic", "path migration", "capabilities",
    "destination QPN"};

std::string NamesOf(uint32_t mask) {
  std::string names;
  for (size_t i = 0; i < kAttributeNames.size(); ++i) {
    if ((mask & (1u << i)) == 0) continue;
    if (!names.empty()) names += ", ";
    names += kAttributeNames[i];
  }
  return names.empty() ? "an unknown attribute" : names;
}

}  // namespace

const char* NameOf(State state) {
  constexpr const char* kNames[kStates] = {"RST", "INIT", "RTR", "RTS", "SQE", "SQD", "ERR"};
  return static_cast<int>(state) < kStates ? kNames[static_cast<int>(state)] : "no state";
}

const char* NameOf(QpType type) {
  constexpr const char* kNames[] = {"RC", "UC", "UD", "DCI", "DCT"};
  return kNames[static_cast<int>(type)];
}

Transition TransitionOf(QpType type, State from, State to) {
  if (to == kReset || to == kError) return {true, 0, 0};
  for (const Row& row : kRows) {
    if (row.from == from && row.to == to && (row.types & Bit(type)) != 0) {
      return {true, row.required, row.optional};
    }
  }
  return {};
}

std::string CheckTransition(QpType type, State from, State to, uint32_t mask) {
  const std::string what =
      std::string(NameOf(type)) + " QP from " + NameOf(from) + " to " + NameOf(to);
  const Transition transition = TransitionOf(type, from, to);
  if (!transition.allowed) return what + ": no such transition";
  mask &= ~uint32_t{kAttrState};
  const uint32_t missing = transition.required & ~mask;
  if (missing != 0) return what + ": needs " + NamesOf(missing);
  const uint32_t excess = mask & ~(transition.required | transition.optional);
  if (excess != 0) return what + ": cannot set " + NamesOf(excess);
  return {};
}

void Assign(QpAttributes& to, const QpAttributes& from, uint32_t mask) {
  if (mask & kAttrDrainNotify) to.drain_notify = from.drain_notify;
  if (mask & kAttrAccess) to.access = from.access;
  if (mask & kAttrPkeyIndex) to.pkey_index = from.pkey_index;
  if (mask & kAttrPort) to.port = from.port;
  if (mask & kAttrQkey) to.qkey = from.qkey;
  if (mask & kAttrAddress) to.address = from.address;
  if (mask & kAttrPathMtu) to.path_mtu = from.path_mtu;
  if (mask & kAttrTimeout) to.timeout = from.timeout;
  if (mask & kAttrRetryCount) to.retry_count = from.retry_count;
  if (mask & kAttrRnrRetry) to.rnr_retry = from.rnr_retry;
  if (mask & kAttrReceivePsn) to.receive_psn = from.receive_psn;
  if (mask & kAttrMaxRdAtomic) to.max_rd_atomic = from.max_rd_atomic;
  if (mask & kAttrAlternatePath) to.alternate_address = from.alternate_address;
  if (mask & kAttrMinRnrTimer) to.min_rnr_timer = from.min_rnr_timer;
  if (mask & kAttrSendPsn) to.send_psn = from.send_psn;
  if (mask & kAttrMaxDestRdAtomic) to.max_dest_rd_atomic = from.max_dest_rd_atomic;
  if (mask & kAttrPathMigration) to.path_migration = from.path_migration;
  if (mask & kAttrDestQpn) to.dest_qpn = from.dest_qpn;
}

}  // namespace ringpost::sim
