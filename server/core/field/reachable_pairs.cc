#include "server/core/field/reachable_pairs.h"

#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/core/components/components.h"
#include "server/core/field/portal_reach.h"
#include "server/core/map/portal_table.h"
#include "server/core/search/checks.h"
#include "server/core/search/reachability.h"
#include "server/core/walk/footprint.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

absl::StatusOr<std::vector<bool>> CheckReachability(const GridMap& map, World& world, const Agent& agent,
                                                    absl::Span<const CellPair> pairs) {
  WAYSTAR_RETURN_IF_ERROR(CheckFootprint(agent.footprint));
  WAYSTAR_RETURN_IF_ERROR(CheckCount("pairs", pairs.size(), kMaxReachabilityPairs));
  const std::shared_ptr<const WalkGrid> walk = map.walk(agent.footprint);
  const Components& components = walk->components(AdjacencyOf(map, agent.corner_rule));
  std::optional<PortalReach> through_portals;
  if (!map.portals().empty()) {
    through_portals.emplace(map, world, agent);
  }
  std::vector<bool> reachable;
  reachable.reserve(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (!map.Contains(pairs[i].start)) {
      return CheckOnMap(map, absl::StrCat(IndexedField("pairs", i), ".start"), pairs[i].start);
    }
    if (!map.Contains(pairs[i].goal)) {
      return CheckOnMap(map, absl::StrCat(IndexedField("pairs", i), ".goal"), pairs[i].goal);
    }
    reachable.push_back(through_portals ? through_portals->Leads(pairs[i].start, pairs[i].goal)
                                        : components.AreConnected(pairs[i].start, pairs[i].goal));
  }
  return reachable;
}

}  // namespace waystar::core
