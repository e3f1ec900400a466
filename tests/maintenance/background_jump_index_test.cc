#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/core/edit/edit.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/store/map_store.h"
#include "server/maintenance/index_builder.h"
#include "tests/testing/patience.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"

namespace waystar::maintenance {
namespace {

using ::waystar::testing::ExpectReturns;
using ::waystar::testing::IsOk;
using ::waystar::testing::Random;
using ::waystar::testing::WaitUntil;

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

  void Pay(const std::string& id) { Latest(id)->grid().walk().RecordMisses(kAnyRule, 1'000'000'000); }

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
  IndexBuilder builder(store_, {});
  builder.LookAtMaps();
  EXPECT_TRUE(WaitUntil([&] { return Latest("a")->grid().walk().diagonal_jumps(kAnyRule) != nullptr; },
                        "the index of a"));
}

// Whether that meets it asleep or at work.
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
