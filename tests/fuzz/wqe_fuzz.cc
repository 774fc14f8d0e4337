// Any bytes as what software leaves to a NIC: send queues, receive queues, records, doorbells.
//
// An input is a sequence of commands of a byte each and their operands. Those that store arbitrary
// bytes and values come first; the others store what a fuzzer does not guess, such as keys. Two
// NICs with QPs of every type execute what they find. Each input must end, and no access may leave
// what queues and keys allow: PlainMemory ends the program that makes one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "sim/engine/check.h"
#include "tests/sim/nic/harness.h"
#include "transport/abi/doorbell.h"

namespace ringpost::sim {
namespace {

constexpr uint32_t kDepth = 16;
constexpr uint32_t kReceives = 8;
constexpr uint32_t kStride = 32;
constexpr uint64_t kBytes = 4096;
constexpr uint64_t kShift = 0x100000000;  // from where memory is to how keys name it
constexpr uint64_t kDcKey = 0x5623ceaf;
constexpr uint64_t kMemory = 32768;  // of each NIC: each input makes it anew
constexpr uint64_t kMostSteps = 2000000;

class Input {
 public:
  explicit Input(std::span<const uint8_t> bytes) : left_(bytes) {}
  bool Empty() const { return left_.empty(); }
  uint8_t Byte() {
    uint8_t byte = 0;
    Take(&byte, 1);
    return byte;
  }
  uint32_t Word() {
    const uint32_t low = Byte();
    return low | uint32_t{Byte()} << 8;
  }
  uint64_t Long() {
    uint64_t value = 0;
    Take(reinterpret_cast<uint8_t*>(&value), sizeof(value));
    return value;
  }
  // What is missing reads as it was.
  void Take(uint8_t* to, size_t size) {
    size = std::min(size, left_.size());
    std::copy_n(left_.begin(), size, to);
    left_ = left_.subspan(size);
  }

 private:
  std::span<const uint8_t> left_;
};

// Keys of one side: for everything, for reading, for memory that is not there, and one that is no
// longer valid.
struct Keys {
  Keys(Harness& h, Side& side) {
    const uint64_t at = h.Register(side, kBytes).address;
    constexpr uint8_t kAll =
        kMayWriteLocally | kMayWriteRemotely | kMayReadRemotely | kMayUseAtomics;
    Protection& keys = side.nic.Keys();
    iova = at + kShift;
    key[0] = keys.Register({iova, at, kBytes, side.pd, kAll | kMayInvalidateRemotely});
    key[1] = keys.Register({iova, at, kBytes, side.pd, kMayReadRemotely});
    key[2] = keys.Register({iova, PlainMemory::kAbsent, PlainMemory::kAbsentBytes, side.pd, kAll});
    key[3] = keys.Register({iova, at, kBytes, side.pd, kAll});
    keys.Deregister(key[3]);
  }
  uint64_t iova = 0;
  uint32_t key[4] = {};
};

RnicConfig Small() {
  RnicConfig config;
  config.mtu = 256;
  config.packets_per_ack = 4;
  config.limits.message_bytes = 16384;
  return config;
}

class Machine {
 public:
  Machine() : h_(Small(), 1, kMemory) {
    h_.a.memory.guarded = h_.b.memory.guarded = true;
    h_.base.path_mtu = 256;
    h_.base.rnr_retry = 2;
    h_.base.retry_count = 2;
    h_.base.access |= kMayInvalidateRemotely;
    keys_.emplace_back(h_, h_.a);
    keys_.emplace_back(h_, h_.b);
    for (const QpType type : {QpType::kRc, QpType::kUc, QpType::kUd, QpType::kDci}) {
      ends_.push_back(h_.MakeEnd(h_.a, OptionsOf(type)));
    }
    for (const QpType type : {QpType::kRc, QpType::kUc, QpType::kUd}) {
      ends_.push_back(h_.MakeEnd(h_.b, OptionsOf(type)));
    }
    End shared;
    shared.rq = h_.b.memory.Allocate(uint64_t{kReceives} * kStride);
    shared.record = h_.b.memory.Allocate(8);
    const uint32_t srqn =
        h_.b.nic.CreateSrq(h_.b.pd, {shared.rq, shared.record, kReceives, kStride, true}).number;
    End target = h_.MakeEnd(h_.b, {.type = QpType::kDct, .srq = srqn, .dc_key = kDcKey});
    target.rq = shared.rq;
    target.record = shared.record;
    target.rq_depth = kReceives;
    target.stride = kStride;
    ends_.push_back(target);
    for (size_t i = 0; i < ends_.size(); ++i) Bring(i);
  }

  void Do(Input& in) {
    switch (in.Byte() % 14) {
      case 0:
        return StoreBytes(in);
      case 1:
        return void(Chosen().nic.RingDoorbell(in.Long()));
      case 2:
        return StoreRecord(in);
      case 3:
        return Arm(in);
      case 4:
        return StoreReceiveBytes(in);
      case 5:
        return StoreControl(in);
      case 6:
        return StoreRemote(in);
      case 7:
        return StoreData(in);
      case 8:
        return StoreTarget(in);
      case 9:
        return RingNext(in);
      case 10:
        return PostReceive(in);
      case 11:
        return Modify(in);
      case 12:
        side_ = in.Byte() % 2;
        return;
      default:
        for (uint32_t steps = in.Byte() % 32; steps != 0; --steps) h_.Step();
    }
  }

  void Finish() { RINGPOST_CHECK(h_.Run(kMostSteps), "it does not end"); }

 private:
  static EndOptions OptionsOf(QpType type) {
    EndOptions options{.type = type, .depth = kDepth, .cq_entries = 16, .waits = true};
    options.collapsed = type == QpType::kUc;
    options.overrun_ignore = type == QpType::kRc;
    if (type != QpType::kDci) options.rq_depth = kReceives;
    options.stride = kStride;
    return options;
  }
  Side& Chosen() { return side_ == 0 ? h_.a : h_.b; }
  // The sending QP that the next byte names.
  End& EndOf(Input& in) { return ends_[in.Byte() % (ends_.size() - 1)]; }
  const Keys& KeysOf(const End& end, bool local) const {
    return keys_[(end.side == &h_.a) == local ? 0 : 1];
  }
  // Ends of both sides face each other; the DCI and the DCT are the fourth of theirs.
  const End& PeerOf(size_t end) const { return ends_[(end + 4) % ends_.size()]; }

  void Bring(size_t i) {
    End& end = ends_[i];
    if (h_.Qp(end).state != State::kReset) return;
    end.producer = 0;
    if (h_.Qp(end).type != QpType::kDct) {
      end.posted = 0;
      std::memset(end.side->memory.At(end.record), 0, 8);
    }
    h_.Ready(end, *PeerOf(i).side, PeerOf(i).qpn);
  }

  // The 16-byte segment at `offset` from the WQE that is rung next.
  static uint8_t* SegmentAt(const End& end, uint32_t offset) {
    const uint64_t at = (end.producer * 64 + uint64_t{offset} * 16) % (uint64_t{kDepth} * 64);
    return end.side->memory.At(end.sq + at);
  }
  template <class T>
  static void Put(uint8_t* to, T value) {
    std::memcpy(to, &value, sizeof(value));
  }

  void StoreBytes(Input& in) {
    End& end = EndOf(in);
    const uint32_t first = in.Byte() % (4 * kDepth);
    for (uint32_t segments = in.Byte() % 16, i = 0; i < segments; ++i) {
      in.Take(SegmentAt(end, first + i), 16);
    }
  }
  void StoreRecord(Input& in) {
    End& end = ends_[in.Byte() % ends_.size()];
    in.Take(end.side->memory.At(end.record), 8);
    end.side->nic.RefreshFromRecord(h_.Qp(end));
  }
  void Arm(Input& in) {
    Side& side = Chosen();
    if (in.Byte() % 2 == 0) return side.nic.RingArm(in.Long());
    const End& end = ends_[in.Byte() % ends_.size()];
    in.Take(end.side->memory.At(end.receive_cq_record), 8);
    end.side->nic.RefreshArm(end.receive_cqn);
  }
  void StoreReceiveBytes(Input& in) {
    End& end = ends_[in.Byte() % ends_.size()];
    if (end.rq_depth == 0) return;
    in.Take(end.side->memory.At(end.rq + in.Byte() % kReceives * kStride), kStride);
  }
  void StoreControl(Input& in) {
    End& end = EndOf(in);
    uint8_t* at = SegmentAt(end, 0);
    at[0] = in.Byte();
    at[1] = static_cast<uint8_t>(end.producer >> 8);
    at[2] = static_cast<uint8_t>(end.producer);
    at[3] = in.Byte();
    Put(at + 4, abi::Swap32(end.qpn << 8 | (in.Byte() & 0x3fu)));
    at[11] = in.Byte();
    // Of a SEND with invalidate the key.
    Put(at + 12, abi::Swap32(KeysOf(end, false).key[at[11] % 4]));
  }
  void StoreRemote(Input& in) {
    End& end = EndOf(in);
    uint8_t* at = SegmentAt(end, in.Byte() % 16);
    const Keys& keys = KeysOf(end, false);
    Put(at + 8, abi::Swap32(keys.key[in.Byte() % 4]));
    Put(at, abi::Swap64(keys.iova + in.Word() % (2 * kBytes)));
  }
  void StoreData(Input& in) {
    End& end = EndOf(in);
    uint8_t* at = SegmentAt(end, in.Byte() % 16);
    const Keys& keys = KeysOf(end, true);
    Put(at + 4, abi::Swap32(keys.key[in.Byte() % 4]));
    Put(at + 8, abi::Swap64(keys.iova + in.Word() % (2 * kBytes)));
    Put(at, abi::Swap32(in.Word()));
  }
  void StoreTarget(Input& in) {
    End& end = EndOf(in);
    uint8_t* at = SegmentAt(end, in.Byte() % 16);
    const End& target = ends_[in.Byte() % ends_.size()];
    const bool datagram = h_.Qp(end).type == QpType::kUd;
    Put(at, abi::Swap64(datagram ? uint64_t{h_.base.qkey} << 32 : kDcKey));
    Put(at + 8, abi::Swap32(target.qpn | uint32_t{in.Byte() % 2u} << 31));
    Put(at + 12, abi::Swap32(target.side->address.lid));
  }
  void RingNext(Input& in) {
    End& end = EndOf(in);
    end.producer += in.Byte() % kDepth;
    h_.SetRecord(end);
    h_.Ring(end);
  }
  void PostReceive(Input& in) {
    End& end = ends_[in.Byte() % ends_.size()];
    if (end.rq_depth == 0) return;
    const Keys& keys = KeysOf(end, true);
    const uint64_t key = keys.key[in.Byte() % 4];
    const uint64_t address = keys.iova + in.Word() % (2 * kBytes);
    const uint64_t bytes = in.Word();
    h_.PostReceive(end, {{address, key, bytes}});
    if (h_.Qp(end).type != QpType::kDct) return;
    // Of a shared queue: the link to the next WQE, then the list.
    uint8_t* at = end.side->memory.At(end.rq + (end.posted - 1) % kReceives * kStride);
    std::memmove(at + 16, at, 16);
    std::memset(at, 0, 16);
    Put(at, abi::Swap32(static_cast<uint32_t>(end.posted % kReceives)));
  }
  void Modify(Input& in) {
    const size_t i = in.Byte() % ends_.size();
    QpAttributes to;
    to.state = static_cast<State>(in.Byte() % kStates);
    ends_[i].side->nic.ModifyQp(ends_[i].qpn, to, kAttrState);
    Bring(i);
  }

  Harness h_;
  std::vector<Keys> keys_;
  std::vector<End> ends_;
  int side_ = 0;
};

}  // namespace
}  // namespace ringpost::sim

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ringpost::sim::Machine machine;
  ringpost::sim::Input input({data, std::min<size_t>(size, 1024)});
  while (!input.Empty()) machine.Do(input);
  machine.Finish();
  return 0;
}
