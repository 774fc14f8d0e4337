#include "sim/service/read_observation.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>

namespace ringpost::sim::service {
namespace {

template <size_t N>
std::string TextOf(const char (&text)[N]) {
  return std::string(text, strnlen(text, N));
}

// The ring, oldest first. One slot of a ring that is full may be half written.
void ReadSteps(const Observation& head, const uint8_t* ring, ObservedNic& nic) {
  const uint64_t written = head.steps.load(std::memory_order_relaxed);
  const uint64_t capacity = head.steps_capacity;
  if (capacity == 0) return;
  const uint64_t kept = written < capacity ? written : capacity - 1;
  nic.steps_lost = written - kept;
  nic.steps.resize(kept);
  for (uint64_t i = 0; i < kept; ++i) {
    const uint64_t place = (nic.steps_lost + i) & (capacity - 1);
    std::memcpy(&nic.steps[i], ring + place * sizeof(ObservedStep), sizeof(ObservedStep));
  }
}

}  // namespace

Result<ObservedNic> ReadObservation(const std::string& path) {
  const Error refusal{path + ": is no record of a NIC's counters and steps"};
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file),
                                std::istreambuf_iterator<char>()};
  if (bytes.size() < sizeof(Observation)) return refusal;
  // Of the bytes' own alignment, which is that of operator new.
  const auto& head = *reinterpret_cast<const Observation*>(bytes.data());
  const bool sound = head.magic == Observation::kMagic && head.qps <= head.qp_capacity &&
                     head.counts <= Observation::kMostCounts &&
                     (head.steps_capacity == 0 || std::has_single_bit(head.steps_capacity)) &&
                     bytes.size() >= ObservationBytes(head.qp_capacity, head.steps_capacity);
  if (!sound) return refusal;
  ObservedNic nic;
  nic.pid = head.pid;
  nic.program = TextOf(head.program);
  nic.device = TextOf(head.device);
  nic.device_number = head.device_number;
  nic.qps_not_listed = head.qps_not_listed;
  for (uint32_t i = 0; i < head.counts; ++i) {
    nic.counters.emplace_back(TextOf(head.count[i].name), head.count[i].value);
  }
  const auto* qps = reinterpret_cast<const ObservedQp*>(&head + 1);
  nic.qps.assign(qps, qps + head.qps);
  ReadSteps(head, reinterpret_cast<const uint8_t*>(qps + head.qp_capacity), nic);
  return nic;
}

}  // namespace ringpost::sim::service
