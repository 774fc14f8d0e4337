#include "transport/proxy/affinity.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>

namespace ringpost::proxy {
namespace {

std::vector<uint32_t> AllowedCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<uint32_t> cores;
  if (pthread_getaffinity_np(pthread_self(), sizeof(set), &set) != 0) return cores;
  for (uint32_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::vector<uint32_t> CoresNear(const std::string& device) {
  const std::string node = FirstLine("/sys/class/infiniband/" + device + "/device/numa_node");
  if (device.empty() || node.empty() || node[0] == '-') return {};
  return CoresIn(FirstLine("/sys/devices/system/node/node" + node + "/cpulist"));
}

}  // namespace

std::vector<uint32_t> CoresIn(const std::string& list) {
  std::vector<uint32_t> cores;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at != end) {
    uint32_t first = 0;
    auto [next, error] = std::from_chars(at, end, first);
    if (error != std::errc()) return {};
    uint32_t last = first;
    if (next != end && *next == '-') {
      const auto [after, wrong] = std::from_chars(next + 1, end, last);
      if (wrong != std::errc() || last < first) return {};
      next = after;
    }
    for (uint32_t core = first; core <= last; ++core) cores.push_back(core);
    if (next == end) break;
    if (*next != ',') return {};
    at = next + 1;
  }
  return cores;
}

Result<std::vector<std::vector<uint32_t>>> CoresOf(const Affinity& affinity, uint32_t workers) {
  std::vector<std::vector<uint32_t>> of(workers);
  if (affinity.kind == Affinity::Kind::kInherit) return of;
  const std::vector<uint32_t> allowed = AllowedCores();
  const auto is_allowed = [&](uint32_t core) {
    return std::find(allowed.begin(), allowed.end(), core) != allowed.end();
  };
  if (affinity.kind == Affinity::Kind::kNicNuma) {
    std::vector<uint32_t> near = CoresNear(affinity.device);
    std::erase_if(near, [&](uint32_t core) { return !is_allowed(core); });
    std::fill(of.begin(), of.end(), near);
    return of;
  }
  for (const uint32_t core : affinity.cores) {
    if (is_allowed(core)) continue;
    return Error{"proxy workers cannot run on core " + std::to_string(core) +
                 ": this process may not use it"};
  }
  for (uint32_t i = 0; i < workers && !affinity.cores.empty(); ++i) {
    of[i] = {affinity.cores[i % affinity.cores.size()]};
  }
  return of;
}

std::string PinThisThread(const std::vector<uint32_t>& cores) {
  if (cores.empty()) return {};
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const uint32_t core : cores) {
    if (core < CPU_SETSIZE) CPU_SET(core, &set);
  }
  const int error = pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
  return error == 0 ? std::string() : std::string("a proxy worker's cores: ") + strerror(error);
}

}  // namespace ringpost::proxy
