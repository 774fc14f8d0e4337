#include "backends/live/live_nic.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <sstream>

#include "sim/nic/bring_up.h"
#include "sim/service/segment_port.h"
#include "transport/abi/cqe.h"
#include "transport/abi/doorbell.h"
#include "transport/memory/host_memory.h"

namespace ringpost {
namespace {

using sim::service::DeviceInfo;
using sim::service::NicLoop;

constexpr uint64_t kLine = 64;
constexpr uint64_t kMaxAllocation = 1ull << 40;

// What a QP has in one allocation: its UAR page, a line for each word that threads share, the ring.
constexpr uint64_t kRecordAt = abi::kUarPageBytes;
constexpr uint64_t kCqAt = kRecordAt + kLine;
constexpr uint64_t kWordsAt = kCqAt + kLine;
constexpr uint64_t kRingAt = 2 * abi::kUarPageBytes;

constexpr uint8_t kUdpSlot = 1;  // a NIC over UDP has its GID for itself

// Within a run: frames travel in datagrams, so that nobody else sees these addresses.
sim::wire::Gid GidOf(uint32_t lid) {
  return sim::wire::MappedGid(10, 0, static_cast<uint8_t>(lid >> 8), static_cast<uint8_t>(lid));
}
sim::wire::MacAddress MacOf(uint32_t lid) {
  return {2, 0, 0, 0, static_cast<uint8_t>(lid >> 8), static_cast<uint8_t>(lid)};
}

DeviceInfo DeviceOf(const LiveNicOptions& options) {
  DeviceInfo device;
  device.name = options.device;
  device.lid = options.lid;
  device.gid = {0xfe, 0x80};
  device.gid[14] = static_cast<uint8_t>(options.lid >> 8);
  device.gid[15] = static_cast<uint8_t>(options.lid);
  device.link = sim::wire::Link::kInfiniband;
  return device;
}

Error Either(const Result<bool>& called, const std::string& refusal) {
  return Error{called.Ok() ? refusal : called.Message()};
}

}  // namespace

Result<std::unique_ptr<LiveNic>> LiveNic::Open(sim::service::FabricSegment& fabric,
                                               const LiveNicOptions& options) {
  using sim::service::Idle;
  using sim::service::Polling;
  const auto polling = options.service.idle == Idle::kSleep ? Polling::kSleep : Polling::kSpin;
  auto port = sim::service::SegmentPort::Attach(fabric, DeviceOf(options), polling);
  if (!port.Ok()) return Error{port.Message()};
  const uint8_t slot = port.Value()->Slot();
  return Start(std::move(port.Value()), slot, options);
}

Result<std::unique_ptr<LiveNic>> LiveNic::OpenUdp(const UdpNicSpec& udp,
                                                  const LiveNicOptions& options) {
  sim::service::UdpPortSpec spec;
  spec.device = {options.device, 0, GidOf(options.lid), sim::wire::Link::kEthernet};
  spec.mac = MacOf(options.lid);
  spec.address = udp.address;
  spec.port = udp.port;
  auto port = sim::service::UdpPort::Open(spec);
  if (!port.Ok()) return Error{port.Message()};
  sim::service::UdpPort* opened = port.Value().get();
  const uint16_t number = opened->Port();
  auto nic = Start(std::move(port.Value()), kUdpSlot, options);
  if (!nic.Ok()) return nic;
  nic.Value()->udp_ = opened;
  nic.Value()->udp_spec_ = {udp.address, number};
  return nic;
}

Result<std::unique_ptr<LiveNic>> LiveNic::Start(std::unique_ptr<sim::service::PacketPort> port,
                                                uint8_t slot, const LiveNicOptions& options) {
  sim::RnicConfig config = options.nic;
  config.slot = slot;
  auto service = sim::service::NicService::Start(std::move(port), config, options.service);
  if (!service.Ok()) return Error{service.Message()};
  auto own = options.memory == nullptr ? std::make_unique<HostMemory>() : nullptr;
  MemoryProvider* memory = options.memory == nullptr ? own.get() : options.memory;
  std::unique_ptr<LiveNic> nic(new LiveNic(options, memory, std::move(own)));
  nic->service_ = std::move(service.Value());
  const Result<bool> called =
      nic->service_->Call([&](NicLoop& loop) { nic->pd_ = loop.Function().Keys().AllocatePd(); });
  if (!called.Ok()) return Error{called.Message()};
  return nic;
}

Result<std::unique_ptr<LiveNic>> LiveNic::OpenOn(const sim::service::FabricSpec& fabric,
                                                 const LiveNicOptions& options) {
  auto segment = sim::service::FabricSegment::Open(fabric);
  if (!segment.Ok()) return Error{segment.Message()};
  auto nic = Open(*segment.Value(), options);
  if (nic.Ok()) nic.Value()->own_fabric_ = std::move(segment.Value());
  return nic;
}

LiveNic::LiveNic(const LiveNicOptions& options, MemoryProvider* memory,
                 std::unique_ptr<MemoryProvider> own_memory)
    : options_(options), own_memory_(std::move(own_memory)), memory_(*memory) {}

LiveNic::~LiveNic() = default;

Result<Allocation> LiveNic::TakeMemory(Placement placement, uint64_t bytes) {
  if (options_.gpu_is_host) placement = Placement::kHost;
  return memory_.Allocate(placement, bytes);
}

Result<RegisteredMemory> LiveNic::Allocate(Placement placement, uint64_t bytes) {
  if (bytes == 0 || bytes > kMaxAllocation) {
    return Error{fmt::format("cannot allocate {} bytes; give 1 byte to 1 TiB", bytes)};
  }
  const Result<Allocation> memory = TakeMemory(placement, bytes);
  if (!memory.Ok()) return Error{memory.Message()};
  return Register(memory.Value().address, bytes);
}

Result<RegisteredMemory> LiveNic::Register(uint64_t address, uint64_t bytes) {
  uint32_t key = 0;
  const Result<bool> called = service_->Call([&](NicLoop& loop) {
    key = loop.Function().Keys().Register({address, address, bytes, pd_, sim::kAllRights});
    if (key != 0) loop.Memory().Allow(address, bytes);
  });
  if (key == 0) return Either(called, "an impossible range, or no memory key is left on this NIC");
  return RegisteredMemory{address, bytes, key, key};
}

Result<bool> LiveNic::Deregister(const RegisteredMemory& memory) {
  bool done = false;
  const Result<bool> called = service_->Call([&](NicLoop& loop) {
    done = loop.Function().Keys().Deregister(memory.lkey);
    if (done) loop.Memory().Forbid(memory.address, memory.bytes);
  });
  if (!done) return Either(called, fmt::format("there is no key {:#x}", memory.lkey));
  return true;
}

Result<QpAddress> LiveNic::CreateQp(const QpSpec& spec) {
  if (!std::has_single_bit(spec.depth_wqebbs) || spec.depth_wqebbs < 8 ||
      spec.depth_wqebbs > abi::kMaxDepthWqebbs) {
    return Error{
        fmt::format("a send queue of {} WQEBBs is impossible; give a power of two from 8 to {}",
                    spec.depth_wqebbs, abi::kMaxDepthWqebbs)};
  }
  const Result<Allocation> memory =
      TakeMemory(spec.placement, kRingAt + uint64_t{spec.depth_wqebbs} * abi::kWqebbBytes);
  if (!memory.Ok()) return Error{memory.Message()};
  Qp qp;
  qp.memory = memory.Value();
  const uint64_t base = qp.memory.address;
  QpView& view = qp.view;
  view.depth = spec.depth_wqebbs;
  view.sq = base + kRingAt;
  view.record = base + kRecordAt;
  view.cq = base + kCqAt;
  view.doorbell = base + abi::kUarDoorbellOffset;
  view.reserved = {base + kWordsAt};
  view.ready = {base + kWordsAt + kLine};
  view.published = {base + kWordsAt + 2 * kLine};
  view.completed = {base + kWordsAt + 3 * kLine};
  view.batch = std::max(1u, spec.batch);
  view.max_inline = spec.max_inline;
  view.shared = spec.shared ? 1 : 0;
  view.placement = spec.placement;
  view.timeout_ps = spec.timeout_ps;
  // Software fills a CQ before the NIC may write it: an entry that is not there reads invalid.
  const std::string invalid(abi::kCqeBytes, static_cast<char>(abi::kCqeInitialOpOwn));
  const Result<bool> filled =
      memory_.Copy(view.cq, reinterpret_cast<uint64_t>(invalid.data()), invalid.size());
  std::string refusal = filled.Ok() ? "" : filled.Message();
  Result<bool> called = true;
  if (refusal.empty()) {
    called = service_->Call([&](NicLoop& loop) { refusal = Make(loop, qp); });
  }
  if (!called.Ok() || !refusal.empty()) {
    memory_.Free(qp.memory);
    return Either(called, refusal);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  qps_[view.qpn] = qp;
  return QpAddress{options_.lid, view.qpn};
}

// On the NIC's thread.
std::string LiveNic::Make(NicLoop& loop, Qp& qp) {
  QpView& view = qp.view;
  const uint64_t page = qp.memory.address;
  const sim::Created cq = loop.Function().CreateCq({view.cq, 1, 0, true, true});
  if (!cq.Ok()) return cq.refusal;
  sim::RnicQpConfig config;
  config.pd = pd_;
  config.send_cq = config.receive_cq = cq.number;
  config.sq = view.sq;
  config.sq_wqebbs = view.depth;
  config.record = view.record;
  config.max_inline = view.max_inline;
  const sim::Created made = loop.CreateQp(config, page);
  if (!made.Ok()) {
    loop.DestroyCq(cq.number);
    return made.refusal;
  }
  loop.Memory().Allow(page, qp.memory.bytes);
  qp.cqn = cq.number;
  view.qpn = made.number;
  return {};
}

Result<bool> LiveNic::DestroyQp(const QpAddress& local) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = qps_.find(local.qpn);
  if (found == qps_.end()) return Error{NotOurs(local)};
  const Qp qp = found->second;
  std::string refusal;
  const Result<bool> called = service_->Call([&](NicLoop& loop) {
    refusal = loop.DestroyQp(local.qpn);
    if (!refusal.empty()) return;
    loop.DestroyCq(qp.cqn);
    loop.Memory().Forbid(qp.memory.address, qp.memory.bytes);
  });
  if (!called.Ok() || !refusal.empty()) return Either(called, refusal);
  qps_.erase(found);
  memory_.Free(qp.memory);
  return true;
}

std::string LiveNic::NotOurs(const QpAddress& address) const {
  return fmt::format("QP {:#x} is not of this NIC, LID {}", address.qpn, options_.lid);
}

// "LID PORT ADDRESS"
std::string LiveNic::Whereabouts() const {
  if (udp_ == nullptr) return {};
  return fmt::format("{} {} {}", options_.lid, udp_spec_.port, udp_spec_.address);
}

Result<bool> LiveNic::Meet(const std::string& whereabouts) {
  if (udp_ == nullptr && whereabouts.empty()) return true;
  std::istringstream words(whereabouts);
  uint16_t lid = 0;
  sim::service::UdpPeer peer;
  if (udp_ == nullptr || !(words >> lid >> peer.port >> peer.address)) {
    return Error{"one NIC is reached through shared memory and one by UDP; set the same live.wire"};
  }
  peer.gid = GidOf(lid);
  peer.mac = MacOf(lid);
  Result<bool> added = true;
  const Result<bool> called = service_->Call([&](NicLoop&) { added = udp_->AddPeer(peer); });
  return called.Ok() ? added : called;
}

Result<bool> LiveNic::Connect(const QpAddress& local, const QpAddress& peer) {
  if (!View(local).Ok()) return Error{NotOurs(local)};
  if (peer.node == 0 || peer.node > 0xffff) {
    return Error{fmt::format(
        "port 1 (InfiniBand): LID {} is no port's; exchange the address that CreateQp gave",
        peer.node)};
  }
  sim::Address address{.lid = static_cast<uint16_t>(peer.node)};
  if (udp_ != nullptr) {
    address.global = true;
    address.gid = GidOf(peer.node);
  }
  std::string refusal;
  const Result<bool> called = service_->Call([&](NicLoop& loop) {
    refusal = sim::BringUp(sim::UsualAttributes(address, peer.qpn, options_.nic),
                           [&](const sim::QpAttributes& attributes, uint32_t mask) {
                             return loop.ModifyQp(local.qpn, attributes, mask);
                           });
  });
  if (!called.Ok() || !refusal.empty()) return Either(called, refusal);
  return true;
}

Result<QpView> LiveNic::View(const QpAddress& local) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = qps_.find(local.qpn);
  if (found == qps_.end() || local.node != options_.lid) return Error{NotOurs(local)};
  return found->second.view;
}

Result<bool> LiveNic::InjectError(uint32_t qpn, uint64_t wqe, abi::Syndrome syndrome) {
  bool found = false;
  const Result<bool> called = service_->Call([&](NicLoop& loop) {
    sim::QpContext* qp = loop.Function().FindQp(qpn);
    found = qp != nullptr;
    if (found) loop.Function().InjectFailure(*qp, {wqe, syndrome});
  });
  if (!found) return Either(called, NotOurs({options_.lid, qpn}));
  return true;
}

Result<LiveCounters> LiveNic::Counters() {
  LiveCounters counters;
  const Result<bool> called = service_->Call([&](NicLoop& loop) {
    counters = {loop.Function().Count(), loop.Count(), loop.Port().Counters(), loop.Faults(),
                loop.Paced()};
  });
  if (!called.Ok()) return Error{called.Message()};
  return counters;
}

}  // namespace ringpost
