#include "tools/ringpost/fit/fitter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "configs/schema/platform_loader.h"
#include "configs/schema/root.h"
#include "configs/schema/yaml_file.h"
#include "tools/ringpost/experiment.h"
#include "tools/ringpost/fit/minimise.h"
#include "tools/ringpost/verdict.h"

namespace ringpost::tools {
namespace {

sim::Parameter& ParameterOf(sim::Platform& platform, const std::string& key) {
  for (const auto* infos : {&sim::Parameters(), &sim::SharedEngineParameters()}) {
    for (const sim::ParameterInfo& info : *infos) {
      if (key == info.key) return platform.*(info.member);
    }
  }
  throw std::logic_error("no parameter " + key);  // the plan's reader has looked
}

// Four digits: what a file holds.
double Rounded(double value) { return std::stod(fmt::format("{:.4g}", value)); }

// Which bound a number is at, within what the search can tell.
int BoundOf(const Move& move, double value) {
  constexpr double kNear = 0.002;
  if (value <= move.from * (1 + kNear)) return -1;
  return value >= move.to * (1 - kNear) ? 1 : 0;
}

// What phases leave of the staircase would trap a simplex; a quadratic model looks past it. More
// numbers take more looks.
std::vector<Search> SearchesFor(const FitStage& stage) {
  const auto squared = static_cast<uint32_t>(stage.moves.size() * stage.moves.size());
  if (stage.phases > 1) {
    return {{Method::kBobyqa, 10 * squared, 0.3, 3e-3}, {Method::kBobyqa, 5 * squared, 0.08, 1e-3}};
  }
  return {{Method::kDirect, 15 * squared, 0.3, 1e-3}, {Method::kSubplex, 25 * squared, 0.05, 1e-4}};
}

}  // namespace

Fitter::Fitter(FitPlan plan, std::vector<FigureRow> rows) : plan_(std::move(plan)) {
  for (FigureRow& row : rows) rows_.emplace(row.id, row);
  for (const FitStage& stage : plan_.stages) {
    for (const std::string& id : stage.rows) {
      AddPlatform(PlatformOf(RowOf(id, stage.position)));
    }
    for (const Move& move : stage.moves) {
      AddPlatform(move.platform);
      for (const std::string& key : move.parameters) sources_[move.platform].own.insert(key);
    }
  }
}

// With the sources of its bases.
void Fitter::AddPlatform(const std::string& name) {
  platforms_.try_emplace(name, config::LoadPlatform(name));
  for (std::string next = name; !next.empty(); next = sources_[next].base) {
    const auto [source, is_new] = sources_.try_emplace(next);
    if (is_new) source->second = config::SourceOf(next);
  }
}

// Whether `platform` has its number from `holder`: it is that one, or nothing between them has a
// number of its own, in its file or by this plan.
bool Fitter::HasFrom(const std::string& platform, const std::string& holder,
                     const std::string& key) const {
  std::string name = platform;
  while (name != holder) {
    const config::PlatformSource& source = sources_.at(name);
    if (source.base.empty() || source.own.contains(key)) return false;
    name = source.base;
  }
  return true;
}

const FigureRow& Fitter::RowOf(const std::string& id, const config::Position& position) const {
  const auto found = rows_.find(id);
  if (found == rows_.end()) {
    throw config::ConfigError(position, id, {"is no row of the figures", "name one"});
  }
  const FigureRow& row = found->second;
  if (access(config::PlatformPath(PlatformOf(row)).c_str(), R_OK) != 0) {
    throw config::ConfigError(row.position, row.id + ".platform",
                              {"there is no platform file for " + row.platform,
                               config::Suggestion(PlatformOf(row), config::PlatformNames())});
  }
  return row;
}

void Fitter::Set(const Move& move, double value) {
  for (const std::string& key : move.parameters) {
    for (auto& [name, platform] : platforms_) {
      if (!HasFrom(name, move.platform, key)) continue;
      sim::Parameter& parameter = ParameterOf(platform, key);
      parameter.cycles = move.in_cycles ? value : 0;
      parameter.ns = move.in_cycles ? 0 : value;
    }
  }
}

double Fitter::RelativeError(const std::string& row, uint32_t phases) const {
  double sum = 0;
  for (uint32_t i = 0; i < phases; ++i) {
    const Verdict verdict = JudgeAt(row, (i + 0.5) / phases - 0.5);
    if (!verdict.relative_error) throw std::runtime_error(row + ": " + verdict.reason);
    sum += *verdict.relative_error;
  }
  return sum / phases;
}

// `phase`: by how much of a polling turn the doorbell comes late.
Verdict Fitter::JudgeAt(const std::string& row, double phase) const {
  Runs runs([this, phase](const config::Config& config, const sim::Platform& platform) {
    const auto fitted = platforms_.find(config.platform);
    sim::Platform moved = fitted == platforms_.end() ? platform : fitted->second;
    const double mhz = moved.sm_clock.value;
    const sim::Duration turn = TimeOf(moved.load_gpu, mhz) + TimeOf(moved.spin, mhz);
    moved.doorbell_delivery.ns += phase * static_cast<double>(turn.ps) / 1000;
    return workloads::Run(config, moved, {});
  });
  return Judge(rows_.at(row), runs);
}

// What cannot be fitted to is named before anything is.
void Fitter::CheckRows(const FitStage& stage) const {
  std::map<std::string, std::string> by_measurement;
  std::string repeated;
  for (const std::string& row : stage.rows) {
    if (!rows_.at(row).value && rows_.at(row).low) {
      throw config::ConfigError(stage.position, row,
                                {"is a range, and gives no number to fit to",
                                 "give it a value, and the range as value_range"});
    }
    const Verdict verdict = JudgeAt(row, 0);
    const auto [same, is_new] = by_measurement.emplace(verdict.measurement, row);
    if (!is_new) repeated = fmt::format("{} measures what {} does", row, same->second);
    if (verdict.relative_error) continue;
    std::string why = verdict.reason;
    if (rows_.at(row).value == 0) why = "its value is zero, and nothing is relative to that";
    if (why.empty()) why = "it has a shape and no value";
    throw config::ConfigError(stage.position, row,
                              {"gives no number to fit to: " + why, "leave it out, or mend it"});
  }
  if (by_measurement.size() >= stage.moves.size()) return;
  throw config::ConfigError(
      stage.position, "rows",
      {repeated + ", so that they are fewer than the numbers to move", "give each number a row"});
}

// A number that moves no row would come out as whatever the search began with.
void Fitter::CheckMoves(const FitStage& stage) {
  const std::map<std::string, sim::Platform> before = platforms_;
  for (const Move& move : stage.moves) {
    std::vector<double> errors[2];
    for (const bool upper : {false, true}) {
      Set(move, upper ? move.to : move.from);
      for (const std::string& row : stage.rows) {
        errors[upper].push_back(RelativeError(row, stage.phases));
      }
      platforms_ = before;
    }
    if (errors[0] != errors[1]) continue;
    throw config::ConfigError(move.position, move.parameters[0],
                              {fmt::format("of {} moves none of these rows", move.platform),
                               "leave it out, or add a row that depends on it"});
  }
}

std::vector<Residual> Fitter::Residuals() const {
  std::vector<Residual> residuals;
  std::set<std::string> seen;
  for (const FitStage& stage : plan_.stages) {
    for (const std::string& row : stage.rows) {
      if (!seen.insert(row).second) continue;
      const Verdict verdict = JudgeAt(row, 0);
      const FigureRow& its = rows_.at(row);
      residuals.push_back({row, its.value.value_or(its.low.value_or(0)),
                           verdict.simulated.value_or(0), its.unit,
                           verdict.relative_error.value_or(0)});
    }
  }
  return residuals;
}

double Fitter::Loss(const FitStage& stage, const std::vector<std::string>& rows,
                    const Numbers& numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) Set(stage.moves[i], std::exp(numbers[i]));
  double sum = 0;
  for (const std::string& row : rows) sum += std::pow(RelativeError(row, stage.phases), 2);
  return sum;
}

Fitter::Numbers Fitter::Fit(const FitStage& stage, const std::vector<std::string>& rows) {
  const size_t count = stage.moves.size();
  Numbers low, high, x;
  for (const Move& move : stage.moves) {
    low.push_back(std::log(move.from));
    high.push_back(std::log(move.to));
    x.push_back((low.back() + high.back()) / 2);
  }
  constexpr double kEnough = 1e-8;
  const Task task{[&](const Numbers& at) { return Loss(stage, rows, at); }, low, high, kEnough};
  for (const Search& search : SearchesFor(stage)) Minimise(task, search, x);
  for (size_t i = 0; i < count; ++i) {
    x[i] = Rounded(std::exp(x[i]));
    Set(stage.moves[i], x[i]);
  }
  return x;
}

// Refits without each row in turn, and looks how far that row then is from where it was.
void Fitter::LeaveOneOut(const FitStage& stage, const Numbers& fitted,
                         std::vector<FittedNumber>& result) {
  for (const std::string& row : stage.rows) {
    const double before = RelativeError(row, stage.phases);
    std::vector<std::string> others = stage.rows;
    std::erase(others, row);
    Fit(stage, others);
    const double movement = (1 + RelativeError(row, stage.phases)) / (1 + before) - 1;
    for (size_t i = 0; i < fitted.size(); ++i) {
      Set(stage.moves[i], fitted[i]);
      FittedNumber& number = result[result.size() - fitted.size() + i];
      if (std::abs(movement) < std::abs(number.row_movement)) continue;
      number.row_movement = movement;
      number.moved_row = row;
    }
  }
}

std::vector<FittedNumber> Fitter::FitAll(const std::function<void(const std::string&)>& next) {
  for (const FitStage& stage : plan_.stages) CheckRows(stage);
  std::vector<FittedNumber> result;
  for (const FitStage& stage : plan_.stages) {
    if (next) next(stage.moves[0].platform + " " + stage.moves[0].parameters[0]);
    CheckMoves(stage);
    const Numbers fitted = Fit(stage, stage.rows);
    // A difference of other rows weighs in, but fixes nothing that they do not.
    const auto own = std::count_if(stage.rows.begin(), stage.rows.end(), [this](const auto& id) {
      return rows_.at(id).value_of.empty() || rows_.at(id).sweep;
    });
    const bool exact = stage.moves.size() == static_cast<size_t>(own);
    for (size_t i = 0; i < fitted.size(); ++i) {
      result.push_back({stage.moves[i], fitted[i], stage.rows, exact,
                        BoundOf(stage.moves[i], fitted[i]), 0, ""});
    }
    if (!exact) LeaveOneOut(stage, fitted, result);
  }
  return result;
}

}  // namespace ringpost::tools
