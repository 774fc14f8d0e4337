#include "tests/interop/rxe_pair.h"

#include <stdexcept>

#include "tests/seed.h"

namespace ringpost::interop {
namespace {

constexpr uint64_t kHangGuardPs = 30'000'000'000'000;

// One that did not boot is not tried again.
RxeGuest& Guest() {
  static std::string failure;
  static const std::unique_ptr<RxeGuest> guest = [] {
    try {
      return std::make_unique<RxeGuest>();
    } catch (const std::exception& error) {
      failure = error.what();
      return std::unique_ptr<RxeGuest>();
    }
  }();
  if (guest == nullptr) throw std::runtime_error(failure);
  return *guest;
}

template <class T>
T Required(Result<T> result) {
  if (!result.Ok()) throw std::runtime_error(result.Message());
  return std::move(result.Value());
}

LiveNicOptions OptionsOf(const PairOptions& wanted) {
  LiveNicOptions options;
  options.device = "roce0";
  options.lid = kOurLid;
  options.nic.mtu = wanted.mtu;
  // The emulator needs the processor too.
  options.service.idle = sim::service::Idle::kSleep;
  sim::FaultRule loss{.where = sim::FaultWhere::kWire, .kind = sim::FaultKind::kDrop};
  loss.probability = wanted.our_loss;
  if (wanted.our_loss > 0) options.service.overlay.faults.rules = {loss};
  options.service.overlay.faults.seed = TestSeed();
  options.adjust = [wanted](sim::QpAttributes& attributes) {
    attributes.send_psn = wanted.our_psn;
    attributes.receive_psn = wanted.their_psn;
    attributes.timeout = wanted.timeout;
    attributes.min_rnr_timer = wanted.rnr_timer;
  };
  return options;
}

}  // namespace

RxePair::RxePair(const PairOptions& options)
    : rxe_(Guest()), nic_(Required(LiveNic::OpenUdp({}, OptionsOf(options)))) {
  Required(nic_->Meet(rxe_.Meet(nic_->Whereabouts())));
  rxe_.Wire().Lose(options.their_loss, TestSeed());
  memory_ = Required(nic_->Allocate(Placement::kHost, kMemoryBytes));
  QpSpec spec;
  spec.placement = Placement::kHost;
  spec.timeout_ps = kHangGuardPs;
  spec.receive_depth = kReceives;
  const QpAddress qp = Required(nic_->CreateQp(spec));
  const uint32_t theirs = rxe_.CreateQp();
  Required(nic_->Connect(qp, {kRxeLid, theirs}));
  rxe_.Connect({qp.qpn, options.mtu, options.their_psn, options.our_psn, options.timeout,
                options.rnr_timer});
  view_ = Required(nic_->View(qp));
  receive_view_ = Required(nic_->Receives(qp));
  table_ = {&view_, 1, 0, 1, 0};
  endpoint_ = std::make_unique<OurEndpoint>(port_, table_);
  receives_ =
      std::make_unique<ReceiveQueue<HostPort, OrderSystemFence>>(port_, view_, receive_view_);
}

// Theirs first: it must not send to a QP of the next pair, which has the same number.
RxePair::~RxePair() {
  try {
    rxe_.DestroyQp();
  } catch (const std::exception&) {
    // The guest is gone, and so is its QP.
  }
}

Work RxePair::Theirs(const std::string& operation, uint64_t offset, uint64_t bytes,
                     uint64_t remote) const {
  Work work;
  work.operation = operation;
  work.offset = offset;
  work.bytes = bytes;
  work.remote = memory_.address + remote;
  work.rkey = memory_.rkey;
  return work;
}

void RxePair::PostReceive(uint64_t offset, uint64_t bytes) {
  const LocalSpan buffer = bytes == 0 ? LocalSpan{} : Local(offset, bytes);
  if (!receives_->Post(buffer).Ok()) throw std::runtime_error("no receive could be posted");
}

}  // namespace ringpost::interop
