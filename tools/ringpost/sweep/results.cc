#include "tools/ringpost/sweep/results.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "configs/schema/config_error.h"
#include "tools/ringpost/output_file.h"

namespace ringpost::tools {
namespace {

namespace fs = std::filesystem;

constexpr char kOption[] = "--out";

std::string CsvPath(const std::string& folder) { return folder + "/results.csv"; }
std::string PointsPath(const std::string& folder) { return folder + "/points.jsonl"; }

[[noreturn]] void Refuse(const std::string& wrong, const std::string& right) {
  throw config::ConfigError({"command line", 1, 1}, kOption, {wrong, right});
}

// Whole, in one call where the system can: so a reader does not see half a line.
void Append(int file, const std::string& text, const std::string& path) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t bytes = write(file, text.data() + done, text.size() - done);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) {
      throw std::runtime_error(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
    }
    done += static_cast<size_t>(bytes);
  }
}

int OpenToAppend(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) {
    throw std::runtime_error(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  }
  return file;
}

std::string IdentityJson(const std::string& identity) {
  return nlohmann::json{{"sweep", identity}}.dump();
}

// Empty where there is no file.
std::string TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Up to the end of its last whole line.
std::string WholeLines(const std::string& path) {
  const std::string text = TextOf(path);
  return text.substr(0, text.rfind('\n') + 1);
}

void CheckFolder(const std::string& folder) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_directory(folder, error)) {
    Refuse(fmt::format("'{}' is no folder", folder), "name another one");
  }
  fs::create_directories(folder, error);
  if (error || access(folder.c_str(), W_OK | X_OK) != 0) {
    Refuse(fmt::format("'{}' cannot be written to: {}", folder,
                       error ? error.message() : std::strerror(errno)),
           "name a folder elsewhere");
  }
}

// What a process left that was killed while it wrote a file anew.
void RemovePartial(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool ours = name.starts_with("results.csv.") || name.starts_with("points.jsonl.");
    if (ours && name.ends_with(".partial")) fs::remove(entry.path(), error);
  }
}

// Whether a sweep writes files of this name, of which the names of pictures are those of metrics.
bool IsOurs(const std::string& name) {
  constexpr const char* kNames[] = {"results.csv", "points.jsonl", "report.html", "plots.gp",
                                    "fits.csv"};
  return name.ends_with(".svg") ||
         std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// A file that a sweep would replace, the first by name; empty where there is none.
std::string FirstOfOurs(const std::string& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (IsOurs(name)) names.insert(name);
  }
  return names.empty() ? "" : *names.begin();
}

void CheckExisting(const std::string& folder, const std::string& identity, Existing existing) {
  const std::string there = FirstOfOurs(folder);
  if (existing == Existing::kReplace || there.empty()) return;
  if (existing == Existing::kRefuse) {
    Refuse(fmt::format("{} has results already: {}", folder, there),
           "use --resume to go on with them, --force to replace them, or another folder");
  }
  const bool has_csv = fs::exists(CsvPath(folder));
  const std::string points = TextOf(PointsPath(folder));
  const std::string first = IdentityJson(identity) + "\n";
  // Killed before the first line was whole: nothing is lost.
  if (!has_csv && !points.empty() && first.starts_with(points)) return;
  if (!points.starts_with(first)) {
    Refuse(fmt::format("the results in {} are of another sweep, configuration or version", folder),
           "use --force to replace them, or another folder");
  }
}

}  // namespace

Results::Results(const std::string& folder, const std::string& identity,
                 std::vector<std::string> cell_names, const std::vector<SweepPoint>& points,
                 Existing existing)
    : folder_(folder), identity_(identity), cell_names_(std::move(cell_names)) {
  CheckFolder(folder);
  Lock();
  CheckExisting(folder, identity, existing);
  RemovePartial(folder);
  if (existing == Existing::kResume) ReadPoints(points);
  WriteAll();
}

Results::~Results() {
  for (const int file : {points_, csv_, lock_}) {
    if (file >= 0) close(file);
  }
}

// Two sweeps in one folder would mix their lines. The lock ends with its process, and with what
// that process has just forked: a sweep that was killed may hold it for a moment longer.
void Results::Lock() {
  constexpr int kTries = 40;
  constexpr std::chrono::milliseconds kBetween{50};
  lock_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0) return;
  for (int tries = 0; flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; ++tries) {
    if (tries == kTries) {
      Refuse(fmt::format("another sweep is writing to {}", folder_),
             "wait for it, or use another folder");
    }
    std::this_thread::sleep_for(kBetween);
  }
}

void Results::ReadPoints(const std::vector<SweepPoint>& points) {
  std::istringstream lines(WholeLines(PointsPath(folder_)));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    try {
      Row row = FromJsonLine(line);
      if (row.point >= points.size() || !IsOf(row, points[row.point])) continue;
      rows_[row.point] = std::move(row);
    } catch (const std::runtime_error&) {
      // A line that a full disk left incomplete, say: its point runs again.
    }
  }
  // A point that failed may have lacked memory or time.
  std::erase_if(rows_, [](const auto& entry) { return !entry.second.error().empty(); });
}

bool Results::Has(uint64_t point) const { return rows_.contains(point); }

std::string Results::Heading() const {
  std::string units;
  for (const Measure& column : columns_) {
    units += fmt::format("{}{} {}", units.empty() ? "" : ", ", column.name, column.unit);
  }
  std::vector<std::string> names = Once(cell_names_);
  for (const Measure& column : columns_) names.push_back(column.name);
  return fmt::format("# {}\n# units: {}\n{}", identity_, units, CsvLine(names));
}

std::vector<std::string> Results::Once(const std::vector<std::string>& cells) const {
  std::vector<std::string> once;
  for (size_t i = 0; i < cells.size(); ++i) {
    const auto end = cell_names_.begin() + static_cast<int64_t>(i);
    if (std::find(cell_names_.begin(), end, *end) == end) once.push_back(cells[i]);
  }
  return once;
}

std::string Results::LineOf(const Row& row) const {
  std::vector<std::string> fields = Once(row.cells);
  for (const Measure& column : columns_) {
    const auto found = std::find_if(row.measures.begin(), row.measures.end(),
                                    [&](const Measure& m) { return m.name == column.name; });
    fields.push_back(found == row.measures.end() ? "" : found->value);
  }
  return CsvLine(fields);
}

// Adds what the row alone has to the columns; whether there was anything.
bool Results::TakeColumns(const Row& row) {
  const size_t before = columns_.size();
  for (const Measure& measure : row.measures) {
    const bool known = std::any_of(columns_.begin(), columns_.end(),
                                   [&](const Measure& c) { return c.name == measure.name; });
    if (!known) columns_.push_back({measure.name, "", measure.unit});
  }
  return columns_.size() > before;
}

// Both files anew, each at once.
void Results::WriteAll() {
  std::string points = IdentityJson(identity_) + "\n";
  for (const auto& [point, row] : rows_) points += ToJsonLine(row);
  columns_.clear();
  written_ = 0;
  for (; rows_.contains(written_); ++written_) TakeColumns(rows_.at(written_));
  std::string csv = Heading();
  for (uint64_t point = 0; point < written_; ++point) csv += LineOf(rows_.at(point));
  for (int* file : {&points_, &csv_}) {
    if (*file >= 0) close(*file);
    *file = -1;
  }
  // Should it end between the two, the next one finds the points.
  OutputFile(kOption, PointsPath(folder_)).Write(points);
  OutputFile(kOption, CsvPath(folder_)).Write(csv);
  points_ = OpenToAppend(PointsPath(folder_));
  csv_ = OpenToAppend(CsvPath(folder_));
}

void Results::Add(const Row& row) {
  Append(points_, ToJsonLine(row), PointsPath(folder_));
  rows_[row.point] = row;
  if (row.point < written_) return WriteAll();
  for (; rows_.contains(written_); ++written_) {
    const Row& next = rows_.at(written_);
    if (TakeColumns(next)) return WriteAll();
    Append(csv_, LineOf(next), CsvPath(folder_));
  }
}

}  // namespace ringpost::tools
