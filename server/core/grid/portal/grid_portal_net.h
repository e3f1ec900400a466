// Portals that an agent can use on a grid and on all grids that they lead to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/components/component_block.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/agent.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/portal/portal_net.h"
#include "server/geometry/cell.h"

namespace waystar::core {

using World = WorldOf<GridMap>;

// World without other maps.
class NoWorld final : public World {
 public:
  const GridMap* Find(absl::string_view /*id*/) override { return nullptr; }
};

// A portal in one direction, with the state of a search.
struct Door : PortalDoor<Portal, Cell> {
  // Minimum cost from the start through it; valid once settled.
  Cost g = 0;
  // Previous door of that path; kNoDoor if it is the first.
  std::uint32_t parent = kNoDoor;
  // Number of the part of its target; valid once reached.
  std::uint32_t to_part = 0;
  // Next door that departs from the same part; kNoDoor after the last.
  std::uint32_t next_departure = kNoDoor;
  bool is_reached = false;
  bool is_settled = false;
};

struct GridLayer {
  // Id of the map; empty for that of the query.
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

// Connected component of a map, with the state of a search.
struct GridPart {
  std::uint32_t map = 0;
  ComponentId id;
  std::uint32_t first_departure = kNoDoor;
  bool is_reached = false;
};

// Portal net of one query. A door is listed if its portal is open and has all required tags, and the agent
// can stand at both ends, even if no path leads to it.
//
// Not thread-safe.
class GridPortalNet : public PortalNet<World, GridLayer, Door, absl::string_view> {
 public:
  // The arguments must outlive this.
  GridPortalNet(const GridMap& home, World& world, const Agent& agent);

  std::optional<std::uint32_t> FindMap(absl::string_view id);
  // Adds the doors of the listed maps, the maps that they lead to, their doors, and so on. Checks each
  // portal. Call it last, and once.
  void FindDoors();

  // Lists the doors that depart from each part of a map, in ascending order.
  void ListDeparturesByPart(std::uint32_t map);

  const Components& ComponentsOf(std::uint32_t map) const;
  // Returns the number of the component that contains a cell of a map; assigns one if there is none. Blocked
  // cells of a map share one.
  std::uint32_t PartOf(std::uint32_t map, Cell cell);
  // Returns the number of a component of a map, or nullopt if none is assigned.
  std::optional<std::uint32_t> FindPart(std::uint32_t map, ComponentId id) const;
  std::size_t part_count() const { return parts_.size(); }
  GridPart& part(std::uint32_t number) { return parts_[number]; }
  const GridPart& part(std::uint32_t number) const { return parts_[number]; }

 private:
  using PartKey = std::tuple<std::uint32_t, const ComponentBlock*, ComponentNumber>;

  void AddDoor(const Portal& portal, bool is_reversed, std::uint32_t from_map, std::uint32_t to_map);

  const Agent agent_;
  std::vector<GridPart> parts_;
  // Not an Abseil table: those are not usable after an allocation failure.
  std::unordered_map<PartKey, std::uint32_t, absl::Hash<PartKey>> part_numbers_;
};

}  // namespace waystar::core
