// Movement profiles: what a kind of agent pays for each terrain, which it cannot enter, and how large it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/grid/grid_settings.h"

namespace waystar::core {

// The cost of a straight step into cells of the terrain with this symbol.
struct TerrainCost {
  char symbol = '.';
  double cost = 1.0;

  friend bool operator==(const TerrainCost&, const TerrainCost&) = default;
};

struct MovementProfile {
  // The side of the agent in cells, from 1 to kMaxFootprint.
  int footprint = 1;
  CornerRule corner_rule = CornerRule::kNoCornerCutting;
  // Terrains that may be entered at the given cost, even where the map calls them impassable.
  std::vector<TerrainCost> terrain_costs;
  // Symbols of terrains that may never be entered. All other terrains are as the map says.
  std::vector<char> forbidden_terrains;
  // The tags that edges and portals must have for the agent to use them, in printable ASCII.
  std::vector<std::string> required_tags;
  // If true, the agent only goes north, east, south and west.
  bool no_diagonals = false;

  friend bool operator==(const MovementProfile&, const MovementProfile&) = default;
};

struct NamedProfile {
  std::string name;
  MovementProfile profile;

  friend bool operator==(const NamedProfile&, const NamedProfile&) = default;
};

inline constexpr std::size_t kMaxProfiles = 64;

// Returns INVALID_ARGUMENT / BAD_PROFILE with field "name" unless CheckName (tags.h) holds.
absl::Status CheckProfileName(absl::string_view name);

// Checks a profile for a map with these settings. Returns INVALID_ARGUMENT with the field: BAD_VALUE
// ("footprint", "terrain_costs[0].cost"); UNKNOWN_TERRAIN ("terrain_costs[0].terrain",
// "forbidden_terrains[0]"); BAD_PROFILE for a terrain named twice, for tags that are too many, empty, too
// long or repeated ("required_tags[0]"), and with "forbidden_terrains" if no terrain is left to walk on.
absl::Status CheckProfile(const MovementProfile& profile, const GridSettings& settings);

// What a profile makes of a map's settings, as far as searches see it.
struct TerrainRules {
  struct Rule {
    double cost = 1.0;
    bool impassable = false;

    friend bool operator==(const Rule&, const Rule&) = default;
  };

  Connectivity connectivity = Connectivity::kEight;
  // The rules by TerrainId.
  std::vector<Rule> terrains;

  // Makes the rules of the map itself.
  explicit TerrainRules(const GridSettings& settings);
  // REQUIRES: CheckProfile(profile, settings).ok().
  TerrainRules(const MovementProfile& profile, const GridSettings& settings);

  // Returns whether these are the rules of the map itself.
  bool IsAsIn(const GridSettings& settings) const;
  GridSettings ApplyTo(GridSettings settings) const;

  friend bool operator==(const TerrainRules&, const TerrainRules&) = default;
};

// The profiles of a map in the order of their names, which are unique.
using ProfileTable = std::vector<NamedProfile>;

// Returns their part of a map's digest.
std::uint64_t DigestOf(const ProfileTable& profiles);

// Returns null if there is none.
const MovementProfile* FindProfile(const ProfileTable& profiles, absl::string_view name);
// Puts a profile in the table, replacing one with the same name. Returns INVALID_ARGUMENT / BAD_PROFILE with
// field "name", the errors of CheckProfile below "profile.", or RESOURCE_EXHAUSTED / TOO_MANY_PROFILES.
absl::Status PutInTable(NamedProfile profile, const GridSettings& settings, ProfileTable& profiles);
// Returns NOT_FOUND / PROFILE_NOT_FOUND with field "name" if there is none.
absl::Status RemoveFromTable(absl::string_view name, ProfileTable& profiles);

// Makes the error NOT_FOUND / PROFILE_NOT_FOUND.
absl::Status NoSuchProfile(absl::string_view name, absl::string_view field);

}  // namespace waystar::core
