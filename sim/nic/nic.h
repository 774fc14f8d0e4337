// nic.h: what an RC NIC does, without a clock: doorbells, WQEs, keys, remote accesses and CQEs at
// the mlx5 byte contract.
//
// The driver (sim/node in virtual time) calls these in the order in which things happen and gives
// each its time. One Nic is one port; it owns its QPs and keys and nothing else. Single-threaded.
//
//   requester: RingDoorbell -> FetchNext* -> ReadPayload -> (wire) -> Acknowledge or Fail
//   responder: Respond, then PlaceResponse at the requester for a READ
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "sim/nic/counters.h"
#include "sim/nic/dma.h"
#include "sim/nic/keys.h"
#include "sim/nic/queue_pair.h"
#include "transport/abi/doorbell.h"

namespace ringpost::sim {

// An error CQE asked for by a fault rule or a test: WQE number `wqe` (in order of fetch, from 0).
struct InjectedError {
  uint64_t wqe = 0;
  abi::Syndrome syndrome = abi::Syndrome::kLocalQpOperation;
};

class Nic {
 public:
  Nic(uint32_t node, uint32_t mtu, Dma& dma) : node_(node), mtu_(mtu), dma_(dma) {}
  Nic(const Nic&) = delete;
  Nic& operator=(const Nic&) = delete;

  uint32_t Node() const { return node_; }
  KeyTable& Keys() { return keys_; }
  Counters& Count() { return counters_; }
  const Counters& Count() const { return counters_; }

  QueuePair& CreateQp(const QpConfig& config);
  // RESET to RTS in one step, with the peer's number.
  void Connect(uint32_t qpn, uint32_t peer_node, uint32_t peer_qpn);
  QueuePair* FindQp(uint32_t qpn) {
    const uint32_t index = qpn - kFirstQpn;
    return index < qps_.size() ? qps_[index].get() : nullptr;
  }
  void InjectError(uint32_t qpn, const InjectedError& error) { injected_[qpn].push_back(error); }

  // Takes a doorbell of either form. Returns the QP if WQEBBs are to be fetched, else null.
  QueuePair* RingDoorbell(uint64_t value);
  // Reads and parses the next announced WQE of the QP. False when there is none.
  bool FetchNext(QueuePair& qp, Work& work);
  // Checks the local key and, for a pointer WRITE, reads the payload.
  void ReadPayload(QueuePair& qp, Work& work);

  // At the target: checks the request and executes it; fills the payload of a READ.
  void Respond(Work& work);
  // Back at the requester: places the bytes of a READ.
  void PlaceResponse(Work& work);

  // The WQE is done: completes it and, implicitly, all before it. True if a CQE was written.
  bool Acknowledge(QueuePair& qp, const Work& work);
  // The WQE has failed: error CQE, QP to ERR, flush CQEs for all later ones up to the producer.
  void Fail(QueuePair& qp, const Work& work);

  static constexpr uint32_t kFirstQpn = 0x100;

 private:
  bool Parse(const uint8_t* wqe, uint32_t segments, Work& work) const;
  bool ReadBlocks(QueuePair& qp, uint64_t index, uint8_t* bytes, uint32_t blocks);
  void ConsumeWqe(QueuePair& qp, uint64_t index, uint32_t size);
  void ApplyInjected(QueuePair& qp, Work& work);
  void WriteCqe(QueuePair& qp, const Work& work, bool error);
  void FlushFetched(QueuePair& qp, uint64_t failed);
  void FlushUnfetched(QueuePair& qp);
  uint64_t ProducerFromRecord(QueuePair& qp, uint64_t announced);
  static void SetLocalError(Work& work, abi::Syndrome syndrome, uint8_t vendor);
  static void SetRemoteError(Work& work, abi::Syndrome syndrome, uint8_t vendor);

  uint32_t node_;
  uint32_t mtu_;
  Dma& dma_;
  KeyTable keys_;
  Counters counters_;
  std::vector<std::unique_ptr<QueuePair>> qps_;
  std::map<uint32_t, std::vector<InjectedError>> injected_;
  std::map<uint32_t, uint64_t> fetched_wqes_;  // only of QPs with injected errors
};

}  // namespace ringpost::sim
