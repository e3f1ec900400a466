#include "server/core/store/map_store.h"

#include <chrono>
#include <cstdint>
#include <future>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/core/store/update_batch.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

std::vector<std::string> IdsOf(const std::vector<PinnedSnapshot>& snapshots) {
  std::vector<std::string> ids;
  for (const PinnedSnapshot& snapshot : snapshots) {
    ids.push_back(snapshot->id);
  }
  return ids;
}

const auto kIsUnknown = IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map");
const auto kIsBadId = IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadMapId, "map");
const auto kIsTaken = IsError(absl::StatusCode::kAlreadyExists, ErrorReason::kMapExists, "map");
const auto kIsOneTooMany = IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyMaps, "");

// Its maps are of the epochs 101, 102 and so on.
class MapStoreTest : public ::testing::Test {
 protected:
  MapStoreTest() { store_.AddListener(&listener_); }

  absl::StatusOr<PinnedSnapshot> Create(const std::string& id = "arena") {
    return store_.Create(id, DrawMap({"..."}), kNow);
  }
  MapVersion Version() const { return (*store_.Pin("arena"))->version(); }

  RecordingListener listener_;
  std::uint64_t last_epoch_ = 100;
  MapStore store_{StoreOptions{.max_maps = 4, .new_epoch = [this] { return ++last_epoch_; }}};
};

TEST_F(MapStoreTest, UpdateMakesTheNextRevisionAndLeavesThePinnedOne) {
  const auto created = Create();
  ASSERT_THAT(created, IsOk());
  EXPECT_EQ((*created)->version(), (MapVersion{.epoch = 101, .revision = 1}));
  EXPECT_EQ((*created)->create_time, kNow);
  EXPECT_EQ(*store_.Pin("arena"), *created);
  const auto updated = store_.UpdateAndWait("arena", BlockBatch({1, 0}));
  ASSERT_THAT(updated, IsOk());
  EXPECT_EQ(updated->epoch, 101U);
  EXPECT_EQ(updated->revision, 2U);
  EXPECT_EQ(updated->summary.changed_cells, 1);
  EXPECT_EQ(store_.ReadHistory("arena", 2, 1)->epoch, 101U);
  EXPECT_THAT(DrawPath((*created)->grid(), {}), ElementsAre("..."));
  const PinnedSnapshot latest = *store_.Pin("arena");
  EXPECT_EQ(latest->version(), (MapVersion{.epoch = 101, .revision = 2}));
  EXPECT_THAT(DrawPath(latest->grid(), {}), ElementsAre(".#."));
  EXPECT_EQ(latest->create_time, kNow);
}

TEST_F(MapStoreTest, DeletedMapIsGoneButWhatIsPinnedStays) {
  ASSERT_THAT(Create(), IsOk());
  ASSERT_THAT(store_.UpdateAndWait("arena", BlockBatch({1, 0})), IsOk());
  const PinnedSnapshot pinned = *store_.Pin("arena");
  EXPECT_EQ(*store_.Delete("arena"), (MapVersion{.epoch = 101, .revision = 2}));
  EXPECT_THAT(store_.Pin("arena"), kIsUnknown);
  EXPECT_EQ(store_.size(), 0U);
  EXPECT_THAT(DrawPath(pinned->grid(), {}), ElementsAre(".#."));
  // The id comes again, and its revisions begin again.
  ASSERT_THAT(Create(), IsOk());
  EXPECT_EQ(Version(), (MapVersion{.epoch = 102, .revision = 1}));
}

// Creates a map of the same id in another thread as soon as it hears that the map has ended.
class RecreatingListener final : public StoreListener {
 public:
  explicit RecreatingListener(MapStore& store) : store_(store) {}

  void OnCommit(const PinnedSnapshot& /*snapshot*/, absl::Span<const CommitPtr> /*commits*/,
                const MapChanges& /*changes*/) override {}
  void OnDelete(const PinnedSnapshot& last) override {
    created = std::async(std::launch::async, [this, id = last->id] {
      return store_.Create(id, DrawMap({"....."}), kNow).status();
    });
    // The creation waits for this call to end. One that does not wait is over by then.
    created.wait_for(std::chrono::milliseconds(100));
  }

  std::future<absl::Status> created;

 private:
  MapStore& store_;
};

TEST_F(MapStoreTest, MapCanBeCreatedOnceListenersHearOfTheEndOfTheLast) {
  RecreatingListener recreating(store_);
  store_.AddListener(&recreating);
  ASSERT_THAT(Create(), IsOk());
  ASSERT_THAT(store_.Delete("arena"), IsOk());
  EXPECT_THAT(recreating.created.get(), IsOk());
  EXPECT_THAT(DrawPath((*store_.Pin("arena"))->grid(), {}), ElementsAre("....."));
}

TEST_F(MapStoreTest, ReplacementTakesThePlaceOfAMap) {
  ASSERT_THAT(Create(), IsOk());
  ASSERT_THAT(store_.UpdateAndWait("arena", BlockBatch({1, 0})), IsOk());
  const PinnedSnapshot old = *store_.Pin("arena");
  EXPECT_THAT(store_.CheckCanReplace("arena"), IsOk());
  const auto replaced = store_.Replace("arena", DrawMap({"##", ".."}), kNow + absl::Seconds(5));
  ASSERT_THAT(replaced, IsOk());
  EXPECT_EQ((*replaced)->version(), (MapVersion{.epoch = 102, .revision = 1}));
  EXPECT_EQ((*replaced)->create_time, kNow + absl::Seconds(5));
  EXPECT_EQ(*store_.Pin("arena"), *replaced);
  EXPECT_THAT(DrawPath(old->grid(), {}), ElementsAre(".#."));
  EXPECT_EQ(store_.OldSnapshotsOf("arena").count, 1U);
  EXPECT_THAT(store_.List("", 9), ElementsAre(*replaced));

  EXPECT_EQ(store_.UpdateAndWait("arena", BlockBatch({0, 1}))->revision, 2U);
  EXPECT_EQ(store_.ReadHistory("arena", 2, 9)->commits.size(), 1U);
  const auto heard = listener_.heard();
  ASSERT_THAT(heard, SizeIs(3));
  EXPECT_TRUE(heard[1].is_deletion);
  EXPECT_EQ(heard[1].revision, 2U);
  EXPECT_EQ(heard[2].revision, 2U);
}

TEST_F(MapStoreTest, ReplacementCreatesAMapThatIsNotThere) {
  EXPECT_EQ((*store_.Replace("arena", DrawMap({"..."}), kNow))->revision, 1U);
  for (const char* id : {"a", "b", "c"}) {
    ASSERT_THAT(Create(id), IsOk());
  }
  EXPECT_THAT(store_.CheckCanReplace("other"), kIsOneTooMany);
  EXPECT_THAT(store_.Replace("other", DrawMap({"."}), kNow), kIsOneTooMany);
  EXPECT_THAT(store_.Replace("../x", DrawMap({"."}), kNow), kIsBadId);
  // A map of another kind is one, too.
  ASSERT_THAT(store_.Replace("arena", *WaypointGraph::Create({.nodes = {{.id = "a"}}}), kNow), IsOk());
  EXPECT_EQ((*store_.Pin("arena"))->kind(), MapKind::kWaypointGraph);
}

TEST_F(MapStoreTest, BatchesForAnotherMapAreRefused) {
  ASSERT_THAT(Create(), IsOk());
  UpdateBatch batch{.edits = {Block({1, 0})}, .expected = {.epoch = 101}, .request_id = "a"};
  EXPECT_THAT(store_.UpdateAndWait("arena", batch), IsOk());
  const auto again = store_.UpdateAndWait("arena", batch);
  ASSERT_THAT(again, IsOk());
  EXPECT_TRUE(again->already_applied);
  EXPECT_EQ(again->epoch, 101U);

  ASSERT_THAT(store_.Delete("arena"), IsOk());
  ASSERT_THAT(Create(), IsOk());
  const auto is_replaced =
      IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kMapReplaced, "expected_version.epoch");
  EXPECT_THAT(store_.UpdateAndWait("arena", batch), is_replaced);
  // Though the new map has the revision, too.
  batch.expected.revision = 1;
  EXPECT_THAT(store_.UpdateAndWait("arena", batch), is_replaced);
  EXPECT_EQ(Version(), (MapVersion{.epoch = 102, .revision = 1}));
  EXPECT_THAT(store_.Delete("arena", {.epoch = 101, .revision = 1}), is_replaced);
  const auto is_stale = IsError(absl::StatusCode::kAborted, ErrorReason::kStaleRevision, "expected_version");
  EXPECT_THAT(store_.Delete("arena", {.epoch = 102, .revision = 2}), is_stale);
  EXPECT_THAT(store_.UpdateAndWait("arena", {.edits = {Block({1, 0})}, .expected = {.revision = 2}}),
              is_stale);
  // The map goes on.
  ASSERT_THAT(store_.UpdateAndWait("arena", BlockBatch({2, 0})), IsOk());
  EXPECT_THAT(store_.Delete("arena", {.epoch = 102, .revision = 2}), IsOk());
}

TEST_F(MapStoreTest, UnknownMap) {
  EXPECT_THAT(store_.Pin("nowhere"), kIsUnknown);
  EXPECT_THAT(store_.Delete("nowhere"), kIsUnknown);
  EXPECT_THAT(store_.UpdateAndWait("nowhere", BlockBatch({0, 0})), kIsUnknown);
  EXPECT_THAT(store_.Pin("../x"), kIsBadId);
}

TEST_F(MapStoreTest, RefusesDuplicatesBadIdsAndOneMapTooMany) {
  ASSERT_THAT(Create("c"), IsOk());
  EXPECT_THAT(Create("c"), kIsTaken);
  EXPECT_THAT(store_.CheckCanCreate("c"), kIsTaken);
  EXPECT_THAT(Create("A"), kIsBadId);
  EXPECT_THAT(store_.CheckCanCreate("a"), IsOk());
  for (const char* id : {"a", "d", "b"}) {
    ASSERT_THAT(Create(id), IsOk());
  }
  EXPECT_THAT(Create("e"), kIsOneTooMany);
  EXPECT_THAT(IdsOf(store_.List("", 3)), ElementsAre("a", "b", "c"));
  EXPECT_THAT(IdsOf(store_.List("c", 3)), ElementsAre("d"));
  EXPECT_THAT(IdsOf(store_.List("d", 3)), IsEmpty());
}

TEST_F(MapStoreTest, CreatesAPreparedMapAsItIs) {
  AnyMap map = DrawMap({"..."});
  store_.Prepare(map);
  const GridMap grid = *std::get_if<GridMap>(&map);
  EXPECT_EQ(grid.memory_account(), &store_.memory());
  store_.Prepare(map);
  EXPECT_EQ(&std::get_if<GridMap>(&map)->walk(), &grid.walk());
  MapStore other(10);
  const auto elsewhere = other.Create("arena", grid, kNow);
  ASSERT_THAT(elsewhere, IsOk());
  EXPECT_EQ((*elsewhere)->grid().memory_account(), &other.memory());
  const auto created = store_.Create("arena", grid, kNow);
  ASSERT_THAT(created, IsOk());
  EXPECT_EQ(&(*created)->grid().walk(), &grid.walk());
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

TEST(MapIdTest, AcceptsWhatTheContractAllows) {
  for (const std::string& id :
       {std::string("a"), std::string("7"), std::string("arena-2_b.v1"), std::string(63, 'x')}) {
    EXPECT_THAT(CheckMapId(id), IsOk()) << id;
  }
}

TEST(MapIdTest, RejectsTheRest) {
  for (const std::string& id :
       {std::string(), std::string(64, 'x'), std::string("../x"), std::string("Arena"), std::string("a b"),
        std::string("_a"), std::string(".a"), std::string("-a"), std::string("a/b"), std::string("a\0b", 3),
        std::string("\xc3\x28"), std::string("ärena"), std::string(1000000, 'x')}) {
    EXPECT_THAT(CheckMapId(id), IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadMapId, "map"));
  }
}

TEST(MapIdTest, MessageShowsTheIdSafely) {
  EXPECT_THAT(std::string(CheckMapId("a\nb\xff").message()), HasSubstr("\"a\\nb\\xff\""));
  EXPECT_LT(CheckMapId(std::string(1000000, 'x')).message().size(), 300U);
}

}  // namespace
}  // namespace waystar::core
