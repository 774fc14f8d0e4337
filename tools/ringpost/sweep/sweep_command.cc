#include "tools/ringpost/sweep/sweep_command.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "configs/schema/config_error.h"
#include "configs/schema/config_hash.h"
#include "configs/schema/loader.h"
#include "tools/ringpost/exit_status.h"
#include "tools/ringpost/sweep/gnuplot.h"
#include "tools/ringpost/sweep/join_ranks.h"
#include "tools/ringpost/sweep/plan.h"
#include "tools/ringpost/sweep/plots.h"
#include "tools/ringpost/sweep/rank_workers.h"
#include "tools/ringpost/sweep/report.h"
#include "tools/ringpost/sweep/results.h"
#include "tools/ringpost/sweep/row.h"
#include "tools/ringpost/sweep/time_left.h"
#include "tools/ringpost/sweep/workers.h"
#include "tools/ringpost/version.h"

namespace ringpost::tools {
namespace {

[[noreturn]] void Refuse(const char* option, const std::string& wrong, const std::string& right) {
  throw config::ConfigError({"command line", 1, 1}, option, {wrong, right});
}

bool OnlySimulates(const std::vector<SweepPoint>& points) {
  return std::all_of(points.begin(), points.end(),
                     [](const SweepPoint& point) { return point.backend == "sim"; });
}

std::string SourcesOf(const std::vector<SweepPoint>& points) {
  if (OnlySimulates(points)) return "simulated | backend sim";
  const bool mixed = std::any_of(points.begin(), points.end(),
                                 [](const SweepPoint& point) { return point.backend == "sim"; });
  return mixed ? "simulated and measured" : "measured";
}

// As many as this process may use cores.
size_t CoresCount() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return 1;
  return static_cast<size_t>(std::max(1, CPU_COUNT(&cores)));
}

void CheckArguments(const SweepArguments& arguments) {
  if (arguments.resume && arguments.force) {
    Refuse("--resume", "goes on with what --force would replace", "use one of the two");
  }
}

std::vector<SweepPoint> CheckAll(const Plan& plan) {
  TimeLeft progress("checking ", plan.PointsCount(), 0);
  return CheckPoints(plan, [&progress](uint64_t) {
    progress.Done();
    progress.Tick();
  });
}

// What is read must not lie where files are written: one of them might have its name.
void CheckFolder(const std::string& folder, const Plan& plan,
                 const std::vector<SweepPoint>& points) {
  namespace fs = std::filesystem;
  std::set<std::string> files = {plan.file, plan.experiment};
  for (const SweepPoint& point : points) {
    if (point.platform.ends_with(".yaml")) files.insert(point.platform);
  }
  std::error_code error;
  const fs::path out = fs::weakly_canonical(fs::absolute(folder, error), error);
  for (const std::string& file : files) {
    if (fs::weakly_canonical(fs::absolute(file, error), error).parent_path() != out) continue;
    Refuse("--out", fmt::format("{} lies in this folder, where the results are to be", file),
           "name another folder");
  }
}

// One line that tells this sweep from any other.
std::string IdentityOf(const Plan& plan, const std::vector<SweepPoint>& points) {
  std::string all;
  for (const std::string& key : plan.keys) all += key + " ";
  for (const SweepPoint& point : points) all += point.hash + " ";
  return fmt::format("ringpost {} | {} | sweep {:016x} | {} points", kVersion, SourcesOf(points),
                     config::HashOf(all), points.size());
}

std::vector<std::string> ArgumentsOf(const Plan& plan, uint64_t point) {
  std::vector<std::string> words = {"run", plan.experiment, "--quiet", "--json", "/dev/stdout"};
  for (const config::Assignment& setting : plan.SettingsOf(point)) {
    words.push_back("--set");
    words.push_back(setting.key + "=" + setting.value);
  }
  return words;
}

std::vector<Row> RowsOf(const Results& results) {
  std::vector<Row> rows;
  for (const auto& [point, row] : results.rows()) rows.push_back(row);
  return rows;
}

// Those of `points` that have no result yet.
std::vector<uint64_t> LeftOf(const std::vector<SweepPoint>& points, const Results& results) {
  std::vector<uint64_t> left;
  for (const SweepPoint& point : points) {
    if (!results.Has(point.index)) left.push_back(point.index);
  }
  return left;
}

// The first point of each kind of run: runs of one kind have the same metrics.
std::vector<SweepPoint> OneOfEachKind(const std::vector<SweepPoint>& points) {
  std::vector<SweepPoint> first;
  std::set<std::pair<std::string, std::string>> seen;
  for (const SweepPoint& point : points) {
    if (seen.insert({point.backend, point.kind}).second) first.push_back(point);
  }
  return first;
}

// Refuses metrics to draw that no run has.
void CheckDrawn(const Plan& plan, const std::vector<Row>& rows) {
  const bool failed =
      std::any_of(rows.begin(), rows.end(), [](const Row& row) { return !row.error().empty(); });
  if (!failed) CheckMetrics(plan, rows);
}

// The same before there is a place for results: those of another sweep may stand there.
void CheckDrawnAside(const Plan& plan, const std::vector<SweepPoint>& points, size_t jobs) {
  LocalWorkers workers(jobs);
  std::vector<Row> rows;
  for (const SweepPoint& point : OneOfEachKind(points)) {
    workers.Start(point.index, ArgumentsOf(plan, point.index));
    while (workers.Running() > 0) {
      constexpr int kPatienceMs = 1000;
      for (const Ended& ended : workers.Wait(kPatienceMs)) {
        rows.push_back(ended.error.empty() ? RowOf(point, ended.output)
                                           : FailedRow(point, ended.error));
      }
    }
  }
  CheckDrawn(plan, rows);
}

// Runs `left`, each a point that has no result.
void RunPoints(const Plan& plan, const std::vector<SweepPoint>& points,
               const std::vector<uint64_t>& left, Workers& workers, Results& results) {
  TimeLeft progress("", points.size(), points.size() - LeftOf(points, results).size());
  auto next = left.begin();
  while (next != left.end() || workers.Running() > 0) {
    for (; next != left.end() && workers.Room() > 0; ++next) {
      workers.Start(*next, ArgumentsOf(plan, *next));
    }
    constexpr int kPatienceMs = 1000;
    for (const Ended& ended : workers.Wait(kPatienceMs)) {
      const SweepPoint& point = points[ended.point];
      results.Add(ended.error.empty() ? RowOf(point, ended.output) : FailedRow(point, ended.error));
      progress.Done();
    }
    progress.Tick();
  }
}

// Says what went wrong, and what that means for the exit status.
int Summarise(const std::vector<SweepPoint>& points, const Results& results) {
  constexpr uint64_t kMostNamed = 20;
  uint64_t failed = 0;
  uint64_t violating = 0;
  for (const auto& [index, row] : results.rows()) {
    if (!row.error().empty()) {
      if (++failed > kMostNamed) continue;
      std::cerr << fmt::format("ringpost: point {} failed: {}\n", index, row.error());
    } else if (row.violations() != "" && row.violations() != "0" && !points[index].unsafe) {
      ++violating;
    }
  }
  if (failed > kMostNamed) {
    std::cerr << fmt::format("ringpost: {} more points failed\n", failed - kMostNamed);
  }
  if (failed > 0) {
    std::cerr << "ringpost: --resume runs points that failed once more\n";
    return kFailed;
  }
  if (violating == 0) return kClean;
  std::cerr << fmt::format("ringpost: {} points have violations; run one of them to see which\n",
                           violating);
  return kFound;
}

// Of rank 0, or of the only process.
int RunSweep(const SweepArguments& arguments, Ranks* ranks, std::ostream& out) {
  CheckArguments(arguments);
  const Plan plan = ReadPlan(arguments.config);
  const std::vector<SweepPoint> points = CheckAll(plan);
  CheckFolder(arguments.out, plan, points);
  // Runs that measure this machine would disturb each other.
  const size_t jobs = arguments.jobs.value_or(OnlySimulates(points) ? CoresCount() : 1);
  const std::string identity = IdentityOf(plan, points);
  if (arguments.force && !plan.metrics.empty()) CheckDrawnAside(plan, points, jobs);
  Results results(arguments.out, identity, CellNames(plan), points,
                  arguments.resume  ? Existing::kResume
                  : arguments.force ? Existing::kReplace
                                    : Existing::kRefuse);
  // The old one would be taken for that of these results until they have one.
  RemoveReport(arguments.out);
  std::unique_ptr<Workers> workers;
  if (ranks != nullptr) {
    workers = std::make_unique<RankWorkers>(*ranks, jobs);
  } else {
    workers = std::make_unique<LocalWorkers>(jobs);
  }
  const std::vector<SweepPoint> first = OneOfEachKind(points);
  if (!plan.metrics.empty()) {
    // A name that no run knows is not found out after all of them.
    RunPoints(plan, points, LeftOf(first, results), *workers, results);
    CheckDrawn(plan, RowsOf(results));
  }
  RunPoints(plan, points, LeftOf(points, results), *workers, results);
  out << identity << "\n" << arguments.out << "/results.csv\n";
  const std::vector<Row> rows = RowsOf(results);
  const int status = Summarise(points, results);
  const Drawn drawn = WriteReport(arguments.out, identity, plan, points, rows);
  if (drawn.drawing == Drawing::kDone) {
    out << arguments.out << "/report.html\n";
  } else {
    std::cerr << "ringpost: results.csv is complete; " << drawn.why << "\n";
  }
  return status == kClean && drawn.drawing == Drawing::kFailed ? kFailed : status;
}

}  // namespace

int RunSweepCommand(const SweepArguments& arguments, std::ostream& out) {
  const std::unique_ptr<Ranks> ranks = JoinRanks();
  if (ranks != nullptr && ranks->Rank() > 0) {
    ServePoints(*ranks, arguments.jobs.value_or(CoresCount()));
    return kClean;
  }
  const Dismissal dismissal(ranks.get());
  return RunSweep(arguments, ranks.get(), out);
}

}  // namespace ringpost::tools
