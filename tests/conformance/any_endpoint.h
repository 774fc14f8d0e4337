// any_endpoint.h: the Endpoint of any (publication, ordering) pair behind one interface, so that a
// test is written once and compiled once for each port.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transport/block_port.h"
#include "transport/endpoint.h"
#include "transport/publication/pairs.h"
#include "transport/receive_queue.h"

namespace ringpost::conformance {

class AnyEndpoint {
 public:
  virtual ~AnyEndpoint() = default;
  virtual Posted Put(RemoteSpan target, LocalSpan source) = 0;
  virtual Posted PutInline(RemoteSpan target, const void* payload, uint32_t bytes) = 0;
  virtual Posted PutSignal(RemoteSpan target, LocalSpan source, RemoteSpan signal,
                           uint64_t value) = 0;
  // A value of 1, 2, 4 or 8 bytes, in their least significant ones.
  virtual Posted PutValue(RemoteSpan target, uint64_t value, uint32_t bytes) = 0;
  // `count` values of 8 bytes one behind the other, from `first` up.
  virtual Posted PutValues(RemoteSpan target, uint64_t first, uint32_t count) = 0;
  virtual Posted PutImmediate(RemoteSpan target, LocalSpan source, uint32_t immediate) = 0;
  virtual Posted Signal(RemoteSpan signal, uint64_t addend) = 0;
  virtual Posted Get(LocalSpan target, RemoteSpan source) = 0;
  virtual Posted FetchAdd(LocalSpan result, RemoteSpan target, uint64_t addend) = 0;
  virtual Posted CompareSwap(LocalSpan result, RemoteSpan target, uint64_t compare,
                             uint64_t swap) = 0;
  virtual Posted Send(LocalSpan source) = 0;
  virtual Posted SendImmediate(LocalSpan source, uint32_t immediate) = 0;
  virtual Completion Wait(const Posted& posted) = 0;
  virtual Completion Flush() = 0;
  virtual Completion Quiet(CompletionScope scope) = 0;
  virtual Completion Fence() = 0;
  virtual Completion WaitSignal(Ref<uint64_t> word, uint64_t value) = 0;
};

template <class P, class Publication, class Ordering>
class EndpointOf : public AnyEndpoint {
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
  Posted PutValue(RemoteSpan target, uint64_t value, uint32_t bytes) override {
    if (bytes == 1) return endpoint_.PutValue(target, static_cast<uint8_t>(value));
    if (bytes == 2) return endpoint_.PutValue(target, static_cast<uint16_t>(value));
    if (bytes == 4) return endpoint_.PutValue(target, static_cast<uint32_t>(value));
    return endpoint_.PutValue(target, value);
  }
  Posted PutValues(RemoteSpan target, uint64_t first, uint32_t count) override {
    return endpoint_.PutValues(count, [=](uint32_t i) {
      return ValuePut<uint64_t>{{target.address + 8 * i, target.rkey}, first + i};
    });
  }
  Posted PutImmediate(RemoteSpan target, LocalSpan source, uint32_t immediate) override {
    return endpoint_.PutImmediate(target, source, immediate);
  }
  Posted Signal(RemoteSpan signal, uint64_t addend) override {
    return endpoint_.Signal(signal, addend);
  }
  Posted Get(LocalSpan target, RemoteSpan source) override { return endpoint_.Get(target, source); }
  Posted FetchAdd(LocalSpan result, RemoteSpan target, uint64_t addend) override {
    return endpoint_.FetchAdd(result, target, addend);
  }
  Posted CompareSwap(LocalSpan result, RemoteSpan target, uint64_t compare,
                     uint64_t swap) override {
    return endpoint_.CompareSwap(result, target, compare, swap);
  }
  Posted Send(LocalSpan source) override { return endpoint_.Send(source); }
  Posted SendImmediate(LocalSpan source, uint32_t immediate) override {
    return endpoint_.SendImmediate(source, immediate);
  }
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

// The same for a whole block that posts together.
template <class P>
struct BlockOf {
  BlockPort<P> block;
};
template <class P, class Ordering>
class BlockEndpointOf final : private BlockOf<P>,
                              public EndpointOf<BlockPort<P>, Cooperative, Ordering> {
 public:
  BlockEndpointOf(P& port, const QpTable& table)
      : BlockOf<P>{BlockPort<P>(port)},
        EndpointOf<BlockPort<P>, Cooperative, Ordering>(this->block, table) {}
};

class AnyReceives {
 public:
  virtual ~AnyReceives() = default;
  virtual Completion Post(LocalSpan buffer) = 0;
  virtual Received Wait() = 0;
};

template <class P, class Ordering>
class ReceivesOf final : public AnyReceives {
 public:
  ReceivesOf(P& port, const QpView& qp, const ReceiveView& queue) : queue_(port, qp, queue) {}
  Completion Post(LocalSpan buffer) override { return queue_.Post(buffer); }
  Received Wait() override { return queue_.Wait(); }

 private:
  ReceiveQueue<P, Ordering> queue_;
};

// A policy pair, and the transport it runs over.
template <class P>
struct PairOf {
  TransportKind kind = TransportKind::kRc;
  std::string publication;
  std::string ordering;
  bool block_wide = false;
  bool warp_wide = false;
  bool shares_qp = false;
  bool host_placement = false;  // safe for queues in host memory
  std::unique_ptr<AnyEndpoint> (*make)(P&, const QpTable&) = nullptr;
  std::unique_ptr<AnyReceives> (*receives)(P&, const QpView&, const ReceiveView&) = nullptr;

  bool Ordered() const { return ordering != OrderNone::kName; }
  std::string Name() const {
    return publication + (block_wide ? " by blocks with " : " with ") + ordering +
           (kind == TransportKind::kDc ? " over DC" : "");
  }
};

template <class P, class Publication, class Ordering, class E>
PairOf<P> PairWith(TransportKind kind, bool block_wide) {
  PairOf<P> pair;
  pair.kind = kind;
  pair.publication = Publication::kName;
  pair.ordering = Ordering::kName;
  pair.block_wide = block_wide;
  pair.warp_wide = Publication::kWarpWide;
  pair.shares_qp = Publication::kSharesQp;
  pair.host_placement = kSafeForHostPlacement<Ordering>;
  pair.make = [](P& port, const QpTable& table) -> std::unique_ptr<AnyEndpoint> {
    return std::make_unique<E>(port, table);
  };
  pair.receives = [](P& port, const QpView& qp,
                     const ReceiveView& queue) -> std::unique_ptr<AnyReceives> {
    return std::make_unique<ReceivesOf<P, Ordering>>(port, qp, queue);
  };
  return pair;
}

// All pairs over RC, then all over DC; what posts by warps also by blocks.
template <class P>
std::vector<PairOf<P>> EveryPair() {
  std::vector<PairOf<P>> pairs;
  for (const auto kind : {TransportKind::kRc, TransportKind::kDc}) {
    ForEachPair([&]<class Publication, class Ordering>() {
      using One = EndpointOf<P, Publication, Ordering>;
      pairs.push_back(PairWith<P, Publication, Ordering, One>(kind, false));
      if constexpr (Publication::kWarpWide) {
        using Block = BlockEndpointOf<P, Ordering>;
        pairs.push_back(PairWith<P, Publication, Ordering, Block>(kind, true));
      }
    });
  }
  return pairs;
}

}  // namespace ringpost::conformance
