// ringpost: the command line.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include "configs/schema/config_error.h"
#include "configs/schema/quantity.h"
#include "tools/ringpost/compare_command.h"
#include "tools/ringpost/config_command.h"
#include "tools/ringpost/doctor_command.h"
#include "tools/ringpost/error_line.h"
#include "tools/ringpost/exec_command.h"
#include "tools/ringpost/exit_status.h"
#include "tools/ringpost/fit/fit_command.h"
#include "tools/ringpost/huge_heap.h"
#include "tools/ringpost/quickstart_command.h"
#include "tools/ringpost/reproduce_command.h"
#include "tools/ringpost/run_command.h"
#include "tools/ringpost/sweep/sweep_command.h"
#include "tools/ringpost/version.h"

namespace ringpost::tools {
namespace {

constexpr char kFooter[] =
    "Without a command it runs configs/quickstart.yaml and shows published values beside simulated "
    "ones.\nconfigs/README.md lists every key. Exit status: 0 clean, 1 a run failed, 2 bad input, "
    "3 misses or violations.";

// What each command takes, filled by the parser.
struct Arguments {
  RunArguments run;
  ConfigArguments config;
  ReproduceArguments reproduce;
  CompareArguments compare;
  DoctorArguments doctor;
  ExecArguments exec;
  SweepArguments sweep;
  FitArguments fit;
};

constexpr uint32_t kMostRanks = 128;  // of key `ranks`
constexpr uint32_t kMostJobs = 1024;

constexpr char kSetHelp[] = "key.path=value; replaces the file and RINGPOST_SET";

// A whole number between the bounds; the parser's own words would say neither.
template <class Number>
void AddCount(CLI::App& command, const char* name, Number& number, uint32_t least, uint32_t most,
              const char* help, const char* type) {
  command
      .add_option_function<std::string>(
          name,
          [name, &number, least, most](const std::string& text) {
            uint64_t count = 0;
            if (!config::ParseWholeNumber(text, count) || count < least || count > most) {
              throw config::ConfigError(
                  {"command line", 1, 1}, name,
                  {"'" + text + "' is no count that it takes",
                   "give " + std::to_string(least) + " to " + std::to_string(most)});
            }
            number = static_cast<uint32_t>(count);
          },
          help)
      ->type_name(type);
}

void AddRun(CLI::App& app, RunArguments& run) {
  CLI::App* command = app.add_subcommand("run", "Run the workload of a configuration");
  command->add_option("config", run.options.config, "YAML file")->required();
  command->add_option("--set", run.options.sets, kSetHelp)
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  command->add_option("--backend", run.options.backend, "sim or live")->type_name("NAME");
  command->add_option("--seed", run.options.seed, "Seed of the run")->type_name("N");
  command->add_option("--json", run.json, "Write the result as JSON")->type_name("FILE");
  command->add_option("--trace", run.trace, "Write every step with its time")->type_name("FILE");
  // Of an optional, CLI11 would take an option without a value for none.
  command
      ->add_option_function<std::string>(
          "--timeline", [&run](const std::string& which) { run.timeline = which; },
          "Print the way of one put; default: of median latency")
      ->expected(0, 1)
      ->type_name("QPN:WQE");
  command->add_option("--pcap", run.pcap, "Write every packet for Wireshark")->type_name("FILE");
  command->add_option("--lookups", run.lookups, "Write every look-up of a context cache")
      ->type_name("FILE");
  command->add_flag("--quiet", run.quiet, "Print errors only");
  AddCount(*command, "--processes", run.processes, 1, kMostRanks,
           "live: a process for each rank; default 1", "N");
  AddCount(*command, "--rank", run.rank, 0, kMostRanks - 1, "live: this process is one rank", "R");
  AddCount(*command, "--ranks", run.ranks, 2, kMostRanks, "live: of so many", "N");
  command->add_option("--rendezvous", run.rendezvous, "live: where rank 0 listens")
      ->type_name("HOST:PORT");
}

void AddConfig(CLI::App& app, ConfigArguments& config) {
  CLI::App* command =
      app.add_subcommand("config", "Print the effective configuration and where it came from");
  command->add_option("config", config.config, "YAML file")->required();
  command->add_option("--set", config.sets, kSetHelp)
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
}

void AddReproduce(CLI::App& app, ReproduceArguments& reproduce) {
  CLI::App* command = app.add_subcommand("reproduce", "Hold published figures against simulation");
  command->add_option("--figures", reproduce.figures, "Rows; default the reference figures")
      ->type_name("FILE");
  command->add_option("--only", reproduce.only, "Rows whose id, system or platform match")
      ->type_name("REGEX");
  command->add_option("--json", reproduce.json, "Write the result as JSON")->type_name("FILE");
}

void AddCompare(CLI::App& app, CompareArguments& compare) {
  CLI::App* command =
      app.add_subcommand("compare", "Show two results side by side, and what differs between them");
  command->add_option("a", compare.a, "What run --json wrote")->required()->type_name("A.json");
  command->add_option("b", compare.b, "The same of another run")->required()->type_name("B.json");
}

void AddDoctor(CLI::App& app, DoctorArguments& doctor) {
  CLI::App* command = app.add_subcommand(
      "doctor", "Show what hardware, drivers and permissions are here, and what backends lack");
  command->add_option("--backend", doctor.backend, "Exit status 1 unless this one is ready")
      ->type_name("NAME");
  command->add_option("--root", doctor.root, "Look below this folder: a copy of /sys, /proc, ...")
      ->type_name("FOLDER");
}

void AddExec(CLI::App& app, ExecArguments& exec) {
  CLI::App* command =
      app.add_subcommand("exec", "Run an unmodified RDMA program on virtual ConnectX devices");
  command->add_option("--config", exec.config, "YAML file; default: one device")->type_name("FILE");
  command->add_option("--set", exec.sets, kSetHelp)
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  command->add_option("--json", exec.files.json, "Write the counters of each NIC as JSON")
      ->type_name("FILE");
  command->add_option("--trace", exec.files.trace, "Write the steps of each NIC with their times")
      ->type_name("FILE");
  command->add_option("--pcap", exec.files.pcap, "Write every packet that is sent, for Wireshark")
      ->type_name("FILE");
  command->footer("The program and its arguments follow: ringpost exec -- ib_write_lat -F");
}

void AddFit(CLI::App& app, FitArguments& fit) {
  CLI::App* command =
      app.add_subcommand("fit", "Move parameters of a platform so that measured rows are met");
  command->add_option("config", fit.config, "YAML file: rows, parameters, bounds")->required();
  command->add_option("--figures", fit.figures, "Rows; default the reference figures")
      ->type_name("FILE");
  command->add_option("--out", fit.out, "Write a platform with what was fitted")->type_name("FILE");
  command->add_option("--json", fit.json, "Write numbers and what is left")->type_name("FILE");
  command->add_flag("--write", fit.write, "Write the numbers to configs/platforms");
  command->add_option("--docs", fit.docs, "Write the tables of this document")->type_name("FILE");
  command->add_flag("--rows-only", fit.rows_only, "Fit nothing: only run the covered rows");
}

void AddSweep(CLI::App& app, SweepArguments& sweep) {
  CLI::App* command = app.add_subcommand(
      "sweep", "Run an experiment at many points; write results.csv and a report with curves");
  command->add_option("config", sweep.config, "YAML file: experiment, axes, seeds")->required();
  command->add_option("--out", sweep.out, "Folder of the results")->required()->type_name("DIR");
  AddCount(*command, "--jobs", sweep.jobs, 1, kMostJobs,
           "Points at a time, of each rank; default: cores", "N");
  command->add_flag("--resume", sweep.resume, "Go on with the results in the folder");
  command->add_flag("--force", sweep.force, "Replace the results in the folder");
}

// To a command an empty text is an option that was not given, and `--json "$FILE"` would be silent.
void RefuseEmpty(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    for (CLI::Option* option : command->get_options()) {
      if (option->get_items_expected_min() == 0) continue;  // a flag, or may be one
      option->check(
          [](const std::string& text) { return text.empty() ? "is empty; give a value" : ""; });
    }
  }
}

// The program's words, which follow "--", are not for our parser. Returns how many words are.
int TakeProgram(int argc, char** argv, ExecArguments& exec) {
  if (argc < 2 || argv[1] != std::string("exec")) return argc;
  char** const end = argv + argc;
  char** const mark = std::find(argv, end, std::string("--"));
  if (mark != end) exec.program.assign(mark + 1, end);
  return static_cast<int>(mark - argv);
}

int Dispatch(const CLI::App& app, const Arguments& arguments) {
  if (app.got_subcommand("run")) return RunRunCommand(arguments.run, std::cout);
  if (app.got_subcommand("compare")) return RunCompareCommand(arguments.compare, std::cout);
  if (app.got_subcommand("doctor")) return RunDoctorCommand(arguments.doctor, std::cout);
  if (app.got_subcommand("config")) return RunConfigCommand(arguments.config, std::cout);
  if (app.got_subcommand("reproduce")) {
    return RunReproduceCommand(arguments.reproduce, RealRunner(), std::cout);
  }
  if (app.got_subcommand("sweep")) return RunSweepCommand(arguments.sweep, std::cout);
  if (app.got_subcommand("fit")) return RunFitCommand(arguments.fit, std::cout);
  if (app.got_subcommand("exec")) return RunExecCommand(arguments.exec);
  return RunQuickstartCommand(RealRunner(), std::cout);
}

// Help and version are no errors, and end well.
int EndUsage(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    app.exit(error);
    return kClean;
  }
  const auto commands = app.get_subcommands();
  const std::string command = commands.empty() ? "" : " " + commands[0]->get_name();
  PrintError(std::string("ringpost") + command + ": " + error.what() + "; see ringpost" + command +
             " --help");
  return kBadInput;
}

int Main(int argc, char** argv) {
  CLI::App app("GPU-initiated RDMA over a simulated NIC", "ringpost");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("ringpost ") + kVersion);
  app.require_subcommand(0, 1);
  Arguments arguments;
  AddRun(app, arguments.run);
  AddConfig(app, arguments.config);
  AddReproduce(app, arguments.reproduce);
  AddCompare(app, arguments.compare);
  AddDoctor(app, arguments.doctor);
  AddExec(app, arguments.exec);
  AddSweep(app, arguments.sweep);
  AddFit(app, arguments.fit);
  RefuseEmpty(app);
  try {
    app.parse(TakeProgram(argc, argv, arguments.exec), argv);
    const int status = Dispatch(app, arguments);
    std::cout.flush();
    if (std::cout) return status;
    PrintError("ringpost: the result could not be printed");
  } catch (const CLI::ParseError& error) {
    return EndUsage(app, error);
  } catch (const config::ConfigError& error) {
    PrintError(error.what());
    return kBadInput;
  } catch (const std::bad_alloc&) {
    PrintError(
        "ringpost: this machine has no more memory; use a smaller workload.payload, "
        "workload.threads or transport.sq_depth_wqebbs");
  } catch (const std::exception& error) {
    PrintError(std::string("ringpost: ") + error.what());
  }
  return kFailed;
}

}  // namespace
}  // namespace ringpost::tools

int main(int argc, char** argv) {
  ringpost::tools::UseHugePagesForHeap();
  return ringpost::tools::Main(argc, argv);
}
