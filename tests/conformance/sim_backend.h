// sim_backend.h: the conformance suite in virtual time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backends/sim/fabric.h"
#include "tests/conformance/any_backend.h"
#include "tests/conformance/any_endpoint.h"
#include "transport/nic.h"

namespace ringpost::conformance {

class SimBackend {
 public:
  using P = SimPort;
  static constexpr bool kRealTime = false;
  static constexpr bool kInjectsErrors = true;
  static constexpr bool Rings(DoorbellMode) { return true; }
  static constexpr Shape kBlock{40, 32, 40};  // a warp, and a part of one
  static const std::vector<PairOf<P>>& Pairs();

  explicit SimBackend(const Conditions& conditions);
  Nic& nic(uint32_t node) { return fabric_.nic(node); }
  void Launch(uint32_t node, const Shape& shape, std::function<void(P&, uint32_t thread)> kernel);
  void Serve(uint32_t node, uint32_t threads, std::function<void(P&, uint32_t thread)> body) {
    fabric_.ServeOnHost(node, threads,
                        [body = std::move(body)](P& port) { body(port, port.ThreadIndex()); });
  }
  // Empty when all threads have ended and the ordering checker has nothing to say.
  std::string Run();
  void Write(uint64_t address, const void* bytes, uint64_t size) {
    fabric_.Poke(address, bytes, size);
  }
  void Read(uint64_t address, void* bytes, uint64_t size) { fabric_.Peek(address, bytes, size); }
  // The `wqe`-th WQE of the QP, counted from 0, fails.
  void Fail(const QpView& qp, uint32_t node, uint64_t wqe, abi::Syndrome syndrome) {
    fabric_.InjectError(qp, node, wqe, syndrome);
  }

 private:
  bool ordered_;
  Fabric fabric_;
};

}  // namespace ringpost::conformance
