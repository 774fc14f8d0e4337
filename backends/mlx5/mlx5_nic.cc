#include "backends/mlx5/mlx5_nic.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "transport/abi/wqe.h"
#include "transport/memory/host_memory.h"

namespace ringpost {
namespace {

using mlx5::Link;
using mlx5::Route;

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kMaxAllocation = 1ull << 40;

}  // namespace

Result<std::unique_ptr<Mlx5Nic>> Mlx5Nic::Open(const Mlx5NicOptions& options) {
  std::unique_ptr<Mlx5Nic> nic(new Mlx5Nic(options));
  const std::string wrong = nic->Start();
  if (!wrong.empty()) return Error{wrong};
  return nic;
}

std::string Mlx5Nic::Start() {
  if (options_.memory == nullptr) own_memory_ = std::make_unique<HostMemory>();
  MemoryProvider& provider = own_memory_ != nullptr ? *own_memory_ : *options_.memory;
  Result<std::unique_ptr<mlx5::Device>> device = mlx5::Device::Open(options_.device);
  if (!device.Ok()) return device.Message();
  device_ = std::move(device.Value());
  Result<std::unique_ptr<mlx5::EventWatch>> events =
      mlx5::EventWatch::Start(*device_, options_.note);
  if (!events.Ok()) return events.Message();
  events_ = std::move(events.Value());
  if (device_->route() == Route::kDevx) {
    Result<std::unique_ptr<mlx5::DoorbellPage>> page = mlx5::DoorbellPage::Open(*device_);
    if (!page.Ok()) return page.Message();
    doorbells_ = std::move(page.Value());
  }
  memory_ = std::make_unique<mlx5::MemoryAccess>(*device_, provider, options_.note);
  // For the results of atomics that nobody reads: one line for all QPs.
  const Result<RegisteredMemory> sink = Allocate(Placement::kHost, kPageBytes);
  if (!sink.Ok()) return sink.Message();
  sink_ = sink.Value();
  return {};
}

// QPs before the keys and memory that they use.
Mlx5Nic::~Mlx5Nic() {
  for (const auto& [qpn, qp] : qps_) bells_.Remove(qpn);
}

mlx5::Shared Mlx5Nic::SharedParts() {
  return {
      *device_, *memory_, doorbells_.get(), &relay_, options_.gpu_is_host, options_.gpu_kernels};
}

Result<RegisteredMemory> Mlx5Nic::Allocate(Placement placement, uint64_t bytes) {
  if (bytes == 0 || bytes > kMaxAllocation) {
    return Error{fmt::format("cannot allocate {} bytes; give 1 byte to 1 TiB", bytes)};
  }
  const uint64_t most = device_->Facts().max_registration;
  if (bytes > most) {
    return Error{
        fmt::format("{}: one key covers at most {} bytes (max_mr_size), and {} were asked "
                    "for; allocate less at a time",
                    device_->Name(), most, bytes)};
  }
  const mlx5::Shared shared = SharedParts();
  Result<mlx5::OwnedMemory> memory = memory_->Allocate(shared.PlaceOf(placement), bytes);
  if (!memory.Ok()) return Error{memory.Message()};
  Result<RegisteredMemory> kept = Keep(memory.Value().Where());
  if (!kept.Ok()) return kept;
  const std::lock_guard<std::mutex> lock(mutex_);
  regions_[kept.Value().lkey].memory = std::move(memory.Value());
  return kept;
}

Result<RegisteredMemory> Mlx5Nic::Keep(const Allocation& memory) {
  Result<mlx5::Mr> key = memory_->Register(memory);
  if (!key.Ok()) return Error{key.Message()};
  const RegisteredMemory made{memory.address, memory.bytes, key.Value()->lkey, key.Value()->rkey};
  const std::lock_guard<std::mutex> lock(mutex_);
  regions_[made.lkey].key = std::move(key.Value());
  return made;
}

Result<std::vector<RegisteredMemory>> Mlx5Nic::Register(const Allocation& memory) {
  const uint64_t limit = device_->Facts().max_registration;
  const uint64_t most = std::max(kPageBytes, limit / kPageBytes * kPageBytes);
  std::vector<RegisteredMemory> pieces;
  for (uint64_t done = 0; done < memory.bytes; done += pieces.back().bytes) {
    const Result<RegisteredMemory> piece =
        Keep({memory.address + done, std::min(most, memory.bytes - done), memory.placement});
    if (piece.Ok()) {
      pieces.push_back(piece.Value());
      continue;
    }
    for (const RegisteredMemory& made : pieces) static_cast<void>(Deregister(made));
    return Error{piece.Message()};
  }
  return pieces;
}

Result<bool> Mlx5Nic::Deregister(const RegisteredMemory& memory) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (regions_.erase(memory.lkey) == 0) {
    return Error{fmt::format("{}: there is no key {:#x}", device_->Name(), memory.lkey)};
  }
  return true;
}

// How this spec's QP is rung. The GPU's own doorbell needs its mapping before any kernel runs.
Result<DoorbellMode> Mlx5Nic::DoorbellOf(const QpSpec& spec) {
  // Verbs give each QP a register of its own.
  if (spec.doorbell == DoorbellMode::kCpu || doorbells_ == nullptr) return spec.doorbell;
  const Result<uint64_t> mapped = memory_->MapRegister(doorbells_->Register());
  if (mapped.Ok()) return DoorbellMode::kGpu;
  if (spec.doorbell == DoorbellMode::kGpu) return Error{mapped.Message()};
  memory_->WarnOnce("doorbell", mapped.Message() + mlx5::kRungByHost);
  return DoorbellMode::kCpu;
}

std::string Mlx5Nic::RefusalOnDevice(const QpSpec& spec) const {
  const mlx5::DeviceFacts& facts = device_->Facts();
  if (spec.doorbell == DoorbellMode::kBlueFlame) {
    return device_->Name() + ": this backend rings with 8 bytes; use doorbell gpu, cpu or auto";
  }
  if (spec.kind == TransportKind::kDc &&
      (facts.address.link == Link::kEthernet || facts.address.needs_grh)) {
    return mlx5::NoGidOverDc(device_->Name());
  }
  if (device_->route() != Route::kDevx) return {};
  if (spec.kind == TransportKind::kDc && !facts.compact_address_vector) {
    return device_->Name() +
           ": this firmware has no compact address vectors, which DC uses; use "
           "transport.kind: rc";
  }
  if (spec.depth_wqebbs > 1ull << facts.log_max_qp_size) {
    return fmt::format("{}: a send queue of {} WQEBBs is more than the device's {}",
                       device_->Name(), spec.depth_wqebbs, 1ull << facts.log_max_qp_size);
  }
  const uint32_t address = spec.kind == TransportKind::kDc ? 1 : 0;
  const uint32_t bytes = (2 + address + abi::InlineSegments(spec.max_inline)) * abi::kSegmentBytes;
  if (bytes > facts.max_send_wqe_bytes) {
    return fmt::format(
        "{}: {} B inline make a WQE of {} bytes, and the device takes {}; use a "
        "smaller transport.inline_max",
        device_->Name(), spec.max_inline, bytes, facts.max_send_wqe_bytes);
  }
  return {};
}

Result<QpAddress> Mlx5Nic::CreateQp(const QpSpec& wanted) {
  QpSpec spec = wanted;
  std::string refusal = RefusalOf(spec, {.blueflame = true, .record_free = false});
  if (refusal.empty()) refusal = RefusalOnDevice(spec);
  if (!refusal.empty()) return Error{refusal};
  const Result<DoorbellMode> doorbell = DoorbellOf(spec);
  if (!doorbell.Ok()) return Error{doorbell.Message()};
  spec.doorbell = doorbell.Value();
  Result<std::unique_ptr<mlx5::QueuePair>> made = device_->route() == Route::kDevx
                                                      ? mlx5::MakeDevxQp(SharedParts(), spec)
                                                      : mlx5::MakeVerbsQp(SharedParts(), spec);
  if (!made.Ok()) return Error{made.Message()};
  mlx5::QueuePair& qp = *made.Value();
  QpAddress address;
  address.node = device_->Facts().address.lid;
  address.qpn = qp.Views().send.qpn;
  address.dct = qp.DctNumber();
  address.port = mlx5::Pack(device_->Facts().address);
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool by_host = qp.Views().send.doorbell_mode == DoorbellMode::kCpu;
  if (by_host) bells_.Add(qp.Views().send);
  rung_by_ = by_host ? "cpu" : "gpu";
  qps_[address.qpn] = std::move(made.Value());
  return address;
}

Result<bool> Mlx5Nic::DestroyQp(const QpAddress& local) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = qps_.find(local.qpn);
  if (found == qps_.end()) return NotOurs(local);
  bells_.Remove(local.qpn);
  qps_.erase(found);
  return true;
}

Error Mlx5Nic::NotOurs(const QpAddress& address) const {
  return Error{fmt::format("QP {:#x} is not of this NIC, {}", address.qpn, device_->Name())};
}

Result<bool> Mlx5Nic::Connect(const QpAddress& local, const QpAddress& peer) {
  const Result<mlx5::Path> path =
      mlx5::Agree(device_->Name(), device_->Facts().address, mlx5::Unpack(peer.port));
  if (!path.Ok()) return Error{path.Message()};
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = qps_.find(local.qpn);
  if (found == qps_.end()) return NotOurs(local);
  return found->second->Connect(path.Value(), peer);
}

Result<QpView> Mlx5Nic::View(const QpAddress& local) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = qps_.find(local.qpn);
  if (found == qps_.end()) return NotOurs(local);
  QpView view = found->second->Views().send;
  view.sink = sink_.address;
  view.sink_lkey = sink_.lkey;
  return view;
}

Result<ReceiveView> Mlx5Nic::Receives(const QpAddress& local) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = qps_.find(local.qpn);
  if (found == qps_.end()) return NotOurs(local);
  return found->second->Views().receive;
}

std::vector<RealTimeNic::Fact> Mlx5Nic::Facts() const {
  const mlx5::DeviceFacts& facts = device_->Facts();
  std::vector<Fact> list = {
      {"nic", device_->Name()},
      {"nic_board", facts.board},
      {"nic_part", fmt::format("{}", facts.vendor_part)},
      {"nic_firmware", facts.firmware},
      {"nic_link", std::string(mlx5::NameOf(facts.address.link))},
      {"nic_mtu", fmt::format("{}", mlx5::BytesOfMtu(facts.address.mtu))},
      {"nic_pkey", fmt::format("{:#06x}", facts.address.pkey)},
      {"nic_gid", fmt::format("{} at index {}", mlx5::TextOf(facts.address.gid), facts.gid_index)},
      {"nic_route", device_->route() == Route::kDevx ? "devx" : "verbs"},
  };
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!rung_by_.empty()) list.emplace_back("doorbell", rung_by_);
  if (facts.address.lid != 0) list.emplace_back("nic_lid", fmt::format("{}", facts.address.lid));
  if (doorbells_ != nullptr) {
    list.emplace_back("nic_uar", doorbells_->Combines() ? "write-combining" : "not cached");
  }
  return list;
}

}  // namespace ringpost
