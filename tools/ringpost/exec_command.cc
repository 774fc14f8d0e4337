#include "tools/ringpost/exec_command.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "configs/schema/config.h"
#include "configs/schema/config_error.h"
#include "configs/schema/fault_rules.h"
#include "configs/schema/loader.h"
#include "configs/schema/platform_loader.h"
#include "configs/schema/rnic.h"
#include "sim/cost/cost_table.h"
#include "sim/cost/platform.h"
#include "sim/service/pace.h"
#include "sim/uverbs/settings.h"
#include "sim/uverbs/sysfs.h"
#include "tools/ringpost/error_line.h"
#include "tools/ringpost/exit_status.h"
#include "tools/ringpost/library_file.h"
#include "tools/ringpost/sources.h"

namespace ringpost::tools {
namespace {

namespace fs = std::filesystem;
namespace uverbs = sim::uverbs;

constexpr char kVirtual[] = "libringpost_uverbs.so";
constexpr char kIoMemory[] = "libringpost_io_memory.so";
constexpr char kRecorder[] = "libringpost_record.so";
constexpr char kNoRecord[] = "off";
constexpr int kNotExecutable = 126, kNotFound = 127, kSignalled = 128;

// Where the configuration says that rings and payload are: the library cannot see what a program
// means to be a GPU's.
sim::service::PaceSpec PaceOf(const config::Config& config) {
  const sim::Platform platform = config::LoadPlatform(config.platform);
  const bool on_gpu = config.transport.placement == Placement::kGpu;
  sim::service::PaceSpec pace;
  pace.costs = sim::MakeCostTable(platform, config.gpu.sm_clock_mhz);
  pace.queues_on_gpu = on_gpu;
  pace.payload_on_gpu = config.workload.placement == Placement::kGpu;
  pace.doorbell_delivered = on_gpu && config.transport.doorbell == DoorbellMode::kGpu;
  return pace;
}

void RefuseFaults(const config::Loaded& loaded) {
  for (const config::FaultRule& rule : loaded.config.faults.rules) {
    if (rule.where == config::FaultPlace::kWire || rule.kind == config::FaultKind::kError) continue;
    throw config::ConfigError(
        loaded.PositionOf("faults.rules"), "faults.rules",
        {"virtual devices have no faults of doorbells, CQEs and fetches, and no delay but on the "
         "wire",
         "use where: wire, or kind: error"});
  }
}

uverbs::Settings SettingsOf(const config::Config& config) {
  const config::ExecConfig& exec = config.exec;
  uverbs::Settings settings;
  if (exec.fabric != "user") settings.fabric = exec.fabric;
  // Words of both stand in the same order.
  settings.idle = static_cast<uverbs::Idle>(exec.poll);
  settings.sleep = std::chrono::microseconds(exec.sleep.ps / 1'000'000);
  settings.limits = config::RnicConfigOf(config.nic).limits;
  if (config.live.pace == config::LivePace::kPlatform) settings.pace = PaceOf(config);
  settings.faults = config::FaultRulesOf(config.faults);
  settings.seed = config.seed;
  for (uint64_t i = 0; i < exec.devices; ++i) {
    uverbs::DeviceSettings device;
    device.name = fmt::format("{}{}", exec.name, i);
    device.lid = static_cast<uint16_t>(exec.first_lid + i);
    device.link = exec.link == config::ExecLink::kEthernet ? sim::wire::Link::kEthernet
                                                           : sim::wire::Link::kInfiniband;
    settings.devices.push_back(device);
  }
  return settings;
}

// A folder of the virtual devices' files, for as long as the program runs.
class Tree {
 public:
  explicit Tree(const uverbs::Settings& settings) {
    std::string name = (fs::temp_directory_path() / "ringpost-exec-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error(fmt::format("{}: {}", name, std::strerror(errno)));
    }
    root_ = name;
    const Result<bool> written = uverbs::WriteTree(root_, settings);
    if (!written.Ok()) throw std::runtime_error(written.Message());
    fs::create_directory(uverbs::ObservedFolder(root_));
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree() {
    std::error_code error;
    fs::remove_all(root_, error);
  }
  const std::string& Root() const { return root_; }

 private:
  std::string root_;
};

volatile pid_t g_child = 0;

// A terminal's signals reach the program without us.
void PassOn(int signal, siginfo_t* info, void*) {
  if (g_child > 0 && info->si_code != SI_KERNEL) kill(g_child, signal);
}

void PassSignalsOn() {
  struct sigaction action = {};
  action.sa_sigaction = PassOn;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
    sigaction(signal, &action, nullptr);
  }
}

// In front of others: of two that stand in one function's place, the first is called.
void Preload(const char* library) {
  const char* others = std::getenv("LD_PRELOAD");
  std::string preload = FindLibrary("sim/uverbs", library);
  if (preload.empty()) {
    throw std::runtime_error(
        fmt::format("{} is not beside the program; build //tools/ringpost", library));
  }
  if (others != nullptr && *others != '\0') preload += std::string(":") + others;
  setenv("LD_PRELOAD", preload.c_str(), 1);
}

// Found out before anything runs: a recorder that cannot write leaves the program alone.
std::string RefusalOfRecord(const std::string& path) {
  if (path == kNoRecord || std::ofstream(path, std::ios::app)) return {};
  return fmt::format("exec.record: {}: {}; give a file in a folder that exists", path,
                     std::strerror(errno));
}

int StatusOf(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

int RunExecCommand(const ExecArguments& arguments) {
  if (arguments.program.empty()) {
    PrintError("ringpost exec: no program is given; try: ringpost exec -- ib_write_lat");
    return kBadInput;
  }
  const config::Loaded loaded =
      config::Load(MakeSources({.config = arguments.config, .sets = arguments.sets}));
  const config::Config& config = loaded.config;
  RefuseFaults(loaded);
  ExecOutputs outputs(arguments.files, arguments.config);
  uverbs::Settings settings = SettingsOf(config);
  settings.observing = outputs.Wanted(static_cast<uint32_t>(config.exec.trace_steps));
  std::string refusal = uverbs::RefusalOf(settings);
  if (refusal.empty()) refusal = RefusalOfRecord(config.exec.record);
  if (refusal.empty() && config.exec.record != kNoRecord && arguments.files.Any()) {
    refusal =
        "exec.record: the devices are the machine's own, of which nothing is counted, traced or "
        "captured; leave out --json, --trace and --pcap";
  }
  if (!refusal.empty()) {
    PrintError("ringpost exec: " + refusal);
    return kBadInput;
  }
  std::optional<Tree> tree;
  if (config.exec.record != kNoRecord) {
    Preload(kRecorder);
    setenv("RINGPOST_UVERBS_RECORD", fs::absolute(config.exec.record).c_str(), 1);
  } else {
    tree.emplace(settings);
    if (config.exec.gpu_doorbells) Preload(kIoMemory);
    Preload(kVirtual);
    setenv("RINGPOST_UVERBS_ROOT", tree->Root().c_str(), 1);
  }
  std::vector<char*> words;
  for (const std::string& word : arguments.program)
    words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  PassSignalsOn();
  pid_t child = 0;
  const int error = posix_spawnp(&child, words[0], nullptr, nullptr, words.data(), environ);
  if (error != 0) {
    PrintError(fmt::format("ringpost exec: {}: {}", words[0], std::strerror(error)));
    return error == ENOENT ? kNotFound : kNotExecutable;
  }
  g_child = child;
  const int status = StatusOf(child);
  if (tree)
    outputs.Write(uverbs::ObservedFolder(tree->Root()), arguments.program, status,
                  settings.devices[0].link);
  return status;
}

}  // namespace ringpost::tools
