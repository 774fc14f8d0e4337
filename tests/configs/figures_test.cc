// Rows of published figures: what they may say, and how they are judged.
#include "tools/ringpost/figures.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "configs/schema/config_error.h"
#include "configs/schema/root.h"
#include "tests/configs/scratch.h"
#include "tools/ringpost/figure_report.h"
#include "tools/ringpost/tolerance.h"
#include "tools/ringpost/verdict.h"
#include "workloads/runner.h"

namespace ringpost::tools {
namespace {

constexpr char kRow[] =
    "- id: one\n"
    "  platform: P-IB\n"
    "  value: 10\n"
    "  unit: us\n"
    "  source: paper Table 3\n"
    "  role: predicted\n"
    "  experiment: put_latency\n"
    "  metric: issue_latency\n";

// What the fake simulator answers: the payload's size in bytes, whatever is asked for.
workloads::RunResult AnswerPayload(const config::Config& config) {
  workloads::RunResult result;
  result.ok = true;
  const double value = static_cast<double>(config.workload.payload_bytes);
  result.metrics = {{"issue_latency", value, "us"}, {"doorbell_to_cqe", value, "us"}};
  return result;
}

struct Judged {
  std::vector<Verdict> verdicts;
  int runs = 0;
};

Judged JudgeText(const std::string& text) {
  Judged judged;
  Runs runs([&judged](const config::Config& config, const sim::Platform&) {
    ++judged.runs;
    return AnswerPayload(config);
  });
  for (const FigureRow& row : ReadFigures(WriteScratch("f.yaml", text))) {
    judged.verdicts.push_back(Judge(row, runs));
  }
  MarkCounted(judged.verdicts);
  return judged;
}

// The complaint about the rows, without place; empty when they are read and judged.
std::string ErrorOf(const std::string& text) {
  try {
    JudgeText(text);
  } catch (const config::ConfigError& error) {
    const std::string line = error.what();
    return line.substr(line.find(": ") + 2);
  }
  return "";
}

std::string RowWith(const std::string& id, const std::string& lines) {
  return "- {id: " + id + ", platform: P-IB, source: paper Sec. 4, role: predicted, " + lines +
         "}\n";
}

BOOST_AUTO_TEST_CASE(EachReferenceRowHasARunOrSaysWhyNot) {
  const auto rows = ReadFigures(config::FindRoot() + "/configs/reference/figures.yaml");
  BOOST_TEST(rows.size() == 98u);
  for (const FigureRow& row : rows) BOOST_TEST((!row.runs.empty() || !row.note.empty()), row.id);
}

BOOST_AUTO_TEST_CASE(EveryReferenceRowIsJudged) {
  Runs runs([](const config::Config& config, const sim::Platform&) {
    workloads::RunResult result = AnswerPayload(config);
    for (const char* name :
         {"put_completion_latency", "round_trip_p50", "message_rate", "goodput",
          "packets_per_message", "acks_per_message", "issue_time", "dispatch_time"}) {
      result.metrics.push_back({name, 1, "us"});
    }
    return result;
  });
  for (const FigureRow& row : ReadFigures(config::FindRoot() + "/configs/reference/figures.yaml")) {
    const Verdict verdict = Judge(row, runs);
    const bool judged = verdict.simulated.has_value() || !verdict.simulated_text.empty();
    BOOST_TEST((judged || verdict.reason == row.note), row.id);
  }
}

BOOST_AUTO_TEST_CASE(AValueWithinItsToleranceIsAHit) {
  const std::string set = "experiment: put_latency, metric: issue_latency, set: ";
  const Judged judged =
      JudgeText(RowWith("in", "value: 100, " + set + "{workload.payload: 110 B}") +
                RowWith("out", "value: 100, " + set + "{workload.payload: 111 B}"));
  BOOST_TEST((judged.verdicts[0].status == Status::kHit));
  BOOST_TEST((judged.verdicts[1].status == Status::kMiss));
  BOOST_TEST(judged.verdicts[1].reason == "off by +11.0 %, tolerance 10 %");
}

BOOST_AUTO_TEST_CASE(ARangeIsHitBetweenItsEnds) {
  const std::string run = "experiment: put_latency, metric: issue_latency";
  const Judged judged =
      JudgeText(RowWith("in", "value: [7, 8], " + run) + RowWith("out", "value: [8.1, 9], " + run) +
                RowWith("spread", "value: 4, value_range: [3, 9], " + run));
  BOOST_TEST((judged.verdicts[0].status == Status::kHit));
  BOOST_TEST((judged.verdicts[1].status == Status::kMiss));
  BOOST_TEST((judged.verdicts[2].status == Status::kHit));
}

BOOST_AUTO_TEST_CASE(EachDistinctRunHappensOnceAndCountsOnce) {
  const std::string run = "value: 8, experiment: put_latency, metric: ";
  const Judged judged =
      JudgeText(RowWith("first", run + "issue_latency") + RowWith("again", run + "issue_latency") +
                RowWith("other", run + "doorbell_to_cqe"));
  BOOST_TEST(judged.runs == 1);
  BOOST_TEST(judged.verdicts[0].counted);
  BOOST_TEST(!judged.verdicts[1].counted);
  BOOST_TEST(judged.verdicts[1].reason == "shown: as first");
  BOOST_TEST(judged.verdicts[2].counted);
  const Summary summary = Summarize(judged.verdicts);
  BOOST_TEST(summary.hit == 2);
  BOOST_TEST(summary.shown == 1);
}

BOOST_AUTO_TEST_CASE(ADifferenceIsShownAndNotCounted) {
  const Judged judged = JudgeText(RowWith(
      "d",
      "value: 8, value_of: a - b, runs: {a: {experiment: put_latency, metric: issue_latency, "
      "set: {workload.payload: 16 B}}, b: {experiment: put_latency, metric: issue_latency}}"));
  BOOST_TEST(*judged.verdicts[0].simulated == 8.0);
  BOOST_TEST((judged.verdicts[0].status == Status::kHit));
  BOOST_TEST(!judged.verdicts[0].counted);
}

constexpr char kQuotient[] =
    "value: 2, value_of: a / b, runs: {a: {experiment: put_latency, metric: issue_latency, "
    "set: {workload.payload: 16 B}}, b: {experiment: put_latency, metric: issue_latency}}";

BOOST_AUTO_TEST_CASE(AQuotientCountsUnlessEachOfItsRunsIsARow) {
  const std::string run = "value: 8, experiment: put_latency, metric: issue_latency";
  const std::string other = run + ", set: {workload.payload: 16 B}";
  const Judged alone = JudgeText(RowWith("q", kQuotient) + RowWith("b", run));
  BOOST_TEST(alone.verdicts[0].counted);
  const Judged derived =
      JudgeText(RowWith("q", kQuotient) + RowWith("b", run) + RowWith("a", other));
  BOOST_TEST(!derived.verdicts[0].counted);
  BOOST_TEST(derived.verdicts[0].reason == "shown: derived from other values");
}

BOOST_AUTO_TEST_CASE(RunsMayHaveSweepsOfTheirOwn) {
  const std::string points = "sweep: {axis: workload.payload, points: ";
  const Judged judged = JudgeText(
      RowWith("s",
              "value: 4, value_of: max(a) / max(b), runs: {a: {experiment: put_latency, metric: "
              "issue_latency, " +
                  points + "[8 B, 32 B]}}, b: {experiment: put_latency, metric: issue_latency, " +
                  points + "[4 B, 8 B]}}}"));
  BOOST_TEST(*judged.verdicts[0].simulated == 4.0);
  BOOST_TEST(judged.runs == 3);
}

BOOST_AUTO_TEST_CASE(ASweepGivesASlopePerItsUnit) {
  const Judged judged = JudgeText(
      RowWith("s",
              "value: 16, value_of: slope, experiment: put_latency, metric: issue_latency, "
              "sweep: {axis: workload.payload, points: [8 B, 16 B, 24 B], per: 16 B}"));
  BOOST_TEST(*judged.verdicts[0].simulated == 16.0);
  BOOST_TEST(judged.verdicts[0].tolerance == 0.15);
  BOOST_TEST(judged.runs == 3);
}

BOOST_AUTO_TEST_CASE(AShapeThatDoesNotHoldIsAMiss) {
  const std::string sweep =
      "value: a shape, experiment: put_latency, metric: issue_latency, "
      "sweep: {axis: workload.payload, points: [8 B, 16 B]}, ";
  const Judged judged =
      JudgeText(RowWith("falls", sweep + "falls: true") + RowWith("flat", sweep + "flat: 10 %") +
                RowWith("linear", sweep + "linear_in: workload.payload"));
  BOOST_TEST((judged.verdicts[0].status == Status::kMiss));
  BOOST_TEST(judged.verdicts[0].reason == "does not fall at 16 B");
  BOOST_TEST((judged.verdicts[1].status == Status::kMiss));
  BOOST_TEST((judged.verdicts[2].status == Status::kHit));
}

BOOST_AUTO_TEST_CASE(ARowWithoutARunOrAPlatformIsUncovered) {
  const Judged judged =
      JudgeText(RowWith("bare", "value: 1") +
                "- {id: roce, platform: P-RoCE, source: paper Table 9, role: predicted, value: 1, "
                "experiment: put_latency, metric: issue_latency}\n");
  BOOST_TEST((judged.verdicts[0].status == Status::kUncovered));
  BOOST_TEST((judged.verdicts[1].status == Status::kUncovered));
  BOOST_TEST(judged.verdicts[0].reason == "no experiment answers it");
  BOOST_TEST(judged.verdicts[1].reason == "there is no platform file for P-RoCE");
}

BOOST_AUTO_TEST_CASE(AFailedRunIsAMissWithItsReason) {
  Runs runs([](const config::Config&, const sim::Platform&) -> workloads::RunResult {
    throw std::runtime_error("no more");
  });
  const Verdict verdict = Judge(ReadFigures(WriteScratch("f.yaml", kRow))[0], runs);
  BOOST_TEST((verdict.status == Status::kMiss));
  BOOST_TEST(verdict.reason == "the run failed: no more");
}

BOOST_AUTO_TEST_CASE(ARowMayNotSetACostOrAPlatform) {
  const std::string right =
      "; name workload.*, transport.*, proxy.*, library, gpu.sm_clock, host.clock_state or ranks";
  for (const std::string key : {"nic.transmit", "platform", "seed", "gpu.load_gpu"}) {
    BOOST_TEST(ErrorOf(std::string(kRow) + "  set: {" + key + ": 1}\n") ==
               "one.set: " + key + " is not what a publication varies" + right);
  }
}

BOOST_AUTO_TEST_CASE(ATypingErrorInSetIsPlacedInTheFigures) {
  BOOST_TEST(ErrorOf(std::string(kRow) + "  set: {workload.paylod: 8 B}\n") ==
             "workload.paylod: there is no such key; did you mean payload?");
}

BOOST_AUTO_TEST_CASE(ARowMayTightenItsToleranceAndNeverWidenIt) {
  BOOST_TEST(ErrorOf(std::string(kRow) + "  tolerance: 5 %\n") == "");
  BOOST_TEST(ErrorOf(std::string(kRow) + "  tolerance: 11 %\n") ==
             "one.tolerance: is wider than the table's; give at most 10 %");
}

BOOST_AUTO_TEST_CASE(AnUnknownKeyOfARowIsRefused) {
  BOOST_TEST(ErrorOf(std::string(kRow) + "  swep: {}\n") ==
             "one.swep: there is no such key; did you mean sweep?");
}

BOOST_AUTO_TEST_CASE(TwoRowsOfOneIdAreRefused) {
  BOOST_TEST(ErrorOf(std::string(kRow) + kRow) ==
             "one: stands here twice; give each row its own id");
}

BOOST_AUTO_TEST_CASE(TheJsonHasTheSummaryAndOneObjectARow) {
  const std::string json = FigureJson(JudgeText(kRow).verdicts, 1);
  BOOST_TEST(json.find("\"id\": \"one\"") != std::string::npos);
  BOOST_TEST(json.find("\"status\": \"miss\"") != std::string::npos);
  BOOST_TEST(json.find("\"relative_error\": -0.2") != std::string::npos);
  BOOST_TEST(json.find("\"table\": \"Table 3\"") != std::string::npos);
  BOOST_TEST(json == FigureJson(JudgeText(kRow).verdicts, 1));
}

}  // namespace
}  // namespace ringpost::tools
