#include "backends/live/live_nic.h"

#include <fmt/format.h>

#include <cstring>
#include <sstream>
#include <utility>

#include "sim/nic/bring_up.h"
#include "sim/service/segment_port.h"
#include "sim/service/udp_port.h"
#include "transport/abi/cqe.h"
#include "transport/abi/wqe.h"
#include "transport/memory/host_memory.h"

namespace ringpost {
namespace {

using sim::service::DeviceInfo;
using sim::service::NicLoop;

constexpr uint64_t kMaxAllocation = 1ull << 40;

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
  if (options.gpu_kernels && options.reach_gpu) {
    auto reached = options.reach_gpu();
    if (!reached.Ok()) return Error{reached.Message()};
    nic->gpu_ = std::move(reached.Value());
  }
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

Placement LiveNic::PlaceOf(Placement placement) const {
  return options_.gpu_is_host ? Placement::kHost : placement;
}

Result<RegisteredMemory> LiveNic::Allocate(Placement placement, uint64_t bytes) {
  if (bytes == 0 || bytes > kMaxAllocation) {
    return Error{fmt::format("cannot allocate {} bytes; give 1 byte to 1 TiB", bytes)};
  }
  const std::string refusal = Unreachable(placement);
  if (!refusal.empty()) return Error{refusal};
  const Result<Allocation> memory = memory_.Allocate(PlaceOf(placement), bytes);
  if (!memory.Ok()) return Error{memory.Message()};
  return RegisterAt(memory.Value().address, bytes, placement);
}

std::string LiveNic::Unreachable(Placement placement) const {
  if (!ThroughGpu(placement) || gpu_ != nullptr) return {};
  return "this NIC has no way to GPU memory; place queues and payload in host memory";
}

void LiveNic::Allow(NicLoop& loop, uint64_t address, uint64_t bytes, Placement placement) {
  if (ThroughGpu(placement)) {
    loop.Memory().Devices().Allow(address, bytes, *gpu_);
  } else {
    loop.Memory().Allow(address, bytes);
  }
}

Result<RegisteredMemory> LiveNic::Register(uint64_t address, uint64_t bytes) {
  return RegisterAt(address, bytes, Placement::kHost);
}

Result<RegisteredMemory> LiveNic::RegisterAt(uint64_t address, uint64_t bytes,
                                             Placement placement) {
  uint32_t key = 0;
  const Result<bool> called = service_->Call([&](NicLoop& loop) {
    key = loop.Function().Keys().Register({address, address, bytes, pd_, sim::kAllRights});
    if (key != 0) Allow(loop, address, bytes, placement);
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
  const bool of_cpu =
      options_.gpu_is_host || (!options_.gpu_kernels && spec.placement == Placement::kHost);
  std::string refusal = RefusalOf(spec, {.blueflame = of_cpu, .record_free = false});
  if (refusal.empty()) refusal = Unreachable(spec.placement);
  if (refusal.empty() && spec.doorbell == DoorbellMode::kCpu && ThroughGpu(spec.placement)) {
    refusal = "doorbell cpu needs queues in host memory: a host thread writes the record";
  }
  if (!refusal.empty()) return Error{refusal};
  Qp qp;
  qp.views = ViewsOf(spec, options_.nic.limits.message_bytes);
  QpSpec placed = spec;
  placed.placement = PlaceOf(spec.placement);
  const KernelsOf kernels = options_.gpu_kernels ? KernelsOf::kGpu : KernelsOf::kHost;
  refusal = PlaceQueues(memory_, kernels, placed, qp.views, qp.memory);
  if (!refusal.empty()) return Error{refusal};
  const Result<bool> called = service_->Call([&](NicLoop& loop) { refusal = Make(loop, qp); });
  if (!called.Ok() || !refusal.empty()) {
    FreeQueues(memory_, qp.memory);
    return Either(called, refusal);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  qps_[qp.objects.qp] = qp;
  if (spec.doorbell == DoorbellMode::kCpu) bells_.Add(qp.views.send);
  return QpAddress{options_.lid, qp.objects.qp, qp.objects.dct};
}

// On the NIC's thread.
std::string LiveNic::Make(NicLoop& loop, Qp& qp) {
  sim::Rnic& function = loop.Function();
  const uint64_t page = qp.memory.page;
  QpView& view = qp.views.send;
  view.sink_lkey = function.Keys().Register(
      {view.sink, view.sink, sizeof(uint64_t), pd_, sim::kMayWriteLocally});
  if (view.sink_lkey == 0) return "no memory key is left on this NIC";
  const ObjectMaker make{
      [&](const sim::CqConfig& config) { return function.CreateCq(config); },
      [&](uint32_t pd, const sim::ReceiveQueueConfig& config) {
        return function.CreateSrq(pd, config);
      },
      [&](const sim::RnicQpConfig& config) { return loop.CreateQp(config, page); }};
  Allow(loop, qp.memory.queues, qp.memory.queue_bytes, qp.memory.placement);
  const std::string refusal = MakeObjects(make, pd_, qp.views, qp.objects);
  if (refusal.empty()) return refusal;
  Destroy(loop, qp);
  loop.Memory().Forbid(qp.memory.queues, qp.memory.queue_bytes);
  return refusal;
}

// The same. Nothing of what is there is in use by others.
void LiveNic::Destroy(NicLoop& loop, const Qp& qp) {
  const QpObjects& objects = qp.objects;
  if (objects.qp != 0) loop.DestroyQp(objects.qp);
  if (objects.dct != 0) loop.DestroyQp(objects.dct);
  if (objects.srq != 0) loop.Function().DestroySrq(objects.srq);
  if (objects.receive_cq != 0) loop.DestroyCq(objects.receive_cq);
  if (objects.send_cq != 0) loop.DestroyCq(objects.send_cq);
  loop.Function().Keys().Deregister(qp.views.send.sink_lkey);
}

Result<bool> LiveNic::DestroyQp(const QpAddress& local) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = qps_.find(local.qpn);
  if (found == qps_.end()) return Error{NotOurs(local)};
  const Qp qp = found->second;
  bells_.Remove(local.qpn);
  const Result<bool> called = service_->Call([&](NicLoop& loop) {
    Destroy(loop, qp);
    loop.Memory().Forbid(qp.memory.queues, qp.memory.queue_bytes);
  });
  if (!called.Ok()) return Error{called.Message()};
  qps_.erase(found);
  FreeQueues(memory_, qp.memory);
  return true;
}

std::string LiveNic::NotOurs(const QpAddress& address) const {
  return fmt::format("QP {:#x} is not of this NIC, LID {}", address.qpn, options_.lid);
}

// "LID PORT ADDRESS"
std::string LiveNic::Whereabouts() const {
  if (udp_ == nullptr) return own_fabric_ == nullptr ? "" : own_fabric_->FabricName();
  return fmt::format("{} {} {}", options_.lid, udp_spec_.port, udp_spec_.address);
}

Result<bool> LiveNic::Meet(const std::string& whereabouts) {
  const bool apart = whereabouts.find(' ') == std::string::npos;  // not by UDP
  if (udp_ == nullptr && apart) {
    if (whereabouts == Whereabouts()) return true;
    return Error{
        "two NICs are in different containers, or of different users, and share no memory; use "
        "live.wire: udp"};
  }
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
  const Result<Qp> known = Find(local);
  if (!known.Ok()) return Error{known.Message()};
  std::string refusal;
  const Result<bool> called = service_->Call([&](NicLoop& loop) {
    refusal = ConnectObjects(known.Value().objects, loop.Function().FindQp(local.qpn)->state,
                             address, peer, options_.nic,
                             [&](uint32_t qpn, sim::QpAttributes attributes, uint32_t mask) {
                               if (options_.adjust) options_.adjust(attributes);
                               return loop.ModifyQp(qpn, attributes, mask);
                             });
  });
  if (!called.Ok() || !refusal.empty()) return Either(called, refusal);
  const std::lock_guard<std::mutex> lock(mutex_);
  qps_[local.qpn].views.send.target = {abi::kDcAccessKey, peer.dct, address.lid};
  return true;
}

Result<LiveNic::Qp> LiveNic::Find(const QpAddress& local) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = qps_.find(local.qpn);
  if (found == qps_.end() || local.node != options_.lid) return Error{NotOurs(local)};
  return found->second;
}

Result<QpView> LiveNic::View(const QpAddress& local) const {
  const Result<Qp> qp = Find(local);
  if (!qp.Ok()) return Error{qp.Message()};
  return qp.Value().views.send;
}

Result<ReceiveView> LiveNic::Receives(const QpAddress& local) const {
  const Result<Qp> qp = Find(local);
  if (!qp.Ok()) return Error{qp.Message()};
  return qp.Value().views.receive;
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

Result<std::vector<RealTimeNic::Count>> LiveNic::Counts() {
  const Result<LiveCounters> counters = Counters();
  if (!counters.Ok()) return Error{counters.Message()};
  std::vector<Count> counts;
  const auto add = [&](const char* name, uint64_t value) { counts.emplace_back(name, value); };
  ForEachCounter(counters.Value().nic, add);
  ForEachCounter(counters.Value().loop, add);
  ForEachCounter(counters.Value().port, add);
  ForEachCounter(counters.Value().faults, add);
  return counts;
}

std::optional<RealTimeNic::Pacing> LiveNic::Paced() {
  if (!options_.service.overlay.pace) return std::nullopt;
  const Result<LiveCounters> counters = Counters();
  if (!counters.Ok()) return std::nullopt;
  const sim::service::PaceCounters& pace = counters.Value().pace;
  return Pacing{pace.held, pace.late, pace.late_median_ns, pace.late_p99_ns, pace.late_max_ns};
}

std::vector<RealTimeNic::Fact> LiveNic::Facts() const {
  constexpr const char* kIdle[] = {"spin", "yield", "sleep"};
  const int core = options_.service.core;
  return {{"nic", "software"},
          {"nic_core", core < 0 ? "any" : std::to_string(core)},
          {"poll", kIdle[static_cast<int>(options_.service.idle)]}};
}

}  // namespace ringpost
