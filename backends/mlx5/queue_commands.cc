#include "backends/mlx5/queue_commands.h"

#include <algorithm>
#include <bit>

#include "backends/mlx5/command.h"
#include "backends/mlx5/prm_contexts.h"

namespace ringpost::mlx5 {
namespace {

namespace cqc = prm::cqc;
namespace qpc = prm::qpc;
namespace ads = prm::ads;

constexpr uint64_t kLogMaxMessage = 30;  // a ConnectX has no longer ones

// A mailbox under construction: fields of the command, of its context, of its path.
class Writer {
 public:
  Writer(prm::Opcode opcode, uint32_t bytes, uint32_t context)
      : bytes_(Mailbox(opcode, bytes)), context_(context) {}
  Writer& Command(prm::Field field, uint64_t value) {
    prm::Set(bytes_, field, value);
    return *this;
  }
  Writer& Context(prm::Field field, uint64_t value) {
    return Command(prm::In(context_, field), value);
  }
  Writer& PrimaryPath(prm::Field field, uint64_t value) {
    return Context(prm::In(qpc::kPrimaryPath, field), value);
  }
  void RemoteGid(const Gid& gid) {
    std::copy(gid.begin(), gid.end(),
              bytes_.begin() + context_ + qpc::kPrimaryPath + ads::kRemoteGid);
  }
  std::vector<uint8_t> Done() { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
  uint32_t context_;
};

uint64_t Log(uint32_t power_of_two) {
  return static_cast<uint64_t>(std::countr_zero(power_of_two));
}

Writer Modify(prm::Opcode opcode, const BringUpPlan& plan) {
  Writer command(opcode, prm::kModifyQpBytes, prm::kQpcAt);
  command.Command(prm::kNumber, plan.qpn);
  return command;
}

// Where packets go. A DCI takes all but the port from the address vectors of its WQEs.
void WritePath(const DeviceFacts& facts, const BringUpPlan& plan, Writer& command) {
  command.PrimaryPath(ads::kPort, facts.port);
  if (plan.kind == TransportKind::kDc) return;
  const Path& path = plan.path;
  if (path.link == Link::kInfiniband) {
    command.PrimaryPath(ads::kRlid, path.lid).PrimaryPath(ads::kGrh, path.global ? 1 : 0);
  } else {
    const auto& mac = plan.mac;
    command.PrimaryPath(ads::kRemoteMacHigh, uint64_t{mac[0]} << 8 | mac[1])
        .PrimaryPath(ads::kRemoteMacLow, uint64_t{mac[2]} << 24 | uint64_t{mac[3]} << 16 |
                                             uint64_t{mac[4]} << 8 | mac[5]);
    if (facts.gid_kind == GidKind::kRoceV2) {
      command.PrimaryPath(ads::kUdpSourcePort, UdpSourcePort(plan.qpn, plan.peer_qpn));
    }
  }
  if (!path.global) return;
  command.PrimaryPath(ads::kSourceAddress, facts.gid_index)
      .PrimaryPath(ads::kHopLimit, kHopLimit)
      .RemoteGid(path.gid);
}

}  // namespace

uint16_t UdpSourcePort(uint32_t qpn, uint32_t peer_qpn) {
  const uint32_t mixed = (qpn * 0x9e3779b1u) ^ (peer_qpn * 0x85ebca6bu);
  return static_cast<uint16_t>(0xc000 | (mixed >> 18));
}

std::vector<uint8_t> CreateCqCommand(const CqPlan& plan) {
  return Writer(prm::Opcode::kCreateCq, prm::kCreateCqBytes, prm::kCqcAt)
      .Command(prm::kCqUmemId, plan.ring.umem)
      .Command(prm::kCqUmemOffset, plan.ring.offset)
      .Command(prm::kCqUmemValid, 1)
      .Context(cqc::kRecordUmemValid, 1)
      .Context(cqc::kRecordUmemId, plan.record.umem)
      .Context(cqc::kRecord, plan.record.offset)
      .Context(cqc::kCollapsed, plan.collapsed ? 1 : 0)
      // Nobody tells it what was read: the transport posts no more than entries have room for.
      .Context(cqc::kIgnoreOverrun, 1)
      .Context(cqc::kLogSize, Log(plan.entries))
      .Context(cqc::kUarPage, plan.uar_page)
      .Context(cqc::kEqn, plan.eqn)
      .Done();
}

std::vector<uint8_t> CreateQpCommand(const QpPlan& plan) {
  const bool dc = plan.kind == TransportKind::kDc;
  Writer command(prm::Opcode::kCreateQp, prm::kCreateQpBytes, prm::kQpcAt);
  command.Command(prm::kWqUmemId, plan.ring.umem)
      .Command(prm::kWqUmemOffset, plan.ring.offset)
      .Command(prm::kWqUmemValid, 1)
      .Context(qpc::kServiceType,
               static_cast<uint64_t>(dc ? qpc::Service::kDci : qpc::Service::kRc))
      .Context(qpc::kPathMigration, qpc::kMigrated)
      .Context(qpc::kPd, plan.pd)
      .Context(qpc::kUarPage, plan.uar_page)
      .Context(qpc::kLogSqSize, Log(plan.send_wqebbs))
      .Context(qpc::kRqType, plan.receives == 0 ? qpc::kRqEmpty : qpc::kRqOwn)
      .Context(qpc::kSendCq, plan.send_cq)
      .Context(qpc::kReceiveCq, plan.receive_cq)
      // Payload in CQEs: none, either way.
      .Context(qpc::kScatterRequester, 0)
      .Context(qpc::kScatterResponder, 0)
      .Context(qpc::kRecordUmemValid, 1)
      .Context(qpc::kRecordUmemId, plan.record.umem)
      .Context(qpc::kRecord, plan.record.offset);
  if (plan.receives != 0) command.Context(qpc::kLogRqSize, Log(plan.receives));
  return command.Done();
}

std::vector<uint8_t> InitCommand(const DeviceFacts& facts, const BringUpPlan& plan) {
  Writer command = Modify(prm::Opcode::kRstToInit, plan);
  command.Context(qpc::kPathMigration, qpc::kMigrated)
      .PrimaryPath(ads::kPort, facts.port)
      .PrimaryPath(ads::kPkeyIndex, facts.pkey_index);
  if (plan.kind == TransportKind::kRc) {
    command.Context(qpc::kRemoteRead, 1)
        .Context(qpc::kRemoteWrite, 1)
        .Context(qpc::kRemoteAtomic, 1)
        .Context(qpc::kAtomicMode, qpc::kAtomic8Bytes);
  }
  return command.Done();
}

std::vector<uint8_t> ReceiveCommand(const DeviceFacts& facts, const BringUpPlan& plan) {
  Writer command = Modify(prm::Opcode::kInitToRtr, plan);
  command.Context(qpc::kMtu, plan.path.mtu).Context(qpc::kLogMaxMessage, kLogMaxMessage);
  command.PrimaryPath(ads::kPkeyIndex, facts.pkey_index);
  WritePath(facts, plan, command);
  if (plan.kind == TransportKind::kRc) {
    command.Context(qpc::kRemoteQpn, plan.peer_qpn)
        .Context(qpc::kRemoteRead, 1)
        .Context(qpc::kRemoteWrite, 1)
        .Context(qpc::kRemoteAtomic, 1)
        .Context(qpc::kAtomicMode, qpc::kAtomic8Bytes)
        .Context(qpc::kLogResponderDepth, facts.log_responder_depth)
        .Context(qpc::kMinRnrNak, kMinRnrTimer)
        .Context(qpc::kNextReceivePsn, 0);
  }
  return command.Done();
}

std::vector<uint8_t> SendCommand(const DeviceFacts& facts, const BringUpPlan& plan) {
  Writer command = Modify(prm::Opcode::kRtrToRts, plan);
  command.Context(qpc::kLogAckRequest, 0)
      .Context(qpc::kLogRequesterDepth, facts.log_initiator_depth)
      .Context(qpc::kRetryCount, kRetries)
      .Context(qpc::kRnrRetry, kRnrRetries)
      .Context(qpc::kNextSendPsn, 0)
      .PrimaryPath(ads::kAckTimeout, kAckTimeout);
  return command.Done();
}

}  // namespace ringpost::mlx5
