// observer.h: writes down what a live NIC does (observation.h). One thread's: the NIC's.
//
// The file is made with the NIC's first QP: programs open devices only to look at them. Where it
// cannot be made nothing is written down, and `on_failure` is told why.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "sim/nic/send_window.h"
#include "sim/service/mapped_file.h"
#include "sim/service/observation.h"
#include "sim/wire/packet.h"

namespace ringpost::sim::service {

struct ObserverSpec {
  std::string path;     // of the file
  uint32_t steps = 0;   // the last ones that are kept, a power of two; 0: counters alone
  uint32_t qps = 4096;  // that have counters of their own
  std::string device = {};
  uint16_t device_number = 0;
  OnFileFailure on_failure = {};
};

class Observer {
 public:
  explicit Observer(ObserverSpec spec) : spec_(std::move(spec)) {}

  // Of the steady clock.
  static uint64_t Now() {
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
  }

  void MakeQp(uint32_t qpn);
  // Its number may come again, for another.
  void EndQp(uint32_t qpn) { qps_.erase(qpn); }
  void Connect(uint32_t qpn, uint32_t peer_qpn);

  // Each step ends now. `kind`: kDoorbell, kTrailed or kUnrung.
  void Announced(StepKind kind, uint32_t qpn, uint64_t from, uint64_t until, uint64_t begin);
  void Fetched(uint32_t qpn, uint64_t index, const SendWqe& wqe, uint64_t begin);
  void Sent(uint32_t qpn, uint64_t wqe, bool again, const wire::Packet& packet, uint64_t begin);
  void Answered(uint32_t qpn, const wire::Packet& packet, uint64_t begin);
  void Received(const wire::Packet& packet, uint64_t begin);
  void Completed(const void* cqe);
  void TimedOut(uint32_t qpn);

  // The NIC's own counters, under their names: Begin, then all, then End.
  void BeginCounts() { counts_ = 0; }
  void Count(const char* name, uint64_t value);
  void EndCounts();

 private:
  bool Open();
  QpCounters& Of(uint32_t qpn);
  ObservedStep& Next(StepKind kind, uint32_t qpn, uint64_t begin);
  void Done(ObservedStep& step);

  const ObserverSpec spec_;
  std::unique_ptr<MappedFile> file_;
  Observation* head_ = nullptr;
  ObservedQp* listed_ = nullptr;
  ObservedStep* steps_ = nullptr;
  std::unordered_map<uint32_t, ObservedQp*> qps_;
  ObservedQp unlisted_;     // of those that have no place
  ObservedStep unwritten_;  // where no steps are kept
  uint64_t step_ = 0;
  uint32_t counts_ = 0;
  bool failed_ = false;
};

}  // namespace ringpost::sim::service
