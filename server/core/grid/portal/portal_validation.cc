#include "server/core/grid/portal/portal_validation.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
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
#include "server/core/search/path_legs.h"

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

// Returns the portal of a crossing, or null if it does not lead from `from` to the arrival or an agent with
// these tags cannot use it.
std::shared_ptr<const Portal> Passable(const GridMap& map, const CrossedPortal& crossing, Cell from,
                                       absl::Span<const std::string> tags) {
  std::shared_ptr<const Portal> portal = map.portals().Find(crossing.id);
  if (portal == nullptr || portal->closed ||
      !std::includes(portal->tags.begin(), portal->tags.end(), tags.begin(), tags.end())) {
    return nullptr;
  }
  // Where it leads on another map is for the caller to check.
  const bool leads_there =
      portal->from == from && (!portal->to_map.empty() || portal->to == crossing.arrival);
  const bool leads_back = portal->both_ways && portal->to == from && portal->from == crossing.arrival;
  return leads_there || leads_back ? portal : nullptr;
}

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
  if (absl::Status status = CheckCrossingIndices(query.points.size(), crossings); !status.ok()) {
    return status;
  }
  const GridMap* here = &map;
  double cost = 0.0;
  for (std::size_t leg = 0;; ++leg) {
    ValidationQuery part = query;
    part.points = LegOf(query.points, crossings, leg);
    const std::size_t begin = leg == 0 ? 0 : crossings[leg - 1].index;
    absl::StatusOr<Validation> walk = ValidatePath(*here, part, budget);
    if (!walk.ok()) {
      return InPath(walk.status(), begin);
    }
    walk->cost += cost;
    walk->blocked_index += begin;
    if (leg == crossings.size() || !walk->walkable) {
      return walk;
    }
    cost = walk->cost;
    const std::shared_ptr<const Portal> portal =
        Passable(*here, crossings[leg], part.points.back(), required_tags);
    here = portal == nullptr || portal->to_map.empty() ? here : world.Find(portal->to_map);
    const bool arrives =
        portal != nullptr && here != nullptr &&
        (portal->to_map.empty() || here->settings().frame.PlaneCellOf(portal->to) == crossings[leg].arrival);
    const std::size_t end = crossings[leg].index;
    if (!arrives || query.points[end] != crossings[leg].arrival) {
      return Validation{
          .walkable = false, .blocked_index = end, .blocked_cell = query.points[end], .cost = cost};
    }
    cost += CostToDouble(portal->cost);
  }
}

}  // namespace waystar::core
