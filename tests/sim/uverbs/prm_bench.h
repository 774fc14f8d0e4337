// prm_bench.h: one software NIC with a firmware, whose port leads back to itself, driven by hand.
//
//   PrmBench bench;
//   const Answer answer = bench.Run(bench.CqMailbox().Put(In(cqc::kAt, cqc::kLogSize), 4));
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "sim/service/packet_port.h"
#include "sim/uverbs/prm/devx.h"
#include "sim/uverbs/prm/firmware.h"
#include "tests/sim/nic/wqe_bytes.h"
#include "transport/abi/cqe.h"

namespace ringpost::sim::uverbs::prm {

// What leaves, arrives.
class LoopPort final : public service::PacketPort {
 public:
  bool Send(const service::Address& target, const wire::Packet& packet) override {
    ++counters_.sent;
    queue_.push_back({packet, target});
    return true;
  }
  bool Poll(service::Arrival& arrival) override {
    if (queue_.empty()) return false;
    arrival = queue_.front();
    queue_.pop_front();
    return true;
  }
  void Sleep(std::chrono::nanoseconds) override {}
  service::PortCounters Counters() const override { return counters_; }

 private:
  std::deque<service::Arrival> queue_;
  service::PortCounters counters_;
};

// A command as software lays it out.
class Mailbox {
 public:
  explicit Mailbox(Opcode opcode, size_t bytes = 0x110) : bytes_(bytes) {
    Put(kOpcode, static_cast<uint32_t>(opcode));
  }
  Mailbox& Put(Field field, uint32_t value) {
    Set(bytes_.data(), field, value);
    return *this;
  }
  Mailbox& Put(Wide wide, uint64_t value) {
    Set(bytes_.data(), wide, value);
    return *this;
  }
  // Bytes as they stand, for what no field names.
  Mailbox& Copy(uint32_t offset, const void* bytes, size_t size) {
    std::memcpy(bytes_.data() + offset, bytes, size);
    return *this;
  }
  std::vector<uint8_t>& Bytes() { return bytes_; }
  const std::vector<uint8_t>& Bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

struct Answer {
  Refusal refusal = Refusal::kNone;
  std::vector<uint8_t> bytes;
  uint32_t Number() const { return Get(bytes.data(), kNumber); }
  bool Ok() const { return refusal == Refusal::kNone && bytes[0] == 0; }
  template <class F>
  auto operator[](F field) const {
    return Get(bytes.data(), field);
  }
};

struct BenchOptions {
  RnicConfig nic = {.slot = 1};
  wire::Link link = wire::Link::kInfiniband;
  uint32_t completion_vectors = 3;
  uint32_t uar_pages = 8;
};

class PrmBench {
 public:
  static constexpr uint16_t kLid = 7;
  static constexpr uint64_t kMemoryBytes = 1 << 20;

  explicit PrmBench(const BenchOptions& options = {});

  Answer Run(const Mailbox& mailbox) { return RunAs(mailbox, uid); }
  Answer RunAs(const Mailbox& mailbox, uint16_t user, size_t out_bytes = 0x1010);
  // About one object.
  Answer Run(Opcode opcode, uint32_t number) {
    return Run(Mailbox(opcode, kHeaderBytes).Put(kNumber, number));
  }
  // What an object of its kind needs, in place of the NIC's memory; `at` is in units of a page.
  uint64_t At(uint64_t offset) const { return reinterpret_cast<uint64_t>(memory.get()) + offset; }
  uint8_t* Bytes(uint64_t offset) { return memory.get() + offset; }

  // Mailboxes that are in order, over objects of this bench.
  Mailbox CqMailbox(uint64_t ring = 0x1000, uint64_t record = 0x100) const;
  Mailbox QpMailbox(uint32_t service = qpc::kRc, uint64_t ring = 0x4000,
                    uint64_t record = 0x200) const;
  Mailbox RmpMailbox() const;
  Mailbox DctMailbox() const;
  Mailbox MkeyMailbox() const;
  // A step of a QP towards `peer`.
  Mailbox StepMailbox(Opcode opcode, uint32_t qpn, uint32_t peer) const;
  // To RTS. What a QP of this service has no need of is ignored.
  void BringUp(uint32_t qpn, uint32_t peer);

  // Until nothing is left to do.
  void Turn();

  struct alignas(4096) Page {
    uint8_t bytes[4096];
  };
  std::unique_ptr<uint8_t[], void (*)(void*)> memory;
  std::vector<Page> pages;
  std::vector<bool> page_used;
  service::NicLoop loop;
  Firmware firmware;
  uint16_t uid;
  uint32_t pd = 0, uar = 0, umem = 0, cq = 0, rmp = 0;
};

}  // namespace ringpost::sim::uverbs::prm
