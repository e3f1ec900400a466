#include "tests/core/grid/agents.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/testing/rules.h"

namespace waystar::core {

GridMap MapAndAgent::Make(Generator& generator, int max_side) const {
  GridMap map = generator.Map(
      {.max_side = max_side, .max_cells = 2500, .weighted = weighted, .connectivity = connectivity});
  return own_costs ? generator.WithStepCostsChanged(map) : std::move(map);
}

Maps MapAndAgent::MakeWorld(Generator& generator, const std::vector<std::string>& names, int max_side,
                            int portals) const {
  Maps world;
  for (const std::string& name : names) {
    world.maps.emplace(name, Make(generator, max_side));
  }
  world.AddPortals(generator, portals, agent.footprint);
  return world;
}

Walker WalkerOf(const Agent& agent) {
  return {.corner_rule = agent.corner_rule,
          .footprint = agent.footprint,
          .required_tags = {agent.required_tags.begin(), agent.required_tags.end()}};
}

std::vector<MapAndAgent> EveryMapAndAgent() {
  std::vector<MapAndAgent> all;
  for (const int footprint : {1, 2, 3}) {
    for (const bool weighted : {false, true}) {
      for (const bool own_costs : {false, true}) {
        MapAndAgent one{.weighted = weighted, .own_costs = own_costs, .agent = {.footprint = footprint}};
        for (const CornerRule rule : kRules) {
          one.agent.corner_rule = rule;
          all.push_back(one);
        }
        one.connectivity = Connectivity::kFour;
        all.push_back(one);
        one.connectivity = Connectivity::kSix;
        all.push_back(one);
      }
    }
  }
  return all;
}

std::vector<MapAndAgent> SmallAgents() {
  std::vector<MapAndAgent> small = EveryMapAndAgent();
  std::erase_if(small, [](const MapAndAgent& one) { return one.own_costs || one.agent.footprint > 1; });
  return small;
}

std::string NameOf(const ::testing::TestParamInfo<MapAndAgent>& info) {
  const MapAndAgent& one = info.param;
  return absl::StrCat(ConnectivityName(one.connectivity), RuleName(one.agent.corner_rule),
                      one.weighted ? "Weighted" : "", one.own_costs ? "OwnCosts" : "", "Footprint",
                      one.agent.footprint);
}

}  // namespace waystar::core
