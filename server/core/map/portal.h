// Portals: links from one cell to another that lies elsewhere, on the same map or on another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/map/id_table.h"

namespace waystar::core {

// A portal stands for stairs, a teleporter or a ferry. An agent at `from` may step to `to`, whatever lies
// between; it must be able to stand on both.
struct Portal {
  // The id obeys CheckPortalId.
  std::string id;
  Cell from;
  // The map that `to` lies on; empty if it is the same. On another map, `to` is counted as that map's clients
  // count it, since it need not be there yet.
  std::string to_map;
  Cell to;
  // The cost of the step, from 0 to that of kMaxPortalCost. Terrain has no part in it.
  Cost cost = 0;
  // If true, one may step back at the same cost. Only portals within one map may be both ways.
  bool both_ways = false;
  // The tags, sorted and unique. An agent may pass only if the portal has all the tags that it requires.
  std::vector<std::string> tags;
  // Nobody may pass a closed portal.
  bool closed = false;

  friend bool operator==(const Portal&, const Portal&) = default;
};

// Returns the bytes that a portal takes.
std::size_t BytesOf(const Portal& portal);
// Returns its part of a map's digest.
std::uint64_t DigestOf(const Portal& portal);

// The portals of a map.
class PortalTable : public IdTable<Portal> {};

// The number of portals that a map may have.
inline constexpr std::size_t kMaxPortals = 1000;
inline constexpr double kMaxPortalCost = 1'000'000.0;

// Returns INVALID_ARGUMENT / BAD_PORTAL_ID without a field unless CheckName (tags.h) holds.
absl::Status CheckPortalId(absl::string_view id);

// Checks a portal for a map with these bounds. Returns, with the field, BAD_PORTAL_ID (".id"); OUT_OF_RANGE /
// OFF_MAP (".from", and ".to", which on another map only has to be a cell that some map can have);
// INVALID_ARGUMENT / BAD_PORTAL (".both_ways" to another map, ".to" where `from` is) or BAD_VALUE (".cost",
// ".tags").
absl::Status CheckPortal(const Portal& portal, const Rectangle& bounds);

}  // namespace waystar::core
