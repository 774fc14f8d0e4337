// figure_report.h: verdicts as a table for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include "tools/ringpost/verdict.h"

namespace ringpost::tools {

struct Summary {
  int hit = 0;  // counted rows
  int miss = 0;
  int shown = 0;  // rows that are not counted
  int uncovered = 0;
  int fitted_parameters = 0;  // of the platforms that took part
};

Summary Summarize(const std::vector<Verdict>& verdicts);

std::string FigureTable(const std::vector<Verdict>& verdicts, uint64_t seed);
std::string FigureJson(const std::vector<Verdict>& verdicts, uint64_t seed);

// "0.7031 us", "260.1 M msg/s".
std::string ValueText(double value, const std::string& unit);

}  // namespace ringpost::tools
