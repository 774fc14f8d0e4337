// any_endpoint.h: the Endpoint of any (publication, ordering) pair behind one interface, so that a
// test is written once and compiled once for each port.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transport/endpoint.h"
#include "transport/publication/pairs.h"

namespace ringpost::conformance {

class AnyEndpoint {
 public:
  virtual ~AnyEndpoint() = default;
  virtual Posted Put(RemoteSpan target, LocalSpan source) = 0;
  virtual Posted PutInline(RemoteSpan target, const void* payload, uint32_t bytes) = 0;
  virtual Posted PutSignal(RemoteSpan target, LocalSpan source, RemoteSpan signal,
                           uint64_t value) = 0;
  virtual Posted Get(LocalSpan target, RemoteSpan source) = 0;
  virtual Completion Wait(const Posted& posted) = 0;
  virtual Completion Flush() = 0;
  virtual Completion Quiet(CompletionScope scope) = 0;
  virtual Completion Fence() = 0;
  virtual Completion WaitSignal(Ref<uint64_t> word, uint64_t value) = 0;
};

template <class P, class Publication, class Ordering>
class EndpointOf final : public AnyEndpoint {
 public:
  EndpointOf(P& port, const QpTable& table) : endpoint_(port, table) {}
  Posted Put(RemoteSpan target, LocalSpan source) override { return endpoint_.Put(target, source); }
  Posted PutInline(RemoteSpan target, const void* payload, uint32_t bytes) override {
    return endpoint_.PutInline(target, payload, bytes);
  }
  Posted PutSignal(RemoteSpan target, LocalSpan source, RemoteSpan signal,
                   uint64_t value) override {
    return endpoint_.PutSignal(target, source, signal, value);
  }
  Posted Get(LocalSpan target, RemoteSpan source) override { return endpoint_.Get(target, source); }
  Completion Wait(const Posted& posted) override { return endpoint_.Wait(posted); }
  Completion Flush() override { return endpoint_.Flush(); }
  Completion Quiet(CompletionScope scope) override { return endpoint_.Quiet(scope); }
  Completion Fence() override { return endpoint_.Fence(); }
  Completion WaitSignal(Ref<uint64_t> word, uint64_t value) override {
    return endpoint_.WaitSignal(word, value);
  }

 private:
  Endpoint<P, Publication, Ordering> endpoint_;
};

template <class P>
struct PairOf {
  std::string publication;
  std::string ordering;
  bool warp_wide = false;
  bool shares_qp = false;
  bool host_placement = false;  // safe for queues in host memory
  std::unique_ptr<AnyEndpoint> (*make)(P&, const QpTable&) = nullptr;

  bool Ordered() const { return ordering != OrderNone::kName; }
  std::string Name() const { return publication + " with " + ordering; }
};

template <class P>
std::vector<PairOf<P>> EveryPair() {
  std::vector<PairOf<P>> pairs;
  ForEachPair([&]<class Publication, class Ordering>() {
    pairs.push_back({Publication::kName, Ordering::kName, Publication::kWarpWide,
                     Publication::kSharesQp, kSafeForHostPlacement<Ordering>,
                     [](P& port, const QpTable& table) -> std::unique_ptr<AnyEndpoint> {
                       return std::make_unique<EndpointOf<P, Publication, Ordering>>(port, table);
                     }});
  });
  return pairs;
}

}  // namespace ringpost::conformance
