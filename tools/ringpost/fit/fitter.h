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

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "configs/schema/platform_loader.h"
#include "sim/cost/platform.h"
#include "tools/ringpost/figures.h"
#include "tools/ringpost/fit/plan.h"
#include "tools/ringpost/verdict.h"

namespace ringpost::tools {

// One number that was fitted, and what leaving out one of its rows does.
struct FittedNumber {
  Move move;
  double value = 0;
  std::vector<std::string> rows;
  bool exact = false;  // as many numbers as rows: nothing to leave out
  // At the lower (-1) or upper (1) bound, to which the rows may have pushed it; else 0.
  int at_bound = 0;
  double row_movement = 0;  // largest relative change of a left-out row's simulated value
  std::string moved_row;
};

// A row that a stage is fitted on, with everything fitted.
struct Residual {
  std::string row;
  double published = 0;
  double simulated = 0;
  std::string unit;
  double error = 0;  // relative: 0.1 is 10 %
};

class Fitter {
 public:
  // Throws config::ConfigError for a row that is not there.
  Fitter(FitPlan plan, std::vector<FigureRow> rows);

  // `next` is told what is done, for a line of progress. Throws config::ConfigError for a row that
  // has no number or does not run, and for a number that no row of its stage depends on.
  std::vector<FittedNumber> FitAll(const std::function<void(const std::string&)>& next = {});

  // Of the rows of all stages, each once.
  std::vector<Residual> Residuals() const;

 private:
  using Numbers = std::vector<double>;

  const FigureRow& RowOf(const std::string& id, const config::Position& position) const;
  void AddPlatform(const std::string& name);
  bool HasFrom(const std::string& platform, const std::string& holder,
               const std::string& key) const;
  void CheckRows(const FitStage& stage) const;
  void CheckMoves(const FitStage& stage);
  void Set(const Move& move, double value);
  Verdict JudgeAt(const std::string& row, double phase) const;
  // With everything fitted so far; 0.1 is 10 %.
  double RelativeError(const std::string& row, uint32_t phases) const;
  Numbers Fit(const FitStage& stage, const std::vector<std::string>& rows);
  double Loss(const FitStage& stage, const std::vector<std::string>& rows, const Numbers& numbers);
  void LeaveOneOut(const FitStage& stage, const Numbers& fitted, std::vector<FittedNumber>& result);

  FitPlan plan_;
  std::map<std::string, FigureRow> rows_;
  std::map<std::string, sim::Platform> platforms_;
  // Of those and their bases; what the plan moves counts as a platform's own.
  std::map<std::string, config::PlatformSource> sources_;
};

}  // namespace ringpost::tools
