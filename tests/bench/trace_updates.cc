#include "tests/bench/trace_updates.h"

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/engines/find_path.h"
#include "tests/bench/rebuild.h"
#include "tests/bench/sample.h"
#include "tests/bench/stopwatch.h"

namespace waystar::bench {
namespace {

using core::GridMap;

struct Figures {
  Sample query;
  Sample first_query;
  Sample fresh_query;
  Sample change;
  Sample patch;
  Sample making;
  double changed_cells = 0;
};

[[noreturn]] void Die(const testing::TraceQuery& query) {
  std::cerr << "wrong answer from " << query.start.x << "," << query.start.y << " to " << query.goal.x << ","
            << query.goal.y << "\n";
  std::exit(1);
}

core::EditResult Apply(const GridMap& map, const std::vector<core::Edit>& edits, Sample& micros) {
  absl::StatusOr<core::EditResult> result;
  micros.Add(MicrosOf([&] { result = core::ApplyEdits(map, edits); }));
  return *std::move(result);
}

double Ask(const GridMap& map, const testing::TraceQuery& query, core::Algorithm algorithm,
           core::Scratch& scratch) {
  absl::StatusOr<core::PathResult> result;
  const double micros = MicrosOf([&] {
    result =
        core::FindPath(map, {.start = query.start, .goal = query.goal, .algorithm = algorithm}, {}, scratch);
  });
  const bool found = result.ok() && result->outcome == core::Outcome::kFound;
  if (found != query.length.has_value() ||
      (found && std::abs(result->cost - *query.length) > testing::kTraceTolerance)) {
    Die(query);
  }
  return micros;
}

// The map after a stage's patches, which are timed as one batch, with the caches as the queries left them,
// and then as a batch each.
GridMap Change(const GridMap& map, const testing::TraceStage& stage, Figures& figures) {
  core::EditResult result = Apply(map, stage.Edits(), figures.change);
  figures.changed_cells += static_cast<double>(result.summary.changed_cells);
  GridMap patched = map;
  for (const std::vector<core::Edit>& patch : stage.patches) {
    patched = Apply(patched, patch, figures.patch).map;
  }
  return std::move(result.map);
}

}  // namespace

void PrintTraceHeader() {
  std::cout << absl::StreamFormat("%-31s %7s %8s %9s %11s | %7s %9s %8s %9s | %9s\n", "trace", "queries",
                                  "us/query", "first one", "afresh", "changes", "us/change", "us/patch",
                                  "us/cell", "afresh us");
}

void PrintTraceUpdates(const testing::GppcTrace& trace, core::Algorithm algorithm) {
  core::Scratch scratch(std::size_t{1} << 30);
  Figures figures;
  GridMap map = trace.EmptyMap();
  bool asked = false;
  for (const testing::TraceStage& stage : trace.stages) {
    if (asked) {
      map = Change(map, stage, figures);
    } else if (!stage.patches.empty()) {
      map = core::ApplyEdits(map, stage.Edits())->map;
    }
    const CellRows rows = RowsOf(map);
    std::optional<GridMap> fresh;
    figures.making.Add(MicrosOf([&] { fresh = MakeMap(rows, map.settings()); }));
    bool first = asked;
    for (const testing::TraceQuery& query : stage.queries) {
      const double micros = Ask(map, query, algorithm, scratch);
      figures.query.Add(micros);
      if (std::exchange(first, false)) {
        figures.first_query.Add(micros);
      }
    }
    for (const testing::TraceQuery& query : stage.queries) {
      figures.fresh_query.Add(Ask(*fresh, query, algorithm, scratch));
      asked = true;
    }
  }
  const auto changes = static_cast<double>(figures.change.size());
  std::cout << absl::StreamFormat("%-31s %7u %8.1f %9.1f %11.1f | %7u %9.1f %8.2f %9.3f | %9.0f\n",
                                  trace.name, figures.query.size(), figures.query.Mean(),
                                  figures.first_query.Mean(), figures.fresh_query.Mean(),
                                  figures.change.size(), figures.change.Mean(), figures.patch.Mean(),
                                  figures.change.Mean() * changes / figures.changed_cells,
                                  figures.making.Mean())
            << std::flush;
}

}  // namespace waystar::bench
