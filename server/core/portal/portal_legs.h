// Legs of a path, which its portals separate, and their validation, for all kinds of maps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/core/portal/portal_net.h"

namespace waystar::core {

// Returns the part of a path, in points or directions, between crossing leg - 1 and crossing `leg`. The first
// leg begins at the start of the path, the last ends at its end. `index` of each crossing is the length of
// the path before it; crossings are in order. Returns an empty span if the path is written in the other form.
// REQUIRES: leg <= crossings.size().
template <typename T, typename Crossing>
absl::Span<const T> LegOf(absl::Span<const T> path, absl::Span<const Crossing> crossings, std::size_t leg) {
  const std::size_t begin = leg == 0 ? 0 : std::min(crossings[leg - 1].index, path.size());
  const std::size_t end = leg == crossings.size() ? path.size() : std::min(crossings[leg].index, path.size());
  return path.subspan(begin, end - begin);
}

// Returns INVALID_ARGUMENT / BAD_VALUE with field "crossings[i].index" unless the indices are strictly
// ascending, above 0 and below `points`.
template <typename Crossing>
absl::Status CheckCrossingIndices(std::size_t points, absl::Span<const Crossing> crossings) {
  std::size_t before = 0;
  for (std::size_t i = 0; i < crossings.size(); ++i) {
    if (crossings[i].index <= before || crossings[i].index >= points) {
      return MakeError(
          ErrorReason::kBadValue, absl::StrCat("crossings[", i, "].index"),
          absl::StrCat("each crossing lies behind the one before and before the last point, not ",
                       crossings[i].index));
    }
    before = crossings[i].index;
  }
  return absl::OkStatus();
}

// Passage of a path through a portal, as reported with the path.
template <typename Point>
struct CrossedPortalAt {
  std::string id;
  Point arrival;
  // Number of points of the path before it.
  std::size_t index = 0;
};

// Validates each leg of a path on its own map. A portal that was removed, closed or changed, or lacks a tag,
// blocks the path from the point behind it. The cost includes portals. `kind` defines a kind of map:
//
//   Check: result for a leg or a path, with `cost` and `blocked_index`.
//   Walk(map, leg, begin): the result for a leg that begins at point `begin`, or an error.
//   IsWalkable(check), Blocked(end, before, point, cost): reads and makes a result.
//   Leads(portal, from, to): true if the portal leads from one point of its own map to the other.
//   LeadsTo(map, portal, from, to): true if it leads from a point of its own map to one of another map.
//   AreSame(a, b): true if two points are the same. CostOf(portal): its cost.
//
// Returns the errors of Walk and of CheckCrossingIndices.
template <typename Kind, typename World, typename Point>
absl::StatusOr<typename Kind::Check> ValidateLegs(const Kind& kind, const typename World::Map& map,
                                                  World& world, absl::Span<const Point> points,
                                                  absl::Span<const CrossedPortalAt<Point>> crossings,
                                                  absl::Span<const std::string> required_tags) {
  WAYSTAR_RETURN_IF_ERROR(CheckCrossingIndices(points.size(), crossings));
  const typename World::Map* here = &map;
  // Returns the map behind a portal, or null if it does not lead there.
  const auto map_behind = [&](const auto& portal, const Point& from, const Point& to) {
    if (portal.to_map.empty()) {
      const bool leads_back = portal.both_ways && kind.Leads(portal, to, from);
      return leads_back || kind.Leads(portal, from, to) ? here : nullptr;
    }
    const typename World::Map* const there = world.Find(portal.to_map);
    return there != nullptr && kind.LeadsTo(*there, portal, from, to) ? there : nullptr;
  };
  double cost = 0.0;
  for (std::size_t leg = 0;; ++leg) {
    const absl::Span<const Point> part = LegOf(points, crossings, leg);
    const std::size_t begin = leg == 0 ? 0 : crossings[leg - 1].index;
    WAYSTAR_ASSIGN_OR_RETURN(typename Kind::Check walk, kind.Walk(*here, part, begin));
    walk.cost += cost;
    walk.blocked_index += begin;
    if (leg == crossings.size() || !kind.IsWalkable(walk)) {
      return walk;
    }
    cost = walk.cost;
    const CrossedPortalAt<Point>& crossing = crossings[leg];
    const auto portal = here->portals().Find(crossing.id);
    here = portal == nullptr || !MayPass(*portal, required_tags)
               ? nullptr
               : map_behind(*portal, part.back(), crossing.arrival);
    const Point& point = points[crossing.index];
    if (here == nullptr || !kind.AreSame(point, crossing.arrival)) {
      return kind.Blocked(crossing.index, part.back(), point, cost);
    }
    cost += kind.CostOf(*portal);
  }
}

}  // namespace waystar::core
