// What tells a map from another that had its id before it.

#include <cstdint>
#include <set>

#include "gmock/gmock.h"
#include "server/core/store/map_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Block;
using ::waystar::testing::BlockBatch;
using ::waystar::testing::DrawMap;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;

class EpochTest : public ::testing::Test {
 protected:
  EpochTest() : store_({.new_epoch = [this] { return ++last_epoch_; }}) { Create(); }

  void Create() { ASSERT_THAT(store_.Create("arena", DrawMap({"..."}), absl::UnixEpoch()), IsOk()); }
  MapVersion Version() const { return (*store_.Pin("arena"))->version(); }

  std::uint64_t last_epoch_ = 100;
  MapStore store_;
};

TEST_F(EpochTest, StaysWithTheMapAndEndsWithIt) {
  EXPECT_EQ(Version(), (MapVersion{.epoch = 101, .revision = 1}));
  const auto result = store_.UpdateAndWait("arena", BlockBatch({1, 0}));
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->epoch, 101U);
  EXPECT_EQ(Version(), (MapVersion{.epoch = 101, .revision = 2}));
  EXPECT_EQ(store_.ReadHistory("arena", 2, 1)->epoch, 101U);
  EXPECT_EQ(*store_.Delete("arena"), (MapVersion{.epoch = 101, .revision = 2}));
  Create();
  EXPECT_EQ(Version(), (MapVersion{.epoch = 102, .revision = 1}));
  ASSERT_THAT(store_.UpdateAndWait("arena", BlockBatch({1, 0})), IsOk());
  ASSERT_THAT(store_.Replace("arena", DrawMap({".."}), absl::UnixEpoch()), IsOk());
  EXPECT_EQ(Version(), (MapVersion{.epoch = 103, .revision = 1}));
}

TEST_F(EpochTest, BatchesForAnotherMapAreRefused) {
  UpdateBatch batch{.edits = {Block({1, 0})}, .expected = {.epoch = 101}, .request_id = "a"};
  EXPECT_THAT(store_.UpdateAndWait("arena", batch), IsOk());
  const auto again = store_.UpdateAndWait("arena", batch);
  ASSERT_THAT(again, IsOk());
  EXPECT_TRUE(again->already_applied);
  EXPECT_EQ(again->epoch, 101U);

  ASSERT_THAT(store_.Delete("arena"), IsOk());
  Create();
  const auto is_replaced =
      IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kMapReplaced, "expected_version.epoch");
  EXPECT_THAT(store_.UpdateAndWait("arena", batch), is_replaced);
  // Though the new map has the revision, too.
  batch.expected.revision = 1;
  EXPECT_THAT(store_.UpdateAndWait("arena", batch), is_replaced);
  EXPECT_EQ(Version(), (MapVersion{.epoch = 102, .revision = 1}));
}

TEST(RandomEpochTest, IsNeverRepeatedByAStoreOrTheNext) {
  std::set<std::uint64_t> epochs = {0};
  for (int run = 0; run < 20; ++run) {
    MapStore store(2);
    for (const char* const id : {"a", "b"}) {
      const auto created = store.Create(id, DrawMap({"..."}), absl::UnixEpoch());
      ASSERT_THAT(created, IsOk());
      EXPECT_TRUE(epochs.insert((*created)->epoch).second);
    }
  }
}

}  // namespace
}  // namespace waystar::core
