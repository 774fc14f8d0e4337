// fake_gpu.h: what the stand-in for CUDA's driver (fake_cuda.cc) tells the test besides CUDA's own
// functions, and the port of threads that are taken for the GPU's.
//
// Its "GPU memory" is no memory at the addresses that the program has: whoever loads or stores
// there dies. The GPU's own threads, an agent's and those with a FakeGpuPort, find it elsewhere.
#pragma once

#include <cstdint>

#include "transport/host_port.h"

namespace ringpost::fake_gpu {

struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t shift = 0;  // added to an address, where a thread of the GPU finds it
  uint64_t Real(uint64_t address) const {
    return address >= begin && address < end ? address + shift : address;
  }
};

struct Counters {
  uint64_t agents = 0;    // kernels launched
  uint64_t exports = 0;   // dma-bufs
  uint64_t mappings = 0;  // host pages that are mapped now
  uint64_t io_maps = 0;   // refused, as I/O memory
};

// Exports of the stand-in.
inline constexpr char kRangeSymbol[] = "FakeGpuRange";        // const Range*()
inline constexpr char kCountersSymbol[] = "FakeGpuCounters";  // const Counters*()

// A thread of that GPU.
class FakeGpuPort : public HostPort {
 public:
  FakeGpuPort(const HostGroup& group, const Range& range) : HostPort(group), range_(range) {}

  template <Order O, Scope S, class T>
  T Load(Ref<T> word) {
    return HostPort::Load<O, S>(Real(word));
  }
  template <Order O, Scope S, class T>
  void Store(Ref<T> word, std::type_identity_t<T> value) {
    HostPort::Store<O, S>(Real(word), value);
  }
  template <Order O, Scope S, class T>
  T FetchAdd(Ref<T> word, std::type_identity_t<T> value) {
    return HostPort::FetchAdd<O, S>(Real(word), value);
  }
  template <Order O, Scope S, class T>
  T FetchMax(Ref<T> word, std::type_identity_t<T> value) {
    return HostPort::FetchMax<O, S>(Real(word), value);
  }
  template <Order O, Scope S, class T>
  void RaiseTo(Ref<T> word, std::type_identity_t<T> value) {
    HostPort::RaiseTo<O, S>(Real(word), value);
  }
  template <Order O, Scope S>
  void StorePair(uint64_t address, uint64_t low, uint64_t high) {
    HostPort::StorePair<O, S>(range_.Real(address), low, high);
  }
  template <Order O, Scope S, class T>
  T Exchange(Ref<T> word, std::type_identity_t<T> value) {
    return HostPort::Exchange<O, S>(Real(word), value);
  }
  template <Order O, Scope S, class T>
  T CompareExchange(Ref<T> word, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
    return HostPort::CompareExchange<O, S>(Real(word), expected, value);
  }
  void StorePayload(uint64_t address, const void* source, uint64_t bytes) {
    HostPort::StorePayload(range_.Real(address), source, bytes);
  }
  void LoadPayload(void* target, uint64_t address, uint64_t bytes) {
    HostPort::LoadPayload(target, range_.Real(address), bytes);
  }
  void StoreWqe(const QpView& qp, uint64_t index, const abi::Segment* segments, uint32_t count) {
    HostPort::StoreWqe(Real(qp), index, segments, count);
  }
  template <Order O, Scope S>
  void Fence(const QpView& qp) {
    HostPort::Fence<O, S>(Real(qp));
  }
  template <Order O, Scope S>
  void StoreDoorbellRecord(const QpView& qp, uint32_t counter) {
    HostPort::StoreDoorbellRecord<O, S>(Real(qp), counter);
  }
  template <Order O, Scope S>
  void RingDoorbell(const QpView& qp, uint64_t value) {
    HostPort::RingDoorbell<O, S>(Real(qp), value);
  }
  uint64_t LoadCqeTail(uint64_t cq, uint32_t slot) {
    return HostPort::LoadCqeTail(range_.Real(cq), slot);
  }
  uint64_t LoadCqeError(uint64_t cq, uint32_t slot) {
    return HostPort::LoadCqeError(range_.Real(cq), slot);
  }

 private:
  template <class T>
  Ref<T> Real(Ref<T> word) const {
    return {range_.Real(word.address)};
  }
  QpView Real(QpView qp) const {
    qp.sq = range_.Real(qp.sq);
    qp.record = range_.Real(qp.record);
    return qp;
  }

  const Range& range_;
};

static_assert(Port<FakeGpuPort>);

}  // namespace ringpost::fake_gpu
