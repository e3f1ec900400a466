// Portals: links from one cell to another, on the same map or on another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/elements/id_table.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Link that stands for stairs, a teleporter or a ferry. An agent at `from` may step to `to`, whatever lies
// between. It must be able to stand on both.
struct Portal {
  // Valid by CheckPortalId.
  std::string id;
  Cell from;
  // Map of `to`; empty for the same map. On another map, `to` is counted as that map's clients count cells,
  // since the map may not exist yet.
  std::string to_map;
  Cell to;
  // Cost of the step, from 0 to that of kMaxPortalCost, independent of terrain.
  Cost cost = 0;
  // If true, the portal may be used in reverse at the same cost. Not allowed between two maps.
  bool both_ways = false;
  // Sorted, unique tags. An agent may pass only if the portal has all its required tags.
  std::vector<std::string> tags;
  // A closed portal cannot be used.
  bool closed = false;

  friend bool operator==(const Portal&, const Portal&) = default;
};

// Returns the memory of a portal.
std::size_t BytesOf(const Portal& portal);
// Returns its part of a map's digest.
std::uint64_t DigestOf(const Portal& portal);

class PortalTable : public IdTable<Portal> {};

// Maximum number of portals on a map.
inline constexpr std::size_t kMaxPortals = 1000;
inline constexpr double kMaxPortalCost = 1'000'000.0;

// Returns INVALID_ARGUMENT / BAD_PORTAL_ID without a field unless CheckName (tags.h) holds.
absl::Status CheckPortalId(absl::string_view id);

// Checks a portal for a map with these bounds. Returns BAD_PORTAL_ID (".id"); OUT_OF_RANGE / OFF_MAP
// (".from", and ".to", which on another map must only be a cell that some map can have); INVALID_ARGUMENT /
// BAD_PORTAL (".both_ways" for a portal to another map, ".to" equal to `from`) or BAD_VALUE (".cost",
// ".tags").
absl::Status CheckPortal(const Portal& portal, const Rectangle& bounds);

}  // namespace waystar::core
