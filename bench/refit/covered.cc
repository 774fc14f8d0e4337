#include "bench/refit/covered.h"

#include <regex>

namespace ringpost::bench {

std::vector<tools::Verdict> JudgeCovered(const Plan& plan,
                                         const std::vector<tools::FigureRow>& rows,
                                         const tools::Runner& runner) {
  const std::regex covers(plan.covers);
  tools::Runs runs(runner);
  std::vector<tools::Verdict> verdicts;
  for (const tools::FigureRow& row : rows) {
    if (std::regex_search(row.id, covers)) verdicts.push_back(tools::Judge(row, runs));
  }
  tools::MarkCounted(verdicts);
  return verdicts;
}

}  // namespace ringpost::bench
