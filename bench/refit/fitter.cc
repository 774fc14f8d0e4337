#include "bench/refit/fitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlopt.hpp>
#include <stdexcept>

#include "configs/schema/platform_loader.h"
#include "tools/ringpost/experiment.h"
#include "tools/ringpost/verdict.h"

namespace ringpost::bench {
namespace {

sim::Parameter& ParameterOf(sim::Platform& platform, const std::string& key) {
  for (const sim::ParameterInfo& info : sim::Parameters()) {
    if (key == info.key) return platform.*(info.member);
  }
  throw std::logic_error("no parameter " + key);  // the plan's reader has looked
}

bool Same(const sim::Parameter& a, const sim::Parameter& b) {
  return a.cycles == b.cycles && a.ns == b.ns && a.value == b.value && a.source == b.source;
}

// Four digits: what a file holds.
double Rounded(double value) { return std::stod(fmt::format("{:.4g}", value)); }

struct Objective {
  std::function<double(const std::vector<double>&)> loss;
  static double Call(const std::vector<double>& x, std::vector<double>&, void* self) {
    return static_cast<Objective*>(self)->loss(x);
  }
};

struct Search {
  nlopt::algorithm algorithm;
  uint32_t evaluations;  // at most, times the square of the numbers that are moved
  double step;           // first step and precision: 0.1 is about 10 % of a number
  double precision;
};

// What phases leave of the staircase would trap a simplex; a quadratic model looks past it.
std::vector<Search> SearchesFor(const Stage& stage) {
  if (stage.phases > 1) {
    return {{nlopt::LN_BOBYQA, 10, 0.3, 3e-3}, {nlopt::LN_BOBYQA, 5, 0.08, 1e-3}};
  }
  return {{nlopt::GN_DIRECT_L, 15, 0.3, 1e-3}, {nlopt::LN_SBPLX, 25, 0.05, 1e-4}};
}

}  // namespace

Fitter::Fitter(Plan plan, std::vector<tools::FigureRow> rows) : plan_(std::move(plan)) {
  for (tools::FigureRow& row : rows) rows_.emplace(row.id, row);
  for (const Stage& stage : plan_.stages) {
    for (const std::string& id : stage.rows) {
      const std::string platform = tools::PlatformOf(RowOf(id, stage.position));
      platforms_.try_emplace(platform, config::LoadPlatform(platform));
    }
    for (const Move& move : stage.moves) {
      platforms_.try_emplace(move.platform, config::LoadPlatform(move.platform));
    }
  }
  for (auto& [name, platform] : platforms_) {
    for (auto& [other_name, other] : platforms_) {
      for (const sim::ParameterInfo& info : sim::Parameters()) {
        if (!Same(platform.*(info.member), other.*(info.member))) continue;
        heirs_[name + " " + info.key].push_back(other_name);
      }
    }
  }
}

const tools::FigureRow& Fitter::RowOf(const std::string& id,
                                      const config::Position& position) const {
  const auto found = rows_.find(id);
  if (found == rows_.end()) {
    throw config::ConfigError(position, id, {"is no row of the figures", "name one"});
  }
  return found->second;
}

void Fitter::Set(const Move& move, double value) {
  for (const std::string& key : move.parameters) {
    for (const std::string& name : heirs_[move.platform + " " + key]) {
      sim::Parameter& parameter = ParameterOf(platforms_.at(name), key);
      parameter.cycles = move.in_cycles ? value : 0;
      parameter.ns = move.in_cycles ? 0 : value;
    }
  }
}

double Fitter::RelativeError(const std::string& row, uint32_t phases) const {
  double sum = 0;
  for (uint32_t i = 0; i < phases; ++i) sum += ErrorAt(row, (i + 0.5) / phases - 0.5);
  return sum / phases;
}

// `phase`: by how much of a polling turn the doorbell comes late.
double Fitter::ErrorAt(const std::string& row, double phase) const {
  tools::Runs runs([this, phase](const config::Config& config, const sim::Platform& platform) {
    const auto fitted = platforms_.find(config.platform);
    sim::Platform moved = fitted == platforms_.end() ? platform : fitted->second;
    const double mhz = moved.sm_clock.value;
    const sim::Duration turn = TimeOf(moved.load_gpu, mhz) + TimeOf(moved.spin, mhz);
    moved.doorbell_delivery.ns += phase * static_cast<double>(turn.ps) / 1000;
    return workloads::Run(config, moved, {});
  });
  const tools::Verdict verdict = tools::Judge(rows_.at(row), runs);
  if (!verdict.relative_error) throw std::runtime_error(row + ": " + verdict.reason);
  return *verdict.relative_error;
}

double Fitter::Loss(const Stage& stage, const std::vector<std::string>& rows,
                    const Numbers& numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) Set(stage.moves[i], std::exp(numbers[i]));
  double sum = 0;
  for (const std::string& row : rows) sum += std::pow(RelativeError(row, stage.phases), 2);
  return sum;
}

Fitter::Numbers Fitter::FitStage(const Stage& stage, const std::vector<std::string>& rows) {
  const size_t count = stage.moves.size();
  Numbers low, high, x;
  for (const Move& move : stage.moves) {
    low.push_back(std::log(move.from));
    high.push_back(std::log(move.to));
    x.push_back((low.back() + high.back()) / 2);
  }
  Objective objective{[&](const Numbers& at) { return Loss(stage, rows, at); }};
  double loss = 0;
  for (const Search& search : SearchesFor(stage)) {
    nlopt::opt optimiser(search.algorithm, static_cast<unsigned>(count));
    optimiser.set_lower_bounds(low);
    optimiser.set_upper_bounds(high);
    optimiser.set_min_objective(&Objective::Call, &objective);
    optimiser.set_maxeval(static_cast<int>(search.evaluations * count * count));
    optimiser.set_stopval(1e-8);
    optimiser.set_xtol_abs(search.precision);
    optimiser.set_initial_step(Numbers(count, search.step));
    optimiser.optimize(x, loss);
  }
  for (size_t i = 0; i < count; ++i) {
    x[i] = Rounded(std::exp(x[i]));
    Set(stage.moves[i], x[i]);
  }
  return x;
}

// Refits without each row in turn, and looks how far that row then is from where it was.
void Fitter::LeaveOneOut(const Stage& stage, const Numbers& fitted,
                         std::vector<FittedNumber>& result) {
  for (const std::string& row : stage.rows) {
    const double before = RelativeError(row, stage.phases);
    std::vector<std::string> others = stage.rows;
    std::erase(others, row);
    FitStage(stage, others);
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

std::vector<FittedNumber> Fitter::FitAll() {
  std::vector<FittedNumber> result;
  for (const Stage& stage : plan_.stages) {
    const Numbers fitted = FitStage(stage, stage.rows);
    // A difference of other rows weighs in, but fixes nothing that they do not.
    const auto own = std::count_if(stage.rows.begin(), stage.rows.end(), [this](const auto& id) {
      return rows_.at(id).value_of.empty() || rows_.at(id).sweep;
    });
    const bool exact = stage.moves.size() == static_cast<size_t>(own);
    for (size_t i = 0; i < fitted.size(); ++i) {
      result.push_back({stage.moves[i], fitted[i], stage.rows, exact, 0, ""});
    }
    if (!exact) LeaveOneOut(stage, fitted, result);
  }
  return result;
}

}  // namespace ringpost::bench
