// What handlers do where they may not do much, and for callers that are gone.

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/search/interruption.h"
#include "server/service/handlers/query/answer_query.h"
#include "server/service/handlers/query/field_answers.h"
#include "tests/service/handler_test.h"
#include "tests/service/test_server.h"

namespace waystar {
namespace {

using ::testing::IsEmpty;
using ::waystar::testing::CellAt;
using ::waystar::testing::HandlerTest;
using ::waystar::testing::LocationAt;

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
    v1::GridOptions grid;
    v1::Terrain& sand = *grid.add_terrains();
    sand.set_symbol("s");
    sand.set_name("sand");
    sand.set_cost(1);
    Create("desert", std::vector<std::string>(kSide, std::string(kSide, '.')), grid);
    const v1::Location from = LocationAt(1, 2);
    const v1::Location to = LocationAt(kSide - 2, kSide - 90);

    v1::FindPathRequest path = Ask<v1::FindPathRequest>();
    *path.mutable_start() = from;
    *path.add_goals() = to;
    Add(
        "FindPath", path,
        [this](const auto& request, auto& response, rpc::CallContext& context) {
          return rpc::AnswerFindPath(store_, kMaxBytes, request, response, context);
        },
        v1::FindPathResponse());

    v1::FindPathsRequest paths = Ask<v1::FindPathsRequest>();
    *paths.add_queries()->mutable_start() = from;
    *paths.mutable_queries(0)->add_goals() = to;
    Add(
        "FindPaths", paths,
        [this](const auto& request, auto& response, rpc::CallContext& context) {
          return rpc::AnswerQueries(store_, kMaxBytes, request, response, context);
        },
        v1::FindPathsResponse());

    v1::ValidatePathRequest validated = Ask<v1::ValidatePathRequest>();
    for (int i = 0; i < 500; ++i) {
      *validated.add_points() = i % 2 == 0 ? CellAt(0, 0) : CellAt(kSide - 1, kSide - 1);
    }
    Add("ValidatePath", validated, fields_, v1::ValidatePathResponse());

    v1::ComputeCostMatrixRequest matrix = Ask<v1::ComputeCostMatrixRequest>();
    *matrix.add_starts() = from;
    *matrix.add_goals() = to;
    Add("ComputeCostMatrix", matrix, fields_, v1::ComputeCostMatrixResponse());

    v1::FindReachableRequest reach = Ask<v1::FindReachableRequest>();
    *reach.mutable_start() = from;
    reach.set_max_cost(200);
    Add("FindReachable", reach, fields_, v1::FindReachableResponse());

    v1::ComputeFlowFieldRequest flow = Ask<v1::ComputeFlowFieldRequest>();
    *flow.add_goals() = to;
    Add("ComputeFlowField", flow, fields_, v1::ComputeFlowFieldResponse());

    v1::CheckReachabilityRequest pairs = Ask<v1::CheckReachabilityRequest>();
    *pairs.add_pairs()->mutable_start() = from;
    *pairs.mutable_pairs(0)->mutable_goal() = to;
    Add("CheckReachability", pairs, fields_, v1::CheckReachabilityResponse());

    v1::CastRayRequest ray = Ask<v1::CastRayRequest>();
    *ray.mutable_from() = from;
    *ray.mutable_to() = to;
    Add("CastRay", ray, fields_, v1::CastRayResponse());

    v1::SampleCellsRequest sample = Ask<v1::SampleCellsRequest>();
    sample.set_count(1);
    *sample.mutable_reachable_from() = from;
    Add("SampleCells", sample, fields_, v1::SampleCellsResponse());
  }

  // The profile is another for each kind of request.
  template <typename Request>
  Request Ask() {
    Request request;
    request.set_map("desert");
    v1::TerrainCost& cost = *request.mutable_agent()->mutable_profile()->add_terrain_costs();
    cost.set_terrain("s");
    cost.set_cost(2.0 + static_cast<double>(handlers_.size()));
    request.mutable_agent()->mutable_profile()->set_footprint(2);
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
