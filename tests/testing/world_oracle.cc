#include "tests/testing/world_oracle.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "server/core/elements/portal.h"
#include "server/core/grid/cells/grid_settings.h"
#include "tests/testing/oracle.h"

namespace waystar {

WorldOracle::WorldOracle(const std::map<std::string, core::GridMap>& maps, const Walker& walker,
                         const std::string& map, core::Cell start) {
  using Place = std::pair<std::string, std::pair<int, int>>;
  std::priority_queue<std::pair<double, Place>, std::vector<std::pair<double, Place>>, std::greater<>> open;
  const auto relax = [&](const std::string& id, core::Cell cell, double cost) {
    const Place place{id, {cell.x, cell.y}};
    const auto known = costs_.find(place);
    if (maps.count(id) > 0 && CanStand(maps.at(id), cell, walker.footprint) &&
        (known == costs_.end() || cost < known->second)) {
      costs_[place] = cost;
      open.emplace(cost, place);
    }
  };
  relax(map, start, 0.0);
  while (!open.empty()) {
    const auto [cost, place] = open.top();
    open.pop();
    if (cost > costs_.at(place)) {
      continue;
    }
    const std::string& id = place.first;
    const core::Cell cell{place.second.first, place.second.second};
    const core::GridMap& here = maps.at(id);
    for (int d = 0; d < core::kDirectionCount; ++d) {
      const core::Cell next = core::Step(cell, static_cast<core::Direction>(d));
      if (IsLegalStep(here, walker.corner_rule, cell, next, walker.footprint)) {
        relax(id, next, cost + StepCost(here, cell, next, walker.footprint));
      }
    }
    const double so_far = cost;
    here.portals().VisitAfter("", [&](const core::Portal& portal) {
      if (portal.closed || !std::includes(portal.tags.begin(), portal.tags.end(),
                                          walker.required_tags.begin(), walker.required_tags.end())) {
        return true;
      }
      const double behind = so_far + core::CostToDouble(portal.cost);
      if (portal.from == cell) {
        relax(portal.to_map.empty() ? id : portal.to_map, portal.to, behind);
      }
      if (portal.to == cell && portal.both_ways) {
        relax(id, portal.from, behind);
      }
      return true;
    });
  }
}

std::optional<double> WorldOracle::CostTo(const std::string& map, core::Cell cell) const {
  const auto it = costs_.find({map, {cell.x, cell.y}});
  return it == costs_.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace waystar
