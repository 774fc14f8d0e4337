// row.h: what one point came to, and its line in results.csv.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/ringpost/sweep/plan.h"

namespace ringpost::tools {

struct Measure {
  std::string name;
  std::string value;  // a number, as short as it can be without loss
  std::string unit;
};

struct Row {
  uint64_t point = 0;
  // index, the keys of the plan, seed, backend, source, config_hash, limited_by, violations, error.
  std::vector<std::string> cells;
  std::vector<Measure> measures;  // metrics of the run, then hit rates of its caches

  const std::string& error() const { return cells.back(); }
  const std::string& violations() const { return cells[cells.size() - 2]; }
  const std::string& seed() const { return cells[cells.size() - 7]; }
  const std::string& source() const { return cells[cells.size() - 5]; }
  const std::string& hash() const { return cells[cells.size() - 4]; }
  const std::string& limited_by() const { return cells[cells.size() - 3]; }
};

// "simulated" or "measured".
const char* SourceOf(const SweepPoint& point);

// The names of Row::cells. One may stand there twice: `backend`, where it is an axis.
std::vector<std::string> CellNames(const Plan& plan);

// From what `run --json` wrote; where that is no result of this point, the error says so.
Row RowOf(const SweepPoint& point, const std::string& json);
// Whether it can be of this point: a file may have been edited, or belong to another sweep.
bool IsOf(const Row& row, const SweepPoint& point);
// Of a point that failed.
Row FailedRow(const SweepPoint& point, const std::string& error);

// Fields with commas, quotes and line ends in quotes; ends the line.
std::string CsvLine(const std::vector<std::string>& fields);

// One line of JSON, and back; throws std::runtime_error for any other text.
std::string ToJsonLine(const Row& row);
Row FromJsonLine(const std::string& line);

}  // namespace ringpost::tools
