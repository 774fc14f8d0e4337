// report.h: what a fit has found, as tables, and back into the files it came from.
#pragma once

#include <string>
#include <vector>

#include "bench/refit/fitter.h"
#include "tools/ringpost/verdict.h"

namespace ringpost::bench {

// Markdown tables.
std::string NumberTable(const std::vector<FittedNumber>& numbers);
std::string RowTable(const std::vector<tools::Verdict>& verdicts);
// Of the counted rows: how many are predicted, and how many of those hit.
std::string RowSummary(const std::vector<tools::Verdict>& verdicts);

// The text of a platform file with these numbers in it; comments and everything else stay. Throws
// std::runtime_error for a parameter that the file does not have.
std::string WithNumbers(std::string text, const std::string& platform,
                        const std::vector<FittedNumber>& numbers);

// The document with what stands between "<!-- refit: NAME -->" and "<!-- refit: end -->" replaced.
// Throws std::runtime_error when it has no such place.
std::string WithSection(const std::string& document, const std::string& name,
                        const std::string& text);

}  // namespace ringpost::bench
