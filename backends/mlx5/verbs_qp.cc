// QPs by verbs: rdma-core makes rings and records in host memory, and says where they are.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "backends/mlx5/failure.h"
#include "backends/mlx5/queue_commands.h"
#include "backends/mlx5/queue_layout.h"
#include "backends/mlx5/queue_pair.h"
#include "transport/abi/cqe.h"
#include "transport/abi/doorbell.h"

namespace ringpost::mlx5 {
namespace {

// A slot for CQEs, then words, then what a host thread rings for.
constexpr uint64_t kSlotAt = 0;
constexpr uint64_t kWordsAtOfVerbs = abi::kCqeBytes;
constexpr uint32_t kWords = 9;

class VerbsQp final : public QueuePair {
 public:
  explicit VerbsQp(const Shared& shared) : QueuePair(shared) {}
  ~VerbsQp() override {
    if (relayed_) shared_.relay->Remove(words_.Where().address + kSlotAt);
  }
  std::string Make(const QpSpec& spec);

 private:
  std::string BringUp(const Path& path, const QpAddress& peer) override;
  std::string MakeCqs();
  std::string MakeQp(const QpSpec& spec);
  Result<Qp> Create(const QpSpec& spec, uint32_t requests);
  std::string TakeWords(const QpSpec& spec);
  std::string Describe(const QpSpec& spec);
  std::string DescribeReceives(const mlx5dv_qp& found);
  std::string Modify(ibv_qp_attr& attributes, int mask, const char* state);

  OwnedMemory words_;
  Cq send_cq_;
  Cq receive_cq_;
  Qp qp_;
  mlx5dv_qp found_ = {};
  bool relayed_ = false;
};

std::string VerbsQp::TakeWords(const QpSpec& spec) {
  Result<OwnedMemory> memory = shared_.memory.Allocate(Placement::kHost, kRecordPageBytes);
  if (!memory.Ok()) return memory.Message();
  words_ = std::move(memory.Value());
  const uint64_t base = words_.Where().address;
  const std::string invalid(abi::kCqeBytes, static_cast<char>(abi::kCqeInitialOpOwn));
  const Result<bool> filled = shared_.memory.Copy(
      base + kSlotAt, reinterpret_cast<uint64_t>(invalid.data()), invalid.size());
  if (!filled.Ok()) return filled.Message();
  static_assert(kWordsAtOfVerbs + kWords * kLine <= kRecordPageBytes);
  const auto word = [&](uint32_t number) { return base + kWordsAtOfVerbs + kLine * number; };
  QpView& view = views_.send;
  view.cq = base + kSlotAt;
  view.reserved = {word(0)};
  view.ready = {word(1)};
  view.published = {word(2)};
  view.completed = {word(3)};
  view.ringing = {word(4)};
  view.blueflame = {word(5)};
  views_.receive.posted = {word(6)};
  views_.receive.taken = {word(7)};
  if (spec.doorbell != DoorbellMode::kGpu) view.producer = {word(8)};
  return {};
}

std::string VerbsQp::MakeCqs() {
  // The driver rounds the ring up, by less than this; each of its WQEs may have a CQE.
  constexpr uint32_t kRounding = 4;
  Result<Cq> send_cq = MakeVerbsCq(shared_.device, kRounding * views_.send.depth);
  if (!send_cq.Ok()) return send_cq.Message();
  send_cq_ = std::move(send_cq.Value());
  if (views_.receive.depth == 0 || views_.receive.linked != 0) return {};
  Result<Cq> receive_cq = MakeVerbsCq(shared_.device, views_.receive.depth);
  if (!receive_cq.Ok()) return receive_cq.Message();
  receive_cq_ = std::move(receive_cq.Value());
  return {};
}

Result<Qp> VerbsQp::Create(const QpSpec& spec, uint32_t requests) {
  const bool dc = spec.kind == TransportKind::kDc;
  ibv_qp_init_attr_ex attributes = {};
  attributes.qp_type = dc ? IBV_QPT_DRIVER : IBV_QPT_RC;
  attributes.send_cq = send_cq_.get();
  attributes.recv_cq = receive_cq_ != nullptr ? receive_cq_.get() : send_cq_.get();
  attributes.cap.max_send_wr = requests;
  attributes.cap.max_send_sge = 1;
  attributes.cap.max_inline_data = spec.max_inline;
  if (!dc) {
    attributes.cap.max_recv_wr = views_.receive.depth;
    attributes.cap.max_recv_sge = views_.receive.depth == 0 ? 0 : 1;
  }
  attributes.comp_mask = IBV_QP_INIT_ATTR_PD;
  attributes.pd = shared_.device.pd();
  mlx5dv_qp_init_attr own = {};
  // The transport looks for payload in memory, never in a CQE.
  own.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS;
  own.create_flags = MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE;
  if (dc) {
    own.comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_DC;
    own.dc_init_attr.dc_type = MLX5DV_DCTYPE_DCI;
  }
  Qp qp(mlx5dv_create_qp(shared_.device.context(), &attributes, &own));
  if (qp != nullptr) return qp;
  return CallFailed(shared_.device.Name(), fmt::format("mlx5dv_create_qp of {} requests", requests),
                    errno);
}

// The driver alone knows how many WQEBBs a request takes: asks for more until the ring is as long
// as the spec wants it.
std::string VerbsQp::MakeQp(const QpSpec& spec) {
  const uint32_t depth = spec.depth_wqebbs;
  for (uint32_t requests = std::max(1u, depth / 8); requests <= depth; requests *= 2) {
    Result<Qp> made = Create(spec, requests);
    if (!made.Ok()) return made.Message();
    found_ = {};
    mlx5dv_obj object = {};
    object.qp = {made.Value().get(), &found_};
    const int error = mlx5dv_init_obj(&object, MLX5DV_OBJ_QP);
    if (error != 0) {
      return CallFailed(shared_.device.Name(), "mlx5dv_init_obj of a QP", error).message;
    }
    qp_ = std::move(made.Value());
    if (found_.sq.wqe_cnt >= depth) return {};
  }
  return fmt::format(
      "{}: the driver makes no send queue of {} WQEBBs, at most {}; use a smaller "
      "transport.sq_depth_wqebbs",
      shared_.device.Name(), depth, found_.sq.wqe_cnt);
}

std::string VerbsQp::DescribeReceives(const mlx5dv_qp& found) {
  ReceiveView& receive = views_.receive;
  if (receive.depth == 0 || receive.linked != 0) return {};
  const Result<mlx5dv_cq> cq = Look(shared_.device, receive_cq_);
  if (!cq.Ok()) return cq.Message();
  if (found.rq.stride != ReceiveStride(TransportKind::kRc) || found.rq.wqe_cnt != receive.depth ||
      cq.Value().cqe_cnt != receive.depth) {
    return fmt::format(
        "{}: the driver made {} receives of {} bytes and {} CQEs, and {} of {} were "
        "asked for",
        shared_.device.Name(), found.rq.wqe_cnt, found.rq.stride, cq.Value().cqe_cnt, receive.depth,
        ReceiveStride(TransportKind::kRc));
  }
  const Result<uint64_t> ring =
      shared_.memory.MapPages(found.rq.buf, uint64_t{receive.depth} * found.rq.stride);
  if (!ring.Ok()) return ring.Message();
  const Result<uint64_t> entries =
      shared_.memory.MapPages(cq.Value().buf, uint64_t{receive.depth} * abi::kCqeBytes);
  if (!entries.Ok()) return entries.Message();
  receive.ring = ring.Value();
  receive.cq = entries.Value();
  receive.record = views_.send.record + abi::kRecordReceiveOffset;
  return {};
}

std::string VerbsQp::Describe(const QpSpec& spec) {
  const Result<mlx5dv_cq> cq = Look(shared_.device, send_cq_);
  if (!cq.Ok()) return cq.Message();
  if (found_.sq.stride != abi::kWqebbBytes || found_.sq.wqe_cnt > abi::kMaxDepthWqebbs ||
      found_.sq.wqe_cnt > cq.Value().cqe_cnt) {
    return fmt::format("{}: the driver made a send queue of {} WQEBBs of {} bytes and {} CQEs",
                       shared_.device.Name(), found_.sq.wqe_cnt, found_.sq.stride,
                       cq.Value().cqe_cnt);
  }
  QpView& view = views_.send;
  view.qpn = qp_->qp_num;
  view.depth = found_.sq.wqe_cnt;
  view.combines = found_.bf.size != 0 ? 1 : 0;
  const Result<uint64_t> ring =
      shared_.memory.MapPages(found_.sq.buf, uint64_t{view.depth} * abi::kWqebbBytes);
  if (!ring.Ok()) return ring.Message();
  const Result<uint64_t> record = shared_.memory.MapPages(found_.dbrec, abi::kRecordBytes);
  if (!record.Ok()) return record.Message();
  view.sq = ring.Value();
  view.record = record.Value();
  view.doorbell = reinterpret_cast<uint64_t>(found_.bf.reg);
  if (spec.doorbell != DoorbellMode::kCpu) {
    const Result<uint64_t> mapped = shared_.memory.MapRegister(found_.bf.reg);
    if (mapped.Ok()) {
      view.doorbell = mapped.Value();
    } else if (spec.doorbell == DoorbellMode::kAuto) {
      shared_.memory.WarnOnce("doorbell", mapped.Message() + kRungByHost);
      view.doorbell_mode = DoorbellMode::kCpu;
    } else {
      return mapped.Message();
    }
  }
  const std::string wrong = DescribeReceives(found_);
  if (!wrong.empty()) return wrong;
  shared_.relay->Add(cq.Value(), words_.Where().address + kSlotAt);
  relayed_ = true;
  return {};
}

std::string VerbsQp::Make(const QpSpec& spec) {
  if (shared_.PlaceOf(spec.placement) != Placement::kHost) {
    return shared_.device.Name() +
           ": mlx5.route verbs has its queues in host memory; use transport.placement: host, or "
           "mlx5.route: devx";
  }
  views_ = ViewsOf(spec, shared_.device.Facts().max_message);
  ReceiveView& receive = views_.receive;
  // The driver has no CQ of one entry.
  if (receive.depth != 0) receive.depth = std::max(2u, receive.depth);
  std::string wrong = TakeWords(spec);
  if (wrong.empty() && spec.kind == TransportKind::kDc) {
    Result<std::unique_ptr<DcTarget>> target =
        DcTarget::Make(shared_.device, shared_.memory, &receive);
    if (!target.Ok()) return target.Message();
    target_ = std::move(target.Value());
  }
  if (wrong.empty()) wrong = MakeCqs();
  if (wrong.empty()) wrong = MakeQp(spec);
  if (wrong.empty()) wrong = Describe(spec);
  return wrong;
}

std::string VerbsQp::Modify(ibv_qp_attr& attributes, int mask, const char* state) {
  const int error = ibv_modify_qp(qp_.get(), &attributes, mask | IBV_QP_STATE);
  if (error == 0) return {};
  return CallFailed(shared_.device.Name(),
                    fmt::format("ibv_modify_qp of QP {:#x} to {}", qp_->qp_num, state), error)
      .message;
}

std::string VerbsQp::BringUp(const Path& path, const QpAddress& peer) {
  const DeviceFacts& facts = shared_.device.Facts();
  const bool rc = views_.send.kind == TransportKind::kRc;
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.pkey_index = facts.pkey_index;
  attributes.port_num = static_cast<uint8_t>(facts.port);
  attributes.qp_access_flags =
      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  int mask = IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  std::string wrong = Modify(attributes, rc ? mask | IBV_QP_ACCESS_FLAGS : mask, "INIT");
  if (!wrong.empty()) return wrong;
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = static_cast<ibv_mtu>(path.mtu);
  attributes.dest_qp_num = peer.qpn;
  attributes.rq_psn = 0;
  attributes.max_dest_rd_atomic = static_cast<uint8_t>(1u << facts.log_responder_depth);
  attributes.min_rnr_timer = kMinRnrTimer;
  attributes.ah_attr = AddressHandle(facts, path);
  mask = IBV_QP_PATH_MTU;
  if (rc) {
    mask |= IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
            IBV_QP_MIN_RNR_TIMER;
  }
  wrong = Modify(attributes, mask, "RTR");
  if (!wrong.empty()) return wrong;
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = kAckTimeout;
  attributes.retry_cnt = kRetries;
  attributes.rnr_retry = kRnrRetries;
  attributes.sq_psn = 0;
  attributes.max_rd_atomic = static_cast<uint8_t>(1u << facts.log_initiator_depth);
  return Modify(attributes,
                IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                    IBV_QP_MAX_QP_RD_ATOMIC,
                "RTS");
}

}  // namespace

Result<std::unique_ptr<QueuePair>> MakeVerbsQp(const Shared& shared, const QpSpec& spec) {
  auto qp = std::make_unique<VerbsQp>(shared);
  const std::string wrong = qp->Make(spec);
  if (!wrong.empty()) return Error{wrong};
  return std::unique_ptr<QueuePair>(std::move(qp));
}

}  // namespace ringpost::mlx5
