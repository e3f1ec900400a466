// The working memory of searches through portals.
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
#include "server/core/components/component_block.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/portal.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// A place where a path goes through a portal.
struct PortalCrossing {
  // The portal, which belongs to the map that it leads from.
  const Portal* portal = nullptr;
  // If true, it is passed from `to` to `from`.
  bool is_reversed = false;
  // The id of the map that it leads to; empty if that is the one that the query starts on.
  absl::string_view map;
  Cell arrival;
  // How many points of the path lie before it, or how many directions with PathForm::kDirections.
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
  // A lower bound of the cost that is left behind it.
  Cost rest = std::numeric_limits<Cost>::max();
  // The least cost from the start through it, once it is settled.
  Cost g = 0;
  // The door before it on that way; kNoDoor if it is the first.
  std::uint32_t parent = kNoDoor;
  // The index in PortalScratch::parts of where it leads to, once it is reached.
  std::uint32_t to_part = 0;
  // The next door that leads from the same part; kNoDoor after the last.
  std::uint32_t next_departure = kNoDoor;
  bool is_reached = false;
  bool is_settled = false;
};

// An entry of the open list: a way to a door or a goal. The cost of the walk there from the door before is
// known or bounded from below.
struct PortalEntry {
  Cost f = 0;
  Cost g = 0;
  bool is_exact = false;
  // The door before; kNoDoor means the start.
  std::uint32_t from = kNoDoor;
  // A door or, numbered after the last of them, a goal.
  std::uint32_t to = 0;

  // Smaller f goes first, then known costs before bounds, then larger g, then a fixed order.
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
    // The id; empty for the map of the query.
    absl::string_view id;
    const GridMap* map = nullptr;
    // The walk grid for the query's agent.
    std::shared_ptr<const WalkGrid> walk;
    // The doors that lead from the map, and those that lead to it.
    std::vector<std::uint32_t> departures;
    std::vector<std::uint32_t> arrivals;
    // True once its departures are listed by parts.
    bool is_reached = false;
  };

  // A part of a map whose cells can be walked between.
  struct Part {
    std::uint32_t first_departure = kNoDoor;
    bool is_reached = false;
  };
  using PartId = std::tuple<std::uint32_t, const ComponentBlock*, ComponentNumber>;

  std::vector<Map> maps;
  std::vector<Door> doors;
  // The doors that can be passed, in the order in which that was found out.
  std::vector<std::uint32_t> reached;
  using Rest = std::pair<Cost, std::uint32_t>;
  std::vector<Rest> rests;
  std::vector<PortalEntry> open;
  std::vector<Cell> goals;
  // The part that each of the goals lies in.
  std::vector<std::uint32_t> goal_parts;
  std::vector<Part> parts;
  // No table of Abseil, which does not survive that memory runs out.
  std::map<PartId, std::uint32_t> part_numbers;
  std::vector<Cell> points;
  std::vector<Direction> directions;
  std::vector<PortalCrossing> crossings;

  // Without what Clear frees.
  std::size_t memory_bytes() const {
    return maps.capacity() * sizeof(maps[0]) + doors.capacity() * sizeof(doors[0]) +
           reached.capacity() * sizeof(reached[0]) + rests.capacity() * sizeof(rests[0]) +
           open.capacity() * sizeof(open[0]) + goals.capacity() * sizeof(goals[0]) +
           goal_parts.capacity() * sizeof(goal_parts[0]) + parts.capacity() * sizeof(parts[0]) +
           points.capacity() * sizeof(points[0]) + directions.capacity() * sizeof(directions[0]) +
           crossings.capacity() * sizeof(crossings[0]);
  }

  // Lets go of the maps as well.
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
