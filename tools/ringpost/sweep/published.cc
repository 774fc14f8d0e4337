#include "tools/ringpost/sweep/published.h"

#include <algorithm>
#include <unordered_map>

#include "configs/schema/config_error.h"
#include "configs/schema/loader.h"
#include "configs/schema/root.h"
#include "tools/ringpost/experiment.h"
#include "tools/ringpost/figures.h"

namespace ringpost::tools {
namespace {

// The first row of each shape.
using Places = std::unordered_map<uint64_t, const Row*>;

Places PlacesOf(const std::vector<SweepPoint>& points, const std::vector<Row>& rows) {
  Places places;
  for (const Row& row : rows) places.emplace(points[row.point].shape, &row);
  return places;
}

void Add(const Plan& plan, const FigureRow& figure, const Row& row, std::vector<Plot>& plots) {
  for (Plot& plot : plots) {
    if (plot.metric != figure.runs[0].metric || plot.unit != figure.unit) continue;
    const auto key = std::find(plan.keys.begin(), plan.keys.end(), plot.x_key);
    const std::string& x = row.cells[1 + static_cast<size_t>(key - plan.keys.begin())];
    const auto at = std::find(plot.x_texts.begin(), plot.x_texts.end(), x);
    if (at == plot.x_texts.end()) continue;
    plot.published.push_back({static_cast<size_t>(at - plot.x_texts.begin()), *figure.value,
                              figure.system + ", " + figure.source, SeriesName(plan, plot, row)});
  }
}

}  // namespace

void AddPublished(const Plan& plan, const std::vector<SweepPoint>& points,
                  const std::vector<Row>& rows, std::vector<Plot>& plots) {
  Platforms platforms;
  const Places places = PlacesOf(points, rows);
  for (const FigureRow& figure :
       ReadFigures(config::FindRoot() + "/configs/reference/figures.yaml")) {
    const bool one_run = figure.runs.size() == 1 && !figure.sweep && figure.value_of.empty();
    if (!one_run || !figure.value) continue;
    config::Sources sources{figure.runs[0].experiment, figure.runs[0].assignments};
    sources.assignments.push_back(
        {"platform", PlatformOf(figure), figure.position, figure.position});
    try {
      const auto place = places.find(ShapeOf(LoadExperiment(sources, platforms).loaded.effective));
      if (place != places.end()) Add(plan, figure, *place->second, plots);
    } catch (const config::ConfigError&) {
      // A platform or key that this version lacks: `reproduce` names it.
    }
  }
}

}  // namespace ringpost::tools
