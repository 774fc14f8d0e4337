// rnic.h: what a NIC does, without a clock: doorbells, WQEs, packets, keys, memory accesses and
// CQEs at the mlx5 byte contract.
//
// A driver calls these in the order in which things happen. One Rnic is one port; it touches memory
// only through its Dma. Single-threaded; same calls, same results.
//
//   requester: RingDoorbell -> FetchNext* -> NextPacket* -> (wire) ... Receive(response)
//   responder: Receive(request) -> NextResponse* -> (wire)
//   timers:    whatever NextPacket and the Facts ask for comes back to OnTimer
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/nic/dma.h"
#include "sim/nic/facts.h"
#include "sim/nic/protection.h"
#include "sim/nic/qp_context.h"
#include "sim/nic/rnic_config.h"
#include "sim/nic/rnic_counters.h"
#include "sim/wire/packet.h"

namespace ringpost::sim {

// A number, or why there is none, in one line.
struct Created {
  uint32_t number = 0;
  std::string refusal;
  bool Ok() const { return refusal.empty(); }
};

class Rnic {
 public:
  Rnic(const RnicConfig& config, Dma& dma) : config_(config), dma_(dma), protection_(config.slot) {}
  Rnic(const Rnic&) = delete;
  Rnic& operator=(const Rnic&) = delete;

  const RnicConfig& Config() const { return config_; }
  RnicCounters& Count() { return counters_; }
  const RnicCounters& Count() const { return counters_; }
  Protection& Keys() { return protection_; }

  // Objects. What is in use is not destroyed: the answer says by whom.
  Created CreateCq(const CqConfig& config);
  Created CreateSrq(uint32_t pd, const ReceiveQueueConfig& config);
  Created CreateQp(const RnicQpConfig& config);
  std::string DestroyCq(uint32_t cqn);
  // From now on CQEs go to another ring; the last one of the old ring says so (PRM "RESIZE_CQ").
  std::string ResizeCq(uint32_t cqn, uint64_t ring, uint32_t entries);
  std::string DestroySrq(uint32_t srqn);
  std::string DestroyQp(uint32_t qpn);
  // Empty if done. `attributes.state` counts if kAttrState is in the mask.
  std::string ModifyQp(uint32_t qpn, const QpAttributes& attributes, uint32_t mask);
  // What was set, with the state and PSNs of now.
  QpAttributes QueryQp(const QpContext& qp) const;
  // An event, once, when fewer than `limit` receives are left; 0: none.
  void ArmSrqLimit(uint32_t srqn, uint32_t limit);
  QpContext* FindQp(uint32_t qpn) {
    const uint32_t index = (qpn & 0xffff) - kFirstQpn;
    return (qpn >> 16) == config_.slot && index < qps_.size() ? qps_[index].get() : nullptr;
  }
  CompletionQueue* FindCq(uint32_t cqn) { return cqn < cqs_.size() ? cqs_[cqn].get() : nullptr; }
  const Srq* FindSrq(uint32_t n) const { return n < srqs_.size() ? srqs_[n].get() : nullptr; }
  // WQE number `failure.wqe` of the QP, in order of fetch, fails.
  void InjectFailure(QpContext& qp, const InjectedFailure& failure) {
    qp.injected.push_back(failure);
  }

  // Takes a doorbell of either form. Returns the QP if WQEBBs are to be fetched, else null.
  QpContext* RingDoorbell(uint64_t value);
  // The same of a QP whose doorbell may have been overwritten: its record says what to fetch.
  bool RefreshFromRecord(QpContext& qp);
  // The 8 bytes at 0x20 of a UAR page, or the record alone.
  void RingArm(uint64_t value);
  void RefreshArm(uint32_t cqn);

  // Reads and parses the next announced WQE.
  Fetched FetchNext(QpContext& qp);
  // The next packet of a requester or of a responder. `packet` keeps its payload's capacity.
  Sent NextPacket(QpContext& qp, wire::Packet& packet);
  bool NextResponse(QpContext& qp, wire::Packet& packet, const Address** to);
  bool HasResponses(const QpContext& qp) const;
  // A packet that arrived from `from`.
  Facts Receive(const wire::Packet& packet, const Address& from);
  Facts OnTimer(QpContext& qp, TimerKind kind, uint32_t generation);

  // Since the last call, in order.
  bool HasEvents() const { return !events_.empty(); }
  std::vector<AsyncEvent> TakeEvents() { return std::exchange(events_, {}); }
  static constexpr uint32_t kFirstQpn = 0x100;

 private:
  // A request that is refused: the NAK, and what becomes of a receive that it has taken.
  struct Refusal {
    uint8_t nak;
    abi::Syndrome local = abi::Syndrome::kNone;
  };

  // rnic_objects.cc, rnic_modify.cc
  std::string CheckQp(const RnicQpConfig& config) const;
  std::string CheckAttributes(const QpContext& qp, const QpAttributes& wanted, uint32_t mask) const;
  void Enter(QpContext& qp, State state);
  void Reset(QpContext& qp);
  // fetch.cc
  bool ReadRing(QpContext& qp, uint64_t index, uint32_t offset, uint8_t* bytes, uint32_t size);
  void ConsumeRing(QpContext& qp, uint64_t index, uint32_t size);
  uint32_t FetchLong(QpContext& qp, SendWqe& wqe, bool read, uint8_t* bytes);
  void Place(QpContext& qp, SendWqe& wqe, uint32_t number);
  bool ReadCounter(QpContext& qp, uint64_t* producer);
  // requester_send.cc, requester_payload.cc
  Sent SendShortWrite(QpContext& qp, const SendWqe& wqe, wire::Packet& packet);
  Sent SendAny(QpContext& qp, wire::Packet& packet);
  Blocked Hold(QpContext& qp, SendWqe& wqe);
  bool ExecuteLocal(QpContext& qp, SendWqe& wqe, Blocked* blocked);
  bool Build(QpContext& qp, SendWqe& wqe, uint32_t offset, wire::Packet& packet);
  bool BuildRequest(QpContext& qp, SendWqe& wqe, uint32_t offset, wire::Packet& packet);
  bool Gather(QpContext& qp, const SendWqe& wqe, uint32_t offset, uint32_t bytes,
              wire::Packet& packet);
  bool CheckLocal(QpContext& qp, const SendWqe& wqe, uint8_t rights);
  bool ScatterLocal(QpContext& qp, const SendWqe& wqe, uint32_t offset, const uint8_t* data,
                    uint32_t bytes);
  uint64_t IndexOf(const QpContext& qp, const SendWqe& wqe) const {
    return qp.requester.fetched -
           static_cast<uint16_t>(static_cast<uint16_t>(qp.requester.fetched) - wqe.index);
  }
  bool AskAgain(QpContext& qp);
  bool Asks(QpContext& qp, const SendWqe& wqe, bool last);
  void ArmAck(QpContext& qp, TimerRequest* timer);
  // requester_ack.cc
  void ReceiveResponse(QpContext& qp, const wire::Packet& packet, Facts* facts);
  void ReceiveAck(QpContext& qp, const wire::Packet& packet, Facts* facts);
  void ReceiveData(QpContext& qp, const wire::Packet& packet, Facts* facts);
  void ReceiveNak(QpContext& qp, const wire::Packet& packet, Facts* facts);
  bool Advance(QpContext& qp, uint32_t psn);
  void Rewind(QpContext& qp);
  void ImpliedNak(QpContext& qp, Facts* facts);
  void CheckDrained(QpContext& qp);
  // failure.cc
  void Fail(QpContext& qp, abi::Syndrome syndrome, uint8_t vendor);
  void EnterError(QpContext& qp);
  void FailQp(QpContext& qp);
  uint64_t ProducerInError(QpContext& qp);
  void FlushSends(QpContext& qp, uint64_t producer, uint8_t head_vendor);
  void FlushReceives(QpContext& qp);
  void NewIncarnations(QpContext& qp);
  // receive.cc, dc.cc
  bool PlaceShortWrite(QpContext& qp, const wire::Packet& packet);
  void ReceiveRequest(QpContext& qp, Responder& r, const wire::Packet& packet, const Address& from);
  bool InOrder(QpContext& qp, Responder& r, const wire::Packet& packet);
  void Refuse(QpContext& qp, Responder& r, const Refusal& refusal);
  bool TakeReceive(QpContext& qp, Responder& r);
  void Announce(QpContext& qp);
  Responder* NextAnswer(QpContext& qp, wire::Packet& packet, const Address** to);
  void CheckSrqLimit(uint32_t srqn);
  Responder* ResponderOf(QpContext& qp, const wire::Packet& packet, const Address& from);
  uint32_t StreamOf(QpContext& qp, const SendTarget& target);
  // responder_execute.cc; false where the request was refused
  bool Execute(QpContext& qp, Responder& r, const wire::Packet& packet, const Address& from);
  bool ExecuteSend(QpContext& qp, Responder& r, const wire::Packet& packet, const Address& from);
  bool ExecuteWrite(QpContext& qp, Responder& r, const wire::Packet& packet, const Address& from);
  bool PlaceWrite(QpContext& qp, Responder& r, const wire::Packet& packet);
  bool MayTouch(QpContext& qp, const wire::Packet& packet, uint64_t bytes, uint8_t right,
                uint64_t* address);
  void ReceiveDatagram(QpContext& qp, const wire::Packet& packet, const Address& from);
  // responder_read.cc
  bool ExecuteRead(QpContext& qp, Responder& r, const wire::Packet& packet);
  bool ExecuteAtomic(QpContext& qp, Responder& r, const wire::Packet& packet);
  bool HasRoomForRd(QpContext& qp, Responder& r);
  void Replay(QpContext& qp, Responder& r, const wire::Packet& packet);
  void SaveBeforeWrite(QpContext& qp, Responder& r, uint64_t address, uint64_t bytes);
  bool BuildRdResponse(QpContext& qp, Responder& r, wire::Packet& packet);
  // completions.cc
  void FinishMessage(QpContext& qp, Responder& r, const wire::Packet& packet, const Address& from);
  bool CompleteSend(QpContext& qp, const SendWqe& wqe);
  void WriteSendError(QpContext& qp, uint16_t index, abi::Opcode opcode, abi::Syndrome syndrome,
                      uint8_t vendor);
  void WriteReceiveError(QpContext& qp, uint16_t index, abi::Syndrome syndrome, uint8_t vendor);
  bool WriteCqe(QpContext& qp, CompletionQueue& cq, abi::Cqe& cqe, abi::CqeOpcode opcode,
                bool solicited);
  bool HasRoom(uint32_t qpn, CompletionQueue& cq);
  bool PutCqe(uint32_t qpn, CompletionQueue& cq, abi::Cqe& cqe, abi::CqeOpcode opcode,
              uint8_t flags);
  void FailCq(CompletionQueue& cq);
  void Notify(CompletionQueue& cq, bool solicited);

  RnicConfig config_;
  Dma& dma_;
  Protection protection_;
  RnicCounters counters_;
  std::vector<std::unique_ptr<QpContext>> qps_;
  std::vector<std::unique_ptr<CompletionQueue>> cqs_ =
      std::vector<std::unique_ptr<CompletionQueue>>(1);
  std::vector<std::unique_ptr<Srq>> srqs_ = std::vector<std::unique_ptr<Srq>>(1);
  std::vector<uint32_t> free_qps_;
  std::vector<AsyncEvent> events_;
};

}  // namespace ringpost::sim
