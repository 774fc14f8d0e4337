// walk.h: a random walk of one requester over a faulty wire, beside a model that does the same
// operations one after another: RC, or a DCI towards two DCTs.
#pragma once

#include <deque>
#include <map>
#include <string>

#include "tests/sim/nic/harness.h"

namespace ringpost::sim {

// What a walk met, for the coverage table.
struct Coverage {
  std::map<int, uint64_t> wqe_opcodes;
  std::map<int, uint64_t> packet_opcodes;
  std::map<int, uint64_t> syndromes;
  std::map<std::string, uint64_t> transitions;
  uint64_t operations = 0, recoveries = 0;
  uint64_t lost = 0, repeated = 0, reordered = 0;
  uint64_t corrupted[3] = {};  // answers: too long, an error of the responder's, never ready
};

class Walk {
 public:
  Walk(uint64_t seed, QpType type, Coverage& coverage);
  // An empty string, or what went wrong.
  std::string Run(uint32_t operations);

 private:
  static constexpr uint32_t kTargetBytes = 0x3000;
  static constexpr uint32_t kLocalBytes = 0x40000;

  // One target: an RC QP or a DCT, its memory and what the model says of it.
  struct Peer {
    End end;
    Buffer memory;
    std::vector<uint8_t> model;
    Buffer receive;
    std::deque<std::vector<uint8_t>> expected_receives;
    uint64_t received = 0;
  };
  struct Posted {
    uint16_t index = 0;
    bool signalled = false;
    int failure = 0;  // the syndrome that it must end with; 0: none
    // What its local buffer must hold.
    uint64_t local = 0;
    std::vector<uint8_t> result;
    // A READ: what it reads.
    const Peer* peer = nullptr;
    uint64_t from = 0;
  };

  uint64_t Draw(uint64_t below) { return h_.random() % below; }
  void Setup();
  void Bring();
  void PostOne();
  void PostWrite(Peer& peer, Posted& posted, uint8_t flags);
  void PostSend(Peer& peer, Posted& posted, uint8_t flags);
  void PostRead(Peer& peer, Posted& posted, uint8_t flags);
  void PostAtomic(Peer& peer, Posted& posted, uint8_t flags);
  void PostMasked(Peer& peer, Posted& posted, uint8_t flags);
  void Corrupt(Peer& peer);
  void PostBroken(Peer& peer, Posted& posted, uint8_t flags);
  void Finish(Peer& peer, const WqeBytes& wqe, Posted& posted);
  WqeBytes Start(abi::Opcode opcode, uint8_t flags, Peer& peer, uint8_t opmod = 0);
  uint64_t TakeLocal(uint32_t bytes);
  void Touch(Peer& peer, uint64_t at, uint64_t bytes);
  void FillReceives();
  std::string Check(bool ended);
  std::string CheckCompletions();
  std::string CheckReceives(Peer& peer);
  std::string Recover();
  std::string Drain();

  Harness h_;
  QpType type_;
  Coverage& coverage_;
  End end_;
  Buffer local_;
  uint64_t local_next_ = 0;
  std::vector<Peer> peers_;
  uint64_t srq_ = 0, srq_record_ = 0, srq_posted_ = 0;
  std::vector<Posted> posted_;
  uint32_t accepted_ = 0;  // 1 << syndrome: may hit any WQE
  uint64_t lost_before_ = 0;
  bool broken_ = false;
  bool failed_ = false;
};

}  // namespace ringpost::sim
