// report.h: the curves of a sweep as pictures, and as one page that needs nothing else.
#pragma once

#include <string>
#include <vector>

#include "tools/ringpost/sweep/plan.h"
#include "tools/ringpost/sweep/row.h"

namespace ringpost::tools {

// Writes plots.gp, METRIC.svg and report.html. Empty, or why some of them are not there. Throws
// std::runtime_error where a file cannot be written.
std::string WriteReport(const std::string& folder, const std::string& identity, const Plan& plan,
                        const std::vector<Row>& rows);

}  // namespace ringpost::tools
