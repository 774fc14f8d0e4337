// Rows of published figures: what they may say, and how they are judged.
#include "tools/ringpost/figures.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>
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
  BOOST_TEST(rows.size() >= 180u);
  for (const FigureRow& row : rows) BOOST_TEST((!row.runs.empty() || !row.note.empty()), row.id);
}

BOOST_AUTO_TEST_CASE(EveryReferenceRowIsJudged) {
  Runs runs([](const config::Config& config, const sim::Platform&) {
    workloads::RunResult result = AnswerPayload(config);
    for (const auto& [name, unit] : {std::pair{"put_completion_latency", "us"},
                                     {"round_trip_p50", "us"},
                                     {"message_rate", "M msg/s"},
                                     {"goodput", "GB/s"},
                                     {"packets_per_message", "packets"},
                                     {"acks_per_message", "ACKs"},
                                     {"issue_time", "us"},
                                     {"dispatch_time", "us"}}) {
      result.metrics.push_back({name, 1, unit});
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

// The payload stands for a clock: 800 / bytes + 4.
BOOST_AUTO_TEST_CASE(OverTheInverseOfAnAxisASlopeIsWhatScalesWithIt) {
  Runs runs([](const config::Config& config, const sim::Platform&) {
    workloads::RunResult result;
    const double bytes = static_cast<double>(config.workload.payload_bytes);
    result.metrics = {{"issue_latency", 800 / bytes + 4, "us"}};
    return result;
  });
  const std::string axis = "{axis: workload.payload, inverse: true, points: [8 B, 16 B, 32 B]}";
  const std::string one = "experiment: put_latency, metric: issue_latency, sweep: " + axis + ", ";
  const std::string run = "{experiment: put_latency, metric: issue_latency, sweep: " + axis + "}";
  const auto rows = ReadFigures(WriteScratch(
      "f.yaml", RowWith("c", "value: 800, unit: cycles, " + one + "value_of: slope") +
                    RowWith("b", "value: 4, unit: us, " + one + "value_of: intercept") +
                    RowWith("q", "value: 100, runs: {a: " + run + "}, value_of: slope(a) / 8") +
                    RowWith("s", "value: wider, runs: {a: " + run +
                                     ", b: {experiment: put_latency, metric: issue_latency, sweep: "
                                     "{axis: workload.payload, points: [16 B, 32 B]}}}, "
                                     "rank: [spread(b), spread(a)]")));
  for (const FigureRow& row : rows) {
    const Verdict verdict = Judge(row, runs);
    BOOST_TEST((verdict.status == Status::kHit), row.id << ": " << verdict.reason);
    if (row.value) BOOST_TEST(*verdict.simulated == *row.value, boost::test_tools::tolerance(1e-9));
  }
}

BOOST_AUTO_TEST_CASE(ARunMayBeOfAnotherPlatformThanItsRow) {
  Runs runs([](const config::Config&, const sim::Platform& platform) {
    workloads::RunResult result;
    result.metrics = {{"issue_latency", platform.name == "p_ib" ? 3.0 : 5.0, "us"}};
    return result;
  });
  const std::string run = "{experiment: put_latency, metric: issue_latency";
  const std::string text =
      RowWith("d", "value: 2, unit: us, runs: {a: " + run + ", platform: P-GB200}, b: " + run +
                       "}}, value_of: a - b");
  const Verdict verdict = Judge(ReadFigures(WriteScratch("f.yaml", text))[0], runs);
  BOOST_TEST(verdict.simulated.value_or(0) == 2.0);
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
  const Judged judged = JudgeText(
      RowWith("bare", "value: 1") +
      "- {id: other, platform: P-Other, source: paper Table 9, role: predicted, value: 1, "
      "experiment: put_latency, metric: issue_latency}\n");
  BOOST_TEST((judged.verdicts[0].status == Status::kUncovered));
  BOOST_TEST((judged.verdicts[1].status == Status::kUncovered));
  BOOST_TEST(judged.verdicts[0].reason == "no experiment answers it");
  BOOST_TEST(judged.verdicts[1].reason == "there is no platform file for P-Other");
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

constexpr char kRun[] = "experiment: put_latency, metric: issue_latency";

// The row simulates as 8 us.
BOOST_AUTO_TEST_CASE(WhatIsSimulatedIsToldInTheUnitOfTheRow) {
  const auto simulated = [](const std::string& unit, const std::string& more = kRun) {
    return JudgeText(RowWith("u", "value: 8, unit: " + unit + ", " + more))
        .verdicts[0]
        .simulated.value();
  };
  BOOST_TEST(simulated("us") == 8.0);
  BOOST_TEST(simulated("ns") == 8000.0);
  BOOST_TEST(simulated("ms") == 0.008);
  BOOST_TEST(simulated("'-'") == 8.0);
  const std::string sweep =
      std::string(kRun) + ", sweep: {axis: workload.payload, points: [8 B, 16 B]}, value_of: ";
  BOOST_TEST(simulated("ns", sweep + "max") == 16000.0);
  BOOST_TEST(simulated("ns per 1 B", sweep + "slope") == 1000.0);
  BOOST_TEST(simulated("x", sweep + "r2") == 1.0);
  const std::string runs = std::string("runs: {a: {") + kRun + "}, b: {" + kRun +
                           ", set: {workload.payload: 10 B}}}, value_of: ";
  BOOST_TEST(simulated("ns", runs + "b - a") == 2000.0);
  BOOST_TEST(simulated("ns", runs + "a / 4") == 2000.0);
  BOOST_TEST(simulated("x", runs + "b / a") == 1.25);
  const Judged judged = JudgeText(RowWith("hit", std::string("value: 8000, unit: ns, ") + kRun));
  BOOST_TEST((judged.verdicts[0].status == Status::kHit));
}

BOOST_AUTO_TEST_CASE(AUnitOfAnotherKindIsRefused) {
  const auto error = [](const std::string& unit, const std::string& more = kRun) {
    return ErrorOf(RowWith("u", "value: 8, unit: " + unit + ", " + more));
  };
  BOOST_TEST(error("us") == "");
  for (const std::string unit : {"GB/s", "M msg/s", "cycles", "usec"}) {
    BOOST_TEST(error(unit) == "u.unit: '" + unit +
                                  "' is no unit of what is measured, which is in us; "
                                  "use ns, us, ms or s");
  }
  const std::string runs = std::string("runs: {a: {") + kRun + "}, b: {" + kRun +
                           ", set: {workload.payload: 10 B}}}, value_of: ";
  BOOST_TEST(error("us", runs + "b / a") == "u.unit: 'us' is no unit of b / a; leave it out");
  BOOST_TEST(error("'%'", runs + "b / a") ==
             "u.unit: b / a is no percentage; use share(a, b), or leave it out");
  BOOST_TEST(error("'%'", runs + "'share(b, a)'") == "");
}

BOOST_AUTO_TEST_CASE(AValueThatNothingCanBeHeldAgainstIsRefused) {
  const auto error = [](const std::string& value, const std::string& more = kRun) {
    return ErrorOf(RowWith("v", "value: " + value + ", " + more));
  };
  BOOST_TEST(error("[9, 7]") ==
             "v.value: [9, 7] begins with its larger end; "
             "give [7, 9], if that is what was published");
  BOOST_TEST(error("4, value_range: [5, 3]").starts_with("v.value_range: [5, 3] begins with"));
  BOOST_TEST(error("4, value_range: [5, 6]") ==
             "v.value_range: does not hold the value 4; give the published spread");
  for (const std::string negative : {"-8", "[-9, -8]"}) {
    BOOST_TEST(error(negative).ends_with(
        "is negative, and issue_latency never is; give what was measured"));
  }
  for (const std::string zero : {"0", "[0, 0]", "0, value_range: [0, 0]"}) {
    BOOST_TEST(error(zero) ==
               "v.value: is zero, and nothing is relative to that; give a range, such as [0, 0.1]");
  }
  BOOST_TEST(error("[0, 9]") == "");
  BOOST_TEST(error("0, value_range: [0, 9]") == "");
  const std::string runs = std::string("runs: {a: {") + kRun + "}, b: {" + kRun +
                           ", set: {workload.payload: 10 B}}}, value_of: ";
  BOOST_TEST(error("-2", runs + "a - b") == "");
}

BOOST_AUTO_TEST_CASE(ARangeThatEndsAtZeroHasAFiniteError) {
  const Judged judged =
      JudgeText(RowWith("r", std::string("value: [0, 4], ") + kRun) +
                RowWith("d", std::string("value: [-9, 0], value_of: a - b, runs: {a: {") + kRun +
                                 "}, b: {" + kRun + ", set: {workload.payload: 2 B}}}"));
  BOOST_TEST(judged.verdicts[0].relative_error.value() == 1.0);
  BOOST_TEST(judged.verdicts[1].relative_error.value() == 6.0 / 9);
  for (const Verdict& verdict : judged.verdicts) BOOST_TEST((verdict.status == Status::kMiss));
}

BOOST_AUTO_TEST_CASE(ARowWhoseExperimentIsNotThereIsNamed) {
  const auto error = [](const std::string& experiment) {
    return ErrorOf(RowWith("e", "value: 8, metric: issue_latency, experiment: " + experiment));
  };
  BOOST_TEST(error("put_latncy") ==
             "e.experiment: there is no experiment put_latncy; did you mean put_latency?");
  BOOST_TEST(error("nowhere/x.yaml") ==
             "e.experiment: there is no file nowhere/x.yaml; "
             "name a file that is there, or one of configs/experiments");
  BOOST_TEST(ErrorOf(RowWith("e",
                             "value: 8, value_of: a / 2, runs: {a: {experiment: put_latncy, "
                             "metric: issue_latency}}")) ==
             "e.experiment: there is no experiment put_latncy; did you mean put_latency?");
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
