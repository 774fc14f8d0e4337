#include "tools/ringpost/sweep/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <unordered_set>

#include "tools/ringpost/output_file.h"
#include "tools/ringpost/sweep/fits.h"
#include "tools/ringpost/sweep/plots.h"
#include "tools/ringpost/sweep/published.h"

namespace ringpost::tools {
namespace {

namespace fs = std::filesystem;

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

std::string TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// As an element of a page: without what starts a file of XML.
std::string SvgElement(const std::string& path) {
  const std::string text = TextOf(path);
  const size_t begin = text.find("<svg");
  if (begin == std::string::npos) throw std::runtime_error(path + " is no picture");
  return text.substr(begin);
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
        fmt::format("[{}, {}]", Number(point.least), Number(point.largest)), point.source,
        point.limited_by, RatesText(point), point.hash}) {
    cells += "<td>" + Escape(cell) + "</td>";
  }
  return "<tr>" + cells + "</tr>\n";
}

// Which of its points a plot shows, where these are not all.
std::string ThinText(const Plot& plot) {
  size_t shown = 0;
  for (const Series& series : plot.series) shown += series.points.size();
  if (shown == plot.points_count) return "";
  return fmt::format(
      "<p>Shown are {} of {} points, on {} of {} curves, at equal distances in the order of the "
      "axes; results.csv has all.</p>\n",
      shown, plot.points_count, plot.series.size(), plot.curves_count);
}

std::string FitTexts(const Plot& plot) {
  std::string text;
  for (const Series& series : plot.series) {
    const std::string fit = FitText(plot, series);
    if (fit.empty()) continue;
    const std::string name = series.name.empty() ? "" : Escape(series.name) + ": ";
    text += fmt::format("<li>{}{}</li>\n", name, Escape(fit));
  }
  return text.empty() ? ""
                      : "<p>Level, then falling by a power law:</p>\n<ul>\n" + text + "</ul>\n";
}

std::string Section(const Plot& plot, const std::string& svg) {
  std::string text = fmt::format("<h2>{} ({})</h2>\n<div class=\"plot\">\n{}</div>\n",
                                 Escape(plot.metric), Escape(plot.unit), svg);
  text += ThinText(plot) + FitTexts(plot);
  text += fmt::format(
      "<details open><summary>Values, and what limits them</summary>\n<table>\n<tr><th>series</th>"
      "<th>{}</th><th>median ({})</th><th>[min, max]</th><th>source</th><th>limited "
      "by</th><th>hit rates</th><th>configuration</th></tr>\n",
      Escape(plot.x_label), Escape(plot.unit));
  for (const Series& series : plot.series) {
    for (const PlotPoint& point : series.points) text += RowText(plot, series, point);
  }
  text += "</table></details>\n";
  for (const PublishedPoint& point : plot.published) {
    text += fmt::format("<p>Published at {} {}{}: {} {} ({}).</p>\n", Escape(plot.x_key),
                        Escape(plot.x_texts[point.x]),
                        point.series.empty() ? "" : ", " + Escape(point.series),
                        Number(point.value), Escape(plot.unit), Escape(point.source));
  }
  return text;
}

std::string SeedsText(const std::vector<Row>& rows) {
  constexpr size_t kMostNamed = 16;
  std::vector<std::string> seeds;
  std::unordered_set<std::string> seen;
  for (const Row& row : rows) {
    if (seen.insert(row.seed()).second) seeds.push_back(row.seed());
  }
  const size_t named = std::min(seeds.size(), kMostNamed);
  std::string text = seeds.size() == 1 ? "seed " : "seeds ";
  for (size_t i = 0; i < named; ++i) text += (i == 0 ? "" : ", ") + seeds[i];
  if (named < seeds.size()) text += fmt::format(" and {} more", seeds.size() - named);
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

void RemoveReport(const std::string& folder) {
  std::error_code error;
  const std::string script = folder + "/plots.gp";
  if (fs::is_regular_file(script, error)) {
    for (const std::string& name : PicturesOf(TextOf(script))) {
      fs::remove(folder + "/" + name, error);
    }
  }
  for (const char* name : {"/plots.gp", "/report.html", "/fits.csv"})
    fs::remove(folder + name, error);
}

Drawn WriteReport(const std::string& folder, const std::string& identity, const Plan& plan,
                  const std::vector<SweepPoint>& points, const std::vector<Row>& rows) {
  RemoveReport(folder);
  std::vector<Plot> plots = MakePlots(plan, rows);
  if (plots.empty()) {
    return {Drawing::kNone, "no point has a metric to plot, so there is no report"};
  }
  AddPublished(plan, points, rows, plots);
  for (Plot& plot : plots) FitCurves(plot);
  const std::string fits = FitsCsv(plots, identity);
  if (!fits.empty()) OutputFile(kOption, folder + "/fits.csv").Write(fits);
  for (Plot& plot : plots) Thin(plot);
  OutputFile(kOption, folder + "/plots.gp")
      .Write(GnuplotScript(plots, identity + " | " + SeedsText(rows)));
  Drawn drawn = RunGnuplot(folder);
  if (drawn.drawing != Drawing::kDone) return drawn;
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
  return drawn;
}

}  // namespace ringpost::tools
