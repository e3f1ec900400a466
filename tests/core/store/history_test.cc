// The commits of maps, and their digests.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/store/update_log.h"
#include "tests/core/store/held_store.h"
#include "tests/testing/slow_digest.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::uint64_t> RevisionsOf(const History& history) {
  std::vector<std::uint64_t> revisions;
  for (const CommitPtr& commit : history.commits) {
    revisions.push_back(commit->revision);
  }
  return revisions;
}

class HistoryTest : public StoreTest {
 protected:
  using StoreTest::StoreTest;

  void Send(std::vector<Edit> edits, int times = 1) {
    for (int i = 0; i < times; ++i) {
      ASSERT_THAT(store_.UpdateAndWait("arena", {.edits = edits}), IsOk());
    }
  }
  History Read(std::uint64_t from, std::size_t max = 9) { return *store_.ReadHistory("arena", from, max); }
  // Returns the digest of the latest revision, found the slow way.
  std::uint64_t LatestOf(const std::string& map) {
    const PinnedSnapshot latest = *store_.Pin(map);
    const std::uint64_t slow = SlowDigest(latest->map);
    EXPECT_EQ(latest->digest(), slow);
    return slow;
  }
};

TEST_F(HistoryTest, TellsWhatEachBatchDid) {
  Send({Block({1, 0})});
  clock_.Advance(absl::Seconds(5));
  const std::vector<Edit> clipped = {Block({2, 0}), BlockCells{{.rectangles = {{-2, 0, 5, 1}}}}};
  Send(clipped);
  const History history = Read(2);
  EXPECT_EQ(history.kind, History::Kind::kHeld);
  EXPECT_EQ(history.latest_revision, 3U);
  ASSERT_THAT(RevisionsOf(history), ElementsAre(2, 3));
  const Commit& last = *history.commits[1];
  EXPECT_EQ(last.time, clock_.Now());
  EXPECT_EQ(last.edits, clipped);
  EXPECT_EQ(last.summary.changed_cells, 2);
  EXPECT_EQ(last.summary.changed_bounds, (Rectangle{0, 0, 3, 1}));
  EXPECT_EQ(last.summary.clipped_cells, 2);
  EXPECT_EQ(history.commits[0]->time, clock_.Now() - absl::Seconds(5));
}

TEST_F(HistoryTest, ReadsAPartOfIt) {
  Send({Block({1, 0})}, 5);
  EXPECT_THAT(RevisionsOf(Read(3, 2)), ElementsAre(3, 4));
  EXPECT_THAT(RevisionsOf(Read(6, 2)), ElementsAre(6));
  EXPECT_EQ(Read(7).kind, History::Kind::kHeld);
  EXPECT_THAT(Read(7).commits, IsEmpty());
  EXPECT_EQ(Read(8).kind, History::Kind::kFuture);
  // No commit made the first revision.
  EXPECT_EQ(Read(1).kind, History::Kind::kGone);
  EXPECT_THAT(store_.ReadHistory("nowhere", 1, 2), IsGone());
}

class ShortHistoryTest : public HistoryTest {
 protected:
  ShortHistoryTest() : HistoryTest({.max_history_commits = 3, .max_history_bytes = 100'000}) {}
};

TEST_F(ShortHistoryTest, IsBoundedByNumber) {
  Send({Block({1, 0})}, 9);
  EXPECT_EQ(Read(7).kind, History::Kind::kGone);
  EXPECT_THAT(RevisionsOf(Read(8)), ElementsAre(8, 9, 10));
}

TEST_F(ShortHistoryTest, IsBoundedByMemoryButForTheLastCommit) {
  Send({BlockCells{{.cells = std::vector<Cell>(5000, Cell{1, 0})}}}, 3);
  EXPECT_EQ(Read(2).kind, History::Kind::kGone);
  EXPECT_THAT(RevisionsOf(Read(3)), ElementsAre(3, 4));
  Send({BlockCells{{.cells = std::vector<Cell>(50'000, Cell{1, 0})}}});
  EXPECT_EQ(Read(4).kind, History::Kind::kGone);
  EXPECT_THAT(RevisionsOf(Read(5)), ElementsAre(5));
}

TEST_F(HistoryTest, DigestComesBackAtTheEndOfALifetime) {
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

}  // namespace
}  // namespace waystar::core
