#include "server/core/path/path_form.h"

#include "server/core/path/line_of_sight.h"
#include "server/core/path/path.h"
#include "server/core/path/smoothing.h"

namespace waystar::core {

void WritePathForm(const GridMap& map, const WalkGrid& walk, const PathQuery& query, Scratch& scratch,
                   PathResult& result) {
  const std::vector<Cell>& corners = scratch.corners();
  result.cost = CostOf(map, query.footprint, corners);
  switch (query.path_form) {
    case PathForm::kEveryCell:
      ExpandCells(corners, scratch.points());
      result.points = scratch.points();
      break;
    case PathForm::kCorners:
      result.points = corners;
      break;
    case PathForm::kDirections:
      ExpandDirections(corners, scratch.directions());
      result.directions = scratch.directions();
      break;
    case PathForm::kSmoothed:
      ExpandCells(corners, scratch.points());
      WriteSmoothed(map, walk, query, scratch.points(), result);
      break;
  }
}

void WriteSmoothed(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                   std::vector<Cell>& points, PathResult& result) {
  Smooth(map, walk, LineRule(map.settings().connectivity, query.corner_rule), points);
  result.points = points;
  result.cost = PolylineCost(map, points);
}

}  // namespace waystar::core
