// callers.h: kernels that compute, or stream through memory, and may put now and then: what the
// transport's code costs its caller, also where it never runs.
//
// A thread keeps `live_values` floats in registers. The first thread of each block puts
// `messages` words of 8 bytes, evenly spread over its rounds, to the block's slot at the target.
// The code of a put is absent, inlined, or a function that was compiled apart from the kernel; it
// is dormant where there are no messages.
#pragma once

#include <cstdint>

#include "transport/endpoint.h"
#include "transport/publication/per_thread.h"
#include "workloads/gpu_report.h"

namespace ringpost::workloads {

inline constexpr uint32_t kCallerBlock = 256;  // threads
inline constexpr uint32_t kCallerStride = 64;  // bytes of a slot

enum class CallerWork : uint8_t { kCompute, kStream };
enum class CallerCode : uint8_t { kAbsent, kSend, kSendWait };
enum class CallerBuild : uint8_t { kInlined, kSeparate };

struct CallerVariant {
  CallerWork work = CallerWork::kCompute;
  uint32_t live_values = 8;
  CallerCode code = CallerCode::kAbsent;
  CallerBuild build = CallerBuild::kInlined;
};

struct CallerJob {
  CallerVariant variant;
  const QpView* views = nullptr;  // by block
  RemoteSpan target;              // a slot for each block
  uint32_t messages = 0;
  uint32_t rounds = 0;          // before each message, and after the last one
  uint64_t sent = 0;            // by each block before this kernel: message i writes i + 1
  const float* data = nullptr;  // kStream: `data_words` floats, a power of two
  uint64_t data_words = 0;
  float* sink = nullptr;  // never written, but the compiler cannot know
  GpuReport* report = nullptr;
};

// One message of a block. Puts of a value are as small as the transport's code gets.
template <class P, class Ordering, bool kWait>
HOST_DEVICE void CallerSend(P& port, const CallerJob& job, uint32_t block, uint32_t message) {
  const QpView& view = job.views[block];
  const QpTable table{&view, 1, 0, 1, 0};
  Endpoint<P, PerThread, Ordering> endpoint(port, table);
  GpuOutcome<P> outcome(port, job.report);
  const RemoteSpan slot{job.target.address + uint64_t{block} * kCallerStride, job.target.rkey};
  const Posted posted = endpoint.PutValue(slot, uint64_t{job.sent + message + 1});
  if (!outcome.Expect(posted.status, Act::kPut)) return;
  if constexpr (kWait) outcome.Expect(endpoint.Wait(posted), Act::kPut);
}

struct alignas(16) Float4 {
  float x, y, z, w;
};

// A step of the work: every value depends on another one of the step before.
template <CallerWork kWork, uint32_t kValues>
HOST_DEVICE void CallerStep(float (&values)[kValues], const CallerJob& job, uint64_t place) {
  if constexpr (kWork == CallerWork::kCompute) {
    RINGPOST_UNROLL
    for (uint32_t i = 0; i < kValues; ++i) {
      values[i] = values[i] * 0.75f + values[(i + 1) % kValues];
    }
  } else {
    const float* const from = job.data + (place * kValues & (job.data_words - 1));
    RINGPOST_UNROLL
    for (uint32_t i = 0; i < kValues; i += 4) {
      const Float4 word = *reinterpret_cast<const Float4*>(from + i);
      values[i] += word.x;
      values[i + 1] += word.y;
      values[i + 2] += word.z;
      values[i + 3] += word.w;
    }
  }
}

// `send(message)` is called by the first thread of the block; without it there are no messages.
template <CallerWork kWork, uint32_t kValues, class Send>
HOST_DEVICE void CallerBody(const CallerJob& job, uint32_t thread, uint32_t threads,
                            uint32_t messages, Send&& send) {
  float values[kValues];
  RINGPOST_UNROLL
  for (uint32_t i = 0; i < kValues; ++i) values[i] = static_cast<float>(thread + i);
  uint64_t place = thread;
  for (uint32_t message = 0;; ++message) {
    for (uint32_t round = 0; round < job.rounds; ++round) {
      CallerStep<kWork>(values, job, place);
      place += threads;
    }
    if (message >= messages) break;
    send(message);
  }
  float sum = 0;
  RINGPOST_UNROLL
  for (uint32_t i = 0; i < kValues; ++i) sum += values[i];
  if (sum == -1.0f) *job.sink = sum;
}

}  // namespace ringpost::workloads
