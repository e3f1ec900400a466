// Maps that are not in memory.

#include <atomic>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/store/store_listener.h"
#include "tests/core/store/held_store.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Keeps what is unloaded, and loads when the test says so.
class Shelf final : public MapResidence {
 public:
  explicit Shelf(MapStore& store) : store_(store) {}

  void LoadSoon(absl::string_view id) override { asked.emplace_back(id); }

  bool MakeRoom(std::size_t bytes) override {
    bool has_unloaded = false;
    for (const std::string& id : store_.LeastRecentlyUsed()) {
      if (store_.memory().room() >= bytes) {
        break;
      }
      has_unloaded |= PutAway(id);
      store_.memory().Measure();
    }
    return has_unloaded;
  }

  bool PutAway(const std::string& id) {
    absl::StatusOr<StoredMap> map = store_.Store(id);
    if (!map.ok()) {
      return false;
    }
    const MapVersion version = map->snapshot->version();
    images_.erase(id);
    images_.emplace(id, MapState{.snapshot = CopyOf(*map->snapshot),
                                 .requests = map->requests,
                                 .request_horizon = map->request_horizon});
    map = absl::CancelledError("a snapshot that is held takes memory");
    return store_.Unload(id, version);
  }

  absl::Status Load(const std::string& id) {
    const MapState& image = images_.at(id);
    return store_.Load({.snapshot = CopyOf(image.snapshot),
                        .requests = image.requests,
                        .request_horizon = image.request_horizon});
  }

  std::vector<std::string> asked;

 private:
  std::map<std::string, MapState> images_;
  MapStore& store_;
};

class LoadListener final : public StoreListener {
 public:
  void OnCommit(const PinnedSnapshot& snapshot, absl::Span<const CommitPtr> /*commits*/,
                const MapChanges& /*changes*/) override {
    heard.push_back(absl::StrCat("commit ", snapshot->revision));
  }
  void OnDelete(const PinnedSnapshot& last) override {
    heard.push_back(absl::StrCat("end ", last->revision));
  }
  void OnLoad(const PinnedSnapshot& snapshot) override {
    heard.push_back(absl::StrCat("load ", snapshot->revision));
  }
  bool Needs(const MapSnapshot& latest) const override { return latest.id == needed; }

  std::vector<std::string> heard;
  std::string needed;
};

class UnloadedMapsTest : public HeldStoreTest {
 protected:
  explicit UnloadedMapsTest(const StoreOptions& options = {}) : HeldStoreTest(options) {
    store_.AddListener(&loads_);
    store_.SetResidence(&shelf_);
  }

  void Restore(const std::string& id, const std::vector<std::string>& rows) {
    log_.Begin(id, {.epoch = 9, .revision = 1});
    ASSERT_THAT(
        store_.Restore({.snapshot = {.id = id, .epoch = 9, .create_time = kBegin, .map = DrawMap(rows)}}),
        IsOk());
  }
  // Deletes or creates while the log lets all land.
  template <typename Change>
  auto WhileLogLands(const Change& change) {
    decltype(change()) result = absl::UnknownError("not called");
    std::atomic<bool> is_over = false;
    std::thread thread([&] {
      result = change();
      is_over = true;
    });
    while (!is_over) {
      log_.LandAll();
      std::this_thread::yield();
    }
    thread.join();
    return result;
  }

  LoadListener loads_;
  Shelf shelf_{store_};
};

const auto kIsLoading = IsError(absl::StatusCode::kUnavailable, ErrorReason::kMapLoading, "map");

TEST_F(UnloadedMapsTest, IsLoadedWhenItIsAskedFor) {
  Update(1, "a");
  log_.LandAll();
  ASSERT_TRUE(shelf_.PutAway("arena"));
  EXPECT_EQ(store_.size(), 0U);
  EXPECT_THAT(store_.Pin("arena").status(), kIsLoading);
  EXPECT_EQ(LoadingMapOf(store_.Pin("arena").status()), "arena");
  EXPECT_THAT(store_.ReadHistory("arena", 1, 9).status(), kIsLoading);
  EXPECT_THAT(shelf_.asked, ElementsAre("arena", "arena", "arena"));
  Update(2);
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: 2", "1: MAP_LOADING"));

  ASSERT_THAT(shelf_.Load("arena"), IsOk());
  EXPECT_EQ((*store_.Pin("arena"))->version(), (MapVersion{.epoch = 7, .revision = 2}));
  EXPECT_EQ(Drawn(), ".#......");
  Update(3);
  // What was applied before is remembered.
  Update(1, "a");
  log_.LandAll();
  EXPECT_THAT(TakeAnswers(), ElementsAre("2: 3", "3: 2 again"));
  EXPECT_EQ(Drawn(), ".#.#....");
  EXPECT_THAT(loads_.heard, ElementsAre("commit 2", "load 2", "commit 3"));
}

TEST_F(UnloadedMapsTest, StaysWhileItIsInUse) {
  Update(1);
  EXPECT_FALSE(shelf_.PutAway("arena")) << "A batch is on its way.";
  log_.LandAll();
  EXPECT_FALSE(store_.Unload("arena", {.epoch = 7, .revision = 1})) << "That is not the latest version.";
  loads_.needed = "arena";
  EXPECT_FALSE(shelf_.PutAway("arena"));
  loads_.needed = "";
  Update({.edits = {PutObstacle{.obstacle = {.id = "door", .shape = {.cells = {{3, 1}}}},
                                .lifetime = absl::Seconds(10)}}});
  log_.LandAll();
  EXPECT_FALSE(shelf_.PutAway("arena")) << "Nobody would remove the obstacle in time.";
  clock_.Advance(absl::Seconds(11));
  store_.ExpireDue(clock_.Now());
  log_.LandAll();
  EXPECT_TRUE(shelf_.PutAway("arena"));
  EXPECT_FALSE(shelf_.PutAway("arena"));
}

TEST_F(UnloadedMapsTest, ThoseWhoHaveItPinnedKeepIt) {
  const PinnedSnapshot pinned = *store_.Pin("arena");
  ASSERT_TRUE(shelf_.PutAway("arena"));
  EXPECT_EQ(store_.OldSnapshotsOf("arena").count, 1U);
  EXPECT_EQ(pinned->grid().walk().width(), 8);
}

TEST_F(UnloadedMapsTest, IsListedAndItsIdIsTaken) {
  Restore("a", {"..."});
  Restore("z", {"..."});
  ASSERT_TRUE(shelf_.PutAway("arena"));
  const auto list = [&](absl::string_view after, std::size_t limit) {
    std::vector<std::string> maps;
    for (const MapStore::ListedMap& map : store_.ListAll(after, limit)) {
      maps.push_back(
          absl::StrCat(map.id, " ", map.version.revision, map.snapshot == nullptr ? " unloaded" : ""));
    }
    return maps;
  };
  EXPECT_THAT(list("", 9), ElementsAre("a 1", "arena 1 unloaded", "z 1"));
  EXPECT_THAT(list("a", 1), ElementsAre("arena 1 unloaded"));
  EXPECT_THAT(list("arena", 9), ElementsAre("z 1"));
  EXPECT_THAT(store_.CheckCanCreate("arena"),
              IsError(absl::StatusCode::kAlreadyExists, ErrorReason::kMapExists, "map"));
  EXPECT_THAT(store_.CheckCanDelete("arena"), IsOk());
  EXPECT_EQ(store_.UnloadedVersion("arena"), (MapVersion{.epoch = 7, .revision = 1}));
  EXPECT_EQ(store_.UnloadedVersion("a"), std::nullopt);
  const MapStore::ResidenceCounts counts = store_.CountResidence();
  EXPECT_EQ(counts.loaded, 2U);
  EXPECT_EQ(counts.unloaded, 1U);
}

TEST_F(UnloadedMapsTest, IsDeletedAsItIs) {
  ASSERT_TRUE(shelf_.PutAway("arena"));
  EXPECT_THAT(store_.Delete("arena", {.revision = 2}).status(),
              IsError(absl::StatusCode::kAborted, ErrorReason::kStaleRevision, "expected_version"));
  const absl::StatusOr<MapVersion> deleted = WhileLogLands([&] { return store_.Delete("arena"); });
  EXPECT_EQ(*deleted, (MapVersion{.epoch = 7, .revision = 1}));
  EXPECT_THAT(store_.Pin("arena"), IsGone());
  EXPECT_EQ(shelf_.Load("arena").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(shelf_.asked, IsEmpty());
}

TEST_F(UnloadedMapsTest, IsNotLoadedWhileItIsDeleted) {
  ASSERT_TRUE(shelf_.PutAway("arena"));
  absl::StatusOr<MapVersion> deleted = absl::UnknownError("");
  std::thread thread([&] { deleted = store_.Delete("arena"); });
  ASSERT_TRUE(log_.WaitForAppends(1));
  EXPECT_EQ(shelf_.Load("arena").code(), absl::StatusCode::kFailedPrecondition);
  log_.FailNext();
  thread.join();
  EXPECT_EQ(deleted.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(shelf_.Load("arena"), IsOk());
}

TEST_F(UnloadedMapsTest, IsReplacedAsItIs) {
  ASSERT_TRUE(shelf_.PutAway("arena"));
  const absl::StatusOr<PinnedSnapshot> replaced =
      WhileLogLands([&] { return store_.Replace("arena", DrawMap({".."}), kBegin); });
  ASSERT_THAT(replaced.status(), IsOk());
  EXPECT_EQ((*store_.Pin("arena"))->version(), (*replaced)->version());
  EXPECT_EQ(shelf_.Load("arena").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(store_.CountResidence().unloaded, 0U);
}

TEST_F(UnloadedMapsTest, TheLeastRecentlyUsedComesFirst) {
  Restore("a", {"..."});
  Restore("z", {"..."});
  static_cast<void>(store_.Pin("z"));
  static_cast<void>(store_.Pin("a"));
  EXPECT_THAT(store_.LeastRecentlyUsed(), ElementsAre("arena", "z", "a"));
  Update(1);
  log_.LandAll();
  EXPECT_EQ(store_.LeastRecentlyUsed().front(), "z");
  // To be listed is no use.
  EXPECT_EQ(store_.List("", 9).size(), 3U);
  EXPECT_EQ(store_.LeastRecentlyUsed().front(), "z");
}

class FullMemoryTest : public UnloadedMapsTest {
 protected:
  FullMemoryTest() : UnloadedMapsTest({.max_maps_bytes = 4U << 20}) {}
};

TEST_F(FullMemoryTest, MapsMakeRoomForOthers) {
  const std::vector<std::string> rows(256, std::string(1024, '.'));
  std::size_t maps = 0;
  while (store_.CountResidence().unloaded == 0) {
    const std::string id = absl::StrCat("m", maps++);
    ASSERT_LT(maps, 500U);
    ASSERT_THAT(WhileLogLands([&] { return store_.Create(id, DrawMap(rows), kBegin); }).status(), IsOk());
  }
  EXPECT_THAT(store_.Pin("arena").status(), kIsLoading) << "It was asked for before all others.";
  ASSERT_THAT(shelf_.Load("arena"), IsOk());
  EXPECT_THAT(store_.Pin("arena").status(), IsOk());
  const MapStore::ResidenceCounts counts = store_.CountResidence();
  EXPECT_EQ(counts.loaded + counts.unloaded, maps + 1);
  EXPECT_LE(store_.MeasureMemory().total(), store_.memory().max_bytes());
}

}  // namespace
}  // namespace waystar::core
