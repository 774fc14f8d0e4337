// read_observation.h: reads what a NIC of a process that has ended has written down of itself.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/service/observation.h"
#include "transport/result.h"

namespace ringpost::sim::service {

struct ObservedNic {
  int64_t pid = 0;
  std::string program;
  std::string device;
  uint16_t device_number = 0;
  std::vector<std::pair<std::string, uint64_t>> counters;
  std::vector<ObservedQp> qps;
  uint64_t qps_not_listed = 0;
  std::vector<ObservedStep> steps;  // in order
  uint64_t steps_lost = 0;          // before these
};

// Any bytes may come; what is no such file is refused.
Result<ObservedNic> ReadObservation(const std::string& path);

}  // namespace ringpost::sim::service
