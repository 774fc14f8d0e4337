// checker.h: the reports of the ordering checker.
//
// One report for each pair of program points and each kind of consumer; further ones of the same
// pair are counted. A report says who stored what where, who used it, and the narrowest fence that
// would have ordered the two.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "transport/host_device.h"
#include "transport/order.h"

namespace ringpost::sim {

enum class Consumer : uint8_t { kThread, kNicWqe, kNicPayload, kNicRecord };

// What a device was doing when it read: for the report.
struct ReadContext {
  Consumer consumer = Consumer::kThread;
  uint32_t qpn = 0;
  uint64_t slot = 0;
  Site told_by;  // the doorbell
};

struct Violation {
  ReadContext context;
  uint64_t address = 0;
  uint32_t writer = 0;
  uint32_t reader = 0;
  Site store;
  Site read;
  bool writer_released = false;  // then what is missing is the acquire
  Scope needed = Scope::kGpu;
};

class Checker {
 public:
  void Enable(bool on) { on_ = on; }
  bool On() const { return on_; }
  void Report(const Violation& violation);

  uint64_t Count() const { return count_; }
  // One line each, in the order of first occurrence.
  std::vector<std::string> Lines() const;
  const std::vector<Violation>& First() const { return first_; }

 private:
  using PointPair = std::tuple<std::string, uint32_t, std::string, uint32_t, Consumer>;
  bool on_ = true;
  uint64_t count_ = 0;
  std::map<PointPair, size_t> known_;
  std::vector<Violation> first_;
  std::vector<uint64_t> counts_;
};

}  // namespace ringpost::sim
