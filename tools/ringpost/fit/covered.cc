#include "tools/ringpost/fit/covered.h"

#include <regex>

namespace ringpost::tools {

std::vector<Verdict> JudgeCovered(const FitPlan& plan, const std::vector<FigureRow>& rows,
                                  const Runner& runner) {
  const std::regex covers(plan.covers);
  Runs runs(runner);
  std::vector<Verdict> verdicts;
  for (const FigureRow& row : rows) {
    if (std::regex_search(row.id, covers)) verdicts.push_back(Judge(row, runs));
  }
  MarkCounted(verdicts);
  return verdicts;
}

}  // namespace ringpost::tools
