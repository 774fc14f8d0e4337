// QPs by commands of the device: rings, CQs and records wherever the placement says.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/mlx5/command.h"
#include "backends/mlx5/failure.h"
#include "backends/mlx5/queue_commands.h"
#include "backends/mlx5/queue_layout.h"
#include "backends/mlx5/queue_pair.h"
#include "transport/abi/cqe.h"
#include "transport/abi/doorbell.h"

namespace ringpost::mlx5 {
namespace {

// An object with its umem: what the device sees of an allocation.
struct Region {
  OwnedMemory memory;
  Umem umem;
  uint64_t At(uint64_t offset) const { return memory.Where().address + offset; }
  UmemPlace Place(uint64_t offset) const { return {umem->umem_id, offset}; }
};

class DevxQp final : public QueuePair {
 public:
  explicit DevxQp(const Shared& shared) : QueuePair(shared) {}
  std::string Make(const QpSpec& spec);

 private:
  std::string BringUp(const Path& path, const QpAddress& peer) override;
  std::string TakeMemory(const QpSpec& spec);
  std::string TakeRegion(Placement placement, uint64_t bytes, Region* region);
  std::string FillWithInvalid(uint64_t cq, uint64_t bytes);
  void Place(const QpSpec& spec);
  std::string MakeQueues(const QpSpec& spec);
  Result<Made> MakeCq(uint64_t ring, uint64_t record, uint32_t entries, bool collapsed);
  // Where the records lie: with the queues, or where the CPU that rings can write them.
  const Region& Records() const { return host_.umem != nullptr ? host_ : queues_; }

  QueueLayout layout_;
  Region queues_;
  Region host_;        // of doorbell mode kCpu
  OwnedMemory words_;  // of kernels on a GPU whose queues are elsewhere
  Made send_cq_;
  Made receive_cq_;
  Made qp_;
};

std::string DevxQp::TakeRegion(Placement placement, uint64_t bytes, Region* region) {
  Result<OwnedMemory> memory = shared_.memory.Allocate(placement, bytes);
  if (!memory.Ok()) return memory.Message();
  region->memory = std::move(memory.Value());
  Result<Umem> umem = shared_.memory.RegisterUmem(region->memory.Where());
  if (!umem.Ok()) return umem.Message();
  region->umem = std::move(umem.Value());
  return {};
}

std::string DevxQp::TakeMemory(const QpSpec& spec) {
  layout_ = LayoutOf(views_.send.depth, spec.kind == TransportKind::kRc ? views_.receive.depth : 0);
  std::string wrong = TakeRegion(shared_.PlaceOf(spec.placement), layout_.bytes, &queues_);
  if (!wrong.empty()) return wrong;
  if (shared_.gpu_kernels && shared_.PlaceOf(spec.placement) == Placement::kHost) {
    Result<OwnedMemory> words = shared_.memory.Allocate(Placement::kGpu, kRecordPageBytes);
    if (!words.Ok()) return words.Message();
    words_ = std::move(words.Value());
  }
  if (spec.doorbell != DoorbellMode::kCpu) return {};
  return TakeRegion(Placement::kHost, kRecordPageBytes, &host_);
}

void DevxQp::Place(const QpSpec& spec) {
  const uint64_t records = Records().At(host_.umem != nullptr ? 0 : layout_.records);
  QpView& view = views_.send;
  view.sq = queues_.At(layout_.send_ring);
  view.cq = queues_.At(layout_.send_cq);
  view.record = records + kQpRecordAt;
  const uint64_t words =
      words_.Where().bytes != 0 ? words_.Where().address + kWordsAt : queues_.At(layout_.words);
  const auto word = [&](uint32_t number) { return words + kLine * number; };
  view.reserved = {word(0)};
  view.ready = {word(1)};
  view.published = {word(2)};
  view.completed = {word(3)};
  view.ringing = {word(4)};
  view.blueflame = {word(5)};
  if (spec.doorbell == DoorbellMode::kCpu) view.producer = {records + kProducerAt};
  ReceiveView& receive = views_.receive;
  receive.posted = {word(6)};
  receive.taken = {word(7)};
  if (spec.kind == TransportKind::kDc || receive.depth == 0) return;
  receive.ring = queues_.At(layout_.receive_ring);
  receive.cq = queues_.At(layout_.receive_cq);
  receive.record = view.record + abi::kRecordReceiveOffset;
}

// Software fills a CQ before the NIC may write it: an entry that is not there reads invalid.
std::string DevxQp::FillWithInvalid(uint64_t cq, uint64_t bytes) {
  const std::string invalid(bytes, static_cast<char>(abi::kCqeInitialOpOwn));
  const Result<bool> filled =
      shared_.memory.Copy(cq, reinterpret_cast<uint64_t>(invalid.data()), invalid.size());
  return filled.Ok() ? "" : filled.Message();
}

Result<Made> DevxQp::MakeCq(uint64_t ring, uint64_t record, uint32_t entries, bool collapsed) {
  const uint64_t slots = collapsed ? 1 : entries;
  const std::string wrong = FillWithInvalid(queues_.At(ring), slots * abi::kCqeBytes);
  if (!wrong.empty()) return Error{wrong};
  CqPlan plan;
  plan.ring = queues_.Place(ring);
  plan.record = Records().Place((host_.umem != nullptr ? 0 : layout_.records) + record);
  plan.entries = entries;
  plan.collapsed = collapsed;
  plan.uar_page = shared_.doorbells->PageId();
  plan.eqn = shared_.device.Eqn();
  return CreateObject(shared_.device, fmt::format("CREATE_CQ of {} entries", entries),
                      CreateCqCommand(plan));
}

std::string DevxQp::MakeQueues(const QpSpec& spec) {
  // As large as the queue, as NVSHMEM has it, though it stays in its first slot.
  Result<Made> send_cq =
      MakeCq(layout_.send_cq, kSendCqRecordAt, views_.send.depth, /*collapsed=*/true);
  if (!send_cq.Ok()) return send_cq.Message();
  send_cq_ = std::move(send_cq.Value());
  QpPlan plan;
  plan.kind = spec.kind;
  plan.receives = spec.kind == TransportKind::kRc ? views_.receive.depth : 0;
  plan.send_cq = plan.receive_cq = send_cq_.number;
  if (plan.receives != 0) {
    Result<Made> receive_cq =
        MakeCq(layout_.receive_cq, kReceiveCqRecordAt, plan.receives, /*collapsed=*/false);
    if (!receive_cq.Ok()) return receive_cq.Message();
    receive_cq_ = std::move(receive_cq.Value());
    plan.receive_cq = receive_cq_.number;
  }
  plan.ring = queues_.Place(layout_.receive_ring);
  plan.record = Records().Place((host_.umem != nullptr ? 0 : layout_.records) + kQpRecordAt);
  plan.send_wqebbs = views_.send.depth;
  plan.pd = shared_.device.PdNumber();
  plan.uar_page = shared_.doorbells->PageId();
  Result<Made> qp =
      CreateObject(shared_.device, fmt::format("CREATE_QP of {} WQEBBs", views_.send.depth),
                   CreateQpCommand(plan));
  if (!qp.Ok()) return qp.Message();
  qp_ = std::move(qp.Value());
  views_.send.qpn = qp_.number;
  return {};
}

std::string DevxQp::Make(const QpSpec& spec) {
  views_ = ViewsOf(spec, shared_.device.Facts().max_message);
  ReceiveView& receive = views_.receive;
  // The send ring behind the receive ring begins at a whole WQEBB.
  if (receive.linked == 0 && receive.depth != 0) receive.depth = std::max(4u, receive.depth);
  std::string wrong = TakeMemory(spec);
  if (!wrong.empty()) return wrong;
  Place(spec);
  if (spec.kind == TransportKind::kDc) {
    Result<std::unique_ptr<DcTarget>> target =
        DcTarget::Make(shared_.device, shared_.memory, &receive);
    if (!target.Ok()) return target.Message();
    target_ = std::move(target.Value());
  }
  wrong = MakeQueues(spec);
  if (!wrong.empty()) return wrong;
  views_.send.combines = shared_.doorbells->Combines() ? 1 : 0;
  if (spec.doorbell == DoorbellMode::kCpu) {
    views_.send.doorbell = reinterpret_cast<uint64_t>(shared_.doorbells->Register());
    return {};
  }
  const Result<uint64_t> mapped = shared_.memory.MapRegister(shared_.doorbells->Register());
  if (!mapped.Ok()) return mapped.Message();
  views_.send.doorbell = mapped.Value();
  return {};
}

// The MAC of the next hop: the kernel resolves it for an address handle.
Result<std::array<uint8_t, 6>> ResolveMac(const Device& device, const Path& path) {
  std::array<uint8_t, 6> mac = {};
  if (path.link != Link::kEthernet) return mac;
  ibv_ah_attr attributes = AddressHandle(device.Facts(), path);
  const Ah handle(ibv_create_ah(device.pd(), &attributes));
  if (handle == nullptr) {
    return CallFailed(device.Name(), "ibv_create_ah for GID " + TextOf(path.gid), errno);
  }
  mlx5dv_ah found = {};
  mlx5dv_obj object = {};
  object.ah = {handle.get(), &found};
  const int error = mlx5dv_init_obj(&object, MLX5DV_OBJ_AH);
  if (error != 0) return CallFailed(device.Name(), "mlx5dv_init_obj of an AH", error);
  std::copy(std::begin(found.av->rmac), std::end(found.av->rmac), mac.begin());
  return mac;
}

std::string DevxQp::BringUp(const Path& path, const QpAddress& peer) {
  const Result<std::array<uint8_t, 6>> mac = ResolveMac(shared_.device, path);
  if (!mac.Ok()) return mac.Message();
  const DeviceFacts& facts = shared_.device.Facts();
  const BringUpPlan plan{views_.send.kind, qp_.number, peer.qpn, path, mac.Value()};
  const struct {
    const char* name;
    std::vector<uint8_t> command;
  } steps[] = {{"RST2INIT_QP", InitCommand(facts, plan)},
               {"INIT2RTR_QP", ReceiveCommand(facts, plan)},
               {"RTR2RTS_QP", SendCommand(facts, plan)}};
  for (const auto& step : steps) {
    const Result<bool> done =
        ModifyObject(shared_.device, qp_.object,
                     fmt::format("{} of QP {:#x}", step.name, qp_.number), step.command);
    if (!done.Ok()) return done.Message();
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<QueuePair>> MakeDevxQp(const Shared& shared, const QpSpec& spec) {
  auto qp = std::make_unique<DevxQp>(shared);
  const std::string wrong = qp->Make(spec);
  if (!wrong.empty()) return Error{wrong};
  return std::unique_ptr<QueuePair>(std::move(qp));
}

}  // namespace ringpost::mlx5
