// Collects the portals that an agent can use on a map and on all maps that they lead to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/portal/world.h"
#include "server/core/grid/search/portal_scratch.h"

namespace waystar::core {

// Fills lists of maps and doors for PortalScratch. A door is listed if its portal is open and has all
// required tags, and the agent can stand at both ends, even if no path leads to it.
//
// Not thread-safe.
class PortalDoors {
 public:
  // The arguments must outlive this.
  // REQUIRES: the lists are empty.
  PortalDoors(World& world, int footprint, absl::Span<const std::string> required_tags,
              std::vector<PortalScratch::Map>& maps, std::vector<Door>& doors)
      : world_(world), footprint_(footprint), required_tags_(required_tags), maps_(maps), doors_(doors) {}

  // Adds the map that the agent starts on as the first of the list. Call it first, and once.
  void AddHome(const GridMap& map) { AddMap(kSameMap, map); }
  // Returns the index of a map, which is added if it is not in the list, or nothing if no map has that id.
  std::optional<std::uint32_t> FindMap(absl::string_view id);

  // Adds the doors of the listed maps, the maps that they lead to, their doors, and so on. Checks each
  // portal. Call it last, and once.
  void FindDoors();

 private:
  std::uint32_t AddMap(absl::string_view id, const GridMap& map);
  bool MayPass(const Portal& portal) const;
  void AddDoor(const Portal& portal, bool is_reversed, std::uint32_t from_map, std::uint32_t to_map);

  World& world_;
  const int footprint_;
  const absl::Span<const std::string> required_tags_;
  std::vector<PortalScratch::Map>& maps_;
  std::vector<Door>& doors_;
  // Indices of the maps that were looked up; nothing for ids without a map.
  std::map<absl::string_view, std::optional<std::uint32_t>> indexes_;
};

}  // namespace waystar::core
