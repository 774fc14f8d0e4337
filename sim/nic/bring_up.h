// bring_up.h: from RESET to RTS in the three steps of every application of verbs, for a QP whose
// queues are a transport's: RC, a DCI, or a DCT, which stops one step before.
#pragma once

#include <string>

#include "sim/nic/address.h"
#include "sim/nic/protection.h"
#include "sim/nic/qp_states.h"
#include "sim/nic/rnic_config.h"

namespace ringpost::sim {

inline constexpr uint8_t kAllRights =
    kMayWriteLocally | kMayWriteRemotely | kMayReadRemotely | kMayUseAtomics;

// What the libraries set: perftest's local ACK timeout, the longest retries, PSNs from 0, and as
// many READs and atomics under way as the NIC has.
inline QpAttributes UsualAttributes(const Address& peer, uint32_t peer_qpn, const RnicConfig& nic) {
  QpAttributes attributes;
  attributes.access = kAllRights;
  attributes.address = peer;
  attributes.path_mtu = nic.mtu;
  attributes.dest_qpn = peer_qpn;
  attributes.timeout = 14;
  attributes.retry_count = attributes.rnr_retry = 7;
  attributes.min_rnr_timer = 12;
  attributes.max_rd_atomic = attributes.max_dest_rd_atomic =
      static_cast<uint8_t>(nic.limits.rd_atomic);
  return attributes;
}

// `modify(attributes, mask)` is Rnic::ModifyQp of the QP, wherever its NIC runs. Empty if done.
template <class Modify>
std::string BringUp(QpAttributes attributes, Modify&& modify, QpType type = QpType::kRc) {
  constexpr uint32_t kPorted = kAttrPkeyIndex | kAttrPort;
  constexpr uint32_t kAnswers = kAttrAddress | kAttrPathMtu | kAttrMinRnrTimer;
  const bool dci = type == QpType::kDci, dct = type == QpType::kDct;
  const struct {
    State state;
    uint32_t mask;
  } kSteps[] = {{State::kInit, dci ? kPorted : kPorted | kAttrAccess},
                {State::kReadyToReceive,
                 dci   ? uint32_t{kAttrPathMtu}
                 : dct ? kAnswers | kAttrMaxDestRdAtomic
                       : kAnswers | kAttrMaxDestRdAtomic | kAttrDestQpn | kAttrReceivePsn},
                {State::kReadyToSend,
                 kAttrTimeout | kAttrRetryCount | kAttrRnrRetry | kAttrSendPsn | kAttrMaxRdAtomic}};
  std::string refusal;
  for (const auto& step : kSteps) {
    if (dct && step.state == State::kReadyToSend) break;
    attributes.state = step.state;
    refusal = modify(attributes, step.mask | kAttrState);
    if (!refusal.empty()) break;
  }
  return refusal;
}

}  // namespace ringpost::sim
