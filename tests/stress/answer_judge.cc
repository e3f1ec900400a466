#include "tests/stress/answer_judge.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/movement_profile.h"
#include "server/service/convert/convert_query.h"
#include "server/service/convert/convert_shape.h"
#include "tests/testing/oracle.h"
#include "tests/testing/profiles.h"

namespace waystar::stress {
namespace {

using core::Cell;
using core::GridMap;

constexpr double kNowhere = std::numeric_limits<double>::infinity();

Cell ToCell(const v1::Cell& cell) { return {cell.x(), cell.y()}; }

// A portal of the map in one direction, which the agent may pass.
struct Door {
  std::string id;
  Cell from;
  Cell to;
  double cost = 0.0;
};

class Judge {
 public:
  // `profile` is the agent's, with what the query says of itself in it.
  Judge(const GridMap& map, const core::MovementProfile& profile)
      : map_(testing::Rebuilt(map, core::TerrainRules(profile, map.settings()))),
        rule_(profile.corner_rule),
        footprint_(profile.footprint) {
    map.portals().VisitAfter("", [&](const core::Portal& portal) {
      const bool is_open = !portal.closed && portal.to_map.empty() &&
                           std::includes(portal.tags.begin(), portal.tags.end(),
                                         profile.required_tags.begin(), profile.required_tags.end());
      if (is_open && CanStand(portal.from) && CanStand(portal.to)) {
        doors_.push_back({portal.id, portal.from, portal.to, core::CostToDouble(portal.cost)});
        if (portal.both_ways) {
          doors_.push_back({portal.id, portal.to, portal.from, core::CostToDouble(portal.cost)});
        }
      }
      return true;
    });
  }

  std::string Fault(Cell start, Cell goal, const v1::FindPathResponse& response) const {
    if (!CanStand(start)) {
      return "the start is blocked";
    }
    const double cost = CheapestCost(start, goal);
    if (cost == kNowhere) {
      return response.outcome() == v1::OUTCOME_UNREACHABLE ? "" : "the goal cannot be reached";
    }
    if (response.outcome() != v1::OUTCOME_FOUND) {
      return "the goal can be reached";
    }
    if (std::abs(response.cost() - cost) > 1e-6 * (1.0 + cost)) {
      return absl::StrCat("a path of cost ", cost, " leads to the goal, the answer costs ", response.cost());
    }
    return PathFault(start, goal, response);
  }

 private:
  bool CanStand(Cell cell) const { return testing::CanStand(map_, cell, footprint_); }

  // Walks from the start and from behind each door, and relaxes until nothing gets cheaper.
  double CheapestCost(Cell start, Cell goal) const {
    const testing::Oracle from_start(map_, rule_, start, footprint_);
    std::vector<testing::Oracle> from_doors;
    std::vector<double> costs;
    for (const Door& door : doors_) {
      from_doors.emplace_back(map_, rule_, door.to, footprint_);
      costs.push_back(from_start.CostTo(door.from).value_or(kNowhere) + door.cost);
    }
    const auto least_to = [&](Cell cell) {
      double least = from_start.CostTo(cell).value_or(kNowhere);
      for (std::size_t i = 0; i < doors_.size(); ++i) {
        least = std::min(least, costs[i] + from_doors[i].CostTo(cell).value_or(kNowhere));
      }
      return least;
    };
    for (std::size_t round = 0; round < doors_.size(); ++round) {
      for (std::size_t i = 0; i < doors_.size(); ++i) {
        costs[i] = std::min(costs[i], least_to(doors_[i].from) + doors_[i].cost);
      }
    }
    return least_to(goal);
  }

  // Leg by leg; the costs of the legs and doors must add up to the answer's.
  std::string PathFault(Cell start, Cell goal, const v1::FindPathResponse& response) const {
    std::vector<Cell> points;
    for (const v1::Cell& point : response.path().points()) {
      points.push_back(ToCell(point));
    }
    double cost = 0.0;
    std::size_t begin = 0;
    for (const v1::PortalCrossing& crossing : response.path().crossings()) {
      const auto end = static_cast<std::size_t>(crossing.index());
      if (end <= begin || end >= points.size()) {
        return absl::StrCat("there is no leg before crossing ", crossing.portal());
      }
      const auto door = std::find_if(doors_.begin(), doors_.end(), [&](const Door& candidate) {
        return candidate.id == crossing.portal() && candidate.from == points[end - 1] &&
               candidate.to == ToCell(crossing.arrival());
      });
      if (door == doors_.end()) {
        return absl::StrCat("portal ", crossing.portal(), " does not lead there");
      }
      if (const std::string fault =
              LegFault(start, door->from, absl::MakeConstSpan(points).subspan(begin, end - begin), cost);
          !fault.empty()) {
        return fault;
      }
      cost += door->cost;
      start = door->to;
      begin = end;
    }
    if (const std::string fault = LegFault(start, goal, absl::MakeConstSpan(points).subspan(begin), cost);
        !fault.empty()) {
      return fault;
    }
    return std::abs(cost - response.cost()) <= 1e-6 * (1.0 + cost)
               ? ""
               : absl::StrCat("the steps cost ", cost, ", the answer says ", response.cost());
  }

  std::string LegFault(Cell start, Cell end, absl::Span<const Cell> points, double& cost) const {
    double steps = 0.0;
    for (std::size_t i = 1; i < points.size(); ++i) {
      if (!testing::IsLegalStep(map_, rule_, points[i - 1], points[i], footprint_)) {
        break;
      }
      steps += testing::StepCost(map_, points[i - 1], points[i], footprint_);
    }
    cost += steps;
    return testing::PathFault(map_, rule_, start, end, points, steps, footprint_);
  }

  const GridMap map_;
  const core::CornerRule rule_;
  const int footprint_;
  std::vector<Door> doors_;
};

absl::StatusOr<core::MovementProfile> ProfileOf(const v1::FindPathRequest& request, const GridMap& map) {
  core::MovementProfile profile;
  const v1::Agent& agent = request.agent();
  if (agent.has_profile()) {
    auto converted = rpc::ToMovementProfile(agent.profile());
    if (!converted.ok()) {
      return converted.status();
    }
    profile = *converted;
  } else if (agent.has_profile_name()) {
    const core::MovementProfile* named = core::FindProfile(map.profiles(), agent.profile_name());
    if (named == nullptr) {
      return core::NoSuchProfile(agent.profile_name(), "agent.profile_name");
    }
    profile = *named;
  }
  if (agent.footprint() != 0) {
    profile.footprint = agent.footprint();
  }
  if (agent.corner_rule() != v1::CORNER_RULE_UNSPECIFIED) {
    auto rule = rpc::ToCornerRule(agent.corner_rule());
    if (!rule.ok()) {
      return rule.status();
    }
    profile.corner_rule = *rule;
  }
  std::sort(profile.required_tags.begin(), profile.required_tags.end());
  return profile;
}

}  // namespace

std::string FaultOf(const v1::FindPathRequest& request, const v1::FindPathResponse& response,
                    const core::GridMap& map) {
  const auto profile = ProfileOf(request, map);
  if (!profile.ok()) {
    return std::string(profile.status().message());
  }
  return Judge(map, *profile)
      .Fault(ToCell(request.start().cell()), ToCell(request.goals(0).cell()), response);
}

}  // namespace waystar::stress
