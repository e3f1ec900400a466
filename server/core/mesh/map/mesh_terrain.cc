#include "server/core/mesh/map/mesh_terrain.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/elements/element_hash.h"
#include "server/core/elements/tags.h"

namespace waystar::core {
namespace {

constexpr double kClosed = 0.0;

absl::Status CheckCost(double cost, ErrorReason reason, absl::string_view field) {
  // Written so that NaN fails.
  if (!(cost >= kMinGroundCost && cost <= kMaxGroundCost)) {
    return MakeError(reason, field, absl::StrCat("a terrain's cost must be 0.001 to 1000, got ", cost));
  }
  return absl::OkStatus();
}

bool HaveCommon(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::ranges::any_of(a, [&](const std::string& tag) { return std::ranges::find(b, tag) != b.end(); });
}

// Returns the area of a terrain that a profile names.
absl::StatusOr<std::size_t> AreaNamed(const std::string& name, absl::Span<const MeshTerrain> terrains,
                                      std::array<bool, kMaxMeshAreas>& seen, absl::string_view field) {
  const auto found = std::ranges::find(terrains, name, &MeshTerrain::name);
  if (found == terrains.end()) {
    const auto names = [](std::string* out, const MeshTerrain& terrain) { out->append(terrain.name); };
    return MakeError(ErrorReason::kUnknownTerrain, field,
                     absl::StrCat("the map's terrains are ", absl::StrJoin(terrains, ", ", names)));
  }
  const auto area = static_cast<std::size_t>(found - terrains.begin());
  if (seen[area]) {
    return MakeError(ErrorReason::kBadProfile, field,
                     absl::StrCat("the profile names the terrain '", name, "' twice"));
  }
  seen[area] = true;
  return area;
}

}  // namespace

MeshTerrain DefaultMeshTerrain(std::size_t area) {
  return {.name = area == 0 ? "ground" : absl::StrCat("area-", area)};
}

void ExtendTerrains(std::size_t area, std::vector<MeshTerrain>& terrains) {
  while (terrains.size() <= area) {
    terrains.push_back(DefaultMeshTerrain(terrains.size()));
  }
}

absl::Status CheckMeshTerrains(absl::Span<const MeshTerrain> terrains) {
  if (terrains.size() > kMaxMeshAreas) {
    return MakeError(ErrorReason::kBadTerrain, "terrains",
                     absl::StrCat("a mesh has at most ", kMaxMeshAreas, " terrains, got ", terrains.size()));
  }
  for (std::size_t area = 0; area < terrains.size(); ++area) {
    const MeshTerrain& terrain = terrains[area];
    const std::string field = absl::StrCat("terrains[", area, "].");
    if (terrain.name.empty() || terrain.name.size() > kMaxNameBytes ||
        !std::ranges::all_of(terrain.name, absl::ascii_isgraph)) {
      return MakeError(ErrorReason::kBadTerrain, field + "name",
                       "a terrain's name is 1 to 63 printable ASCII characters without spaces");
    }
    const absl::Span<const MeshTerrain> before = terrains.first(area);
    if (std::ranges::find(before, terrain.name, &MeshTerrain::name) != before.end()) {
      return MakeError(ErrorReason::kBadTerrain, field + "name",
                       absl::StrCat("two terrains have the name '", terrain.name, "'"));
    }
    WAYSTAR_RETURN_IF_ERROR_AT(field + "tags", CheckTags(terrain.tags, ErrorReason::kBadTerrain));
    WAYSTAR_RETURN_IF_ERROR(CheckCost(terrain.cost, ErrorReason::kBadTerrain, field + "cost"));
  }
  return absl::OkStatus();
}

std::uint64_t DigestOf(const MeshProfileTable& profiles) {
  std::uint64_t digest = 0;
  for (const auto& [name, ground, required_tags] : profiles) {
    ElementHash hash(ElementKind::kMeshProfile);
    hash.AddText(name);
    hash.Add(ground.costs.size());
    for (const GroundCost& cost : ground.costs) {
      hash.AddText(cost.terrain);
      hash.AddDouble(cost.cost);
    }
    hash.Add(ground.forbidden.size());
    for (const std::string& terrain : ground.forbidden) {
      hash.AddText(terrain);
    }
    hash.AddTags(ground.allowed_tags);
    hash.AddTags(ground.forbidden_tags);
    hash.AddTags(required_tags);
    digest += hash.value();
  }
  return digest;
}

absl::StatusOr<AreaCosts> CostsUnder(const GroundRules& rules, absl::Span<const MeshTerrain> terrains) {
  AreaCosts costs;
  costs.fill(1.0);
  std::ranges::transform(terrains, costs.begin(), [](const MeshTerrain& terrain) {
    return terrain.is_impassable ? kClosed : terrain.cost;
  });
  std::array<bool, kMaxMeshAreas> seen = {};
  for (std::size_t i = 0; i < rules.costs.size(); ++i) {
    const auto& [name, cost] = rules.costs[i];
    const std::string field = absl::StrCat("terrain_costs[", i, "].");
    WAYSTAR_ASSIGN_OR_RETURN(const std::size_t area, AreaNamed(name, terrains, seen, field + "terrain"));
    WAYSTAR_RETURN_IF_ERROR(CheckCost(cost, ErrorReason::kBadValue, field + "cost"));
    costs[area] = cost;
  }
  for (std::size_t i = 0; i < rules.forbidden.size(); ++i) {
    WAYSTAR_ASSIGN_OR_RETURN(const std::size_t area, AreaNamed(rules.forbidden[i], terrains, seen,
                                                               absl::StrCat("forbidden_terrains[", i, "]")));
    costs[area] = kClosed;
  }
  WAYSTAR_RETURN_IF_ERROR_AT("ground_tags", CheckTags(rules.allowed_tags, ErrorReason::kBadProfile));
  WAYSTAR_RETURN_IF_ERROR_AT("forbidden_ground_tags",
                             CheckTags(rules.forbidden_tags, ErrorReason::kBadProfile));
  for (std::size_t area = 0; area < terrains.size(); ++area) {
    const std::vector<std::string>& tags = terrains[area].tags;
    if ((!rules.allowed_tags.empty() && !HaveCommon(tags, rules.allowed_tags)) ||
        HaveCommon(tags, rules.forbidden_tags)) {
      costs[area] = kClosed;
    }
  }
  const absl::Span<const double> all = absl::MakeConstSpan(costs).first(terrains.size());
  if (!all.empty() && std::ranges::all_of(all, [](double cost) { return cost == kClosed; })) {
    return MakeError(ErrorReason::kBadProfile, "forbidden_terrains",
                     "the profile leaves no terrain of the map to walk on");
  }
  return costs;
}

}  // namespace waystar::core
