// Working memory of searches through portals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/components/component_block.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Passage of a path through a portal.
struct PortalCrossing {
  // The portal; owned by the map that it starts on.
  const Portal* portal = nullptr;
  // If true, the path goes from `to` to `from`.
  bool is_reversed = false;
  // Id of the map that the path enters; empty for the query's map.
  absl::string_view map;
  Cell arrival;
  // Number of points of the path before it; number of directions with PathForm::kDirections.
  std::size_t index = 0;
};

inline constexpr std::uint32_t kNoDoor = std::numeric_limits<std::uint32_t>::max();

// A portal in one direction.
struct Door {
  const Portal* portal = nullptr;
  bool is_reversed = false;
  // Indices in PortalScratch::maps.
  std::uint32_t from_map = 0;
  std::uint32_t to_map = 0;
  Cell from;
  Cell to;
  // Lower bound of the cost from the door to the goal.
  Cost rest = std::numeric_limits<Cost>::max();
  // Minimum cost from the start through it; valid once settled.
  Cost g = 0;
  // Previous door of that path; kNoDoor if it is the first.
  std::uint32_t parent = kNoDoor;
  // Index in PortalScratch::parts of its target; valid once reached.
  std::uint32_t to_part = 0;
  // Next door that departs from the same part; kNoDoor after the last.
  std::uint32_t next_departure = kNoDoor;
  bool is_reached = false;
  bool is_settled = false;
};

// Entry of the open list: a path to a door or a goal. The cost of the walk from the previous door is exact or
// a lower bound.
struct PortalEntry {
  Cost f = 0;
  Cost g = 0;
  bool is_exact = false;
  // Previous door; kNoDoor means the start.
  std::uint32_t from = kNoDoor;
  // A door, or a goal numbered after the last door.
  std::uint32_t to = 0;

  // Smaller f first, then exact costs before bounds, then larger g, then a fixed order.
  bool Precedes(const PortalEntry& other) const {
    if (f != other.f) {
      return f < other.f;
    }
    if (is_exact != other.is_exact) {
      return is_exact;
    }
    if (g != other.g) {
      return g > other.g;
    }
    return to != other.to ? to < other.to : from + 1 < other.from + 1;
  }
};

struct PortalScratch {
  struct Map {
    // Id; empty for the map of the query.
    absl::string_view id;
    const GridMap* map = nullptr;
    // Walk grid for the query's agent.
    std::shared_ptr<const WalkGrid> walk;
    // Doors that lead from the map, and doors that lead to it.
    std::vector<std::uint32_t> departures;
    std::vector<std::uint32_t> arrivals;
    // True once its departures are listed by part.
    bool is_reached = false;
  };

  // Connected component of a map.
  struct Part {
    std::uint32_t first_departure = kNoDoor;
    bool is_reached = false;
  };
  using PartId = std::tuple<std::uint32_t, const ComponentBlock*, ComponentNumber>;

  std::vector<Map> maps;
  std::vector<Door> doors;
  // Reachable doors, in the order of discovery.
  std::vector<std::uint32_t> reached;
  using Rest = std::pair<Cost, std::uint32_t>;
  std::vector<Rest> rests;
  std::vector<PortalEntry> open;
  std::vector<Cell> goals;
  // Part of each goal.
  std::vector<std::uint32_t> goal_parts;
  std::vector<Part> parts;
  // Not an Abseil table: those are not usable after an allocation failure.
  std::map<PartId, std::uint32_t> part_numbers;
  std::vector<Cell> points;
  std::vector<Direction> directions;
  std::vector<PortalCrossing> crossings;

  // Excludes the memory that Clear frees.
  std::size_t memory_bytes() const {
    return maps.capacity() * sizeof(maps[0]) + doors.capacity() * sizeof(doors[0]) +
           reached.capacity() * sizeof(reached[0]) + rests.capacity() * sizeof(rests[0]) +
           open.capacity() * sizeof(open[0]) + goals.capacity() * sizeof(goals[0]) +
           goal_parts.capacity() * sizeof(goal_parts[0]) + parts.capacity() * sizeof(parts[0]) +
           points.capacity() * sizeof(points[0]) + directions.capacity() * sizeof(directions[0]) +
           crossings.capacity() * sizeof(crossings[0]);
  }

  // Also releases the maps.
  void Clear() {
    maps.clear();
    doors.clear();
    reached.clear();
    rests.clear();
    open.clear();
    goals.clear();
    goal_parts.clear();
    parts.clear();
    part_numbers.clear();
    points.clear();
    directions.clear();
    crossings.clear();
  }
};

}  // namespace waystar::core
