// team.h: the threads of one test: how many, on which QPs, with which memory.
//
// A policy that shares QPs gets four threads on one QP, a warp-wide one a warp of four lanes or a
// block, any other two threads with a QP each. Node 0 sends to node 1.
#pragma once

#include <boost/test/unit_test.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/conformance/backends.h"

namespace ringpost::conformance {

// A byte that says where it belongs.
inline uint8_t PatternByte(uint64_t owner, uint64_t i) {
  return static_cast<uint8_t>(owner * 37 + i * 11 + (i >> 8) + 1);
}

template <class Backend>
class Team {
 public:
  using P = typename Backend::P;
  using Kernel = std::function<void(P&, AnyEndpoint&, uint32_t thread)>;

  // With `each` above 1, so many QPs stand in each table; all but the last lead to the peer.
  Team(const PairOf<P>& pair, QpSpec spec, Conditions conditions = {}, uint32_t each = 1)
      : pair_(pair), backend_(With(pair, conditions)), placement_(spec.placement) {
    spec.shared = pair.shares_qp && !pair.warp_wide;
    spec.kind = pair.kind;
    spec.max_inline = 220;
    const uint32_t together = pair.warp_wide ? 4 : 1;
    shape_ = {pair.shares_qp ? 4u : 2u, together, together};
    if (pair.block_wide) shape_ = Backend::kBlock;
    teams_ = pair.shares_qp ? 1 : shape_.threads;
    for (uint32_t i = 0; i < teams_ * each; ++i) AddQp(spec);
    for (uint32_t i = 0; i < teams_; ++i) {
      const uint32_t peers = each == 1 ? 1 : each - 1;
      tables_[0].push_back({senders_.data() + i * each, each, 0, peers, 0});
      tables_[1].push_back({receivers_.data() + i * each, each, 0, peers, 0});
    }
  }

  uint32_t Threads() const { return shape_.threads; }
  Backend& Machine() { return backend_; }
  const QpView& QpOf(uint32_t thread) const { return *tables_[0][thread % teams_].views; }
  // The sending thread's endpoint on another QP of its table.
  std::unique_ptr<AnyEndpoint> On(P& port, uint32_t thread, uint32_t qp) {
    const std::lock_guard<std::mutex> lock(mutex_);
    selected_.push_back(tables_[0][thread % teams_]);
    selected_.back().selected = qp;
    return pair_.make(port, selected_.back());
  }

  // What the QP of the receiving side has for receives; the first thread on it may use them.
  bool OwnsReceives(uint32_t thread) const { return thread < teams_; }
  std::unique_ptr<AnyReceives> ReceivesOf(P& port, uint32_t thread) {
    return pair_.receives(port, *tables_[1][thread].views, receives_[thread]);
  }
  // How many threads send to that QP.
  uint32_t Senders() const { return shape_.threads / teams_; }

  RegisteredMemory Allocate(uint32_t node, uint64_t bytes) {
    const Result<RegisteredMemory> memory = backend_.nic(node).Allocate(placement_, bytes);
    BOOST_TEST_REQUIRE(memory.Ok());
    return memory.Value();
  }
  // Bytes that PatternByte(owner, i) describes.
  void Fill(uint64_t address, uint64_t bytes, uint64_t owner) {
    std::vector<uint8_t> pattern(bytes);
    for (uint64_t i = 0; i < bytes; ++i) pattern[i] = PatternByte(owner, i);
    backend_.Write(address, pattern.data(), bytes);
  }
  // The first byte that is not as Fill leaves it; `bytes` if there is none.
  uint64_t FirstWrong(uint64_t address, uint64_t bytes, uint64_t owner) {
    std::vector<uint8_t> found(bytes);
    backend_.Read(address, found.data(), bytes);
    uint64_t i = 0;
    while (i < bytes && found[i] == PatternByte(owner, i)) ++i;
    return i;
  }
  uint64_t Word(uint64_t address) {
    uint64_t word = 0;
    backend_.Read(address, &word, sizeof(word));
    return word;
  }

  void Send(Kernel kernel) { Launch(0, std::move(kernel)); }
  void Receive(Kernel kernel) { Launch(1, std::move(kernel)); }
  void Run() {
    const std::string wrong = backend_.Run();
    BOOST_TEST(wrong == "", pair_.Name() << ": " << wrong);
  }
  // For kernels: real threads may not use Boost.Test at the same time.
  void Expect(bool holds, const std::string& what) {
    if (holds) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    BOOST_ERROR(pair_.Name() << ": " << what);
  }
  void ExpectOk(const Completion& done, const char* what) {
    Expect(done.Ok(), what + (": status " + std::to_string(static_cast<int>(done.status))) +
                          ", syndrome " + std::to_string(int{done.syndrome}));
  }

 private:
  static Conditions With(const PairOf<P>& pair, Conditions conditions) {
    conditions.ordered = conditions.ordered && pair.Ordered();
    return conditions;
  }

  void AddQp(const QpSpec& spec) {
    const Result<QpAddress> a = backend_.nic(0).CreateQp(spec);
    const Result<QpAddress> b = backend_.nic(1).CreateQp(spec);
    BOOST_TEST_REQUIRE((a.Ok() && b.Ok()));
    BOOST_TEST_REQUIRE(backend_.nic(0).Connect(a.Value(), b.Value()).Ok());
    BOOST_TEST_REQUIRE(backend_.nic(1).Connect(b.Value(), a.Value()).Ok());
    senders_.push_back(backend_.nic(0).View(a.Value()).Value());
    receivers_.push_back(backend_.nic(1).View(b.Value()).Value());
    receives_.push_back(backend_.nic(1).Receives(b.Value()).Value());
  }

  void Launch(uint32_t node, Kernel kernel) {
    backend_.Launch(node, shape_,
                    [this, node, kernel = std::move(kernel)](P& port, uint32_t thread) {
                      const auto endpoint = pair_.make(port, tables_[node][thread % teams_]);
                      kernel(port, *endpoint, thread);
                    });
  }

  const PairOf<P>& pair_;
  Backend backend_;
  Placement placement_;
  Shape shape_;
  std::vector<QpView> senders_;
  std::vector<QpView> receivers_;
  std::vector<ReceiveView> receives_;
  uint32_t teams_ = 1;  // threads that share QPs count once
  std::vector<QpTable> tables_[2];
  std::mutex mutex_;
  std::deque<QpTable> selected_;
};

}  // namespace ringpost::conformance
