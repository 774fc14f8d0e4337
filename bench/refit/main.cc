// refit: fits the platform files to the figures that configs/fit.yaml names.
//
//   bazel run //bench/refit                                 fits and prints
//   bazel run //bench/refit -- --write                      ... and writes configs/platforms
//   bazel run //bench/refit -- --write --docs docs/fidelity.md
//   bazel run //bench/refit -- --rows-only --docs docs/fidelity.md
//
// Paths are relative to where bazel was called. See plan.h and fitter.h.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "bench/refit/covered.h"
#include "bench/refit/fitter.h"
#include "bench/refit/report.h"
#include "configs/schema/root.h"
#include "configs/schema/yaml_file.h"

namespace ringpost::bench {
namespace {

struct Arguments {
  std::string plan;
  std::string docs;
  bool write = false;
  bool rows_only = false;
};

std::string Here(const std::string& path) {
  const char* directory = std::getenv("BUILD_WORKING_DIRECTORY");
  return directory == nullptr ? path : (std::filesystem::path(directory) / path).string();
}

void WriteText(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) throw std::runtime_error(path + ": could not be written");
}

void WritePlatforms(const std::vector<FittedNumber>& numbers) {
  for (const std::string& name : config::PlatformNames()) {
    const std::string path = config::PlatformPath(name);
    const std::string text = config::ReadText(path);
    const std::string fitted = WithNumbers(text, name, numbers);
    if (fitted != text) WriteText(path, fitted);
  }
}

void Run(const Arguments& arguments) {
  const std::string configs = config::FindRoot() + "/configs/";
  const Plan plan = ReadPlan(arguments.plan.empty() ? configs + "fit.yaml" : arguments.plan);
  const auto rows = tools::ReadFigures(configs + "reference/figures.yaml");
  std::string numbers_text;
  if (!arguments.rows_only) {
    const std::vector<FittedNumber> numbers = Fitter(plan, rows).FitAll();
    numbers_text = NumberTable(numbers);
    std::cout << numbers_text << std::endl;
    if (arguments.write) WritePlatforms(numbers);
  }
  // Of the files as they now are.
  if (!arguments.write && !arguments.rows_only) return;
  const std::vector<tools::Verdict> verdicts = JudgeCovered(plan, rows, tools::RealRunner());
  const std::string rows_text = RowSummary(verdicts) + "\n" + RowTable(verdicts);
  std::cout << rows_text;
  if (arguments.docs.empty()) return;
  std::string document = config::ReadText(Here(arguments.docs));
  document = WithSection(document, "rows", rows_text);
  if (!numbers_text.empty()) document = WithSection(document, "numbers", numbers_text);
  WriteText(Here(arguments.docs), document);
}

}  // namespace
}  // namespace ringpost::bench

int main(int argc, char** argv) {
  ringpost::bench::Arguments arguments;
  CLI::App app("Fits the platform files to published figures");
  app.add_option("--plan", arguments.plan, "what may move; default configs/fit.yaml");
  app.add_option("--docs", arguments.docs, "the document whose tables are written");
  app.add_flag("--write", arguments.write, "write the numbers to configs/platforms");
  app.add_flag("--rows-only", arguments.rows_only, "fit nothing: only run the covered rows");
  CLI11_PARSE(app, argc, argv);
  try {
    ringpost::bench::Run(arguments);
  } catch (const std::exception& error) {
    std::cerr << "refit: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
