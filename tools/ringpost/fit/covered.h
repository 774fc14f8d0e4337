// covered.h: the rows that a plan answers for, judged.
#pragma once

#include <vector>

#include "tools/ringpost/fit/plan.h"
#include "tools/ringpost/verdict.h"

namespace ringpost::tools {

// In the order of the file, with those that count marked. Throws config::ConfigError.
std::vector<Verdict> JudgeCovered(const FitPlan& plan, const std::vector<FigureRow>& rows,
                                  const Runner& runner);

}  // namespace ringpost::tools
