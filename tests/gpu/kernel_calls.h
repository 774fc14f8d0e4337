// kernel_calls.h: how a thread of the host has a thread of a kernel call an Endpoint for it, so
// that the cases of the conformance suite, which are written for threads of any kind, run in
// kernels.
//
// Each thread of the kernel has a mailbox in pinned host memory. The host writes a call and raises
// `asked`; the kernel's thread makes the call, writes the answer and raises `answered`. Both words
// are stored with release and loaded with acquire at system scope, which orders all else here.
#pragma once

#include <cstdint>
#include <string>

#include "transport/endpoint.h"
#include "transport/qp_view.h"
#include "transport/receive_queue.h"

namespace ringpost::gpu_test {

enum class CallKind : uint32_t {
  kMake,  // an Endpoint on the QPs of `slot`
  kDrop,
  kPut,
  kPutInline,
  kPutSignal,
  kPutValue,
  kPutValues,
  kPutImmediate,
  kSignal,
  kGet,
  kFetchAdd,
  kCompareSwap,
  kSend,
  kSendImmediate,
  kWait,
  kFlush,
  kQuiet,
  kFence,
  kWaitSignal,
  kReceive,      // posts one
  kWaitReceive,  // for the oldest
  kLoadPayload,
  kStorePayload,
  kNow,
  kEnd,
};

struct Call {
  static constexpr uint32_t kMostBytes = 1024;

  CallKind kind = CallKind::kEnd;
  uint32_t slot = 0;
  RemoteSpan remote, signal;
  LocalSpan local;
  uint64_t address = 0;
  uint64_t value = 0, other = 0;
  uint32_t bytes = 0;
  CompletionScope scope = CompletionScope::kSelectedQp;
  Posted posted;
  uint8_t payload[kMostBytes] = {};
};

struct Answer {
  Posted posted;  // `status` alone where nothing was posted
  Received received;
  uint64_t value = 0;
  uint8_t payload[Call::kMostBytes] = {};
};

struct Mailbox {
  static constexpr uint32_t kSlots = 4;  // Endpoints at once
  static constexpr uint32_t kQps = 4;    // of each

  alignas(128) uint64_t asked = 0;
  Call call;
  alignas(128) uint64_t answered = 0;
  Answer answer;
  alignas(128) QpTable tables[kSlots];
  QpView views[kSlots][kQps];
  QpView receiving;
  ReceiveView receives;
};

struct KernelShape {
  uint32_t blocks = 1;
  uint32_t threads = 1;  // of a block
  bool block_wide = false;
};

// Starts a kernel whose thread i answers mailboxes[i] until its kEnd, on CUDA's device 0. Empty, or
// what CUDA says; nothing runs then.
class CallServer {
 public:
  ~CallServer();
  std::string Start(const std::string& publication, const std::string& ordering,
                    const KernelShape& shape, Mailbox* mailboxes);
  // Waits until the kernel has ended. Empty, or what CUDA says.
  std::string Finish();

 private:
  void* stream_ = nullptr;
};

}  // namespace ringpost::gpu_test
