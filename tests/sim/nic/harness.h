// harness.h: two NICs over plain memory and a wire that may lose, repeat and reorder, with no
// clock: timers run out when nothing else happens.
//
//   Harness h;
//   Pipe pipe = h.Connect();                  // an RC QP on each side
//   h.Post(pipe.local, WqeBytes(...).Remote(...).Data(...));
//   h.Run();
//   h.Poll(pipe.local)                        // its CQEs
#pragma once

#include <array>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "sim/nic/rnic.h"
#include "tests/sim/nic/plain_memory.h"
#include "tests/sim/nic/wqe_bytes.h"
#include "transport/abi/cqe.h"

namespace ringpost::sim {

struct WireFaults {
  double lose = 0;
  double repeat = 0;
  double reorder = 0;
};

struct Side {
  Side(const RnicConfig& config, uint16_t lid, uint64_t bytes)
      : memory(0x10000, bytes), nic(config, memory), pd(nic.Keys().AllocatePd()) {
    address.lid = lid;
  }
  PlainMemory memory;
  Rnic nic;
  Address address;
  uint32_t pd;
};

// A registered range of one side.
struct Buffer {
  Side* side = nullptr;
  uint64_t address = 0;
  uint32_t key = 0;
  uint8_t* Bytes() const { return side->memory.At(address); }
  uint64_t Word(uint32_t bytes = 8) const {
    uint64_t value = 0;
    std::memcpy(&value, Bytes(), bytes);
    return value;
  }
};

// One end as software holds it.
struct End {
  Side* side = nullptr;
  uint32_t qpn = 0;
  uint32_t cqn = 0, receive_cqn = 0;
  uint64_t sq = 0, rq = 0, record = 0;
  uint32_t depth = 0, rq_depth = 0, stride = 16;
  uint64_t cq = 0, receive_cq = 0, cq_record = 0, receive_cq_record = 0;
  uint32_t cq_entries = 0;
  uint32_t polled = 0, receive_polled = 0;
  uint64_t producer = 0, posted = 0;
};

struct EndOptions {
  QpType type = QpType::kRc;
  uint32_t depth = 64;
  uint32_t rq_depth = 0;
  uint32_t stride = 32;
  uint32_t srq = 0;
  uint32_t cq_entries = 1024;
  bool collapsed = false;
  bool overrun_ignore = false;
  bool waits = false;
  uint32_t cqn = 0;  // of an End made before, to share its CQ
  uint64_t cq = 0;
  uint64_t dc_key = 0;
  uint32_t user_index = kUserIndexIsQpn;
};

struct Pipe {
  End local, remote;
};

struct Harness {
  explicit Harness(const RnicConfig& config = {}, uint64_t seed = 1, uint64_t memory = 1 << 20);

  End MakeEnd(Side& side, const EndOptions& options);
  // To RTS, towards `peer`; what the type does not have is left out.
  void Ready(End& end, const Side& peer_side, uint32_t peer_qpn);
  QpAttributes Defaults(const Side& peer_side, uint32_t peer_qpn) const;
  Pipe Connect(const EndOptions& options = {}, const EndOptions& remote = {});
  Buffer Register(Side& side, uint64_t bytes,
                  uint8_t rights = kMayWriteLocally | kMayWriteRemotely | kMayReadRemotely |
                                   kMayUseAtomics);
  QpContext& Qp(const End& end) { return *end.side->nic.FindQp(end.qpn); }

  // Stores the WQE and the record and rings; `ring` and `record` say if so.
  void Store(End& end, const WqeBytes& wqe);
  void SetRecord(End& end);
  void Ring(End& end);
  void Post(End& end, const WqeBytes& wqe);
  void PostReceive(End& end, const std::vector<std::array<uint64_t, 3>>& sges);

  // Until nothing moves and no timer is left. False if it did not end.
  bool Run(uint64_t most_steps = 1000000);
  bool Step();
  std::vector<abi::Cqe> Poll(End& end);
  std::vector<abi::Cqe> PollReceives(End& end);

  Side a, b;
  WireFaults faults;
  std::mt19937_64 random;
  // Looks at a packet that leaves; false loses it.
  std::function<bool(wire::Packet& packet)> on_wire;
  bool timers_run = true;
  std::vector<wire::Opcode> opcodes_seen;
  uint64_t lost = 0, repeated = 0, reordered = 0;
  QpAttributes base;  // what Ready gives every QP

 private:
  struct Flying {
    wire::Packet packet;
    Side* from;
    Side* to;
  };
  struct Timer {
    Side* side;
    uint32_t qpn;
    TimerKind kind;
    uint32_t generation;
  };
  bool Chance(double probability);
  void Launch(Side& from, const wire::Packet& packet, const Address& to);
  bool Pull(Side& side);
  void Deliver();
  void Arm(Side& side, uint32_t qpn, const TimerRequest& timer);
  std::vector<abi::Cqe> PollCq(Side& side, uint64_t cq, uint64_t record, uint32_t entries,
                               uint32_t* polled);

  std::vector<Flying> flying_;
  std::vector<Timer> timers_;
  std::vector<std::pair<Side*, uint32_t>> ends_;
};

inline uint8_t ByteOf(const abi::Cqe& cqe, uint32_t offset) {
  return reinterpret_cast<const uint8_t*>(&cqe)[offset];
}
inline abi::CqeOpcode OpcodeOf(const abi::Cqe& cqe) {
  return static_cast<abi::CqeOpcode>(cqe.op_own >> 4);
}
inline uint16_t CounterOf(const abi::Cqe& cqe) { return abi::Swap16(cqe.wqe_counter); }
inline int SyndromeOf(const abi::Cqe& cqe) { return ByteOf(cqe, abi::kErrorSyndromeOffset); }
inline int VendorOf(const abi::Cqe& cqe) { return ByteOf(cqe, abi::kErrorVendorSyndromeOffset); }
inline uint32_t BytesOf(const abi::Cqe& cqe) { return abi::Swap32(cqe.byte_cnt); }
inline bool IsError(const abi::Cqe& cqe) {
  return OpcodeOf(cqe) >= abi::CqeOpcode::kRequesterError;
}

}  // namespace ringpost::sim
