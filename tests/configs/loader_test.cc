#include "configs/schema/loader.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>

#include "configs/schema/config.h"
#include "configs/schema/config_error.h"
#include "sim/engine/time.h"
#include "tests/configs/scratch.h"

namespace ringpost::config {
namespace {

Loaded LoadText(const std::string& text) { return Load({WriteScratch("c.yaml", text), {}}); }

// The one line about a file, without its folder; empty when it loads.
std::string ErrorOf(const std::string& text) {
  const std::string path = WriteScratch("c.yaml", text);
  try {
    Load({path, {}});
  } catch (const ConfigError& error) {
    const std::string line = error.what();
    const std::string folder = path.substr(0, path.size() - 6);
    return line.starts_with(folder) ? line.substr(folder.size()) : line;
  }
  return "";
}

std::string SetErrorOf(const std::string& set) {
  try {
    Load({WriteScratch("c.yaml", "seed: 1"), {ParseSet(set, 1)}});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

const EffectiveEntry& EntryOf(const Loaded& loaded, const std::string& key) {
  for (const EffectiveEntry& entry : loaded.effective) {
    if (entry.key == key) return entry;
  }
  BOOST_FAIL("no entry " << key);
  return loaded.effective[0];
}

BOOST_AUTO_TEST_CASE(EveryBlockFillsItsFields) {
  const Config config = LoadText(R"(
backend: sim
platform: p_gb200
seed: 18446744073709551
transport: {qps_per_peer: 4, sq_depth_wqebbs: 256, placement: host, publication: batched,
            ordering: system_fence, completion: all_qps, inline_max: 0 B, batch: 16}
workload: {kind: message_rate, payload: 2 KiB, inline: never, threads: 4, sms_count: 2,
           operations: 99, warm_up: 0}
gpu: {sm_clock: 1980 MHz}
nic: {behaviour: strict, run_length: 1, limits: {qps_count: 7, inline_max: 64 B}}
visibility: {mode: adversarial, checker: off, reads: ptx}
faults:
  rules:
    - {where: requester, kind: error, at: {qp: 2, wqe: 5}}
    - {where: responder, kind: delay, at: {rank: 1}, amount: 50 us}
    - {where: wire, kind: reorder, amount: 2 us, probability: 0.5 %, count: 3}
engine: {stack_size: 64 KiB, stack_memory: 1 GiB}
)")
                            .config;
  BOOST_TEST(config.platform == "p_gb200");
  BOOST_TEST(config.seed == 18446744073709551u);
  BOOST_TEST(config.transport.qps_per_peer == 4u);
  BOOST_TEST(config.transport.sq_depth_wqebbs == 256u);
  BOOST_TEST((config.transport.placement == Placement::kHost));
  BOOST_TEST((config.transport.publication == Publication::kBatched));
  BOOST_TEST((config.transport.ordering == Ordering::kSystemFence));
  BOOST_TEST((config.transport.completion == CompletionScope::kAllQps));
  BOOST_TEST(config.transport.batch == 16u);
  BOOST_TEST((config.workload.kind == WorkloadKind::kMessageRate));
  BOOST_TEST(config.workload.payload_bytes == 2048u);
  BOOST_TEST((config.workload.inline_mode == InlineMode::kNever));
  BOOST_TEST(config.gpu.sm_clock_mhz == 1980.0);
  BOOST_TEST((config.nic.behaviour == NicBehaviour::kStrict));
  BOOST_TEST(config.nic.limits.qps_count == 7u);
  BOOST_TEST(config.nic.limits.inline_max_bytes == 64u);
  BOOST_TEST((config.visibility.mode == VisibilityMode::kAdversarial));
  BOOST_TEST((config.visibility.checker == Switch::kOff));
  BOOST_TEST((config.visibility.reads == NicReads::kPtx));
  BOOST_TEST(config.engine.stack_memory_bytes == 1073741824u);
  BOOST_TEST_REQUIRE(config.faults.rules.size() == 3u);
  BOOST_TEST((config.faults.rules[0].where == FaultPlace::kRequester));
  BOOST_TEST((config.faults.rules[0].kind == FaultKind::kError));
  BOOST_TEST(!config.faults.rules[0].rank.has_value());
  BOOST_TEST(*config.faults.rules[0].qp == 2u);
  BOOST_TEST(*config.faults.rules[0].wqe == 5u);
  BOOST_TEST(*config.faults.rules[1].rank == 1u);
  BOOST_TEST(config.faults.rules[1].amount.ps == 50'000'000);
  BOOST_TEST(config.faults.rules[1].probability_percent == 100.0);
  BOOST_TEST(!config.faults.rules[1].count.has_value());
  BOOST_TEST((config.faults.rules[2].where == FaultPlace::kWire));
  BOOST_TEST((config.faults.rules[2].kind == FaultKind::kReorder));
  BOOST_TEST(config.faults.rules[2].probability_percent == 0.5);
  BOOST_TEST(*config.faults.rules[2].count == 3u);
}

BOOST_AUTO_TEST_CASE(KeysThatAreNotSetHaveTheirDefaults) {
  const Loaded loaded = LoadText("seed: 7");
  BOOST_TEST(loaded.config.transport.sq_depth_wqebbs == 1024u);
  BOOST_TEST((loaded.config.transport.ordering == Ordering::kGpuFence));
  BOOST_TEST(loaded.config.gpu.sm_clock_mhz == 0.0);
  BOOST_TEST(EntryOf(loaded, "transport.inline_max").origin == "default");
  BOOST_TEST(DefaultConfig().transport.inline_max_bytes == 28u);
}

BOOST_AUTO_TEST_CASE(TheEnvironmentReplacesTheFileAndSetReplacesBoth) {
  const std::string path =
      WriteScratch("c.yaml", "seed: 1\nworkload: {kind: message_rate, threads: 2, payload: 8 B}");
  Sources sources{path,
                  ParseEnvironment("seed=2  workload.payload=1 KiB transport.qps_per_peer=2")};
  sources.assignments.push_back(ParseSet("seed=3", 1));
  const Loaded loaded = Load(sources);
  BOOST_TEST(loaded.config.seed == 3u);
  BOOST_TEST(loaded.config.workload.payload_bytes == 1024u);
  BOOST_TEST(EntryOf(loaded, "seed").origin == "--set");
  BOOST_TEST(EntryOf(loaded, "workload.payload").origin == "RINGPOST_SET");
  BOOST_TEST(EntryOf(loaded, "workload.threads").origin == path + ":2");
  BOOST_TEST(EntryOf(loaded, "ranks").origin == "default");
}

BOOST_AUTO_TEST_CASE(TheEffectiveConfigurationLoadsAsItself) {
  const Loaded first = LoadText(
      "workload: {payload: 2048 B}\nfaults: {rules: [{kind: delay, at: {wqe: 5}, amount: 1 us}]}");
  const Loaded second = LoadText(ToYaml(first.effective));
  BOOST_TEST(CanonicalText(second.effective) == CanonicalText(first.effective));
}

BOOST_AUTO_TEST_CASE(AMissingFileIsNamed) {
  const std::string path = ScratchPath("none.yaml");
  BOOST_CHECK_EXCEPTION(Load({path, {}}), ConfigError, [&path](const ConfigError& error) {
    return error.what() == path +
                               ":1:1: file: cannot be read (No such file or directory); "
                               "give the path of a YAML file that can be read";
  });
}

BOOST_AUTO_TEST_CASE(AFolderIsNoFile) {
  const std::string folder = std::filesystem::path(ScratchPath("x")).parent_path().string();
  BOOST_CHECK_EXCEPTION(Load({folder, {}}), ConfigError, [&folder](const ConfigError& error) {
    return error.what() ==
           folder + ":1:1: file: is a folder; give the path of a YAML file that can be read";
  });
}

BOOST_AUTO_TEST_CASE(TruncatedYamlIsPlacedAtItsEnd) {
  BOOST_TEST(ErrorOf("seed: 1\ntransport: {kind: rc,\n") ==
             "c.yaml:3:1: YAML: cannot be parsed: end of map flow not found; "
             "complete or correct the YAML up to here");
}

BOOST_AUTO_TEST_CASE(AnEmptyFileIsRefused) {
  BOOST_TEST(ErrorOf("# nothing\n") ==
             "c.yaml:1:1: YAML: there is nothing in it; give at least one key");
}

BOOST_AUTO_TEST_CASE(AListInPlaceOfKeysIsRefused) {
  BOOST_TEST(ErrorOf("- seed\n") ==
             "c.yaml:1:1: file: is not a map of keys; write key: value pairs below it");
}

BOOST_AUTO_TEST_CASE(TextInPlaceOfACountIsRefused) {
  BOOST_TEST(ErrorOf("seed: 1\nworkload:\n  threads: many\n") ==
             "c.yaml:3:12: workload.threads: 'many' is not a whole number; "
             "give a whole number, 1 to 1048576");
}

BOOST_AUTO_TEST_CASE(ABareNumberInPlaceOfAQuantityIsRefused) {
  BOOST_TEST(ErrorOf("workload: {payload: 8}\n") ==
             "c.yaml:1:21: workload.payload: '8' has no unit; "
             "give a size in B, KiB, MiB or GiB, such as 8 B");
}

BOOST_AUTO_TEST_CASE(AQueueDepthOfThreeIsNoPowerOfTwo) {
  BOOST_TEST(ErrorOf("transport: {sq_depth_wqebbs: 12}\n") ==
             "c.yaml:1:30: transport.sq_depth_wqebbs: 12 is not a power of two; "
             "give a power of two from 8 to 32768");
  BOOST_TEST(ErrorOf("transport: {sq_depth_wqebbs: 3}\n") ==
             "c.yaml:1:30: transport.sq_depth_wqebbs: 3 is too small; "
             "give a power of two from 8 to 32768");
}

BOOST_AUTO_TEST_CASE(AQueueDepthOf131072IsTooLarge) {
  BOOST_TEST(ErrorOf("transport: {sq_depth_wqebbs: 131072}\n") ==
             "c.yaml:1:30: transport.sq_depth_wqebbs: 131072 is too large; "
             "give a power of two from 8 to 32768");
}

BOOST_AUTO_TEST_CASE(AnUnknownKeyIsAnsweredWithTheNearestOne) {
  BOOST_TEST(ErrorOf("transport: {orderin: gpu_fence}\n") ==
             "c.yaml:1:13: transport.orderin: there is no such key; "
             "did you mean ordering?");
  BOOST_TEST(ErrorOf("threads: 4\n") ==
             "c.yaml:1:1: threads: there is no such key; did you mean workload.threads?");
  BOOST_TEST(ErrorOf("trnsport: {}\n") ==
             "c.yaml:1:1: trnsport: there is no such key; did you mean transport?");
  BOOST_TEST(ErrorOf("visibility: {colour: red}\n") ==
             "c.yaml:1:14: visibility.colour: there is no such key; use mode, checker or reads");
}

BOOST_AUTO_TEST_CASE(AnUnknownWordIsAnsweredWithAllOfThem) {
  BOOST_TEST(ErrorOf("transport: {placement: moon}\n") ==
             "c.yaml:1:24: transport.placement: 'moon' is not known; use gpu or host");
  BOOST_TEST(ErrorOf("transport: {unsafe: maybe}\n") ==
             "c.yaml:1:21: transport.unsafe: 'maybe' is neither true nor false; "
             "use true or false");
}

BOOST_AUTO_TEST_CASE(NicsAreAListOfNames) {
  BOOST_TEST(ErrorOf("mlx5: {devices: [mlx5_0, \"^roce_rail1:1\"]}\n") == "");
  BOOST_TEST(ErrorOf("mlx5: {devices: mlx5_0}\n") ==
             "c.yaml:1:17: mlx5.devices: is not a list; give a list such as [mlx5_0, mlx5_1:1]");
  BOOST_TEST(ErrorOf("mlx5: {devices: [[mlx5_0]]}\n") ==
             "c.yaml:1:18: mlx5.devices: is a list; give a list such as [mlx5_0, mlx5_1:1]");
}

BOOST_AUTO_TEST_CASE(WhatHardwareCannotDoIsRefusedWithBackendMlx5) {
  BOOST_TEST(ErrorOf("backend: mlx5\ntransport: {doorbell: blueflame}\n") ==
             "c.yaml:2:23: transport.doorbell: backend mlx5 writes the record and rings with 8 "
             "bytes; use gpu, cpu or auto");
  BOOST_TEST(ErrorOf("backend: mlx5\nfaults: {rules: [{where: wire, kind: drop}]}\n") ==
             "c.yaml:2:17: faults.rules: hardware has no faults to order; use backend sim or live");
}

BOOST_AUTO_TEST_CASE(AnUnknownPlatformIsAnsweredWithTheNearestOne) {
  BOOST_TEST(ErrorOf("platform: p_bi\n") ==
             "c.yaml:1:11: platform: there is no platform 'p_bi'; did you mean p_ib?");
}

BOOST_AUTO_TEST_CASE(AKeyThatStandsTwiceIsRefused) {
  BOOST_TEST(ErrorOf("seed: 1\nseed: 2\n") ==
             "c.yaml:2:1: seed: stands here twice; remove one of the two");
  BOOST_TEST(ErrorOf("seed: 1\ngpu: {}\ngpu: {}\n") ==
             "c.yaml:3:1: gpu: stands here twice; remove one of the two");
}

BOOST_AUTO_TEST_CASE(AQuantityOutOfRangeIsRefused) {
  BOOST_TEST(ErrorOf("gpu: {sm_clock: 1 MHz}\n") ==
             "c.yaml:1:17: gpu.sm_clock: 1 MHz is too small; "
             "give 100 MHz to 10000 MHz or platform");
}

BOOST_AUTO_TEST_CASE(AMapOrNothingInPlaceOfAValueIsRefused) {
  BOOST_TEST(ErrorOf("seed: {a: 1}\n") ==
             "c.yaml:1:7: seed: is a map; give a whole number, at least 0");
  BOOST_TEST(ErrorOf("seed:\n") ==
             "c.yaml:1:1: seed: has no value; give a whole number, at least 0");
}

BOOST_AUTO_TEST_CASE(AFaultRuleIsCheckedLikeEverythingElse) {
  BOOST_TEST(ErrorOf("faults: {rules: [{kind: delay, amount: 50}]}\n") ==
             "c.yaml:1:40: faults.rules[0].amount: '50' has no unit; "
             "give a time in ns, us or ms, such as 50 us");
  BOOST_TEST(ErrorOf("faults: {rules: [{at: {pq: 1}}]}\n") ==
             "c.yaml:1:24: faults.rules[0].at.pq: there is no such key; did you mean at.qp?");
  BOOST_TEST(ErrorOf("faults: {rules: [{where: wire, kind: drop, probability: 5}]}\n") ==
             "c.yaml:1:57: faults.rules[0].probability: '5' has no unit; "
             "give a share in %, such as 10 %");
  BOOST_TEST(ErrorOf("faults: {rules: [{where: wire, kind: drop, probability: 101 %}]}\n") ==
             "c.yaml:1:57: faults.rules[0].probability: 101 % is too large; give 0 % to 100 %");
}

BOOST_AUTO_TEST_CASE(DeepNestingIsAnErrorAndNoCrash) {
  const std::string error = ErrorOf("seed: " + std::string(131072, '['));
  BOOST_TEST(error.starts_with("c.yaml:1:"), error.substr(0, 200));
  const std::string blocks = ErrorOf([] {
    std::string text;
    for (int i = 0; i < 131072; ++i) text += "- ";
    return text;
  }());
  BOOST_TEST(blocks.starts_with("c.yaml:1:"), blocks.substr(0, 200));
}

BOOST_AUTO_TEST_CASE(AWrongSetIsPlacedInTheCommandLine) {
  BOOST_TEST(SetErrorOf("seed=x") ==
             "--set:1:6: seed: 'x' is not a whole number; give a whole number, at least 0");
  BOOST_TEST(SetErrorOf("sede=1") == "--set:1:1: sede: there is no such key; did you mean seed?");
  BOOST_TEST(SetErrorOf("seed") == "--set:1:1: seed: is not an assignment; write key=value");
  BOOST_TEST(SetErrorOf("seed=") ==
             "--set:1:6: seed: has no value; give a whole number, at least 0");
  BOOST_TEST(SetErrorOf("gpu=1") == "--set:1:1: gpu: is a block of keys; set one of its keys");
}

BOOST_AUTO_TEST_CASE(SetTakesAListOfFaults) {
  const Loaded loaded =
      Load({WriteScratch("c.yaml", "seed: 1"),
            {ParseSet("faults.rules=[{where: responder, kind: error, at: {wqe: 3}}]", 1)}});
  BOOST_TEST(loaded.config.faults.rules.size() == 1u);
}

}  // namespace
}  // namespace ringpost::config
