#include "tools/ringpost/sweep/gnuplot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace ringpost::tools {
namespace {

constexpr char kScript[] = "plots.gp";

// Colours of Okabe and Ito, which people tell apart who see few.
constexpr std::array<const char*, 8> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                 "#e69f00", "#56b4e9", "#000000", "#8c6d1f"};

// Within quotes of gnuplot, SVG and its script.
std::string Plain(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7f || std::strchr("\"'\\<>&`", c) != nullptr) c = ' ';
  }
  return text;
}

// The name of a tic, which gnuplot takes for a format of its number.
std::string TicText(const std::string& text) {
  std::string escaped;
  for (const char c : Plain(text)) escaped += c == '%' ? "%%" : std::string(1, c);
  return escaped;
}

std::string Number(double value) { return fmt::format("{:.6g}", value); }

std::string ValueText(const PlotPoint& point, const std::string& unit) {
  if (point.seeds_count == 1) return fmt::format("{} {}", Number(point.median), unit);
  return fmt::format("{} [{}, {}] {}, {} seeds", Number(point.median), Number(point.least),
                     Number(point.largest), unit, point.seeds_count);
}

// What one sees on a point.
std::string HoverText(const Plot& plot, const Series& series, const PlotPoint& point) {
  std::string text = fmt::format("{}: {}", plot.metric, ValueText(point, plot.unit));
  text += fmt::format("\\n{}: {}", plot.x_key, plot.x_texts[point.x]);
  if (!series.name.empty()) text += "\\n" + series.name;
  text += "\\n" + point.source;
  if (!point.limited_by.empty()) text += "\\nlimited by: " + point.limited_by;
  for (const Measure& rate : point.hit_rates) {
    text += fmt::format("\\n{}: {} %", rate.name, Number(std::strtod(rate.value.c_str(), nullptr)));
  }
  return text;
}

// Plain() takes the backslashes of line breaks with it; these it leaves.
std::string PlainLines(const std::string& text) {
  std::string plain;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find("\\n", at), text.size());
    plain += (at > 0 ? "\\n" : "") + Plain(text.substr(at, end - at));
    at = end + 2;
  }
  return plain;
}

// The curves that have published values, in the order of these.
std::vector<std::string> PublishedSeries(const Plot& plot) {
  std::vector<std::string> names;
  for (const PublishedPoint& point : plot.published) {
    if (std::find(names.begin(), names.end(), point.series) == names.end()) {
      names.push_back(point.series);
    }
  }
  return names;
}

std::string PublishedData(const Plot& plot, size_t number) {
  std::string data;
  const std::vector<std::string> names = PublishedSeries(plot);
  for (size_t i = 0; i < names.size(); ++i) {
    data += fmt::format("$p{}_{} << EOD\n", number, i);
    for (const PublishedPoint& point : plot.published) {
      if (point.series != names[i]) continue;
      const std::string name = names[i].empty() ? "" : "\\n" + Plain(names[i]);
      data += fmt::format("{} {} \"published: {} {}\\n{}: {}{}\\n{}\"\n",
                          Number(plot.x_values[point.x]), Number(point.value), Number(point.value),
                          Plain(plot.unit), Plain(plot.x_key), Plain(plot.x_texts[point.x]), name,
                          Plain(point.source));
    }
    data += "EOD\n";
  }
  return data;
}

std::string DataOf(const Plot& plot, size_t number) {
  std::string data;
  for (size_t i = 0; i < plot.series.size(); ++i) {
    data += fmt::format("$d{}_{} << EOD\n", number, i);
    for (const PlotPoint& point : plot.series[i].points) {
      data += fmt::format("{} {} {} {} \"{}\"\n", Number(plot.x_values[point.x]),
                          Number(point.median), Number(point.least), Number(point.largest),
                          PlainLines(HoverText(plot, plot.series[i], point)));
    }
    data += "EOD\n";
  }
  return data + PublishedData(plot, number);
}

// A value at each point, where there is room for that; of many words some.
std::string Tics(const Plot& plot) {
  constexpr size_t kMostTics = 16;
  if (plot.x_scale != Scale::kWords && plot.x_texts.size() > kMostTics) return "set xtics auto\n";
  constexpr size_t kMostWords = 64;
  const size_t step = (plot.x_texts.size() + kMostWords - 1) / kMostWords;
  std::string tics;
  for (size_t i = 0; i < plot.x_texts.size(); i += step) {
    tics += fmt::format("{}'{}' {}", i > 0 ? ", " : "", TicText(plot.x_texts[i]),
                        Number(plot.x_values[i]));
  }
  const bool long_words = plot.x_scale == Scale::kWords && plot.x_texts.size() > 4;
  return fmt::format("set xtics {} ({})\n", long_words ? "rotate by -30" : "norotate", tics);
}

std::string AxesOf(const Plot& plot) {
  std::string text = fmt::format("set xlabel '{}' noenhanced\nset ylabel '{} ({})' noenhanced\n",
                                 Plain(plot.x_label), Plain(plot.metric), Plain(plot.unit));
  text += "unset logscale\n";
  if (plot.x_scale == Scale::kLogarithmic) text += "set logscale x\n";
  if (plot.y_scale == Scale::kLogarithmic) text += "set logscale y\n";
  // Room beside the first and the last point.
  const double first = plot.x_values.front(), last = plot.x_values.back();
  if (plot.x_scale == Scale::kLogarithmic) {
    text += fmt::format("set xrange [{}:{}]\n", Number(first / 1.2), Number(last * 1.2));
  } else {
    const double margin = last > first ? (last - first) / 20 : 1;
    text += fmt::format("set xrange [{}:{}]\n", Number(first - margin), Number(last + margin));
  }
  text += plot.y_scale == Scale::kLogarithmic ? "set yrange [*:*]\n" : "set yrange [0:*]\n";
  return text + Tics(plot);
}

// In the colour of their curve.
std::string PublishedCurves(const Plot& plot, size_t number) {
  std::string curves;
  const std::vector<std::string> names = PublishedSeries(plot);
  for (size_t i = 0; i < names.size(); ++i) {
    const auto its = std::find_if(plot.series.begin(), plot.series.end(),
                                  [&](const Series& series) { return series.name == names[i]; });
    const auto colour = static_cast<size_t>(its - plot.series.begin()) % kColours.size();
    const std::string title = names[i].empty() ? "published" : "published, " + Plain(names[i]);
    curves += fmt::format(
        ", \\\n  $p{0}_{1} using 1:2 with points pt 4 ps 1.1 lw 2 lc rgb '{2}' title '{3}', \\\n  "
        "$p{0}_{1} using 1:2:3 with labels hypertext point pt 4 ps 1.1 lc rgb '{2}' notitle",
        number, i, kColours[colour], title);
  }
  return curves;
}

std::string CurvesOf(const Plot& plot, size_t number) {
  std::string curves;
  for (size_t i = 0; i < plot.series.size(); ++i) {
    const std::string data = fmt::format("$d{}_{}", number, i);
    const char* colour = kColours[i % kColours.size()];
    const std::string& name = plot.series[i].name;
    curves += fmt::format("{}{} using 1:2:3:4 with yerrorlines lw 1.5 pt 0 lc rgb '{}' {}",
                          i > 0 ? ", \\\n  " : "plot ", data, colour,
                          name.empty() ? "notitle" : fmt::format("title '{}'", Plain(name)));
    curves += fmt::format(
        ", \\\n  {} using 1:2:5 with labels hypertext point pt 7 ps 0.6 lc rgb '{}' notitle", data,
        colour);
  }
  return curves + PublishedCurves(plot, number) + "\n";
}

}  // namespace

std::string SvgName(const Plot& plot) {
  std::string name = plot.metric;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0 && c != '_'; }, '_');
  return name + ".svg";
}

std::vector<std::string> PicturesOf(const std::string& script) {
  std::vector<std::string> names;
  const std::string command = "\nset output '";
  for (size_t at = script.find(command); at != std::string::npos; at = script.find(command, at)) {
    at += command.size();
    const std::string name = script.substr(at, script.find('\'', at) - at);
    if (name.ends_with(".svg") && name.find('/') == std::string::npos) names.push_back(name);
  }
  return names;
}

std::string GnuplotScript(const std::vector<Plot>& plots, const std::string& identity) {
  std::string script = fmt::format(
      "# {}\n# Draws the curves of this folder once more: gnuplot {}\n"
      "set encoding utf8\nset grid lc rgb '#d8d8d8'\nset key outside right top noenhanced\n"
      "set tics noenhanced\n",
      identity, kScript);
  for (size_t i = 0; i < plots.size(); ++i) {
    const Plot& plot = plots[i];
    // A name of its own for each, as several stand in one page.
    script += fmt::format(
        "\nset terminal svg size 860,460 dynamic mouse standalone name '{}' font 'sans-serif,13' "
        "background rgb 'white'\nset output '{}'\n",
        SvgName(plot).substr(0, SvgName(plot).size() - 4), SvgName(plot));
    script += fmt::format("set title '{}' font ',10' noenhanced\n", Plain(identity));
    script += DataOf(plot, i) + AxesOf(plot) + CurvesOf(plot, i) + "unset output\n";
  }
  return script;
}

Drawn RunGnuplot(const std::string& folder) {
  constexpr char kNotThere[] =
      "gnuplot is not installed, so there are no plots; with gnuplot-nox, --resume draws them";
  // Without the user's own settings, and with the same locale everywhere.
  char program[] = "gnuplot", no_settings[] = "-d", script[] = "plots.gp";
  char* const argv[] = {program, no_settings, script, nullptr};
  char locale[] = "LC_ALL=C.UTF-8";
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::strncmp(*variable, "LC_ALL=", 7) != 0) variables.push_back(*variable);
  }
  variables.push_back(locale);
  variables.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = posix_spawnp(&child, program, &actions, nullptr, argv, variables.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) return {Drawing::kNone, kNotThere};
  if (error != 0) {
    return {Drawing::kFailed, fmt::format("gnuplot does not start: {}", std::strerror(error))};
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return {Drawing::kNone, kNotThere};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return {Drawing::kFailed,
          fmt::format("gnuplot failed; run gnuplot {} in {} to see how", kScript, folder)};
}

}  // namespace ringpost::tools
