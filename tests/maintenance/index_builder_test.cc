// Indexes that a running server builds while clients wait for nothing.

#include "server/maintenance/index_builder.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/store/map_store.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"

namespace waystar::maintenance {
namespace {

class IndexBuilderTest : public ::testing::Test {
 protected:
  IndexBuilderTest() {
    server_.Create("room", {"......", ".##.#.", "......"});
    request_.set_algorithm(v1::ALGORITHM_SUBGOAL_HIERARCHY);
  }

  v1::FindPathResponse Find() {
    const auto response = server_.client().FindPath(request_);
    EXPECT_TRUE(response.ok()) << response.status();
    return response.value_or(v1::FindPathResponse());
  }

  // Asks until the index answers.
  v1::FindPathResponse FindByIndex() {
    v1::FindPathResponse response = Find();
    const Patience patience("an answer by the index");
    while (response.info().statistics().algorithm() != v1::ALGORITHM_SUBGOAL_HIERARCHY && !HasFailure() &&
           patience.Lasts()) {
      EXPECT_EQ(response.info().statistics().algorithm(), v1::ALGORITHM_JUMP_POINT_SEARCH);
      response = Find();
    }
    return response;
  }

  TestServer server_{{.static_index_quiet_time = absl::Milliseconds(20)}};
  v1::FindPathRequest request_ = PathRequest("room", CellAt(0, 1), CellAt(5, 1));
};

TEST_F(IndexBuilderTest, BuildsOnceAskedFor) {
  EXPECT_EQ(Find().info().statistics().algorithm(), v1::ALGORITHM_JUMP_POINT_SEARCH);
  const v1::FindPathResponse response = FindByIndex();
  EXPECT_EQ(response.cost(), 7.0);
  EXPECT_EQ(response.path().points_size(), 8);
}

TEST_F(IndexBuilderTest, AnswersGoOnAfterAChange) {
  const v1::FindPathResponse before = FindByIndex();
  ASSERT_TRUE(server_.client().UpdateMap(BlockRequest("room", {CellAt(2, 0)})).ok());
  const v1::FindPathResponse changed = Find();
  EXPECT_EQ(changed.info().version().revision(), before.info().version().revision() + 1);
  EXPECT_EQ(changed.cost(), 7.0);

  ASSERT_TRUE(server_.client().UpdateMap(BlockRequest("room", {CellAt(2, 2)})).ok());
  EXPECT_EQ(Find().outcome(), v1::OUTCOME_UNREACHABLE);
  *request_.mutable_goals(0)->mutable_cell() = CellAt(0, 2);
  const v1::FindPathResponse after = Find();
  EXPECT_EQ(after.info().statistics().algorithm(), v1::ALGORITHM_SUBGOAL_HIERARCHY)
      << "of before the changes";
  EXPECT_EQ(after.info().version().revision(), before.info().version().revision() + 2);
  EXPECT_EQ(after.cost(), 1.0);
}

TEST_F(IndexBuilderTest, BuildsAgainAfterManyChanges) {
  constexpr int kRows = 300;
  server_.CreateBlank("field", 8, kRows);
  request_ = PathRequest("field", CellAt(0, 0), CellAt(7, 0));
  request_.set_algorithm(v1::ALGORITHM_SUBGOAL_HIERARCHY);
  EXPECT_EQ(FindByIndex().cost(), 7.0);
  v1::UpdateMapRequest wall = BlockRequest("field", {CellAt(3, 0)});
  for (int y = 1; y < kRows - 1; ++y) {
    *wall.mutable_edits(0)->mutable_block()->add_cells() = CellAt(3, y);
  }
  ASSERT_TRUE(server_.client().UpdateMap(wall).ok());
  const double around = Find().cost();
  EXPECT_GT(around, 2.0 * (kRows - 1));
  EXPECT_EQ(FindByIndex().cost(), around);
}

TEST_F(IndexBuilderTest, RefusesWhatItCannotAnswer) {
  request_.mutable_agent()->set_footprint(2);
  EXPECT_THAT(server_.client().FindPath(request_),
              IsRefused(absl::StatusCode::kFailedPrecondition, "ALGORITHM_UNSUITED", "algorithm"));
  request_.mutable_agent()->set_footprint(1);
  request_.mutable_agent()->set_corner_rule(v1::CORNER_RULE_ALWAYS);
  EXPECT_THAT(server_.client().FindPath(request_),
              IsRefused(absl::StatusCode::kFailedPrecondition, "ALGORITHM_UNSUITED", "algorithm"));
}

class BackgroundJumpIndexTest : public ::testing::Test {
 protected:
  // Just too large for searches to make its indexes.
  static constexpr int kLargeSide = 2112;

  void Create(const std::string& id) {
    EXPECT_THAT(store_.Create(id, *core::GridMap::Create(kLargeSide, kLargeSide, {}), absl::UnixEpoch()),
                IsOk());
  }

  core::PinnedSnapshot Latest(const std::string& id) { return *store_.Pin(id); }

  // Changes the map in so many places that its index is too far behind for searches to repair it. If this
  // thread is held up, the builder may have made it before anybody looks; then the map changes again.
  void Scatter(const std::string& id) {
    const auto lags = [&] {
      core::Shape shape;
      for (int i = 0; i < 3000; ++i) {
        shape.cells.push_back({random_.Between(0, kLargeSide - 1), random_.Between(0, kLargeSide - 1)});
      }
      EXPECT_THAT(store_.UpdateAndWait(id, {.edits = {core::BlockCells{shape}}}), IsOk());
      return Latest(id)->grid().walk().diagonal_jumps(kAnyRule) == nullptr;
    };
    ASSERT_TRUE(WaitUntil(lags, absl::StrCat("a change that the index of ", id, " does not follow")));
  }

  void Pay(const std::string& id) { Latest(id)->grid().walk().RecordSpared(kAnyRule, 1'000'000'000); }

  // Searches until there is an index.
  void ExpectMade(const std::string& id) {
    const auto is_made = [&] {
      Pay(id);
      return Latest(id)->grid().walk().diagonal_jumps(kAnyRule) != nullptr;
    };
    EXPECT_TRUE(WaitUntil(is_made, absl::StrCat("the index of ", id)));
  }

  static constexpr core::CornerRule kAnyRule = core::CornerRule::kNoCornerCutting;

  core::MapStore store_{2};
  Random random_{1};
};

TEST_F(BackgroundJumpIndexTest, IsMadeForEachMapAgainAndAgain) {
  IndexBuilder builder(store_, {});
  store_.AddListener(&builder);
  Create("a");
  Create("b");
  Scatter("a");
  Scatter("b");
  ExpectMade("b");
  ExpectMade("a");
  Scatter("a");
  ExpectMade("a");
}

TEST_F(BackgroundJumpIndexTest, MapThatIsGoneIsForgotten) {
  IndexBuilder builder(store_, {});
  store_.AddListener(&builder);
  Create("a");
  Create("b");
  Scatter("a");
  ASSERT_THAT(store_.Delete("a"), IsOk());
  Scatter("b");
  ExpectMade("b");
}

TEST_F(BackgroundJumpIndexTest, IsMadeForRestoredMapsWithoutASearch) {
  ASSERT_THAT(store_.Restore({.snapshot = {.id = "a",
                                           .epoch = 1,
                                           .revision = 1,
                                           .map = *core::GridMap::Create(kLargeSide, kLargeSide, {})}}),
              IsOk());
  // A change before it is made leaves it promised.
  EXPECT_THAT(store_.UpdateAndWait("a", {.edits = {core::BlockCells{{.cells = {{5, 5}}}}}}), IsOk());
  IndexBuilder builder(store_, {});
  builder.LookAtMaps();
  EXPECT_TRUE(WaitUntil([&] { return Latest("a")->grid().walk().diagonal_jumps(kAnyRule) != nullptr; },
                        "the index of a"));
}

// The end may meet it asleep or at work.
TEST_F(BackgroundJumpIndexTest, EndsAtAnyTime) {
  Create("a");
  for (int i = 0; i < 5; ++i) {
    auto builder = std::make_unique<IndexBuilder>(store_, IndexBuilderOptions{});
    Scatter("a");
    builder->OnCommit(Latest("a"), {}, {});
    Pay("a");
    ExpectReturns([&] { builder.reset(); }, "IndexBuilder");
  }
}

}  // namespace
}  // namespace waystar::maintenance
