// nic_fixture.h: the NIC's function over plain bytes: a requester and a responder, no time.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "sim/nic/nic.h"
#include "transport/abi/doorbell.h"

namespace ringpost::sim {

// Memory is one byte array at address kBase; what was consumed and the CQEs are kept.
class ByteDma final : public Dma {
 public:
  static constexpr uint64_t kBase = 0x10000;

  struct Use {
    Purpose purpose;
    uint64_t index;
    uint64_t address;
    uint64_t size;
  };

  explicit ByteDma(size_t bytes) : memory(bytes) {}

  bool Holds(uint64_t address, uint64_t size) const {
    return address >= kBase && address - kBase <= memory.size() &&
           size <= memory.size() - (address - kBase);
  }
  uint8_t* At(uint64_t address) { return memory.data() + (address - kBase); }

  bool Read(uint32_t, uint64_t address, void* bytes, uint64_t size) override {
    if (!Holds(address, size)) return false;
    std::memcpy(bytes, At(address), size);
    return true;
  }
  void Consume(uint32_t, Purpose purpose, uint64_t index, uint64_t address,
               uint64_t size) override {
    uses.push_back({purpose, index, address, size});
  }
  bool ReadRecord(uint32_t, uint64_t address, uint32_t* word) override {
    record_reads.push_back(address);
    return Read(0, address, word, sizeof(*word));
  }
  bool Write(uint32_t, uint64_t address, const void* bytes, uint64_t size) override {
    if (!Holds(address, size)) return false;
    std::memcpy(At(address), bytes, size);
    ++writes;
    return true;
  }
  bool WriteCqe(uint32_t, uint64_t address, const void* cqe) override {
    abi::Cqe copy;
    std::memcpy(&copy, cqe, sizeof(copy));
    cqes.push_back(copy);
    cqe_addresses.push_back(address);
    std::memcpy(At(address), cqe, sizeof(copy));
    return true;
  }

  std::vector<uint8_t> memory;
  std::vector<Use> uses;
  std::vector<uint64_t> record_reads;
  std::vector<abi::Cqe> cqes;
  std::vector<uint64_t> cqe_addresses;
  uint64_t writes = 0;
};

inline uint8_t ByteOf(const abi::Cqe& cqe, uint32_t offset) {
  return reinterpret_cast<const uint8_t*>(&cqe)[offset];
}
inline abi::CqeOpcode OpcodeOf(const abi::Cqe& cqe) {
  return static_cast<abi::CqeOpcode>(cqe.op_own >> 4);
}
inline uint16_t CounterOf(const abi::Cqe& cqe) { return abi::Swap16(cqe.wqe_counter); }
inline abi::Syndrome SyndromeOf(const abi::Cqe& cqe) {
  return static_cast<abi::Syndrome>(ByteOf(cqe, abi::kErrorSyndromeOffset));
}

// One QP of each side, connected; a source and a target buffer, registered.
struct NicFixture {
  static constexpr uint64_t kSq = ByteDma::kBase;
  static constexpr uint64_t kRecord = ByteDma::kBase + 0x40000;
  static constexpr uint64_t kCq = ByteDma::kBase + 0x41000;
  static constexpr uint64_t kPeer = ByteDma::kBase + 0x50000;
  static constexpr uint64_t kSource = ByteDma::kBase + 0x60000;
  static constexpr uint64_t kTarget = ByteDma::kBase + 0x70000;
  static constexpr uint64_t kBufferBytes = 0x1000;

  explicit NicFixture(uint32_t depth = 16, uint32_t cqe_count = 1, bool collapsed = true)
      : dma(0x80000), local(0, 4096, dma), remote(1, 4096, dma) {
    qp = &local.CreateQp({kSq, kRecord, kCq, depth, cqe_count, collapsed});
    peer = &remote.CreateQp({kPeer, kPeer + 0x8000, kPeer + 0x9000, 16, 1, true});
    local.Connect(qp->qpn, 1, peer->qpn);
    remote.Connect(peer->qpn, 0, qp->qpn);
    lkey = local.Keys().Register(kSource, kBufferBytes, kLocalWrite);
    rkey = remote.Keys().Register(kTarget, kBufferBytes, kRemoteWrite | kRemoteRead);
  }

  // Stores segments at `index`, wrapping at the ring's end.
  void Store(uint64_t index, const std::vector<abi::Segment>& segments) {
    const uint64_t ring = uint64_t{qp->config.depth} * abi::kWqebbBytes;
    for (size_t i = 0; i < segments.size(); ++i) {
      const uint64_t at = (index * abi::kWqebbBytes + i * abi::kSegmentBytes) % ring;
      std::memcpy(dma.At(kSq + at), &segments[i], sizeof(segments[i]));
    }
  }
  abi::Segment Control(abi::Opcode opcode, uint64_t index, uint32_t segments, uint8_t flags) {
    return abi::ControlSegmentOf(opcode, index & 0xffff, qp->qpn, segments, flags);
  }
  // A pointer WRITE or READ.
  void StorePointer(uint64_t index, abi::Opcode opcode, uint32_t bytes,
                    uint8_t flags = abi::kCqeAlways) {
    Store(index, {Control(opcode, index, 3, flags), abi::RemoteAddressOf(kTarget, rkey),
                  abi::DataOf(bytes, lkey, kSource)});
  }
  void StoreInline(uint64_t index, const std::string& payload, uint8_t flags = abi::kCqeAlways) {
    const uint32_t bytes = static_cast<uint32_t>(payload.size());
    const uint32_t segments = 2 + abi::InlineSegments(bytes);
    std::vector<abi::Segment> wqe(segments);
    wqe[0] = Control(abi::Opcode::kRdmaWrite, index, segments, flags);
    wqe[1] = abi::RemoteAddressOf(kTarget, rkey);
    const uint32_t header = abi::Swap32(bytes | abi::kInlineFlag);
    if (bytes > 0) {
      std::memcpy(&wqe[2], &header, sizeof(header));
      std::memcpy(reinterpret_cast<char*>(&wqe[2]) + 4, payload.data(), bytes);
    }
    Store(index, wqe);
  }
  void SetRecord(uint64_t producer) {
    const uint32_t word = abi::Swap32(static_cast<uint32_t>(producer & 0xffff));
    std::memcpy(dma.At(kRecord + abi::kRecordSendOffset), &word, sizeof(word));
  }
  QueuePair* RingProducer(uint64_t producer) {
    return local.RingDoorbell(abi::ProducerDoorbell(producer & 0xffff, qp->qpn));
  }
  // Everything between fetch and completion, at once. False when nothing was announced.
  bool RunOne(Work& work) {
    if (!local.FetchNext(*qp, work)) return false;
    local.ReadPayload(*qp, work);
    if (work.status == WorkStatus::kOk && work.opcode != abi::Opcode::kNop) remote.Respond(work);
    if (work.status == WorkStatus::kOk && work.IsRead()) local.PlaceResponse(work);
    if (work.status == WorkStatus::kOk) {
      local.Acknowledge(*qp, work);
    } else if (work.status != WorkStatus::kDropped) {
      local.Fail(*qp, work);
    }
    return true;
  }
  uint64_t RunAll() {
    uint64_t count = 0;
    for (Work work; RunOne(work);) ++count;
    return count;
  }
  std::string TargetBytes(uint64_t offset, uint64_t size) {
    return std::string(reinterpret_cast<char*>(dma.At(kTarget + offset)), size);
  }

  ByteDma dma;
  Nic local;
  Nic remote;
  QueuePair* qp = nullptr;
  QueuePair* peer = nullptr;
  uint32_t lkey = 0;
  uint32_t rkey = 0;
};

}  // namespace ringpost::sim
