// words.h: the words of a configuration file, as enums whose order is that of the words in the
// table of keys (schema.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ringpost::config {

enum class Backend : uint8_t { kSim, kLive, kMlx5 };
enum class Publication : uint8_t {
  kPerThread,
  kBatched,
  kOrderedHandoff,
  kLocked,
  kCooperative,
  kLastWriter,
};
enum class Ordering : uint8_t {
  kNone,
  kGpuFence,
  kGpuFenceDbrec,
  kGpuRelease,
  kThreadfence,
  kSystemRelease,
  kSystemFence,
};
constexpr std::string_view NameOf(Backend backend) {
  constexpr std::string_view kNames[] = {"sim", "live", "mlx5"};
  return kNames[static_cast<size_t>(backend)];
}
constexpr std::string_view NameOf(Publication publication) {
  constexpr std::string_view kNames[] = {"per_thread", "batched",     "ordered_handoff",
                                         "locked",     "cooperative", "last_writer"};
  return kNames[static_cast<size_t>(publication)];
}
constexpr std::string_view NameOf(Ordering ordering) {
  constexpr std::string_view kNames[] = {"none",        "gpu_fence",   "gpu_fence_dbrec",
                                         "gpu_release", "threadfence", "system_release",
                                         "system_fence"};
  return kNames[static_cast<size_t>(ordering)];
}

enum class TransportPath : uint8_t { kDirect, kProxy };
enum class ProxyHandoff : uint8_t { kBaseline, kTuned };
constexpr std::string_view NameOf(ProxyHandoff handoff) {
  return handoff == ProxyHandoff::kTuned ? "tuned" : "baseline";
}
enum class ClockState : uint8_t { kCold, kWarm };

enum class WorkloadKind : uint8_t {
  kPutLatency,
  kRoundTrip,
  kMessageRate,
  kGoodput,
  kComputeCaller,
  kStreamingCaller,
  kConnectionScaling,
  kHostVerbs,
  kMoeDispatch,
};
enum class Direction : uint8_t { kBoth, kSend, kReceive };
enum class VisitOrder : uint8_t { kRoundRobin, kStrided, kRandom, kZipf };
enum class MoePattern : uint8_t { kLowLatency, kNormal };
enum class MoeRouting : uint8_t { kUniform, kZipf };
enum class Revisit : uint8_t { kRoom, kCompleted };
enum class SignalKind : uint8_t { kWrite, kAdd };
enum class InlineMode : uint8_t { kAuto, kAlways, kNever };
enum class NicBehaviour : uint8_t { kMlx5, kStrict };
enum class VisibilityMode : uint8_t { kStrict, kTimed, kAdversarial };
enum class NicReads : uint8_t { kL2, kPtx };
enum class Switch : uint8_t { kOn, kOff };
enum class LivePoll : uint8_t { kSpin, kYield, kSleep };
enum class LivePace : uint8_t { kOff, kPlatform };
enum class LiveThreads : uint8_t { kHost, kGpu };
enum class LiveWire : uint8_t { kSharedMemory, kUdp };
enum class ExecLink : uint8_t { kInfiniband, kEthernet };
enum class ExecPoll : uint8_t { kAuto, kSpin, kYield, kSleep };
enum class Mlx5Route : uint8_t { kDevx, kVerbs };
// What an error CQE says.
enum class FaultSyndrome : uint8_t {
  kLocalLength,
  kLocalQpOperation,
  kLocalProtection,
  kRemoteInvalidRequest,
  kRemoteAccess,
  kRemoteOperation,
  kRetryExceeded,
  kRnrRetryExceeded,
};
enum class FaultPlace : uint8_t { kResponder, kRequester, kWire, kDoorbell, kCqe, kFetch };
enum class FaultKind : uint8_t {
  kDelay,
  kError,
  kDrop,
  kDuplicate,
  kReorder,
  kCorrupt,
  kPause,
  kLinkDown,
};

}  // namespace ringpost::config
