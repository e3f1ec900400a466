// How a kind of agent moves: what it pays for each terrain, which it cannot enter, how large it is.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/grid/grid_settings.h"

namespace waystar::core {

// Of a straight step into cells of a terrain, whose symbol is given.
struct TerrainCost {
  char symbol = '.';
  double cost = 1.0;

  friend bool operator==(const TerrainCost&, const TerrainCost&) = default;
};

struct MovementProfile {
  // In cells, from 1 to kMaxFootprint.
  int footprint = 1;
  CornerRule corner_rule = CornerRule::kNoCornerCutting;
  // May be entered at that cost, even where the map calls them impassable.
  std::vector<TerrainCost> terrain_costs;
  // Symbols of terrains that may never be entered. All others are as the map says.
  std::vector<char> forbidden_terrains;
  // What edges and portals must have for the agent to use them. Printable ASCII.
  std::vector<std::string> required_tags;
  // Goes north, east, south and west alone.
  bool no_diagonals = false;

  friend bool operator==(const MovementProfile&, const MovementProfile&) = default;
};

struct NamedProfile {
  std::string name;
  MovementProfile profile;

  friend bool operator==(const NamedProfile&, const NamedProfile&) = default;
};

inline constexpr std::size_t kMaxProfiles = 64;
inline constexpr std::size_t kMaxProfileNameBytes = 63;

// INVALID_ARGUMENT / BAD_PROFILE with field "name" unless it has 1 to 63 bytes that match
// [A-Za-z0-9][A-Za-z0-9_.:-]*.
absl::Status CheckProfileName(absl::string_view name);

// For a map with these settings. INVALID_ARGUMENT with the field: BAD_VALUE ("footprint",
// "terrain_costs[0].cost"); UNKNOWN_TERRAIN ("terrain_costs[0].terrain", "forbidden_terrains[0]");
// BAD_PROFILE for a terrain named twice, tags that are too many, empty, too long or the same
// ("required_tags[0]"), and with "forbidden_terrains" if no terrain of the map is left to walk on.
absl::Status CheckProfile(const MovementProfile& profile, const GridSettings& settings);

// What a profile makes of a map's settings, as far as searches see it.
struct TerrainRules {
  struct Rule {
    double cost = 1.0;
    bool impassable = false;

    friend bool operator==(const Rule&, const Rule&) = default;
  };

  Connectivity connectivity = Connectivity::kEight;
  // By TerrainId.
  std::vector<Rule> terrains;

  // Of the map itself.
  explicit TerrainRules(const GridSettings& settings);
  // REQUIRES: CheckProfile(profile, settings).ok().
  TerrainRules(const MovementProfile& profile, const GridSettings& settings);

  // Whether they are those of the map itself.
  bool IsAsIn(const GridSettings& settings) const;
  GridSettings ApplyTo(GridSettings settings) const;

  friend bool operator==(const TerrainRules&, const TerrainRules&) = default;
};

// The profiles of a map, in the order of their names, no two of which are equal.
using ProfileTable = std::vector<NamedProfile>;

// Null if there is none.
const MovementProfile* FindProfile(const ProfileTable& profiles, absl::string_view name);
// Takes the place of one with the same name. INVALID_ARGUMENT / BAD_PROFILE with field "name" and the errors
// of CheckProfile below "profile."; RESOURCE_EXHAUSTED / TOO_MANY_PROFILES.
absl::Status PutInTable(NamedProfile profile, const GridSettings& settings, ProfileTable& profiles);
// NOT_FOUND / PROFILE_NOT_FOUND with field "name".
absl::Status RemoveFromTable(absl::string_view name, ProfileTable& profiles);

// NOT_FOUND / PROFILE_NOT_FOUND.
absl::Status NoSuchProfile(absl::string_view name, absl::string_view field);

}  // namespace waystar::core
