#include "tools/ringpost/exec_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "backends/sim/trace_writer.h"
#include "transport/abi/cqe.h"
#include "transport/abi/wqe.h"

namespace ringpost::tools {
namespace {

using sim::Time;
using sim::service::ObservedNic;
using sim::service::ObservedStep;
using sim::service::StepKind;

enum class Group : uint32_t { kNic, kQps };
constexpr uint32_t kGroups = 2;
constexpr uint32_t kMostDevices = 64;
constexpr uint64_t kNsLeftOut = 1'000'000'000'000'000;  // a million seconds

constexpr std::array kStageNames = {"doorbell", "doorbell", "doorbell", "fetch",
                                    "transmit", "receive",  "respond",  "CQE"};

// A WQE, whichever NIC tells of it: QPNs are unique on the machine.
struct WqeId {
  uint32_t qpn = 0;
  uint64_t wqe = 0;
  // For its arrows: 53 bits, which numbers in JSON have.
  uint64_t Number() const { return uint64_t{qpn} << 29 | (wqe & ((1u << 29) - 1)); }
};

std::string OpcodeText(uint8_t code) {
  switch (static_cast<abi::Opcode>(code)) {
    case abi::Opcode::kNop:
      return "NOP";
    case abi::Opcode::kSendInvalidate:
      return "SEND_INVALIDATE";
    case abi::Opcode::kRdmaWrite:
      return "RDMA_WRITE";
    case abi::Opcode::kRdmaWriteImm:
      return "RDMA_WRITE_IMM";
    case abi::Opcode::kSend:
      return "SEND";
    case abi::Opcode::kSendImm:
      return "SEND_IMM";
    case abi::Opcode::kWait:
      return "WAIT";
    case abi::Opcode::kRdmaRead:
      return "RDMA_READ";
    case abi::Opcode::kAtomicCompareSwap:
      return "ATOMIC_CS";
    case abi::Opcode::kAtomicFetchAdd:
      return "ATOMIC_FA";
    case abi::Opcode::kAtomicMaskedCompareSwap:
      return "ATOMIC_MASKED_CS";
    case abi::Opcode::kAtomicMaskedFetchAdd:
      return "ATOMIC_MASKED_FA";
    case abi::Opcode::kDump:
      return "DUMP";
  }
  return fmt::format("{:#04x}", code);
}

Time BeginOf(const ObservedStep& step) { return TraceTime(step.begin_ns); }
Time EndOf(const ObservedStep& step) { return TraceTime(step.begin_ns + step.length_ns); }

uint32_t ProcessOf(const ObservedNic& nic, Group group) {
  return (static_cast<uint32_t>(nic.pid) * kMostDevices + nic.device_number) * kGroups +
         static_cast<uint32_t>(group);
}

// What a step's slice says besides QPN and WQE.
std::string MoreOf(const ObservedStep& step) {
  switch (step.kind) {
    case StepKind::kDoorbell:
    case StepKind::kTrailed:
    case StepKind::kUnrung:
      return fmt::format(",\"wqebbs\":{},\"trailed\":{},\"rung\":{}", step.size,
                         step.kind == StepKind::kTrailed, step.kind != StepKind::kUnrung);
    case StepKind::kFetch:
      return fmt::format(",\"opcode\":\"{}\",\"bytes\":{}", OpcodeText(step.code), step.size);
    case StepKind::kTransmit:
    case StepKind::kReceive:
    case StepKind::kRespond:
      return fmt::format(
          ",\"packet\":\"{:#04x}\",\"psn\":{},\"bytes\":{},\"syndrome\":{},\"again\":{}", step.code,
          step.psn, step.size, step.syndrome, step.again);
    case StepKind::kCqe:
      return fmt::format(",\"cqe\":\"{:#x}\",\"syndrome\":{}", step.code, step.syndrome);
  }
  return {};
}

bool OfRequester(const ObservedStep& step) {
  const auto opcode = static_cast<abi::CqeOpcode>(step.code);
  return opcode == abi::CqeOpcode::kRequester || opcode == abi::CqeOpcode::kRequesterError;
}

// Whose the packets are: of the sender by the PSN of each.
class Packets {
 public:
  explicit Packets(const std::vector<ObservedNic>& nics) {
    for (const ObservedNic& nic : nics) {
      for (const ObservedStep& step : nic.steps) {
        if (step.kind != StepKind::kTransmit) continue;
        to_[{step.peer_qpn, step.psn}] = {step.qpn, step.wqe};
        from_[{step.qpn, step.psn}] = {step.qpn, step.wqe};
      }
    }
  }
  // A request that came to this QP, or an answer to one that this QP sent.
  std::optional<WqeId> To(uint32_t qpn, uint32_t psn) const {
    const auto found = to_.find({qpn, psn});
    return found == to_.end() ? AnswerTo(qpn, psn) : found->second;
  }
  // The answers to a READ have PSNs of their own behind its own.
  std::optional<WqeId> AnswerTo(uint32_t qpn, uint32_t psn) const {
    const auto behind = from_.upper_bound({qpn, psn});
    if (behind == from_.begin() || std::prev(behind)->first.first != qpn) return std::nullopt;
    return std::prev(behind)->second;
  }

 private:
  std::map<std::pair<uint32_t, uint32_t>, WqeId> to_, from_;  // by QPN and PSN
};

// As it may stand in a JSON string.
std::string Plain(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '"' || c == '\\') c = '_';
  }
  return text;
}

// Which slices there are.
class Slices {
 public:
  explicit Slices(const std::vector<ObservedNic>& nics) : packets_(nics) {
    for (const ObservedNic& nic : nics) AddNic(nic);
    AddArrows();
    SortSlices(slices_);
  }
  const std::vector<TraceSlice>& All() const { return slices_; }

 private:
  struct Put {
    WqeId id;
    std::string more;
    Time begin, fetch, fetched, sent, last_sent;
    bool left = false;  // a packet of it has
  };
  struct Queue {
    std::vector<ObservedStep> doorbells;
    std::deque<Put> open;  // by WQE
  };

  void AddNic(const ObservedNic& nic) {
    queues_.clear();
    for (const ObservedStep& step : nic.steps) {
      const std::optional<WqeId> id = AddToQueue(nic, step);
      AddStage(nic, step, id);
    }
    for (auto& [qpn, queue] : queues_) CloseAll(nic, queue);
  }

  void CloseAll(const ObservedNic& nic, Queue& queue) {
    for (const Put& put : queue.open) Close(nic, put, put.last_sent, nullptr);
    queue.open.clear();
  }

  // Returns whose step it is, if that is known.
  std::optional<WqeId> AddToQueue(const ObservedNic& nic, const ObservedStep& step) {
    Queue& queue = queues_[step.qpn];
    switch (step.kind) {
      case StepKind::kDoorbell:
      case StepKind::kTrailed:
      case StepKind::kUnrung:
        queue.doorbells.push_back(step);
        return WqeId{step.qpn, step.wqe};
      case StepKind::kFetch:
        Fetch(nic, queue, step);
        return WqeId{step.qpn, step.wqe};
      case StepKind::kTransmit:
        if (Put* put = Find(queue, step.wqe)) {
          if (!std::exchange(put->left, true)) put->sent = BeginOf(step);
          put->last_sent = EndOf(step);
        }
        return WqeId{step.qpn, step.wqe};
      case StepKind::kReceive:
        return packets_.To(step.qpn, step.psn);
      case StepKind::kRespond:
        return packets_.AnswerTo(step.peer_qpn, step.psn);
      case StepKind::kCqe:
        return OfRequester(step) ? Complete(nic, queue, step) : std::nullopt;
    }
    return std::nullopt;
  }

  void Fetch(const ObservedNic& nic, Queue& queue, const ObservedStep& step) {
    // A queue that was reset begins anew.
    if (!queue.open.empty() && queue.open.back().id.wqe >= step.wqe) CloseAll(nic, queue);
    Time begin = BeginOf(step);
    // Doorbells before the one that announced this WQE are of no more use.
    std::erase_if(queue.doorbells,
                  [&](const ObservedStep& rung) { return rung.wqe + rung.size <= step.wqe; });
    if (!queue.doorbells.empty() && queue.doorbells.front().wqe <= step.wqe) {
      begin = sim::Earlier(begin, BeginOf(queue.doorbells.front()));
    }
    const Time end = EndOf(step);
    queue.open.push_back(
        {{step.qpn, step.wqe}, MoreOf(step), begin, BeginOf(step), end, end, end, false});
  }

  static Put* Find(Queue& queue, uint64_t wqe) {
    const auto found =
        std::lower_bound(queue.open.begin(), queue.open.end(), wqe,
                         [](const Put& put, uint64_t at) { return put.id.wqe < at; });
    return found == queue.open.end() || found->id.wqe != wqe ? nullptr : &*found;
  }

  // The CQE names one WQE, and confirms those before it.
  std::optional<WqeId> Complete(const ObservedNic& nic, Queue& queue, const ObservedStep& step) {
    const auto named = std::find_if(queue.open.begin(), queue.open.end(), [&](const Put& put) {
      return static_cast<uint16_t>(put.id.wqe) == static_cast<uint16_t>(step.wqe);
    });
    if (named == queue.open.end()) return WqeId{step.qpn, step.wqe};
    const WqeId id = named->id;
    while (true) {
      const Put put = queue.open.front();
      queue.open.pop_front();
      Close(nic, put, EndOf(step), &step);
      if (put.id.wqe == id.wqe) return id;
    }
  }

  void Close(const ObservedNic& nic, const Put& put, Time end, const ObservedStep* cqe) {
    std::vector<TraceStage>& stages = stages_.emplace_back();
    const auto add = [&stages](const char* name, Time begin, Time until) {
      if (begin < until) stages.push_back({name, begin, until});
    };
    add("doorbell", put.begin, put.fetch);
    add("fetch", put.fetch, put.fetched);
    add("queued", put.fetched, put.sent);
    add("transmit", put.sent, put.last_sent);
    if (cqe != nullptr) {
      add("answer", sim::Later(put.fetched, put.last_sent), BeginOf(*cqe));
      add("CQE", sim::Later(put.last_sent, BeginOf(*cqe)), end);
    }
    TraceSlice& slice = slices_.emplace_back();
    slice.track = {ProcessOf(nic, Group::kQps), fmt::format("QP {}", put.id.qpn)};
    slice.name = fmt::format("WQE {}", put.id.wqe);
    slice.begin = put.begin;
    slice.end = sim::Later(end, put.last_sent);
    slice.qpn = put.id.qpn;
    slice.wqe = put.id.wqe;
    slice.stages = stages;
    slice.more = put.more;
  }

  void AddStage(const ObservedNic& nic, const ObservedStep& step, std::optional<WqeId> id) {
    TraceSlice& slice = slices_.emplace_back();
    slice.track = {ProcessOf(nic, Group::kNic), kStageNames[static_cast<size_t>(step.kind)]};
    slice.begin = BeginOf(step);
    slice.end = EndOf(step);
    slice.qpn = id ? id->qpn : step.qpn;
    slice.wqe = id ? id->wqe : step.wqe;
    slice.name =
        id ? fmt::format("QP {} WQE {}", id->qpn, id->wqe) : fmt::format("QP {}", step.qpn);
    slice.more = MoreOf(step) + fmt::format(",\"at_qpn\":{}", step.qpn);
    if (id) ways_[id->Number()].push_back(slices_.size() - 1);
  }

  // From the first step of each WQE to its last one.
  void AddArrows() {
    for (auto& [number, way] : ways_) {
      std::stable_sort(way.begin(), way.end(),
                       [this](size_t a, size_t b) { return slices_[a].begin < slices_[b].begin; });
      for (size_t i = 0; i < way.size() && way.size() > 1; ++i) {
        TraceSlice& slice = slices_[way[i]];
        const char phase = i == 0 ? 's' : i + 1 == way.size() ? 'f' : 't';
        slice.flows.push_back({phase, number, slice.begin});
      }
    }
  }

  const Packets packets_;
  std::map<uint32_t, Queue> queues_;  // of the NIC at hand
  std::map<uint64_t, std::vector<size_t>> ways_;
  std::deque<std::vector<TraceStage>> stages_;
  std::vector<TraceSlice> slices_;
};

}  // namespace

Time TraceTime(uint64_t ns) { return {static_cast<int64_t>(ns % kNsLeftOut) * 1000}; }

void WriteExecTrace(const std::vector<ObservedNic>& nics, std::ostream& out) {
  std::map<uint32_t, std::string> names;
  for (const ObservedNic& nic : nics) {
    const std::string name = fmt::format("{} ({}) {}", Plain(nic.program), nic.pid, nic.device);
    names[ProcessOf(nic, Group::kNic)] = name + ": NIC";
    names[ProcessOf(nic, Group::kQps)] = name + ": QPs";
  }
  const Slices slices(nics);
  TraceWriter writer(out, [&names](uint32_t process) { return names[process]; });
  for (const TraceSlice& slice : slices.All()) writer.Write(slice);
  writer.End();
}

}  // namespace ringpost::tools
