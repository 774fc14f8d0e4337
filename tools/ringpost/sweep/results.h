// results.h: the files of a sweep: results.csv, and points.jsonl, from which it goes on.
//
// points.jsonl has a line for each point that is done, in the order in which they were; its first
// line says which sweep it is. results.csv has a row for each point in the order of points, up to
// the first that is not done yet; at the end it is the same however many processes ran it.
// A process that is killed loses the points in flight: what it leaves of a line without an end is
// dropped by the next one, which writes results.csv anew from points.jsonl.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/ringpost/sweep/row.h"

namespace ringpost::tools {

enum class Existing : uint8_t { kRefuse, kResume, kReplace };

class Results final {
 public:
  // `identity` is one line that another sweep does not have; of what is resumed, rows that are none
  // of `points` are dropped. Throws config::ConfigError when the folder cannot be written to,
  // another process writes there, or there are results that `existing` does not allow; nothing is
  // changed then.
  Results(const std::string& folder, const std::string& identity,
          std::vector<std::string> cell_names, const std::vector<SweepPoint>& points,
          Existing existing);
  ~Results();
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  // Whether the point is done. One that failed before is not.
  bool Has(uint64_t point) const;

  // Writes the row to points.jsonl, and to results.csv all whose turn it is. Throws
  // std::runtime_error when they cannot be written.
  void Add(const Row& row);

  const std::map<uint64_t, Row>& rows() const { return rows_; }

 private:
  void Lock();
  void ReadPoints(const std::vector<SweepPoint>& points);
  void WriteAll();
  bool TakeColumns(const Row& row);
  // Of cells or their names, those whose name no earlier one has.
  std::vector<std::string> Once(const std::vector<std::string>& cells) const;
  std::string LineOf(const Row& row) const;
  std::string Heading() const;

  const std::string folder_;
  const std::string identity_;
  const std::vector<std::string> cell_names_;
  std::vector<Measure> columns_;  // names and units
  std::map<uint64_t, Row> rows_;
  uint64_t written_ = 0;  // rows in results.csv
  int lock_ = -1;
  int points_ = -1;
  int csv_ = -1;
};

}  // namespace ringpost::tools
