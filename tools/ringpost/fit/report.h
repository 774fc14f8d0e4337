// report.h: what a fit has found, as tables, and back into the files it came from.
#pragma once

#include <string>
#include <vector>

#include "tools/ringpost/fit/fitter.h"
#include "tools/ringpost/verdict.h"

namespace ringpost::tools {

// For people: the numbers, and how far from each row they leave the simulator.
std::string FitSummary(const std::vector<FittedNumber>& numbers,
                       const std::vector<Residual>& residuals);

// A platform file: that of the numbers, which are all of one, with them in it.
std::string FragmentOf(const std::vector<FittedNumber>& numbers,
                       const std::vector<Residual>& residuals);

// Markdown tables.
std::string NumberTable(const std::vector<FittedNumber>& numbers);
std::string RowTable(const std::vector<Verdict>& verdicts);
// Of the counted rows: how many are predicted, and how many of those hit.
std::string RowSummary(const std::vector<Verdict>& verdicts);

// The text of a platform file with these numbers in it; comments and everything else stay. Throws
// std::runtime_error for a parameter that the file does not have.
std::string WithNumbers(std::string text, const std::string& platform,
                        const std::vector<FittedNumber>& numbers);

// The document with what stands between "<!-- fit: NAME -->" and "<!-- fit: end -->" replaced.
// Throws std::runtime_error when it has no such place.
std::string WithSection(const std::string& document, const std::string& name,
                        const std::string& text);

}  // namespace ringpost::tools
