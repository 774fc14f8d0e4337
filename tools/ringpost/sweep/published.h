// published.h: published values beside the curves of a sweep.
#pragma once

#include <vector>

#include "tools/ringpost/sweep/plan.h"
#include "tools/ringpost/sweep/plots.h"
#include "tools/ringpost/sweep/row.h"

namespace ringpost::tools {

// Adds to each plot the rows of configs/reference/figures.yaml that are one run of a configuration
// that a point of the plot has, but for seed and count of operations.
void AddPublished(const Plan& plan, const std::vector<SweepPoint>& points,
                  const std::vector<Row>& rows, std::vector<Plot>& plots);

}  // namespace ringpost::tools
