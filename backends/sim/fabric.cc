#include "backends/sim/fabric.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/sim/sim_nic.h"
#include "configs/schema/platform_loader.h"
#include "configs/schema/quantity.h"
#include "sim/cache/context_cache.h"
#include "sim/cache/recorder.h"
#include "sim/engine/check.h"
#include "sim/node/on_chip.h"

namespace ringpost {
namespace {

sim::MemoryOptions MemoryOptionsOf(const FabricOptions& options) {
  sim::MemoryOptions memory;
  memory.mode = options.visibility;
  memory.nic_reads_l2 = options.nic_reads_l2;
  memory.seed = options.seed;
  return memory;
}

std::string SizeText(uint64_t bytes) {
  return config::FormatQuantity(static_cast<double>(bytes), config::QuantityKind::kBytes);
}

// The word for it in the name of its stream of random numbers.
const char* RoleOf(sim::CacheName name) {
  if (name == sim::CacheName::kContext) return "all";
  if (name == sim::CacheName::kRequesterContext) return "requester";
  return name == sim::CacheName::kResponderContext ? "responder" : NameOf(name);
}

}  // namespace

std::shared_ptr<sim::HeldContexts> Fabric::HeldOf(const sim::CacheSpec& spec, sim::CacheName name,
                                                  uint32_t node) {
  std::unique_ptr<sim::ContextCache> cache = sim::MakeCache(
      spec, options_.seed, fmt::format("{} contexts of node {}", RoleOf(name), node), node);
  RINGPOST_CHECK(cache != nullptr, "a platform was given an impossible cache");
  if (options_.lookups) {
    cache = std::make_unique<sim::Recorder>(std::move(cache), node, name, lookups_);
  }
  const sim::NicCosts& nic = costs_.nic;
  const sim::ContextCosts no_cost;  // of WQEs: the read itself, from where they are
  const sim::ContextCosts* const costs[] = {&nic.requester_context,
                                            &nic.responder_context,
                                            &nic.requester_context,
                                            &nic.mpt,
                                            &nic.mtt,
                                            &no_cost};
  held_.push_back(std::make_shared<sim::HeldContexts>(std::move(cache), spec,
                                                      *costs[static_cast<size_t>(name)]));
  return held_.back();
}

// A NIC with the caches of the platform, which may be parts of one another.
void Fabric::AddNode(const sim::Platform& platform, uint32_t node) {
  using enum sim::CacheName;
  const bool shared = platform.has_shared_engine;
  auto requester = shared ? HeldOf(platform.context, kContext, node)
                          : HeldOf(platform.requester_context, kRequesterContext, node);
  auto responder = shared ? requester : HeldOf(platform.responder_context, kResponderContext, node);
  std::shared_ptr<sim::HeldContexts> mpt;
  const auto table = [&](const sim::CacheSpec& spec, sim::CacheName name, uint32_t keys) {
    if (spec.shares == "mpt") return sim::Translations::Cache{mpt, keys};
    if (spec.shares == "responder_context") return sim::Translations::Cache{responder, keys};
    if (!spec.shares.empty()) return sim::Translations::Cache{requester, keys};
    if (spec.model == "infinite") return sim::Translations::Cache{};
    const bool is_shared = name == kMpt && platform.mtt.shares == "mpt";
    return sim::Translations::Cache{HeldOf(spec, name, node), is_shared ? keys : 0};
  };
  sim::Translations::Cache of_keys = table(platform.mpt, kMpt, sim::kMptKeys);
  mpt = of_keys.held;
  sim::Translations::Cache of_pages = table(platform.mtt, kMtt, sim::kMttKeys);
  sim::OnChip on_chip{std::move(requester), std::move(responder)};
  if (of_keys.held != nullptr || of_pages.held != nullptr) {
    on_chip.translations = std::make_unique<sim::Translations>(
        std::move(of_keys), std::move(of_pages), platform.mtt.page_bytes);
  }
  if (platform.wqe.model != "infinite") on_chip.wqes = HeldOf(platform.wqe, kWqe, node);
  nodes_.push_back(std::make_unique<sim::NicNode>(*context_, node, std::move(on_chip)));
}

Fabric::Fabric(const std::string& platform, const FabricOptions& options)
    : Fabric(config::LoadPlatform(platform), options) {}

Fabric::Fabric(const sim::Platform& platform, const FabricOptions& options)
    : options_(options),
      costs_(sim::MakeCostTable(platform, options.sm_clock_mhz)),
      host_costs_(sim::MakeHostCostTable(platform, costs_)),
      server_costs_(sim::MakeWorkerCostTable(platform, host_costs_, options.host_clock)),
      faults_(options.seed) {
  memory_ = std::make_unique<sim::Memory>(engine_, MemoryOptionsOf(options));
  memory_->Reports().Enable(options.checker);
  for (const sim::FaultRule& rule : options.faults) faults_.Add(rule);
  if (options.trace) trace_.Enable();
  context_ = std::make_unique<sim::FabricContext>(sim::FabricContext{engine_,
                                                                     *memory_,
                                                                     costs_,
                                                                     faults_,
                                                                     trace_,
                                                                     options.run_length,
                                                                     options.nic,
                                                                     {},
                                                                     options.tap});
  for (uint32_t node = 0; node < options.nodes; ++node) {
    AddNode(platform, node);
    gpus_.push_back(
        std::make_unique<sim::Gpu>(engine_, *memory_, costs_, static_cast<uint16_t>(node)));
    for (auto* pool : {&cores_, &hosts_}) {
      pool->push_back(std::make_unique<sim::Gpu>(engine_, *memory_, host_costs_,
                                                 static_cast<uint16_t>(node),
                                                 sim::AgentKind::kHostThread));
    }
    nics_.push_back(std::make_unique<SimNic>(*nodes_.back(), *memory_, faults_));
  }
}

Fabric::~Fabric() = default;

Nic& Fabric::nic(uint32_t node) { return *nics_[node]; }

QpPair Fabric::ConnectPair(uint32_t first, uint32_t second, const QpSpec& spec) {
  const Result<QpAddress> a = nic(first).CreateQp(spec);
  const Result<QpAddress> b = nic(second).CreateQp(spec);
  RINGPOST_CHECK(a.Ok() && b.Ok(), "ConnectPair was given an impossible QP");
  const bool connected = nic(first).Connect(a.Value(), b.Value()).Ok() &&
                         nic(second).Connect(b.Value(), a.Value()).Ok();
  RINGPOST_CHECK(connected, "ConnectPair could not connect its QPs");
  return {nic(first).View(a.Value()).Value(), nic(second).View(b.Value()).Value()};
}

std::vector<QpPair> Fabric::ConnectPairs(uint32_t first, uint32_t second, uint32_t count,
                                         const QpSpec& spec) {
  std::vector<QpPair> pairs;
  while (pairs.size() < count) pairs.push_back(ConnectPair(first, second, spec));
  return pairs;
}

void Fabric::InjectError(const QpView& qp, uint32_t node, uint64_t wqe, abi::Syndrome syndrome) {
  sim::Rnic& nic = nodes_[node]->Function();
  nic.InjectFailure(*nic.FindQp(qp.qpn), {wqe, syndrome});
}

void Fabric::Launch(uint32_t node, const sim::LaunchShape& shape, Kernel kernel) {
  LaunchOn(*gpus_[node], shape, std::move(kernel));
}

void Fabric::LaunchOnHost(uint32_t node, uint32_t threads, Kernel kernel) {
  LaunchOn(*cores_[node], {.threads = threads, .threads_per_block = 1, .sms = 1},
           std::move(kernel));
}

void Fabric::LaunchOn(sim::Gpu& processor, const sim::LaunchShape& shape, Kernel kernel) {
  const uint64_t resident =
      std::min<uint64_t>(shape.threads, uint64_t{shape.sms} * sim::kThreadsPerSm);
  const uint64_t needed = sim::StackSlab::BytesFor(resident, options_.stack_bytes);
  if (needed > options_.stack_memory_bytes) {
    launch_error_ = fmt::format(
        "{} resident threads need {} of stacks; raise engine.stack_memory (now {}) or lower "
        "engine.stack_size",
        resident, SizeText(needed), SizeText(options_.stack_memory_bytes));
    return;
  }
  sim::NicNode& nic = *nodes_[processor.Node()];
  // What earlier kernels have stored has drained: their end says so.
  sim::Time start = engine_.Now();
  if (ended_.ps > 0) start = sim::Later(start, ended_ + costs_.gpu.fence_acq_rel_gpu);
  processor.Launch(shape, start, options_.stack_bytes,
                   [this, kernel = std::move(kernel), &nic](sim::GpuThread& thread) {
                     const sim::OperationLists& lists = options_.operations;
                     SimPort port(thread, nic, trace_.On() ? &trace_ : nullptr,
                                  lists.Empty() ? nullptr : &lists);
                     kernel(port);
                     ended_ = sim::Later(ended_, thread.Local());
                   });
}

// Threads of the host ring for the QPs of doorbell mode cpu until they are cancelled. Each serves
// no more than it can park on.
void Fabric::StartHosts() {
  constexpr size_t kServed = 4;
  rung_.resize(Nodes());
  for (uint32_t node = 0; node < Nodes(); ++node) {
    const std::vector<QpView>& views = nics_[node]->RungByHost();
    if (views.empty()) continue;
    sim::NicNode& nic = *nodes_[node];
    std::vector<uint64_t>& rung = rung_[node];
    rung.resize(views.size());
    sim::LaunchShape shape;
    shape.threads = static_cast<uint32_t>((views.size() + kServed - 1) / kServed);
    hosts_[node]->Launch(shape, engine_.Now(), options_.stack_bytes,
                         [&views, &nic, &rung](sim::GpuThread& thread) {
                           SimPort port(thread, nic);
                           const size_t first = thread.Index() * kServed;
                           const size_t end = std::min(first + kServed, views.size());
                           do {
                             for (size_t i = first; i < end; ++i) RingFor(port, views[i], &rung[i]);
                           } while (port.Relax(~0ull));
                         });
  }
}

void Fabric::ServeOnHost(uint32_t node, uint32_t cores, HostKernel body) {
  auto made = std::make_unique<sim::Gpu>(engine_, *memory_, server_costs_,
                                         static_cast<uint16_t>(node), sim::AgentKind::kHostThread);
  servers_.push_back({std::move(made), cores, std::move(body)});
}

// A server looks at many words in one turn.
void Fabric::StartServers() {
  constexpr uint32_t kMostWords = 256;
  for (Server& server : servers_) {
    sim::NicNode& nic = *nodes_[server.cores->Node()];
    server.cores->Launch({.threads = server.count}, engine_.Now(), options_.stack_bytes,
                         [&body = server.body, &nic](sim::GpuThread& thread) {
                           thread.WatchUpTo(kMostWords);
                           SimHostPort port(thread, nic);
                           body(port);
                         });
  }
}

FabricRun Fabric::Run() {
  FabricRun run = RunKernels();
  for (const Server& server : servers_) server.cores->Cancel();
  for (const auto& host : hosts_) host->Cancel();
  engine_.Run();
  for (const auto& held : held_) {
    const std::string fault = held->Fault();
    if (run.ok && !fault.empty()) run = {false, fault, run.end};
  }
  return run;
}

FabricRun Fabric::RunKernels() {
  if (!launch_error_.empty()) return {false, launch_error_, engine_.Now()};
  StartHosts();
  StartServers();
  engine_.Run();
  const auto finished = [this] {
    bool all = true;
    ForEachProcessor([&](const sim::Gpu& processor) { all = all && processor.Finished(); });
    return all;
  };
  if (finished()) return {true, "", engine_.Now()};
  // Nothing is left that could wake them: take the waiting threads out of their loops.
  const sim::Time stuck = engine_.Now();
  ForEachProcessor([](sim::Gpu& processor) { processor.Cancel(); });
  engine_.Run();
  RINGPOST_CHECK(finished(), "a cancelled kernel did not return");
  return {false,
          fmt::format("threads waited for ever from {} ns on: nothing was left to happen that "
                      "could end their loops",
                      stuck.ps / 1000),
          stuck};
}

void Fabric::Poke(uint64_t address, const void* bytes, uint64_t size) {
  RINGPOST_CHECK(memory_->Poke(address, bytes, size), "Poke outside allocated memory");
}

void Fabric::Peek(uint64_t address, void* bytes, uint64_t size) {
  RINGPOST_CHECK(memory_->Peek(address, bytes, size), "Peek outside allocated memory");
}

uint64_t Fabric::ParkedPolls() const {
  uint64_t sum = 0;
  ForEachProcessor([&](const sim::Gpu& processor) { sum += processor.ParkedPolls(); });
  return sum;
}

}  // namespace ringpost
