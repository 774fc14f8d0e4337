// proxy_backend.h: the conformance suite over proxies, on any backend that can run what serves:
// both hand-offs, two workers a node, chains of up to four operations.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/conformance/any_backend.h"
#include "tests/conformance/any_endpoint.h"
#include "transport/proxy/pairs.h"
#include "transport/proxy/proxy_nic.h"
#include "transport/proxy/worker.h"

namespace ringpost::conformance {

template <class Base>
class ProxyBackendOf {
 public:
  using P = typename Base::P;
  static constexpr bool kRealTime = Base::kRealTime;
  static constexpr bool kInjectsErrors = Base::kInjectsErrors;
  static constexpr Shape kBlock = Base::kBlock;
  // Workers ring.
  static constexpr bool Rings(DoorbellMode mode) {
    return mode == DoorbellMode::kGpu || mode == DoorbellMode::kAuto;
  }
  static const std::vector<PairOf<P>>& Pairs() {
    static const std::vector<PairOf<P>> pairs = [] {
      std::vector<PairOf<P>> made;
      for (const auto kind : {TransportKind::kRc, TransportKind::kDc}) {
        for (const char* handoff : {proxy::Tuned::kName, proxy::Baseline::kName}) {
          VisitHandoff(handoff, [&]<class Publication, class Ordering>() {
            using One = EndpointOf<P, Publication, Ordering>;
            made.push_back(PairWith<P, Publication, Ordering, One>(kind, false));
          });
        }
      }
      return made;
    }();
    return pairs;
  }

  explicit ProxyBackendOf(const Conditions& conditions) : base_(conditions) {
    for (uint32_t node = 0; node < 2; ++node) {
      const proxy::ProxySpec spec{.workers = 2, .batch = 4};
      proxies_[node] = std::make_unique<proxy::ProxyNic>(base_.nic(node), spec);
      base_.Serve(node, spec.workers, [&nic = *proxies_[node]](P& port, uint32_t index) {
        proxy::Serve(port, nic.ShareOf(index));
      });
    }
  }
  Nic& nic(uint32_t node) { return *proxies_[node]; }
  void Launch(uint32_t node, const Shape& shape, std::function<void(P&, uint32_t thread)> kernel) {
    base_.Launch(node, shape, std::move(kernel));
  }
  std::string Run() { return base_.Run(); }
  void Write(uint64_t address, const void* bytes, uint64_t size) {
    base_.Write(address, bytes, size);
  }
  void Read(uint64_t address, void* bytes, uint64_t size) { base_.Read(address, bytes, size); }
  void Fail(const QpView& ring, uint32_t node, uint64_t wqe, abi::Syndrome syndrome) {
    base_.Fail(ring, node, wqe, syndrome);
  }

 private:
  Base base_;
  std::unique_ptr<proxy::ProxyNic> proxies_[2];
};

}  // namespace ringpost::conformance
