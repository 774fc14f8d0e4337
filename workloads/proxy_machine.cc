#include "workloads/proxy_machine.h"

#include "transport/proxy/worker.h"

namespace ringpost::workloads {
namespace {

proxy::Affinity AffinityOf(const config::Config& config, uint32_t rank) {
  using Kind = proxy::Affinity::Kind;
  const std::string& text = config.proxy.affinity;
  if (text == "inherit") return {Kind::kInherit, {}, {}};
  if (text != "nic_numa") return {Kind::kCores, proxy::CoresIn(text), {}};
  const std::vector<std::string>& devices = config.mlx5.devices;
  const bool named = config.backend == config::Backend::kMlx5 && !devices.empty();
  std::string device = named ? devices[rank % devices.size()] : std::string();
  return {Kind::kNicNuma, {}, device.substr(0, device.find(':'))};
}

}  // namespace

ProxyMachine::ProxyMachine(Machine& machine, const config::Config& config, Outcome& outcome)
    : machine_(machine), proxies_(machine.Ranks()) {
  proxy::ProxySpec spec;
  spec.workers = static_cast<uint32_t>(config.proxy.workers);
  spec.batch = static_cast<uint32_t>(config.proxy.batch);
  spec.counters = config.proxy.counter;
  spec.doorbell = config.proxy.blueflame ? DoorbellMode::kBlueFlame : DoorbellMode::kGpu;
  for (uint32_t rank = 0; rank < machine.Ranks(); ++rank) {
    if (!machine.Owns(rank)) continue;
    proxies_[rank] = std::make_unique<proxy::ProxyNic>(machine.nic(rank), spec);
    std::vector<std::vector<uint32_t>> cores(spec.workers);
    if (config.backend != config::Backend::kSim) {
      const auto found = proxy::CoresOf(AffinityOf(config, rank), spec.workers);
      if (!found.Ok()) {
        outcome.Fail("proxy.affinity: " + found.Message());
      } else {
        cores = found.Value();
      }
    }
    ServeRank(rank, std::move(cores));
  }
}

void ProxyMachine::ServeRank(uint32_t rank, std::vector<std::vector<uint32_t>> cores) {
  proxy::ProxyNic& nic = *proxies_[rank];
  machine_.Serve(
      rank, nic.Workers(),
      {[&nic](SimHostPort& port, uint32_t worker) { proxy::Serve(port, nic.ShareOf(worker)); },
       [&nic, cores = std::move(cores)](HostPort& port, uint32_t worker) {
         proxy::PinThisThread(cores[worker]);
         proxy::Serve(port, nic.ShareOf(worker));
       }});
}

}  // namespace ringpost::workloads
