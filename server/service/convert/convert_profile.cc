#include "server/service/convert/convert_profile.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_query.h"

namespace waystar::rpc {
namespace {

absl::StatusOr<char> ToSymbol(const std::string& symbol, absl::string_view field) {
  if (symbol.size() != 1) {
    return MakeError(ErrorReason::kUnknownTerrain, field, "a terrain's symbol is one ASCII character");
  }
  return symbol.front();
}

v1::CornerRule FromCornerRule(core::CornerRule rule) {
  switch (rule) {
    case core::CornerRule::kNoCornerCutting:
      return v1::CORNER_RULE_NO_CORNER_CUTTING;
    case core::CornerRule::kOneSideFree:
      return v1::CORNER_RULE_ONE_SIDE_FREE;
    case core::CornerRule::kAlways:
      return v1::CORNER_RULE_ALWAYS;
  }
  return v1::CORNER_RULE_UNSPECIFIED;
}

}  // namespace

absl::StatusOr<core::MovementProfile> ToMovementProfile(const v1::MovementProfile& profile) {
  core::MovementProfile out;
  out.footprint = profile.footprint() == 0 ? 1 : profile.footprint();
  WAYSTAR_ASSIGN_OR_RETURN(out.corner_rule, ToCornerRule(profile.corner_rule()));
  for (int i = 0; i < profile.terrain_costs_size(); ++i) {
    const v1::TerrainCost& terrain = profile.terrain_costs(i);
    WAYSTAR_ASSIGN_OR_RETURN(const char symbol,
                             ToSymbol(terrain.terrain(), absl::StrCat("terrain_costs[", i, "].terrain")));
    out.terrain_costs.push_back({symbol, terrain.cost()});
  }
  for (int i = 0; i < profile.forbidden_terrains_size(); ++i) {
    WAYSTAR_ASSIGN_OR_RETURN(const char symbol, ToSymbol(profile.forbidden_terrains(i),
                                                         absl::StrCat("forbidden_terrains[", i, "]")));
    out.forbidden_terrains.push_back(symbol);
  }
  out.required_tags.assign(profile.required_tags().begin(), profile.required_tags().end());
  out.no_diagonals = profile.no_diagonals();
  return out;
}

absl::StatusOr<core::NamedProfile> ToNamedProfile(const v1::NamedProfile& named) {
  if (!named.has_profile()) {
    return MissingField("profile");
  }
  absl::StatusOr<core::MovementProfile> profile = ToMovementProfile(named.profile());
  if (!profile.ok()) {
    return WithFieldPrefix(profile.status(), "profile.");
  }
  return core::NamedProfile{.name = named.name(), .profile = *std::move(profile)};
}

absl::Status AddProfiles(const v1::GridOptions& options, core::GridMap& map) {
  if (options.profiles().empty()) {
    return absl::OkStatus();
  }
  core::ProfileTable profiles = map.profiles();
  for (int i = 0; i < options.profiles_size(); ++i) {
    absl::StatusOr<core::NamedProfile> profile = ToNamedProfile(options.profiles(i));
    const absl::Status status =
        profile.ok() ? core::PutInTable(*std::move(profile), map.settings(), profiles) : profile.status();
    if (!status.ok()) {
      return WithFieldPrefix(status, absl::StrCat("profiles[", i, "]."));
    }
  }
  map.SetProfiles(std::move(profiles));
  return absl::OkStatus();
}

void FillNamedProfile(const core::NamedProfile& named, v1::NamedProfile& out) {
  out.set_name(named.name);
  v1::MovementProfile& profile = *out.mutable_profile();
  profile.set_footprint(named.profile.footprint);
  profile.set_corner_rule(FromCornerRule(named.profile.corner_rule));
  for (const core::TerrainCost& terrain : named.profile.terrain_costs) {
    v1::TerrainCost& written = *profile.add_terrain_costs();
    written.set_terrain(std::string(1, terrain.symbol));
    written.set_cost(terrain.cost);
  }
  for (const char symbol : named.profile.forbidden_terrains) {
    profile.add_forbidden_terrains(std::string(1, symbol));
  }
  profile.mutable_required_tags()->Add(named.profile.required_tags.begin(),
                                       named.profile.required_tags.end());
  profile.set_no_diagonals(named.profile.no_diagonals);
}

}  // namespace waystar::rpc
