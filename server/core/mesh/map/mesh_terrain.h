// Terrains of a navigation mesh: the kinds of ground that its polygons are of, and what they cost an agent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace waystar::core {

// Exclusive upper bound of area numbers, as in Detour.
inline constexpr std::uint8_t kMaxMeshAreas = 64;
// Range of the cost of a unit of length.
inline constexpr double kMinGroundCost = 0.001;
inline constexpr double kMaxGroundCost = 1000.0;

// A kind of ground, such as water or road.
struct MeshTerrain {
  // 1 to 63 printable ASCII characters without spaces.
  std::string name;
  // As CheckTags. They hold what a file says of the ground beside its area, such as the flags of Detour.
  std::vector<std::string> tags;
  // Cost of a unit of length, from kMinGroundCost to kMaxGroundCost.
  double cost = 1.0;
  bool is_impassable = false;

  friend bool operator==(const MeshTerrain&, const MeshTerrain&) = default;
};

// Returns the terrain of polygons with this area if a mesh says nothing else: "ground" for 0, else "area-7".
MeshTerrain DefaultMeshTerrain(std::size_t area);

// Appends default terrains until there is one for the area.
void ExtendTerrains(std::size_t area, std::vector<MeshTerrain>& terrains);

// Checks the terrains of a mesh, which are in the order of their areas and have different names. Returns
// INVALID_ARGUMENT / BAD_TERRAIN with a field such as "terrains[3].name".
absl::Status CheckMeshTerrains(absl::Span<const MeshTerrain> terrains);

// Cost of a unit of length on the terrain with this name.
struct GroundCost {
  std::string terrain;
  double cost = 1.0;

  friend bool operator==(const GroundCost&, const GroundCost&) = default;
};

// The costs of an agent, and where it may go.
struct GroundRules {
  // Costs that override those of the mesh; such terrains are passable. Each at most once.
  std::vector<GroundCost> costs;
  // Names of terrains that the agent never enters. Not in `costs`.
  std::vector<std::string> forbidden;
  // The agent enters only terrains with at least one of these tags, if there are any,
  std::vector<std::string> allowed_tags;
  // and none with one of these.
  std::vector<std::string> forbidden_tags;

  bool empty() const {
    return costs.empty() && forbidden.empty() && allowed_tags.empty() && forbidden_tags.empty();
  }
  friend bool operator==(const GroundRules&, const GroundRules&) = default;
};

// A named movement profile of a mesh.
struct MeshProfile {
  std::string name;
  GroundRules ground;
  // Tags that a portal must all have for the agent to use it, as in MovementProfile.
  std::vector<std::string> required_tags;

  friend bool operator==(const MeshProfile&, const MeshProfile&) = default;
};

// Profiles of a mesh, ordered by their unique names.
using MeshProfileTable = std::vector<MeshProfile>;

// Returns the profiles' part of a mesh's digest.
std::uint64_t DigestOf(const MeshProfileTable& profiles);

// For each area, the cost of a unit of length, or 0 where an agent may not go; 1 beyond the terrains.
using AreaCosts = std::array<double, kMaxMeshAreas>;

// Returns the costs for an agent. Returns INVALID_ARGUMENT with a field: UNKNOWN_TERRAIN
// ("terrain_costs[0].terrain", "forbidden_terrains[0]"); BAD_VALUE ("terrain_costs[0].cost"); BAD_PROFILE for
// a terrain named twice, for bad tags ("ground_tags[0]", "forbidden_ground_tags[0]"), or with
// "forbidden_terrains" if no terrain is left.
absl::StatusOr<AreaCosts> CostsUnder(const GroundRules& rules, absl::Span<const MeshTerrain> terrains);

}  // namespace waystar::core
