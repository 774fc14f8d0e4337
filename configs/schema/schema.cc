#include "configs/schema/schema.h"

#include "configs/schema/key_rows.h"
#include "configs/schema/proxy_keys.h"
#include "configs/schema/workload_keys.h"

namespace ringpost::config {
namespace {

KeyInfo Depth() {
  KeyInfo depth = Number("transport.sq_depth_wqebbs", Type::kCount, "1024", {8, 32768},
                         "length of each send queue in 64-byte blocks");
  depth.power_of_two = true;
  return depth;
}

KeyInfo SmClock() {
  KeyInfo clock = Number("gpu.sm_clock", Type::kFrequency, "platform", {100, 10000},
                         "SM clock; `platform` takes that of the platform file");
  clock.words = {"platform"};
  return clock;
}

KeyInfo Place(std::string path, double minimum, std::string meaning) {
  KeyInfo at = Number(std::move(path), Type::kCount, "any", {minimum, kMany}, std::move(meaning));
  at.words = {"any"};
  return at;
}

void AddRun(Rows& rows) {
  rows.push_back(
      {Word("backend", "sim", {"sim", "live", "mlx5"},
            "what runs the transport: the simulated NIC in virtual time; or host threads in real "
            "time and (live) a software NIC, (mlx5) the machine's ConnectX"),
       kStore<&Config::backend>});
  rows.push_back({Plain("platform", Type::kText, "p_ib",
                        "a file of configs/platforms without .yaml, or the path of a YAML file: "
                        "hardware and its costs"),
                  kStore<&Config::platform>});
  rows.push_back({Plain("library", Type::kText, "none",
                        "a file of configs/libraries without .yaml, or the path of a YAML file: a "
                        "library's choices of the keys below, which the keys of an experiment "
                        "replace, and the memory operations that it has beside the transport's; "
                        "or none"),
                  kStore<&Config::library>});
  rows.push_back({Number("seed", Type::kCount, "1", {0, kMany}, "seed of everything random"),
                  kStore<&Config::seed>});
  rows.push_back(
      {Number("ranks", Type::kCount, "2", {2, 128}, "processes, one GPU and one NIC each"),
       kStore<&Config::ranks>});
}

void AddTransport(Rows& rows) {
  constexpr auto block = &Config::transport;
  using T = TransportConfig;
  rows.push_back({Word("transport.kind", "rc", {"rc", "dc"},
                       "rc: a connection for each queue pair; dc: a DCI that names its target in "
                       "each WQE, and a DCT"),
                  kStoreIn<block, &T::kind>});
  rows.push_back(
      {Number("transport.qps_per_peer", Type::kCount, "1", {1, 65536}, "queue pairs to each peer"),
       kStoreIn<block, &T::qps_per_peer>});
  rows.push_back(
      {Number("transport.idle_qps", Type::kCount, "0", {0, 4096},
              "put_latency: queue pairs beside them that nobody uses and that a quiet of "
              "all looks at first, such as a library's pool"),
       kStoreIn<block, &T::idle_qps>});
  rows.push_back({Depth(), kStoreIn<block, &T::sq_depth_wqebbs>});
  rows.push_back({Number("transport.batch", Type::kCount, "1", {1, 32768},
                         "WQEs for each doorbell, in publications that batch"),
                  kStoreIn<block, &T::batch>});
  rows.push_back({Word("transport.placement", "gpu", {"gpu", "host"},
                       "memory that holds send queues, records and completion queues"),
                  kStoreIn<block, &T::placement>});
  rows.push_back(
      {Word("transport.publication", "per_thread",
            {"per_thread", "batched", "ordered_handoff", "locked", "cooperative", "last_writer"},
            "who makes staged WQEs visible and rings, and when"),
       kStoreIn<block, &T::publication>});
  rows.push_back({Word("transport.ordering", "gpu_fence",
                       {"none", "gpu_fence", "gpu_fence_dbrec", "gpu_release", "threadfence",
                        "system_release", "system_fence"},
                       "fences between WQE, doorbell record and doorbell"),
                  kStoreIn<block, &T::ordering>});
  rows.push_back({Word("transport.completion", "selected_qp", {"selected_qp", "peer", "all_qps"},
                       "the queue pairs that a quiet waits for"),
                  kStoreIn<block, &T::completion>});
  // 63 segments of 16 bytes less control, remote address and the inline header.
  rows.push_back({Number("transport.inline_max", Type::kBytes, "28 B", {0, 220},
                         "largest payload that travels in the WQE"),
                  kStoreIn<block, &T::inline_max_bytes>});
  rows.push_back(
      {Word(
           "transport.doorbell", "gpu", {"gpu", "cpu", "blueflame", "record_free", "auto"},
           "how the NIC learns of WQEs: gpu: record and doorbell, by the thread that posts; cpu: a "
           "host thread rings, for an index that the thread leaves in memory; blueflame: with the "
           "last WQE, from a CPU alone, backend live; record_free: no record, backend sim; auto: "
           "gpu, or cpu with a warning where the GPU cannot map the NIC's register"),
       kStoreIn<block, &T::doorbell>});
  rows.push_back(
      {Word("transport.indices", "endpoint", {"endpoint", "memory"},
            "where the one thread of a queue, or its warp, keeps the queue's indices: endpoint: in "
            "registers; memory: every operation reads and writes their words, as libraries do "
            "whose puts are functions of a queue in memory"),
       kStoreIn<block, &T::indices>});
  rows.push_back({Plain("transport.unsafe", Type::kSwitch, "false",
                        "allow orderings that are not safe for the placement"),
                  kStoreIn<block, &T::unsafe>});
}

// Defaults are those of a ConnectX, as sim/nic/rnic_config.h has them.
void AddNic(Rows& rows) {
  using L = NicLimitsConfig;
  rows.push_back(
      {Word("nic.behaviour", "mlx5", {"mlx5", "strict"},
            "mlx5: with the deviations of real devices; strict: the textbook (see below)"),
       kStoreIn<&Config::nic, &NicConfig::behaviour>});
  rows.push_back({Number("nic.limits.qps_count", Type::kCount, "65280", {1, 65280},
                         "queue pairs that one NIC has; DC needs two for each of a workload"),
                  kStoreLimit<&L::qps_count>});
  rows.push_back({Number("nic.limits.cqs_count", Type::kCount, "65536", {1, 65536},
                         "completion queues that one NIC has; each queue pair uses one (DC: two)"),
                  kStoreLimit<&L::cqs_count>});
  rows.push_back({Number("nic.limits.sq_depth_wqebbs", Type::kCount, "32768", {8, 32768},
                         "longest send queue in 64-byte blocks"),
                  kStoreLimit<&L::sq_depth_wqebbs>});
  rows.push_back({Number("nic.limits.inline_max", Type::kBytes, "956 B", {0, 956},
                         "most payload that travels in a WQE"),
                  kStoreLimit<&L::inline_max_bytes>});
  rows.push_back({Number("nic.limits.message_max", Type::kBytes, "1 GiB", {1, kGibibyte},
                         "longest message; a longer put or get goes in pieces"),
                  kStoreLimit<&L::message_max_bytes>});
  rows.push_back({Number("nic.limits.rd_atomic_count", Type::kCount, "16", {1, 16},
                         "READs and atomics of one queue pair under way"),
                  kStoreLimit<&L::rd_atomic_count>});
  rows.push_back({Number("nic.run_length", Type::kCount, "64", {1, 65536},
                         "WQEs that travel as one run; changes speed, never results"),
                  kStoreIn<&Config::nic, &NicConfig::run_length>});
}

void AddMachine(Rows& rows) {
  rows.push_back({SmClock(), kStoreIn<&Config::gpu, &GpuConfig::sm_clock_mhz>});
  AddNic(rows);
  constexpr auto visibility = &Config::visibility;
  rows.push_back({Word("visibility.mode", "timed", {"strict", "timed", "adversarial"},
                       "which legal value a load may return: the newest, the newest that has "
                       "arrived, or any by seed"),
                  kStoreIn<visibility, &VisibilityConfig::mode>});
  rows.push_back({Word("visibility.checker", "on", {"on", "off"},
                       "report what the NIC or a reader consumes without an order"),
                  kStoreIn<visibility, &VisibilityConfig::checker>});
  rows.push_back({Word("visibility.reads", "l2", {"l2", "ptx"},
                       "scope that reaches the NIC in GPU memory: gpu (l2) or system (ptx)"),
                  kStoreIn<visibility, &VisibilityConfig::reads>});
  rows.push_back({Plain("faults.rules", Type::kRules, "[]", "list of faults to inject"),
                  kStoreIn<&Config::faults, &FaultsConfig::rules>});
  constexpr auto engine = &Config::engine;
  rows.push_back({Number("engine.stack_size", Type::kBytes, "16 KiB", {4 * kKibibyte, kGibibyte},
                         "stack of each simulated thread"),
                  kStoreIn<engine, &EngineConfig::stack_size_bytes>});
  rows.push_back(
      {Number("engine.stack_memory", Type::kBytes, "4 GiB", {64 * kKibibyte, 1024 * kGibibyte},
              "all stacks together; a run that needs more is refused"),
       kStoreIn<engine, &EngineConfig::stack_memory_bytes>});
}

void AddLive(Rows& rows) {
  constexpr auto block = &Config::live;
  using L = LiveConfig;
  KeyInfo core = Number("live.nic_core", Type::kCount, "auto", {0, 1023},
                        "core of the NIC's thread, the next one for the next rank of a process; "
                        "`auto` leaves it to the system");
  core.words = {"auto"};
  rows.push_back({Word("live.threads", "host", {"host", "gpu"},
                       "what runs the workload: host threads, for which GPU memory is host memory; "
                       "or kernels, rank r's on GPU r, or all on the one that is there"),
                  kStoreIn<block, &L::threads>});
  rows.push_back({core, kStoreIn<block, &L::nic_core>});
  rows.push_back({Word("live.poll", "spin", {"spin", "yield", "sleep"},
                       "what an idle NIC thread does; spin yields where threads outnumber cores"),
                  kStoreIn<block, &L::poll>});
  rows.push_back({Word("live.pace", "off", {"off", "platform"},
                       "platform: completions wait until the platform's modelled time has passed"),
                  kStoreIn<block, &L::pace>});
  rows.push_back({Word("live.wire", "shared_memory", {"shared_memory", "udp"},
                       "what carries packets between NICs: memory of one machine, or RoCEv2 frames "
                       "in UDP datagrams"),
                  kStoreIn<block, &L::wire>});
  rows.push_back({Plain("live.address", Type::kText, "127.0.0.1",
                        "IP address of this machine that the other ranks' datagrams go to"),
                  kStoreIn<block, &L::address>});
}

void AddExec(Rows& rows) {
  constexpr auto block = &Config::exec;
  using E = ExecConfig;
  rows.push_back({Number("exec.devices", Type::kCount, "1", {1, 32},
                         "virtual devices that programs of `ringpost exec` see"),
                  kStoreIn<block, &E::devices>});
  rows.push_back({Plain("exec.name", Type::kText, "mlx5_", "their names, before a number from 0"),
                  kStoreIn<block, &E::name>});
  rows.push_back({Number("exec.first_lid", Type::kCount, "1", {1, 49000},
                         "LID of the first, one more for each; on Ethernet a part of the GID"),
                  kStoreIn<block, &E::first_lid>});
  rows.push_back({Word("exec.link", "infiniband", {"infiniband", "ethernet"},
                       "their link layer; ethernet: RoCEv2"),
                  kStoreIn<block, &E::link>});
  rows.push_back({Plain("exec.fabric", Type::kText, "user",
                        "name of the fabric that they are on: programs of one name reach each "
                        "other; `user`: one for each user, in a container one of its own"),
                  kStoreIn<block, &E::fabric>});
  rows.push_back({Word("exec.poll", "auto", {"auto", "spin", "yield", "sleep"},
                       "what an idle NIC thread does; auto: yield with four cores or more, else "
                       "sleep"),
                  kStoreIn<block, &E::poll>});
  rows.push_back({Number("exec.sleep", Type::kTime, "20 us", {1'000, 1'000'000},
                         "between two looks at the doorbells, with poll sleep"),
                  kStoreIn<block, &E::sleep>});
  rows.push_back({Plain("exec.gpu_doorbells", Type::kSwitch, "false",
                        "let kernels ring: a second library makes CUDA take a register of a "
                        "virtual device, which is memory, where a program calls it I/O memory"),
                  kStoreIn<block, &E::gpu_doorbells>});
  rows.push_back({Plain("exec.record", Type::kText, "off",
                        "a file: the program gets no virtual devices but those that are there, and "
                        "what it asks of them and is answered is appended to the file"),
                  kStoreIn<block, &E::record>});
  KeyInfo steps = Number("exec.trace_steps_count", Type::kCount, "262144", {1024, 1 << 24},
                         "steps that `--trace` keeps of each NIC, the last ones; each takes 40 "
                         "bytes of the disk while the program runs");
  steps.power_of_two = true;
  rows.push_back({steps, kStoreIn<block, &E::trace_steps>});
}

void AddMlx5(Rows& rows) {
  constexpr auto block = &Config::mlx5;
  using M = Mlx5Config;
  rows.push_back({Plain("mlx5.devices", Type::kNames, "[]",
                        "NICs for the ranks in turn, as NAME or NAME:PORT; behind ^, those that "
                        "are not used; none: all ranks use the first active port"),
                  kStoreIn<block, &M::devices>});
  KeyInfo gid = Number("mlx5.gid_index", Type::kCount, "auto", {0, 255},
                       "entry of the port's GID table; `auto` takes a RoCE v2 one, of an IPv4 "
                       "address before IPv6, link-local last");
  gid.words = {"auto"};
  rows.push_back({gid, kStoreIn<block, &M::gid_index>});
  rows.push_back({Number("mlx5.pkey_index", Type::kCount, "0", {0, 65535},
                         "entry of the port's table of partition keys"),
                  kStoreIn<block, &M::pkey_index>});
  rows.push_back({Word("mlx5.route", "devx", {"devx", "verbs"},
                       "who makes queues: commands of the device, wherever they lie; or verbs, in "
                       "host memory, with a thread that passes completions on"),
                  kStoreIn<block, &M::route>});
}

Rows MakeKeys() {
  Rows rows;
  AddRun(rows);
  AddTransport(rows);
  for (Key<Config>& row : ProxyKeys()) rows.push_back(std::move(row));
  AddWorkload(rows);
  AddMachine(rows);
  AddLive(rows);
  AddExec(rows);
  AddMlx5(rows);
  return rows;
}

std::vector<Key<FaultRule>> MakeRuleKeys() {
  using F = FaultRule;
  return {
      {Word("where", "responder", {"responder", "requester", "wire", "doorbell", "cqe", "fetch"},
            "what it happens to"),
       kStore<&F::where>},
      {Word("kind", "delay",
            {"delay", "error", "drop", "duplicate", "reorder", "corrupt", "pause", "link_down"},
            "what happens"),
       kStore<&F::kind>},
      {Place("at.rank", 0, "rank that posts; on the wire the rank that sends"), kStore<&F::rank>},
      {Place("at.qp", 0, "its queue pair, counted from 0"), kStore<&F::qp>},
      {Place("at.wqe", 0, "the WQE, counted from 0 in blocks of 64 bytes; an answer has none"),
       kStore<&F::wqe>},
      {Number("amount", Type::kTime, "0 ns", {0, 1e12}, "how long, or how much later"),
       kStore<&F::amount>},
      {Number("probability", Type::kPercent, "100 %", {0, 100}, "of each that matches, by seed"),
       kStore<&F::probability_percent>},
      {Place("count", 1, "how often at most; a link goes down once if this is not set"),
       kStore<&F::count>},
      {Word("syndrome", "local_qp_operation",
            {"local_length", "local_qp_operation", "local_protection", "remote_invalid_request",
             "remote_access", "remote_operation", "retry_exceeded", "rnr_retry_exceeded"},
            "what the CQE of an error says"),
       kStore<&F::syndrome>},
  };
}

}  // namespace

const std::vector<Key<Config>>& Keys() {
  static const Rows rows = MakeKeys();
  return rows;
}

const std::vector<Key<FaultRule>>& RuleKeys() {
  static const std::vector<Key<FaultRule>> rows = MakeRuleKeys();
  return rows;
}

}  // namespace ringpost::config
