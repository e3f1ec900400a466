// Readers and writers on one map, and every answer judged by the map as it was at the revision that the
// answer names.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/mutex.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/elements/portal.h"
#include "server/core/elements/profile_table.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/movement_profile.h"
#include "server/service/convert/convert_edits.h"
#include "server/service/convert/convert_query.h"
#include "server/service/convert/convert_shape.h"
#include "tests/service/test_server.h"
#include "tests/stress/random_requests.h"
#include "tests/testing/oracle.h"
#include "tests/testing/patience.h"
#include "tests/testing/profiles.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::stress {
namespace {

using core::Cell;
using core::GridMap;

constexpr char kMap[] = "map-1";
constexpr int kSide = 40;
constexpr int kAnswersEach = 250;

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
      : map_(Rebuilt(map, core::TerrainRules(profile, map.settings()))),
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
  bool CanStand(Cell cell) const { return waystar::CanStand(map_, cell, footprint_); }

  // Walks from the start and from behind each door, and relaxes until nothing gets cheaper.
  double CheapestCost(Cell start, Cell goal) const {
    const Oracle from_start(map_, rule_, start, footprint_);
    std::vector<Oracle> from_doors;
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
      if (!IsLegalStep(map_, rule_, points[i - 1], points[i], footprint_)) {
        break;
      }
      steps += StepCost(map_, points[i - 1], points[i], footprint_);
    }
    cost += steps;
    return waystar::PathFault(map_, rule_, start, end, points, steps, footprint_);
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
    const core::NamedProfile* named = core::FindProfile(map.profiles(), agent.profile_name());
    if (named == nullptr) {
      return core::NoSuchProfile(agent.profile_name(), "agent.profile_name");
    }
    profile = named->profile;
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

// What is wrong with the answer; empty if nothing. `map` is as it was at the revision that the answer names.
// The agent is that of the query's corner rule, footprint and movement profile, and may go through portals
// within the map. The query has a start and one goal, both cells, and asks for every cell, with
// UNREACHABLE_POLICY_REPORT and no overlay.
std::string FaultOf(const v1::FindPathRequest& request, const v1::FindPathResponse& response,
                    const core::GridMap& map) {
  const auto profile = ProfileOf(request, map);
  if (!profile.ok()) {
    return std::string(profile.status().message());
  }
  return Judge(map, *profile)
      .Fault(ToCell(request.start().cell()), ToCell(request.goals(0).cell()), response);
}

struct Answer {
  v1::FindPathRequest request;
  v1::FindPathResponse response;
};

// What was applied, by the revision that it made.
class History {
 public:
  void Add(std::uint64_t revision, v1::UpdateMapRequest update) {
    MutexLock lock(mutex_);
    EXPECT_TRUE(updates_.emplace(revision, std::move(update)).second)
        << "two updates made revision " << revision;
  }

  // The map at every revision, the first one at index 1.
  std::vector<GridMap> Replay() const {
    MutexLock lock(mutex_);
    std::vector<GridMap> maps(
        2, *GridMap::Create(kSide, kSide, {.terrains = {{}, {.symbol = '~', .cost = 2.5}}}));
    for (const auto& [revision, update] : updates_) {
      EXPECT_EQ(revision, maps.size()) << "a revision is missing";
      const auto edits = rpc::ToEdits(update.edits(), kMap, rpc::HexCoordinates());
      EXPECT_TRUE(edits.ok()) << edits.status();
      auto edited = core::ApplyEdits(maps.back(), *edits);
      EXPECT_TRUE(edited.ok()) << edited.status();
      maps.push_back(std::move(edited->map));
    }
    return maps;
  }

 private:
  mutable Mutex mutex_;
  std::map<std::uint64_t, v1::UpdateMapRequest> updates_ ABSL_GUARDED_BY(mutex_);
};

v1::FindPathRequest Query(RandomRequests& requests) {
  v1::FindPathRequest request = requests.FindPath(kMap);
  request.set_path_form(v1::PATH_FORM_EVERY_CELL);
  request.set_algorithm(v1::ALGORITHM_AUTO);
  request.set_unreachable_policy(v1::UNREACHABLE_POLICY_REPORT);
  request.clear_view();
  request.clear_goal_map();
  return request;
}

void WriteUntil(const std::atomic<int>& readers, TestServer& server, std::uint64_t seed, History& history) {
  RandomRequests requests(seed, kSide);
  while (readers > 0) {
    v1::UpdateMapRequest update = requests.UpdateMap(kMap);
    for (v1::Edit& edit : *update.mutable_edits()) {
      if (edit.has_put_obstacle()) {
        // Its end would be a revision that nobody asked for.
        edit.mutable_put_obstacle()->clear_lifetime();
      }
    }
    const auto updated = server.client().UpdateMap(update);
    if (!updated.ok()) {
      continue;
    }
    const std::uint64_t revision = updated->version().revision();
    history.Add(revision, std::move(update));
    const auto seen = server.client().FindPath(Query(requests));
    if (seen.ok()) {
      EXPECT_GE(seen->info().version().revision(), revision)
          << "a query that began after the answer does not see the update";
    }
  }
}

void Read(TestServer& server, std::uint64_t seed, std::vector<Answer>& answers) {
  RandomRequests requests(seed, kSide);
  std::uint64_t latest = 0;
  const Patience patience("answers");
  while (answers.size() < kAnswersEach && patience.Lasts()) {
    Answer answer{.request = Query(requests)};
    auto response = server.client().FindPath(answer.request);
    if (response.ok()) {
      EXPECT_GE(response->info().version().revision(), latest) << "a later query saw an earlier revision";
      latest = response->info().version().revision();
      answer.response = *std::move(response);
      answers.push_back(std::move(answer));
    } else {
      const absl::StatusCode code = response.status().code();
      EXPECT_TRUE(code == absl::StatusCode::kFailedPrecondition ||
                  (code == absl::StatusCode::kNotFound && answer.request.agent().has_profile_name()))
          << response.status();
    }
  }
}

TEST(LivingMapTest, EveryAnswerHoldsAtTheRevisionItNames) {
  TestServer server;
  auto create = About<v1::CreateMapRequest>(kMap);
  create.mutable_blank()->set_width(kSide);
  create.mutable_blank()->set_height(kSide);
  v1::Terrain& mud = *create.mutable_grid()->add_terrains();
  mud.set_symbol("~");
  mud.set_cost(2.5);
  ASSERT_TRUE(server.client().CreateMap(create).ok());

  History history;
  std::vector<std::vector<Answer>> answers(2);
  std::atomic<int> readers = static_cast<int>(answers.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    threads.emplace_back([&, i] {
      Read(server, 100 + i, answers[i]);
      --readers;
    });
  }
  for (std::uint64_t seed : {1, 2}) {
    threads.emplace_back([&, seed] { WriteUntil(readers, server, seed, history); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }

  const std::vector<GridMap> maps = history.Replay();
  int by_profile = 0;
  for (const std::vector<Answer>& of_reader : answers) {
    for (const Answer& answer : of_reader) {
      ASSERT_LT(answer.response.info().version().revision(), maps.size());
      EXPECT_EQ(FaultOf(answer.request, answer.response, maps[answer.response.info().version().revision()]),
                "")
          << "revision " << answer.response.info().version().revision() << "\n"
          << answer.request.DebugString();
      by_profile += answer.request.agent().movement_case() == v1::Agent::MOVEMENT_NOT_SET ? 0 : 1;
    }
  }
  EXPECT_GT(by_profile, 0);
}

}  // namespace
}  // namespace waystar::stress
