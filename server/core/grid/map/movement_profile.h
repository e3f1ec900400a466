// Movement profiles: the terrain costs, forbidden terrains and size of a kind of agent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/core/grid/cells/grid_settings.h"

namespace waystar::core {

// Cost of a straight step into cells of the terrain with this symbol.
struct TerrainCost {
  char symbol = '.';
  double cost = 1.0;

  friend bool operator==(const TerrainCost&, const TerrainCost&) = default;
};

struct MovementProfile {
  // Side of the agent in cells, from 1 to kMaxFootprint.
  int footprint = 1;
  CornerRule corner_rule = CornerRule::kNoCornerCutting;
  // Costs that override the map's; a terrain listed here is passable even if the map says otherwise.
  std::vector<TerrainCost> terrain_costs;
  // Symbols of terrains that are impassable. All other terrains follow the map.
  std::vector<char> forbidden_terrains;
  // Tags that an edge or portal must all have for the agent to use it, in printable ASCII.
  std::vector<std::string> required_tags;
  // If true, the agent moves only north, east, south and west.
  bool no_diagonals = false;

  friend bool operator==(const MovementProfile&, const MovementProfile&) = default;
};

struct NamedProfile {
  std::string name;
  MovementProfile profile;

  friend bool operator==(const NamedProfile&, const NamedProfile&) = default;
};

// Checks a profile for a map with these settings. Returns INVALID_ARGUMENT with a field: BAD_VALUE
// ("footprint", "terrain_costs[0].cost"); UNKNOWN_TERRAIN ("terrain_costs[0].terrain",
// "forbidden_terrains[0]"); BAD_PROFILE for a terrain named twice, for too many, empty, too long or repeated
// tags ("required_tags[0]"), or with "forbidden_terrains" if no terrain is passable.
absl::Status CheckProfile(const MovementProfile& profile, const GridSettings& settings);

// Terrain costs and connectivity of a map under a profile.
struct TerrainRules {
  struct Rule {
    double cost = 1.0;
    bool impassable = false;

    friend bool operator==(const Rule&, const Rule&) = default;
  };

  Connectivity connectivity = Connectivity::kEight;
  // Rules by TerrainId.
  std::vector<Rule> terrains;

  // Makes the map's own rules.
  explicit TerrainRules(const GridSettings& settings);
  // REQUIRES: CheckProfile(profile, settings).ok().
  TerrainRules(const MovementProfile& profile, const GridSettings& settings);

  // Returns true if these are the map's own rules.
  bool IsAsIn(const GridSettings& settings) const;
  GridSettings ApplyTo(GridSettings settings) const;

  friend bool operator==(const TerrainRules&, const TerrainRules&) = default;
};

// Profiles of a map, ordered by their unique names.
using ProfileTable = std::vector<NamedProfile>;

// Returns the profiles' part of a map's digest.
std::uint64_t DigestOf(const ProfileTable& profiles);

// Inserts a profile, or replaces the one with the same name. Returns the errors of CheckProfileName, of
// InsertProfile (profile_table.h), and of CheckProfile below "profile.".
absl::Status PutInTable(NamedProfile profile, const GridSettings& settings, ProfileTable& profiles);

}  // namespace waystar::core
