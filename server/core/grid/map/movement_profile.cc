#include "server/core/grid/map/movement_profile.h"

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/elements/element_hash.h"
#include "server/core/elements/profile_table.h"
#include "server/core/elements/tags.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/walk/footprint_grids.h"

namespace waystar::core {
namespace {

using SeenTerrains = std::bitset<kMaxTerrains>;

absl::Status Name(char symbol, const GridSettings& settings, absl::string_view field, SeenTerrains& seen) {
  if (symbol == '\0') {
    return MakeError(ErrorReason::kUnknownTerrain, field, "a terrain's symbol is one ASCII character");
  }
  const std::size_t terrain = TerrainOf(symbol, settings);
  const std::string shown = absl::CHexEscape(std::string(1, symbol));
  if (terrain == settings.terrains.size()) {
    return MakeError(ErrorReason::kUnknownTerrain, field,
                     absl::StrCat("none of the map's terrains has the symbol '", shown, "'"));
  }
  if (seen.test(terrain)) {
    return MakeError(ErrorReason::kBadProfile, field,
                     absl::StrCat("the profile names the terrain '", shown, "' twice"));
  }
  seen.set(terrain);
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckProfile(const MovementProfile& profile, const GridSettings& settings) {
  WAYSTAR_RETURN_IF_ERROR(CheckFootprint(profile.footprint));
  SeenTerrains seen;
  for (std::size_t i = 0; i < profile.terrain_costs.size(); ++i) {
    const TerrainCost& terrain = profile.terrain_costs[i];
    const std::string field = absl::StrCat("terrain_costs[", i, "].");
    WAYSTAR_RETURN_IF_ERROR(Name(terrain.symbol, settings, field + "terrain", seen));
    // Written so that NaN fails.
    if (!(terrain.cost >= kMinTerrainCost && terrain.cost <= kMaxTerrainCost)) {
      return MakeError(ErrorReason::kBadValue, field + "cost",
                       absl::StrCat("a terrain's cost must be 0.001 to 1000, got ", terrain.cost));
    }
  }
  for (std::size_t i = 0; i < profile.forbidden_terrains.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(
        Name(profile.forbidden_terrains[i], settings, absl::StrCat("forbidden_terrains[", i, "]"), seen));
  }
  const TerrainRules rules(profile, settings);
  if (!profile.forbidden_terrains.empty() &&
      std::all_of(rules.terrains.begin(), rules.terrains.end(),
                  [](const TerrainRules::Rule& rule) { return rule.impassable; })) {
    return MakeError(ErrorReason::kBadProfile, "forbidden_terrains",
                     "the profile leaves no terrain of the map to walk on");
  }
  if (const absl::Status status = CheckTags(profile.required_tags, ErrorReason::kBadProfile); !status.ok()) {
    return WithFieldPrefix(status, "required_tags");
  }
  return absl::OkStatus();
}

TerrainRules::TerrainRules(const GridSettings& settings) : connectivity(settings.connectivity) {
  terrains.reserve(settings.terrains.size());
  for (const Terrain& terrain : settings.terrains) {
    terrains.push_back({terrain.cost, terrain.impassable});
  }
}

TerrainRules::TerrainRules(const MovementProfile& profile, const GridSettings& settings)
    : TerrainRules(settings) {
  if (profile.no_diagonals && connectivity == Connectivity::kEight) {
    connectivity = Connectivity::kFour;
  }
  for (const TerrainCost& terrain : profile.terrain_costs) {
    terrains[TerrainOf(terrain.symbol, settings)] = {terrain.cost, false};
  }
  for (const char symbol : profile.forbidden_terrains) {
    terrains[TerrainOf(symbol, settings)].impassable = true;
  }
}

bool TerrainRules::IsAsIn(const GridSettings& settings) const {
  return connectivity == settings.connectivity &&
         std::equal(terrains.begin(), terrains.end(), settings.terrains.begin(), settings.terrains.end(),
                    [](const Rule& rule, const Terrain& terrain) {
                      return rule.cost == terrain.cost && rule.impassable == terrain.impassable;
                    });
}

GridSettings TerrainRules::ApplyTo(GridSettings settings) const {
  settings.connectivity = connectivity;
  for (std::size_t i = 0; i < terrains.size(); ++i) {
    settings.terrains[i].cost = terrains[i].cost;
    settings.terrains[i].impassable = terrains[i].impassable;
  }
  return settings;
}

std::uint64_t DigestOf(const ProfileTable& profiles) {
  std::uint64_t digest = 0;
  for (const auto& [name, profile] : profiles) {
    ElementHash hash(ElementKind::kProfile);
    hash.AddText(name);
    hash.AddSigned(profile.footprint);
    hash.Add(static_cast<std::uint64_t>(profile.corner_rule));
    hash.Add(profile.terrain_costs.size());
    for (const TerrainCost& terrain : profile.terrain_costs) {
      hash.Add(static_cast<std::uint8_t>(terrain.symbol));
      hash.AddDouble(terrain.cost);
    }
    hash.AddText({profile.forbidden_terrains.data(), profile.forbidden_terrains.size()});
    hash.AddTags(profile.required_tags);
    hash.Add(profile.no_diagonals ? 1 : 0);
    digest += hash.value();
  }
  return digest;
}

absl::Status PutInTable(NamedProfile profile, const GridSettings& settings, ProfileTable& profiles) {
  WAYSTAR_RETURN_IF_ERROR(CheckProfileName(profile.name));
  WAYSTAR_RETURN_IF_ERROR_AT("profile.", CheckProfile(profile.profile, settings));
  return InsertProfile(std::move(profile), profiles);
}

}  // namespace waystar::core
