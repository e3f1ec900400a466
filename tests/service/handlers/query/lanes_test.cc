// What handlers do where they may not do much, and for callers that are gone.

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/search/interruption.h"
#include "server/service/handlers/query/answer_query.h"
#include "server/service/handlers/query/field_answers.h"
#include "tests/service/about_map.h"
#include "tests/service/handler_test.h"
#include "tests/service/test_server.h"

namespace waystar {
namespace {

using ::testing::IsEmpty;
using ::waystar::testing::CellAt;
using ::waystar::testing::HandlerTest;
using ::waystar::testing::Parsed;

constexpr int kSide = 300;

// Every RPC that asks something of a map, about a pair of far cells, for agents of a profile that has not
// been seen before.
class LanesTest : public HandlerTest {
 protected:
  using Handle = std::function<absl::Status(rpc::CallContext&)>;
  struct Handler {
    std::string name;
    Handle handle;
  };

  LanesTest() {
    Create("desert", std::vector<std::string>(kSide, std::string(kSide, '.')),
           Parsed<v1::GridOptions>("terrains { symbol: 's' name: 'sand' cost: 1 }"));
    const std::string from = "{ cell { x: 1 y: 2 } } ";
    const std::string to = "{ cell { x: 298 y: 210 } } ";
    Add(
        "FindPath", Ask<v1::FindPathRequest>("start " + from + "goals " + to),
        [this](const auto& request, auto& response, rpc::CallContext& context) {
          return rpc::AnswerFindPath(store_, kMaxBytes, request, response, context);
        },
        v1::FindPathResponse());
    Add(
        "FindPaths", Ask<v1::FindPathsRequest>("queries { start " + from + "goals " + to + "}"),
        [this](const auto& request, auto& response, rpc::CallContext& context) {
          return rpc::AnswerQueries(store_, kMaxBytes, request, response, context);
        },
        v1::FindPathsResponse());
    auto validated = Ask<v1::ValidatePathsRequest>("paths {}");
    for (int i = 0; i < 500; ++i) {
      *validated.mutable_paths(0)->add_points() = i % 2 == 0 ? CellAt(0, 0) : CellAt(kSide - 1, kSide - 1);
    }
    Add("ValidatePaths", validated, fields_, v1::ValidatePathsResponse());
    Add("ComputeCostMatrix", Ask<v1::ComputeCostMatrixRequest>("starts " + from + "goals " + to), fields_,
        v1::ComputeCostMatrixResponse());
    Add("FindReachable", Ask<v1::FindReachableRequest>("start " + from + "max_cost: 200"), fields_,
        v1::FindReachableResponse());
    Add("ComputeFlowField", Ask<v1::ComputeFlowFieldRequest>("goals " + to), fields_,
        v1::ComputeFlowFieldResponse());
    Add("CheckReachability", Ask<v1::CheckReachabilityRequest>("pairs { start " + from + "goal " + to + "}"),
        fields_, v1::CheckReachabilityResponse());
    Add("CastRay", Ask<v1::CastRayRequest>("from " + from + "to " + to), fields_, v1::CastRayResponse());
    Add("SamplePlaces", Ask<v1::SamplePlacesRequest>("count: 1 reachable_from " + from), fields_,
        v1::SamplePlacesResponse());
  }

  // The profile is another for each kind of request.
  template <typename Request>
  Request Ask(const std::string& fields) {
    auto request = Parsed<Request>(fields);
    request.set_map("desert");
    v1::MovementProfile& profile = *request.mutable_agent()->mutable_profile();
    v1::TerrainCost& cost = *profile.add_terrain_costs();
    cost.set_terrain("s");
    cost.set_cost(2.0 + static_cast<double>(handlers_.size()));
    profile.set_footprint(2);
    return request;
  }

  template <typename Request, typename Answer, typename Response>
  void Add(const std::string& name, const Request& request, Answer answer, const Response& /*empty*/) {
    handlers_.push_back({name, [request, answer](rpc::CallContext& context) {
                           Response response;
                           return answer(request, response, context);
                         }});
  }

  // The names of those that `is_it` holds for, given what they return and their context.
  std::vector<std::string> Which(const std::function<bool(const absl::Status&, rpc::CallContext&)>& is_it,
                                 const core::Budget& budget, std::uint64_t expansions) {
    std::vector<std::string> names;
    for (const Handler& handler : handlers_) {
      core::Upkeep upkeep(0);
      rpc::CallContext context{
          .bench = bench_, .caller = caller_, .budget = budget, .max_expansions_here = expansions};
      if (expansions != kUnlimited) {
        context.budget.upkeep = &upkeep;
      }
      const absl::Status status = handler.handle(context);
      if (is_it(status, context)) {
        names.push_back(
            absl::StrCat(handler.name, status.ok() ? "" : " ", status.ok() ? "" : status.message()));
      }
    }
    return names;
  }

  static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

  const rpc::FieldAnswers fields_{store_, kMaxBytes};
  std::vector<Handler> handlers_;
};

TEST_F(LanesTest, NothingOfTheSizeOfTheMapIsMadeWhereItMayNot) {
  const auto stays = [](const absl::Status&, rpc::CallContext& context) {
    return !context.NeedsLargerLane();
  };
  EXPECT_THAT(Which(stays, {}, rpc::MaxExpansionsOn(rpc::Lane::kHere)), IsEmpty());
  EXPECT_FALSE(store_.Pin("desert").value()->grid().HasWalk(2));
}

TEST_F(LanesTest, AllAreAnsweredWhereEverythingIsMade) {
  const auto fails = [](const absl::Status& status, rpc::CallContext& context) {
    return !status.ok() || context.NeedsLargerLane();
  };
  EXPECT_THAT(Which(fails, {}, kUnlimited), IsEmpty());
  // From now on it is there.
  EXPECT_THAT(Which(fails, {}, rpc::MaxExpansionsOn(rpc::Lane::kSmall)), IsEmpty());
}

TEST_F(LanesTest, NobodyWorksForCallersThatAreGone) {
  const std::atomic<bool> cancelled = true;
  const auto goes_on = [](const absl::Status& status, rpc::CallContext&) {
    return !absl::IsCancelled(status);
  };
  EXPECT_THAT(Which(goes_on, {.cancelled = &cancelled}, kUnlimited), IsEmpty());
  EXPECT_FALSE(store_.Pin("desert").value()->grid().HasWalk(2));
  const auto is_not_late = [](const absl::Status& status, rpc::CallContext&) {
    return !absl::IsDeadlineExceeded(status);
  };
  EXPECT_THAT(Which(is_not_late, {.deadline = std::chrono::steady_clock::time_point::min()}, kUnlimited),
              IsEmpty());
}

}  // namespace
}  // namespace waystar
