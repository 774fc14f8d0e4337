// rc_fixture.h: a connected pair of QPs with a source and a target buffer.
#pragma once

#include <boost/test/unit_test.hpp>

#include "tests/sim/nic/harness.h"

namespace ringpost::sim {

inline constexpr uint8_t kSignalled = abi::kCqeAlways;

inline void Fill(const Buffer& buffer, uint32_t bytes, uint8_t seed) {
  for (uint32_t i = 0; i < bytes; ++i) buffer.Bytes()[i] = static_cast<uint8_t>(i * 7 + seed);
}

struct RcFixture {
  static constexpr uint32_t kBufferBytes = 0x4000;

  explicit RcFixture(const RnicConfig& config = {}, const EndOptions& local = {},
                     const EndOptions& remote = {.rq_depth = 16})
      : h(config), pipe(h.Connect(local, remote)) {
    source = h.Register(h.a, kBufferBytes);
    target = h.Register(h.b, kBufferBytes);
    Fill(source, kBufferBytes, 3);
  }

  // Runs to the end; the CQEs of the local side.
  std::vector<abi::Cqe> Finish() {
    BOOST_TEST_REQUIRE(h.Run());
    return h.Poll(pipe.local);
  }
  // Posts one WQE, runs, and gives its one CQE.
  abi::Cqe Do(const WqeBytes& wqe) {
    h.Post(pipe.local, wqe);
    const auto cqes = Finish();
    BOOST_TEST_REQUIRE(cqes.size() == 1u);
    return cqes[0];
  }
  bool Same(uint32_t bytes) const {
    return std::memcmp(source.Bytes(), target.Bytes(), bytes) == 0;
  }
  WqeBytes Write(uint32_t bytes, uint8_t flags = kSignalled) const {
    WqeBytes wqe(abi::Opcode::kRdmaWrite, flags);
    wqe.Remote(target.address, target.key);
    return bytes == 0 ? wqe : wqe.Data(bytes, source.key, source.address);
  }
  WqeBytes Read(uint32_t bytes, uint8_t flags = kSignalled) const {
    return WqeBytes(abi::Opcode::kRdmaRead, flags)
        .Remote(target.address, target.key)
        .Data(bytes, source.key, source.address);
  }
  WqeBytes Send(uint32_t bytes, uint8_t flags = kSignalled) const {
    return WqeBytes(abi::Opcode::kSend, flags).Data(bytes, source.key, source.address);
  }
  WqeBytes FetchAdd(uint64_t addend, uint64_t offset = 0) const {
    return WqeBytes(abi::Opcode::kAtomicFetchAdd, kSignalled)
        .Remote(target.address + offset, target.key)
        .Big64(addend)
        .Big64(0)
        .Data(8, source.key, source.address);
  }
  void PostReceive(uint32_t bytes = kBufferBytes) {
    h.PostReceive(pipe.remote, {{target.address, target.key, bytes}});
  }
  State LocalState() { return h.Qp(pipe.local).state; }
  State RemoteState() { return h.Qp(pipe.remote).state; }

  Harness h;
  Pipe pipe;
  Buffer source, target;
};

}  // namespace ringpost::sim
