// covered.h: the rows that a plan answers for, judged.
#pragma once

#include <vector>

#include "bench/refit/plan.h"
#include "tools/ringpost/verdict.h"

namespace ringpost::bench {

// In the order of the file, with those that count marked. Throws config::ConfigError.
std::vector<tools::Verdict> JudgeCovered(const Plan& plan,
                                         const std::vector<tools::FigureRow>& rows,
                                         const tools::Runner& runner);

}  // namespace ringpost::bench
