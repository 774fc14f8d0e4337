// The rules of docs/fidelity.md, held against the files of configs/.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <set>

#include "configs/schema/platform_loader.h"
#include "configs/schema/root.h"
#include "tools/ringpost/fit/covered.h"
#include "tools/ringpost/fit/plan.h"

namespace ringpost::tools {
namespace {

using sim::Provenance;

const std::vector<std::string> kPlatforms = {"p_ib", "p_gb200"};

FitPlan ThePlan() { return ReadFitPlan(config::FindRoot() + "/configs/fit.yaml"); }

std::vector<FigureRow> Rows() {
  return ReadFigures(config::FindRoot() + "/configs/reference/figures.yaml");
}

// Which rows count depends on their settings alone, so nothing needs to run.
std::vector<Verdict> Counted() {
  const Runner nothing = [](const config::Config&, const sim::Platform&) {
    workloads::RunResult result;
    for (const char* name : {"issue_latency", "put_completion_latency", "doorbell_to_cqe",
                             "round_trip_p50", "message_rate", "message_rate_per_qp"}) {
      result.metrics.push_back({name, 1, ""});
    }
    return result;
  };
  std::vector<Verdict> verdicts = JudgeCovered(ThePlan(), Rows(), nothing);
  std::erase_if(verdicts, [](const Verdict& verdict) { return !verdict.counted; });
  return verdicts;
}

std::set<std::string> RowsIn(const std::string& source) {
  std::set<std::string> rows;
  std::string word;
  for (const char c : source + ",") {
    if (c == ',' || c == ' ') {
      if (!word.empty()) rows.insert(word);
      word.clear();
    } else {
      word += c;
    }
  }
  return rows;
}

// The rows that fix each fitted parameter: "p_ib gpu.wqe_build".
std::map<std::string, std::set<std::string>> Fitted() {
  std::map<std::string, std::set<std::string>> fitted;
  const sim::Platform base = config::LoadPlatform(kPlatforms[0]);
  for (const std::string& name : kPlatforms) {
    const sim::Platform platform = config::LoadPlatform(name);
    for (const sim::ParameterInfo& info : sim::Parameters()) {
      const sim::Parameter& parameter = platform.*(info.member);
      const bool inherited =
          name != kPlatforms[0] && parameter.source == (base.*(info.member)).source;
      if (parameter.provenance != Provenance::kFitted || inherited) continue;
      fitted[name + " " + info.key] = RowsIn(parameter.source);
    }
  }
  return fitted;
}

// Parameters that a move holds together are one number.
BOOST_AUTO_TEST_CASE(AtMostTwentyNumbersAreFittedOverBothPlatforms) {
  size_t numbers = 0;
  for (const FitStage& stage : ThePlan().stages) numbers += stage.moves.size();
  BOOST_TEST(numbers <= 20u);
}

BOOST_AUTO_TEST_CASE(EveryFittedParameterNamesRowsThatAreFittedOn) {
  std::map<std::string, std::string> roles;
  for (const FigureRow& row : Rows()) roles[row.id] = row.role;
  for (const auto& [parameter, rows] : Fitted()) {
    BOOST_TEST_CONTEXT(parameter) {
      BOOST_TEST(!rows.empty());
      for (const std::string& row : rows) BOOST_TEST(roles[row] == "fitted_on", row);
    }
  }
}

BOOST_AUTO_TEST_CASE(TheFittedParametersAreThoseOfThePlan) {
  std::map<std::string, std::set<std::string>> planned;
  for (const FitStage& stage : ThePlan().stages) {
    for (const Move& move : stage.moves) {
      for (const std::string& key : move.parameters) {
        planned[move.platform + " " + key] = {stage.rows.begin(), stage.rows.end()};
      }
    }
  }
  BOOST_TEST((planned == Fitted()));
}

BOOST_AUTO_TEST_CASE(ARowIsFittedOnExactlyWhenAParameterNamesIt) {
  std::set<std::string> named;
  for (const auto& [parameter, rows] : Fitted()) named.insert(rows.begin(), rows.end());
  for (const Verdict& verdict : Counted()) {
    const bool fitted_on = verdict.row.role == "fitted_on";
    BOOST_TEST(fitted_on == named.contains(verdict.row.id), verdict.row.id);
  }
}

// P-H100 is fitted by hand, to rows of its own, and moves nothing of P-IB but these.
BOOST_AUTO_TEST_CASE(FittedParametersOfManyConnectionsNameRowsThatAreFittedOn) {
  std::map<std::string, tools::FigureRow> rows;
  for (const tools::FigureRow& row : Rows()) rows[row.id] = row;
  std::vector<sim::ParameterInfo> parameters = sim::Parameters();
  const auto& shared = sim::SharedEngineParameters();
  parameters.insert(parameters.end(), shared.begin(), shared.end());
  const sim::Platform base = config::LoadPlatform(kPlatforms[0]);
  const sim::Platform platform = config::LoadPlatform("p_h100");
  int fitted = 0;
  for (const sim::ParameterInfo& info : parameters) {
    const sim::Parameter& parameter = platform.*(info.member);
    if (parameter.provenance != Provenance::kFitted) continue;
    if (parameter.source == (base.*(info.member)).source) continue;
    ++fitted;
    for (const std::string& id : RowsIn(parameter.source)) {
      BOOST_TEST(rows[id].platform == "P-H100", info.key << " " << id);
      BOOST_TEST(rows[id].role == "fitted_on", info.key << " " << id);
    }
  }
  BOOST_TEST(fitted <= 8);
}

// P-RoCE too; its GPU is that of P-GB200.
BOOST_AUTO_TEST_CASE(FittedParametersOfTheClockSweepNameRowsThatAreFittedOn) {
  std::map<std::string, tools::FigureRow> rows;
  for (const tools::FigureRow& row : Rows()) rows[row.id] = row;
  const sim::Platform base = config::LoadPlatform(kPlatforms[0]);
  const sim::Platform gpu = config::LoadPlatform(kPlatforms[1]);
  const sim::Platform platform = config::LoadPlatform("p_roce");
  size_t fitted = 0;
  size_t covered = 0;
  for (const auto& [id, row] : rows) covered += row.platform == "P-RoCE" && !row.runs.empty();
  for (const sim::ParameterInfo& info : sim::Parameters()) {
    const sim::Parameter& parameter = platform.*(info.member);
    if (parameter.provenance != Provenance::kFitted) continue;
    if (parameter.source == (base.*(info.member)).source) continue;
    const sim::Parameter& same = gpu.*(info.member);
    const bool shared = parameter.cycles == same.cycles && parameter.ns == same.ns;
    if (!shared) ++fitted;
    for (const std::string& id : RowsIn(parameter.source)) {
      BOOST_TEST((shared || rows[id].platform == "P-RoCE"), info.key << " " << id);
      BOOST_TEST(rows[id].role == "fitted_on", info.key << " " << id);
    }
  }
  BOOST_TEST(4 * fitted < covered);
}

BOOST_AUTO_TEST_CASE(RowsWithTheSameMeasurementHaveTheSameRole) {
  std::map<std::string, std::string> roles;
  const Runner nothing = [](const config::Config&, const sim::Platform&) {
    return workloads::RunResult{};
  };
  for (const Verdict& verdict : JudgeCovered(ThePlan(), Rows(), nothing)) {
    const auto [entry, is_new] = roles.try_emplace(verdict.measurement, verdict.row.role);
    BOOST_TEST(entry->second == verdict.row.role, verdict.row.id);
  }
}

BOOST_AUTO_TEST_CASE(AtLeastHalfOfTheCountedRowsArePredicted) {
  const std::vector<Verdict> counted = Counted();
  const auto predicted = std::count_if(counted.begin(), counted.end(), [](const auto& verdict) {
    return verdict.row.role == "predicted";
  });
  BOOST_TEST(counted.size() >= 38u);
  BOOST_TEST(2 * static_cast<size_t>(predicted) >= counted.size());
}

BOOST_AUTO_TEST_CASE(TheSecondPlatformDiffersInPathsLoadClockFencesAndLinkAlone) {
  const sim::Platform a = config::LoadPlatform(kPlatforms[0]);
  const sim::Platform b = config::LoadPlatform(kPlatforms[1]);
  for (const sim::ParameterInfo& info : sim::Parameters()) {
    const std::string key = info.key;
    const bool may = key.starts_with("path.") || key.starts_with("link.") ||
                     key.starts_with("gpu.fence_") || key == "gpu.load_gpu" ||
                     key == "gpu.sm_clock" || key == "gpu.sms_count" ||
                     key == "gpu.memory_bandwidth";
    const sim::Parameter& x = a.*(info.member);
    const sim::Parameter& y = b.*(info.member);
    const bool same = x.cycles == y.cycles && x.ns == y.ns && x.value == y.value;
    BOOST_TEST((same || may), key);
  }
}

// Twice the value, or 1 ns where it is zero.
BOOST_AUTO_TEST_CASE(NoRowDependsOnWhatIsAssumed) {
  const Runner moved = [](const config::Config& config, const sim::Platform& platform) {
    sim::Platform other = platform;
    for (const sim::ParameterInfo& info : sim::Parameters()) {
      sim::Parameter& parameter = other.*(info.member);
      if (parameter.provenance != Provenance::kAssumed) continue;
      const bool is_zero = parameter.cycles == 0 && parameter.ns == 0 && parameter.value == 0;
      if (is_zero) parameter.ns = 1;
      parameter.cycles *= 2;
      if (!is_zero) parameter.ns *= 2;
      parameter.value *= 2;
    }
    return workloads::Run(config, other, {});
  };
  for (const FigureRow& row : Rows()) {
    const std::set<std::string> some = {"mini_gda_inline_putc_pib",    "mini_gda_inline_rtt_gb200",
                                        "mini_gda_noninline_putc_pib", "rate_1t_1qp_b16",
                                        "rate_64t_64qp_64sm_b16",      "rate_8warp_1qp_coop"};
    if (!some.contains(row.id)) continue;
    Runs as_is(RealRunner());
    Runs with_moved(moved);
    const double before = Judge(row, as_is).simulated.value();
    const double after = Judge(row, with_moved).simulated.value();
    BOOST_TEST(std::abs(after / before - 1) < 0.01, row.id << ": " << before << " " << after);
  }
}

}  // namespace
}  // namespace ringpost::tools
