// qp_context.h: the NIC's context of one queue pair: a requester, a responder, and what software
// set.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "sim/nic/completion_queue.h"
#include "sim/nic/peer_index.h"
#include "sim/nic/psn.h"
#include "sim/nic/qp_states.h"
#include "sim/nic/receive_queue.h"
#include "sim/nic/send_window.h"
#include "sim/nic/wqe_rules.h"
#include "sim/wire/opcode.h"

namespace ringpost::sim {

inline constexpr uint32_t kUserIndexIsQpn = 0xffffffff;
inline constexpr uint32_t kNoStream = 0xffffffff;

struct RnicQpConfig {
  QpType type = QpType::kRc;
  uint32_t pd = 0;
  uint32_t send_cq = 0;
  uint32_t receive_cq = 0;
  uint32_t srq = 0;        // 0: none
  uint64_t sq = 0;         // the ring
  uint32_t sq_wqebbs = 0;  // a power of two; 0: it does not send
  uint64_t record = 0;     // word 0 counts receives, word 1 sends
  ReceiveQueueConfig rq;   // `record` and `linked` are not used
  uint32_t max_sges = 1;
  uint32_t max_inline = 0;
  bool waits = false;  // QPC.cd_master: WAIT is allowed
  uint32_t user_index = kUserIndexIsQpn;
  uint64_t dc_key = 0;  // DCT
};

struct Requester {
  SendWindow window;
  // WQE numbers: the oldest that is not complete, the next to send, one past the last of which a
  // packet has left, one past the last fetched.
  uint32_t head = 0, send = 0, sent_end = 0, tail = 0;
  // PSNs: the next to send, the oldest without an answer, the first that was never sent, the next
  // for a WQE that is fetched.
  uint32_t send_psn = 0, unanswered = 0, unsent = 0, next_psn = 0;
  uint32_t packets_since_request = 0;  // of an acknowledgement
  uint32_t rds = 0;                    // READs and atomics under way
  uint8_t timeouts = 0;                // in a row, without progress
  uint8_t rnr_naks = 0;                // the same
  bool rnr_wait = false;
  bool rewound = false;  // for an answer that was lost; until there is progress
  bool timer_armed = false;
  uint32_t generation = 0;  // of the timers
  uint32_t unanswered_when_armed = 0;
  uint64_t producer = 0;        // WQEBBs announced; the NIC's own 64-bit count
  uint64_t announced = 0;       // the same by doorbells alone: a record may be ahead of its own
  uint64_t fetched = 0;         // WQEBBs fetched
  uint64_t wqes = 0;            // fetched since the QP was reset, for injected errors
  uint32_t stream = kNoStream;  // DCI: the one that has work under way
};

// A READ or atomic whose response has not left yet, or not all of it.
struct PendingResponse {
  uint32_t psn = 0;      // of the next packet
  uint32_t packets = 0;  // still to come
  uint64_t address = 0;  // of the next byte; how DMA finds it
  uint32_t bytes = 0;    // still to come
  bool atomic = false;
  bool replay = false;  // of one that was executed before
  bool started = false;
  bool lost = false;  // its bytes could not be read when they were to be saved
  uint64_t original = 0;
  // The bytes still to come, where a later request was about to change them.
  std::vector<uint8_t> saved;
  size_t saved_offset = 0;
};

// What a responder keeps for READs and atomics: made when the first one comes.
struct RdResponses {
  static constexpr uint32_t kDepth = 16;
  std::array<PendingResponse, kDepth> pending;
  uint32_t first = 0, count = 0;
  struct Executed {
    uint32_t psn = 0;
    uint64_t original = 0;
  };
  std::array<Executed, kDepth> executed;  // atomics, for replay
  uint32_t executed_count = 0;

  PendingResponse& At(uint32_t i) { return pending[(first + i) % kDepth]; }
};

enum class Trailing : uint8_t { kNone, kAck, kNak };
enum class MessageKind : uint8_t { kNone, kSend, kWrite };

struct Responder {
  uint32_t expected = 0;  // PSN
  uint32_t msn = 0;
  uint32_t nak_psn = 0;                      // the request that a NAK refuses
  Trailing trailing = Trailing::kNone;       // what goes out behind all pending responses
  uint8_t syndrome = 0;                      // of a NAK
  bool nak_sent = false;                     // nothing more is said until the expected one comes
  MessageKind message = MessageKind::kNone;  // under way
  bool solicited = false;
  ReceiveWqe receive;
  uint32_t key = 0;  // WRITE: what is still to come
  uint64_t address = 0;
  uint32_t remaining = 0;
  uint32_t received = 0;  // bytes of this message
  std::unique_ptr<RdResponses> rd;

  bool Pending() const { return trailing != Trailing::kNone || (rd != nullptr && rd->count != 0); }
};

// One DCI as a DCT sees it: a responder of its own.
struct DcSource {
  Address address;
  uint32_t qpn = 0;
  bool answering = false;
  Responder responder;
};

// One target as a DCI sees it: PSNs of its own.
struct DcStream {
  Address address;
  uint32_t qpn = 0;
  uint32_t next_psn = 0;
  uint32_t first_psn = 0;  // of this incarnation
  bool used = false;       // something of this incarnation was sent
};

struct InjectedFailure {
  uint64_t wqe = 0;  // in order of fetch, from 0
  abi::Syndrome syndrome = abi::Syndrome::kLocalQpOperation;
};

struct QpContext {
  uint32_t qpn = 0;
  QpType type = QpType::kRc;
  State state = State::kReset;
  wire::Service service = wire::Service::kRc;
  uint32_t mtu = 0;  // of its path
  uint32_t pd = 0;
  uint32_t dest_qpn = 0;
  CompletionQueue* send_cq = nullptr;
  CompletionQueue* receive_cq = nullptr;
  ReceiveQueue* receives = nullptr;  // its own, or that of its SRQ
  WqeRules rules;
  Requester requester;
  Responder responder;
  QpAttributes attributes;  // as software set them
  RnicQpConfig config;
  ReceiveQueue rq;
  std::vector<InjectedFailure> injected;
  // DCI
  std::vector<DcStream> streams;
  PeerIndex stream_index;
  uint32_t last_stream = 0;
  // DCT
  std::vector<std::unique_ptr<DcSource>> sources;
  PeerIndex source_index;
  uint32_t source = 0;              // of the request at hand
  std::vector<uint32_t> answering;  // sources with responses to send
  uint32_t next_answer = 0;
  uint64_t executed = 0;  // requests
  bool established = false;
  bool drained_event = false;

  // Its WQEs say whom they are for.
  bool Addressed() const { return type == QpType::kUd || type == QpType::kDci; }
  bool Acknowledged() const { return type == QpType::kRc || type == QpType::kDci; }
  bool Receives() const {
    return state == State::kReadyToReceive || state == State::kReadyToSend ||
           state == State::kSendQueueDrain || state == State::kSendQueueError;
  }
};

}  // namespace ringpost::sim
