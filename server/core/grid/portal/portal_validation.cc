#include "server/core/grid/portal/portal_validation.h"

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/portal/portal_legs.h"

namespace waystar::core {
namespace {

// Renames the field "points[i]" of an error in a leg that begins at point `begin` of the path.
absl::Status InPath(const absl::Status& status, std::size_t begin) {
  const std::string field = ErrorFieldOf(status);
  absl::string_view index = field;
  std::size_t point = 0;
  if (!absl::ConsumePrefix(&index, "points[") || !absl::ConsumeSuffix(&index, "]") ||
      !absl::SimpleAtoi(index, &point)) {
    return status;
  }
  return MakeError(ErrorReason::kOffMap, absl::StrCat("points[", begin + point, "]"), status.message());
}

// Adapter of grid maps for ValidateLegs.
struct GridLegs {
  using Check = Validation;

  const ValidationQuery& query;
  const Budget& budget;

  absl::StatusOr<Validation> Walk(const GridMap& map, absl::Span<const Cell> leg, std::size_t begin) const {
    ValidationQuery part = query;
    part.points = leg;
    absl::StatusOr<Validation> walk = ValidatePath(map, part, budget);
    return walk.ok() ? walk : InPath(walk.status(), begin);
  }
  static bool IsWalkable(const Validation& walk) { return walk.walkable; }
  static Validation Blocked(std::size_t end, Cell /*before*/, Cell cell, double cost) {
    return {.walkable = false, .blocked_index = end, .blocked_cell = cell, .cost = cost};
  }
  static bool Starts(const Portal& portal, Cell cell) { return portal.from == cell; }
  static bool Ends(const Portal& portal, Cell cell) { return portal.to == cell; }
  static bool EndsOn(const GridMap& map, const Portal& portal, Cell cell) {
    return map.settings().frame.PlaneCellOf(portal.to) == cell;
  }
  static bool AreSame(Cell a, Cell b) { return a == b; }
  static double CostOf(const Portal& portal) { return CostToDouble(portal.cost); }
};

}  // namespace

std::vector<Cell> WalkDirections(Cell start, absl::Span<const Direction> directions,
                                 std::vector<CrossedPortal>& crossings) {
  std::vector<Cell> points = {start};
  std::size_t next = 0;
  for (std::size_t i = 0; i <= directions.size(); ++i) {
    for (; next < crossings.size() && crossings[next].index == i; ++next) {
      crossings[next].index = points.size();
      points.push_back(crossings[next].arrival);
    }
    if (i < directions.size()) {
      points.push_back(Step(points.back(), directions[i]));
    }
  }
  for (; next < crossings.size(); ++next) {
    crossings[next].index = std::numeric_limits<std::size_t>::max();
  }
  return points;
}

absl::StatusOr<Validation> ValidateThroughPortals(const GridMap& map, World& world,
                                                  const ValidationQuery& query,
                                                  absl::Span<const CrossedPortal> crossings,
                                                  absl::Span<const std::string> required_tags,
                                                  const Budget& budget) {
  return ValidateLegs(GridLegs{query, budget}, map, world, query.points, crossings, required_tags);
}

}  // namespace waystar::core
