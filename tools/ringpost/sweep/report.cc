#include "tools/ringpost/sweep/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tools/ringpost/output_file.h"
#include "tools/ringpost/sweep/gnuplot.h"
#include "tools/ringpost/sweep/plots.h"
#include "tools/ringpost/sweep/published.h"

namespace ringpost::tools {
namespace {

constexpr char kOption[] = "--out";

// The wheel scrolls the page; gnuplot's script would take it for itself.
constexpr char kHead[] = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<link rel="icon" href="data:,">
<title>{0}</title>
<style>
body {{ font-family: sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; color: #222; }}
table {{ border-collapse: collapse; font-size: 85%; }}
td, th {{ border: 1px solid #ccc; padding: 0.2em 0.6em; text-align: left; }}
svg {{ max-width: 100%; height: auto; }}
</style>
</head>
<body>
<h1>{0}</h1>
<p id="identity">{1}</p>
<p>{2}</p>
)";

constexpr char kFoot[] = R"(<script>
for (const plot of document.querySelectorAll('div.plot')) {
  plot.addEventListener('wheel', event => event.stopPropagation(), true);
}
</script>
</body>
</html>
)";

std::string Escape(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string Number(double value) { return fmt::format("{:.6g}", value); }

// As an element of a page: without what starts a file of XML.
std::string SvgElement(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const size_t begin = text.str().find("<svg");
  if (begin == std::string::npos) throw std::runtime_error(path + " is no picture");
  return text.str().substr(begin);
}

std::string RatesText(const PlotPoint& point) {
  std::string text;
  for (const Measure& rate : point.hit_rates) {
    text += fmt::format("{}{} {} %", text.empty() ? "" : ", ", rate.name,
                        Number(std::strtod(rate.value.c_str(), nullptr)));
  }
  return text;
}

std::string RowText(const Plot& plot, const Series& series, const PlotPoint& point) {
  std::string cells;
  for (const std::string& cell :
       {series.name, plot.x_texts[point.x], Number(point.median),
        fmt::format("[{}, {}]", Number(point.least), Number(point.largest)), point.limited_by,
        RatesText(point), point.hash}) {
    cells += "<td>" + Escape(cell) + "</td>";
  }
  return "<tr>" + cells + "</tr>\n";
}

std::string Section(const Plot& plot, const std::string& svg) {
  std::string text = fmt::format("<h2>{} ({})</h2>\n<div class=\"plot\">\n{}</div>\n",
                                 Escape(plot.metric), Escape(plot.unit), svg);
  text += fmt::format(
      "<details open><summary>Values, and what limits them</summary>\n<table>\n<tr><th>series</th>"
      "<th>{}</th><th>median ({})</th><th>[min, max]</th><th>limited by</th><th>hit rates</th>"
      "<th>configuration</th></tr>\n",
      Escape(plot.x_label), Escape(plot.unit));
  for (const Series& series : plot.series) {
    for (const PlotPoint& point : series.points) text += RowText(plot, series, point);
  }
  text += "</table></details>\n";
  for (const PublishedPoint& point : plot.published) {
    text += fmt::format("<p>Published at {} {}: {} {} ({}).</p>\n", Escape(plot.x_key),
                        Escape(plot.x_texts[point.x]), Number(point.value), Escape(plot.unit),
                        Escape(point.source));
  }
  return text;
}

std::string SeedsText(const std::vector<Row>& rows) {
  std::vector<std::string> seeds;
  for (const Row& row : rows) {
    if (std::find(seeds.begin(), seeds.end(), row.seed()) == seeds.end()) {
      seeds.push_back(row.seed());
    }
  }
  std::string text = seeds.size() == 1 ? "seed " : "seeds ";
  for (const std::string& seed : seeds) text += (&seed == seeds.data() ? "" : ", ") + seed;
  return text;
}

// What the curves do not show.
std::string FaultsText(const std::vector<Row>& rows) {
  const auto count = [&rows](auto holds) { return std::count_if(rows.begin(), rows.end(), holds); };
  const auto failed = count([](const Row& row) { return !row.error().empty(); });
  const auto violating =
      count([](const Row& row) { return !row.violations().empty() && row.violations() != "0"; });
  std::string text;
  if (failed > 0) {
    text += fmt::format("<p>{} of {} points failed and are left out; results.csv has why.</p>\n",
                        failed, rows.size());
  }
  if (violating > 0) {
    text += fmt::format("<p>The ordering checker found violations at {} of {} points.</p>\n",
                        violating, rows.size());
  }
  return text;
}

}  // namespace

std::string WriteReport(const std::string& folder, const std::string& identity, const Plan& plan,
                        const std::vector<Row>& rows) {
  std::vector<Plot> plots = MakePlots(plan, rows);
  if (plots.empty()) return "no point has a metric to plot, so there is no report";
  AddPublished(plan, rows, plots);
  OutputFile(kOption, folder + "/plots.gp")
      .Write(GnuplotScript(plots, identity + " | " + SeedsText(rows)));
  const std::string wrong = RunGnuplot(folder);
  if (!wrong.empty()) return wrong;
  const std::string name = plan.file.substr(plan.file.rfind('/') + 1);
  std::string page = fmt::format(
      kHead, Escape(name), Escape(identity),
      Escape(fmt::format("Experiment {}, {}. Point at a value to read it; click on a "
                         "name to hide its curve. Bars reach from the least to the "
                         "largest over seeds.",
                         plan.experiment.substr(plan.experiment.rfind('/') + 1), SeedsText(rows))));
  page += FaultsText(rows);
  for (const Plot& plot : plots) {
    page += Section(plot, SvgElement(folder + "/" + SvgName(plot)));
  }
  OutputFile(kOption, folder + "/report.html").Write(page + kFoot);
  return "";
}

}  // namespace ringpost::tools
