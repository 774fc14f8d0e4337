// fitter.h: moves the parameters of one stage so that the rows that fix them are met.
//
// The sum of the squared relative errors is minimised over the logarithms of the numbers, by NLopt:
// DIRECT-L over the whole range, then Subplex from the best point. All is deterministic, as the
// simulator is: the same plan and files give the same numbers.
//
// Who polls sees a change at the next turn, so that a latency is a staircase in what it is made of.
// A stage with `phases: n` takes the mean over n doorbells that reach the NIC at different phases
// of a turn, as those of a real machine do; BOBYQA starts from the middle of the range.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/refit/plan.h"
#include "sim/cost/platform.h"
#include "tools/ringpost/figures.h"

namespace ringpost::bench {

// One number that was fitted, and what leaving out one of its rows does.
struct FittedNumber {
  Move move;
  double value = 0;
  std::vector<std::string> rows;
  bool exact = false;       // as many numbers as rows: nothing to leave out
  double row_movement = 0;  // largest relative change of a left-out row's simulated value
  std::string moved_row;
};

class Fitter {
 public:
  // Throws config::ConfigError for a row that is not there.
  Fitter(Plan plan, std::vector<tools::FigureRow> rows);

  std::vector<FittedNumber> FitAll();

  // With everything fitted so far; 0.1 is 10 %.
  double RelativeError(const std::string& row, uint32_t phases) const;

 private:
  using Numbers = std::vector<double>;

  const tools::FigureRow& RowOf(const std::string& id, const config::Position& position) const;
  void Set(const Move& move, double value);
  double ErrorAt(const std::string& row, double phase) const;
  Numbers FitStage(const Stage& stage, const std::vector<std::string>& rows);
  double Loss(const Stage& stage, const std::vector<std::string>& rows, const Numbers& numbers);
  void LeaveOneOut(const Stage& stage, const Numbers& fitted, std::vector<FittedNumber>& result);

  Plan plan_;
  std::map<std::string, tools::FigureRow> rows_;
  std::map<std::string, sim::Platform> platforms_;
  std::map<std::string, std::vector<std::string>> heirs_;  // "p_ib gpu.load_gpu": who shares it
};

}  // namespace ringpost::bench
