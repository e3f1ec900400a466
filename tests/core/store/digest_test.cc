// Digests that a store tells of: of each revision, however many were committed together.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/store/map_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/generator.h"
#include "tests/testing/slow_digest.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::testing::SizeIs;
using ::waystar::testing::Block;
using ::waystar::testing::DrawMap;
using ::waystar::testing::FakeClock;
using ::waystar::testing::Generator;
using ::waystar::testing::IsOk;
using ::waystar::testing::SlowDigest;

class DigestTest : public ::testing::Test {
 protected:
  std::uint64_t LatestOf(const std::string& map) {
    const PinnedSnapshot latest = *store_.Pin(map);
    const std::uint64_t slow = SlowDigest(latest->map);
    EXPECT_EQ(latest->digest(), slow);
    return slow;
  }

  FakeClock clock_;
  MapStore store_{{.clock = &clock_}};
};

TEST_F(DigestTest, IsToldOfEachRevisionOfAGroupCommit) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    const GridMap first = generator.Map({.max_side = 30, .weighted = true});
    const std::string id = absl::StrCat("map-", seed);
    ASSERT_THAT(store_.Create(id, first, clock_.Now()), IsOk());
    GridMap alone = first;
    std::vector<std::uint64_t> wanted;
    std::vector<UpdateBatch> batches;
    for (int i = 0; i < 8; ++i) {
      std::vector<Edit> edits = {generator.AnyEdit(first), generator.AnyEdit(first)};
      if (const absl::StatusOr<EditResult> result = ApplyEdits(alone, edits); result.ok()) {
        alone = result->map;
        wanted.push_back(SlowDigest(alone));
      }
      batches.push_back({.edits = std::move(edits)});
    }
    std::vector<std::uint64_t> answered;
    // They wait while the map's first batch, which is refused, is answered.
    store_.Update(id, {}, [&](const absl::StatusOr<UpdateResult>&) {
      for (UpdateBatch& batch : batches) {
        store_.Update(id, std::move(batch), [&](const absl::StatusOr<UpdateResult>& answer) {
          if (answer.ok()) {
            answered.push_back(answer->digest);
          }
        });
      }
    });
    EXPECT_EQ(answered, wanted);
    std::vector<std::uint64_t> logged;
    if (!wanted.empty()) {
      EXPECT_EQ(LatestOf(id), wanted.back());
      const History history = *store_.ReadHistory(id, 2, 100);
      for (const SharedCommit& commit : history.commits) {
        logged.push_back(commit->digest);
      }
    }
    EXPECT_EQ(logged, wanted);
  }
}

TEST_F(DigestTest, ComesBackAtTheEndOfALifetime) {
  ASSERT_THAT(store_.Create("arena", DrawMap({"....."}), clock_.Now()), IsOk());
  ASSERT_THAT(store_.Create("islands", *WaypointGraph::Create({.nodes = {{.id = "a"}}}), clock_.Now()),
              IsOk());
  for (const std::string map : {"arena", "islands"}) {
    SCOPED_TRACE(map);
    const std::uint64_t before = LatestOf(map);
    const Edit put =
        PutObstacle{.obstacle = {.id = "o", .shape = {.discs = {{.center = {1, 0}, .radius = 1}}}},
                    .lifetime = absl::Seconds(10)};
    const absl::StatusOr<UpdateResult> updated = store_.UpdateAndWait(map, {.edits = {put}});
    ASSERT_THAT(updated, IsOk());
    EXPECT_EQ(updated->digest, LatestOf(map));
    EXPECT_NE(updated->digest, before);
    clock_.Advance(absl::Seconds(10));
    store_.ExpireDue(clock_.Now());
    EXPECT_EQ(LatestOf(map), before);
    const History history = *store_.ReadHistory(map, 3, 1);
    ASSERT_THAT(history.commits, SizeIs(1));
    EXPECT_EQ(history.commits[0]->digest, before);
  }
}

TEST_F(DigestTest, ARetryIsToldTheDigestOfTheFirstTime) {
  ASSERT_THAT(store_.Create("arena", DrawMap({"....."}), clock_.Now()), IsOk());
  const UpdateBatch batch{.edits = {Block({1, 0})}, .request_id = "a"};
  const std::uint64_t first = store_.UpdateAndWait("arena", batch)->digest;
  EXPECT_NE(store_.UpdateAndWait("arena", {.edits = {Block({2, 0})}})->digest, first);
  EXPECT_EQ(store_.UpdateAndWait("arena", batch)->digest, first);
}

}  // namespace
}  // namespace waystar::core
