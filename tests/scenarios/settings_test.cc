// Settings: which of several places counts, and what is wrong is said with its place.
#include <boost/test/unit_test.hpp>

#include "backends/make_nic.h"
#include "configs/schema/config_error.h"
#include "configs/schema/loader.h"
#include "configs/schema/platform_loader.h"
#include "tests/configs/scratch.h"
#include "tests/scenarios/raw_post.h"

namespace ringpost::config {
namespace {

std::string ErrorOf(const std::string& text) {
  try {
    Load({WriteScratch("settings.yaml", text), {}});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

// Two nodes as a run of this file has them, a pair of QPs and a buffer at each end.
struct Configured {
  explicit Configured(const std::string& text) {
    const Config config = Load({WriteScratch("nic.yaml", text), {}}).config;
    fabric = MakeFabric(config, LoadPlatform(config.platform), false, {});
    view = fabric->ConnectPair(0, 1, {}).first;
    local = fabric->nic(0).Allocate(Placement::kGpu, 1 << 20).Value();
    remote = fabric->nic(1).Allocate(Placement::kGpu, 1 << 20).Value();
  }
  void Run(const Fabric::Kernel& kernel) {
    fabric->Launch(0, {}, kernel);
    const FabricRun run = fabric->Run();
    BOOST_TEST(run.ok, run.error);
  }
  // The first WQE of the QP, a WRITE of one data segment; the record is stored if asked for.
  void RingForFirst(SimPort& port, const abi::Segment& data, bool with_record) const {
    const abi::Segment wqe[3] = {
        abi::ControlSegmentOf(abi::Opcode::kRdmaWrite, 0, view.qpn, 3, abi::kCqeAlways),
        abi::RemoteAddressOf(remote.address, remote.rkey), data};
    port.StoreWqe(view, 0, wqe, 3);
    OrderGpuFence::Release(port, view);
    if (with_record) OrderGpuFence::StoreRecord(port, view, 1);
    OrderGpuFence::Ring(port, view, abi::ProducerDoorbell(1, view.qpn));
  }
  std::unique_ptr<Fabric> fabric;
  QpView view;
  RegisteredMemory local, remote;
};

constexpr uint64_t kMs = 1'000'000'000;  // of virtual time, in picoseconds

}  // namespace

// O-48: settings come from variables that nobody documents, and a wrong one goes unnoticed. Here a
// file, the environment and the command line replace each other in this order.
BOOST_AUTO_TEST_CASE(TheCommandLineReplacesTheEnvironmentAndThatTheFile) {
  Sources sources{WriteScratch("depth.yaml", "transport: {sq_depth_wqebbs: 1024}"), {}};
  BOOST_TEST(Load(sources).config.transport.sq_depth_wqebbs == 1024u);
  sources.assignments = ParseEnvironment("transport.sq_depth_wqebbs=256");
  BOOST_TEST(Load(sources).config.transport.sq_depth_wqebbs == 256u);
  sources.assignments.push_back(ParseSet("transport.sq_depth_wqebbs=512", 1));
  const Loaded loaded = Load(sources);
  BOOST_TEST(loaded.config.transport.sq_depth_wqebbs == 512u);
  BOOST_TEST(ToYaml(loaded.effective).find("sq_depth_wqebbs: 512") != std::string::npos);
}

// O-48: an unknown key and a wrong type are errors, with their line.
BOOST_AUTO_TEST_CASE(AnUnknownKeyAndATextForANumberAreErrorsWithTheirLine) {
  const std::string unknown = ErrorOf("seed: 1\ntransport:\n  sq_dpeth_wqebbs: 64\n");
  BOOST_TEST(unknown.find("settings.yaml:3:3: transport.sq_dpeth_wqebbs: ") != std::string::npos,
             unknown);
  BOOST_TEST(unknown.find("did you mean sq_depth_wqebbs?") != std::string::npos, unknown);
  const std::string text = ErrorOf("transport:\n  sq_depth_wqebbs: \"1k\"\n");
  BOOST_TEST(text.find("settings.yaml:2:20: transport.sq_depth_wqebbs: '1k' is not a whole") !=
                 std::string::npos,
             text);
}

// O-48: an option that the chosen mode does not use is an error too, so that no run is taken for
// another.
BOOST_AUTO_TEST_CASE(AnOptionThatTheModeDoesNotUseIsRefusedWithTheModeThatDoes) {
  const std::string error = ErrorOf("transport: {publication: per_thread, batch: 16}");
  BOOST_TEST(error.find("settings.yaml:1:45: transport.batch: ") != std::string::npos, error);
  BOOST_TEST(error.find("publication batched") != std::string::npos, error);
}

// O-06, for a run: a depth that no queue has is refused before anything is created.
BOOST_AUTO_TEST_CASE(ADepthThatNoQueueHasIsAnErrorWithTheLimit) {
  for (const char* depth : {"196609", "65536", "65533"}) {
    const std::string error = ErrorOf(std::string("transport: {sq_depth_wqebbs: ") + depth + "}");
    BOOST_TEST(error.find(depth) != std::string::npos, error);
    BOOST_TEST(error.find("32768") != std::string::npos, error);
  }
}

// O-29: the timers of a device are not those of the textbook. Here nic.behaviour says whose run: of
// how long a timeout is, and after how many the QP gives up.
BOOST_AUTO_TEST_CASE(TimeoutsAndRetriesFollowNicBehaviour) {
  struct Case {
    const char* behaviour;
    uint64_t timeouts, least_ms, most_ms;
  };
  // Timeout 14 and 7 retries: 7 times 537 ms, or 8 times 67 ms.
  for (const Case& expected : {Case{"mlx5", 7, 3750, 3770}, Case{"strict", 8, 530, 540}}) {
    Configured f(std::string("nic: {behaviour: ") + expected.behaviour +
                 "}\nfaults: {rules: [{where: wire, kind: drop}]}");
    f.Run([&](SimPort& port) {
      Endpoint<SimPort, PerThread, OrderGpuFence> endpoint(port, QpTable{&f.view, 1, 0, 1, 0});
      const Completion done = endpoint.Wait(endpoint.Put(f.remote.Remote(0), f.local.Local(0, 8)));
      BOOST_TEST(int{done.syndrome} == 0x15);
      BOOST_TEST(port.Now() > expected.least_ms * kMs);
      BOOST_TEST(port.Now() < expected.most_ms * kMs);
    });
    BOOST_TEST(f.fabric->Counters(0).timeouts == expected.timeouts);
  }
}

// On entering the error state a ConnectX takes its send index from the record alone: a record that
// nobody wrote hides the error.
BOOST_AUTO_TEST_CASE(WhetherAStaleRecordHidesAnErrorFollowsNicBehaviour) {
  for (const bool strict : {false, true}) {
    Configured f(strict ? "nic: {behaviour: strict}" : "nic: {behaviour: mlx5}");
    f.Run([&](SimPort& port) {
      f.RingForFirst(port, abi::DataOf(8, f.local.lkey ^ 0x100, f.local.address), false);
    });
    BOOST_TEST(f.fabric->Counters(0).error_cqes == (strict ? 1u : 0u));
  }
}

BOOST_AUTO_TEST_CASE(TheMeaningOfAByteCountOfZeroFollowsNicBehaviour) {
  for (const bool strict : {false, true}) {
    Configured f(strict ? "nic: {behaviour: strict}" : "nic: {behaviour: mlx5}");
    f.Run([&](SimPort& port) {
      f.RingForFirst(port, abi::DataOf(0, f.local.lkey, f.local.address), true);
    });
    BOOST_TEST(f.fabric->Counters(0).cqes == 1u);
    BOOST_TEST(f.fabric->Counters(0).error_cqes == (strict ? 0u : 1u));
  }
}

// O-32: the longest message is the device's. Here a put beyond it goes in pieces.
BOOST_AUTO_TEST_CASE(APutBeyondTheConfiguredMessageGoesInPieces) {
  Configured f("nic: {limits: {message_max: 4 KiB}}");
  f.Run([&](SimPort& port) {
    Endpoint<SimPort, PerThread, OrderGpuFence> endpoint(port, QpTable{&f.view, 1, 0, 1, 0});
    BOOST_TEST(endpoint.Wait(endpoint.Put(f.remote.Remote(0), f.local.Local(0, 4096))).Ok());
    BOOST_TEST(endpoint.Wait(endpoint.Put(f.remote.Remote(0), f.local.Local(0, 4097))).Ok());
  });
  BOOST_TEST(f.fabric->Counters(0).wqes == 3u);
}

BOOST_AUTO_TEST_CASE(ReadsUnderWayFollowTheConfiguredLimit) {
  const auto time_of = [](const char* text) {
    Configured f(text);
    uint64_t end = 0;
    f.Run([&](SimPort& port) {
      Endpoint<SimPort, PerThread, OrderGpuFence> endpoint(port, QpTable{&f.view, 1, 0, 1, 0});
      for (uint64_t i = 0; i < 64; ++i) endpoint.Get(f.local.Local(8 * i, 8), f.remote.Remote(0));
      BOOST_TEST(endpoint.Flush().Ok());
      end = port.Now();
    });
    return end;
  };
  BOOST_TEST(time_of("nic: {limits: {rd_atomic_count: 1}}") > 2 * time_of("nic: {limits: {}}"));
}

// O-43: objects run out below what is advertised, and nobody says which. Here the limit of a NIC
// is a setting, and a run that needs more is refused with the key, both numbers and what to do.
BOOST_AUTO_TEST_CASE(ARunThatNeedsMoreThanTheConfiguredNicHasIsRefused) {
  BOOST_TEST(ErrorOf("transport: {qps_per_peer: 1024}\nnic: {limits: {qps_count: 1000}}")
                 .ends_with("1:27: transport.qps_per_peer: 1024 is more than nic.limits.qps_count, "
                            "1000; use at most 1000, or raise nic.limits.qps_count"));
  BOOST_TEST(ErrorOf("transport: {qps_per_peer: 960}\nnic: {limits: {qps_count: 1000}}") == "");
  BOOST_TEST(ErrorOf("transport: {qps_per_peer: 9}\nnic: {limits: {cqs_count: 8}}")
                 .ends_with("use at most 8, or raise nic.limits.cqs_count"));
  BOOST_TEST(
      ErrorOf("ranks: 3\nworkload: {kind: connection_scaling}\n"
              "transport: {qps_per_peer: 600}\nnic: {limits: {qps_count: 1000}}")
          .ends_with("3:27: transport.qps_per_peer: 600 take 1200 at each NIC, which is more "
                     "than nic.limits.qps_count, 1000; use at most 500, or raise "
                     "nic.limits.qps_count"));
  BOOST_TEST(ErrorOf("transport: {qps_per_peer: 65536}").ends_with("; use at most 65280"));
  BOOST_TEST(
      ErrorOf("ranks: 9\nworkload: {kind: connection_scaling}\n"
              "transport: {kind: dc, qps_per_peer: 500}\nnic: {limits: {qps_count: 1000}}") == "");
  BOOST_TEST(ErrorOf("nic: {limits: {sq_depth_wqebbs: 512}}")
                 .ends_with("1:33: nic.limits.sq_depth_wqebbs: 1024 is more than "
                            "nic.limits.sq_depth_wqebbs, 512; use at most 512, or raise "
                            "nic.limits.sq_depth_wqebbs"));
  BOOST_TEST(ErrorOf("nic: {limits: {inline_max: 8 B}}")
                 .ends_with("use at most 8, or raise nic.limits.inline_max"));
}

}  // namespace ringpost::config
