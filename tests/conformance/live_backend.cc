#include "tests/conformance/live_backend.h"

#include <cstdio>
#include <cstdlib>

namespace ringpost::conformance {
namespace {

std::unique_ptr<LiveFabric> MakePair() {
  auto fabric = LiveFabric::Make(2);
  if (fabric.Ok()) return std::move(fabric.Value());
  std::fprintf(stderr, "%s\n", fabric.Message().c_str());
  std::abort();
}

}  // namespace

LiveBackend::LiveBackend(const Conditions&) : fabric_(MakePair()) {}
LiveBackend::~LiveBackend() = default;

void LiveBackend::Fail(const QpView& qp, uint32_t node, uint64_t wqe, abi::Syndrome syndrome) {
  if (!fabric_->nic(node).InjectError(qp.qpn, wqe, syndrome).Ok()) std::abort();
}

}  // namespace ringpost::conformance
