// Readers on many threads while maps change, come and go and are replaced, for the thread sanitizer as much
// as for the assertions.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/map/movement_profile.h"
#include "server/core/grid/map/profile_views.h"
#include "server/core/store/map_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/oracle.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

// The first is always there, though replaced by others; the others come and go.
constexpr std::array<const char*, 3> kMaps = {"arena", "dungeon", "forest"};
constexpr int kReaders = 5;

// Returns a number that grows with the epochs of the test, which are given in order, and the revisions of
// each.
std::uint64_t OrderOf(const MapVersion& version) { return version.epoch << 32 | version.revision; }

// The newest version that any thread has seen of a map, or of one that had its id before it.
class NewestSeen {
 public:
  std::uint64_t Get() const { return newest_.load(std::memory_order_acquire); }

  void Saw(const MapVersion& version) {
    const std::uint64_t order = OrderOf(version);
    std::uint64_t before = newest_.load(std::memory_order_relaxed);
    while (before < order && !newest_.compare_exchange_weak(before, order, std::memory_order_acq_rel)) {
    }
  }

 private:
  std::atomic<std::uint64_t> newest_ = 0;
};

class ConcurrentPinsTest : public ::testing::Test {
 protected:
  ConcurrentPinsTest() { store_.AddListener(&listener_); }

  void Create(std::size_t map) {
    const std::uint64_t seen = newest_[map].Get();
    const GridMap blank = DrawMap({".....", "....."});
    const auto created = map == 0 ? store_.Replace(kMaps[map], blank, absl::UnixEpoch())
                                  : store_.Create(kMaps[map], blank, absl::UnixEpoch());
    ASSERT_THAT(created, IsOk());
    ASSERT_EQ((*created)->revision, 1U);
    ASSERT_GT(OrderOf((*created)->version()), seen);
    newest_[map].Saw((*created)->version());
  }

  void Delete(std::size_t map) {
    const auto deleted = store_.Delete(kMaps[map]);
    ASSERT_THAT(deleted, IsOk());
    ASSERT_GE(OrderOf(*deleted), newest_[map].Get());
    ASSERT_THAT(store_.Pin(kMaps[map]),
                IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"));
  }

  void Update(std::size_t map, int i) {
    const Cell cell = {i % 5, 0};
    const auto updated =
        store_.UpdateAndWait(kMaps[map], {.edits = {i / 5 % 2 == 0 ? Block(cell) : Unblock(cell)}});
    if (updated.ok()) {
      newest_[map].Saw({.epoch = updated->epoch, .revision = updated->revision});
    } else {
      // It may have waited for a map that is replaced.
      ASSERT_THAT(updated, IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"));
    }
  }

  void Pin(std::size_t map) {
    const std::uint64_t seen = newest_[map].Get();
    const auto pinned = store_.Pin(kMaps[map]);
    if (pinned.ok()) {
      ASSERT_EQ((*pinned)->id, kMaps[map]);
      ASSERT_GE(OrderOf((*pinned)->version()), seen);
      newest_[map].Saw((*pinned)->version());
    } else {
      ASSERT_NE(map, 0U);
      ASSERT_THAT(pinned, IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"));
    }
  }

  void List() {
    std::array<std::uint64_t, kMaps.size()> seen{};
    for (std::size_t map = 0; map < kMaps.size(); ++map) {
      seen[map] = newest_[map].Get();
    }
    ASSERT_THAT(store_.ReadHistory(kMaps[0], 1, 1), IsOk());
    ASSERT_THAT(store_.Store(kMaps[0]), IsOk());
    std::string last;
    for (const PinnedSnapshot& pinned : store_.List("", kMaps.size())) {
      ASSERT_LT(last, pinned->id);
      last = pinned->id;
      for (std::size_t map = 0; map < kMaps.size(); ++map) {
        if (pinned->id == kMaps[map]) {
          ASSERT_GE(OrderOf(pinned->version()), seen[map]);
          newest_[map].Saw(pinned->version());
        }
      }
    }
  }

  RecordingListener listener_;
  std::atomic<std::uint64_t> last_epoch_ = 0;
  MapStore store_{StoreOptions{.max_maps = kMaps.size(), .new_epoch = [this] { return ++last_epoch_; }}};
  std::array<NewestSeen, kMaps.size()> newest_;
};

// Neither on one thread nor across threads is a pin older than what was seen before it began. Listeners hear
// of the maps of an id one after another.
TEST_F(ConcurrentPinsTest, VersionsNeverGoBack) {
  Create(0);
  std::atomic<int> changing = 5;
  std::vector<std::thread> threads;
  for (int updater = 0; updater < 2; ++updater) {
    threads.emplace_back([&] {
      for (int i = 0; i < 900; ++i) {
        Update(static_cast<std::size_t>(i) % kMaps.size(), i);
      }
      --changing;
    });
  }
  for (const std::size_t map : {0, 1, 2}) {
    threads.emplace_back([&, map] {
      for (int i = 0; i < 150; ++i) {
        Create(map);
        Update(map, i);
        if (map != 0) {
          Delete(map);
        }
      }
      --changing;
    });
  }
  for (int reader = 0; reader < kReaders; ++reader) {
    threads.emplace_back([&] {
      std::size_t pins = 0;
      do {
        Pin(pins++ % kMaps.size());
        if (pins % 64 == 0) {
          List();
        }
      } while (changing > 0 && !HasFatalFailure());
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const char* map : kMaps) {
    EXPECT_EQ(store_.OldSnapshotsOf(map).count, 0U);
    int deletions = 0;
    std::uint64_t last_revision = 1;
    for (const RecordingListener::Heard& heard : listener_.heard()) {
      if (heard.map == map) {
        deletions += heard.is_deletion ? 1 : 0;
        ASSERT_EQ(heard.revision, last_revision + heard.commits.size());
        last_revision = heard.is_deletion ? 1 : heard.revision;
      }
    }
    EXPECT_EQ(deletions, 150);
  }
}

// Views of a map that changes, asked for on many threads.
TEST(ConcurrentViewsTest, EachIsThatOfItsSnapshot) {
  constexpr int kViewers = 4;
  constexpr int kUpdates = 400;
  GridSettings settings;
  settings.terrains.push_back({.symbol = '~', .name = "water", .impassable = true});
  settings.terrains.push_back({.symbol = 's', .name = "swamp", .cost = 3.0});
  MapStore store(1);
  ASSERT_THAT(store.Create("sea", DrawMap({"~~~~s", "....."}, settings), absl::UnixEpoch()), IsOk());
  const MovementProfile profiles[] = {{.terrain_costs = {{'~', 1.0}}},
                                      {.terrain_costs = {{'s', 1.0}}, .no_diagonals = true},
                                      {.forbidden_terrains = {'s'}}};
  std::atomic<bool> is_over = false;
  std::atomic<int> views = 0;
  std::vector<std::thread> readers;
  for (int reader = 0; reader < kViewers; ++reader) {
    readers.emplace_back([&, reader] {
      for (int i = reader; !is_over.load(); ++i) {
        const auto snapshot = store.Pin("sea");
        ASSERT_THAT(snapshot, IsOk());
        const GridMap& map = (*snapshot)->grid();
        const TerrainRules rules(profiles[i % 3], map.settings());
        const std::shared_ptr<const GridMap> view = ViewUnder(map, rules);
        for (int x = 0; x < map.width(); ++x) {
          const bool expected = !map.HasObstacle({x, 0}) && !rules.terrains[map.TerrainAt({x, 0})].impassable;
          ASSERT_EQ(view->walk(1 + i % 2)->rows().Test({x, 0}) || i % 2 == 1, expected || i % 2 == 1);
          ASSERT_EQ(view->IsWalkable({x, 0}), expected);
        }
        EXPECT_GT(map.memory_bytes(), 0U);
        ++views;
      }
    });
  }
  const Patience patience("views of the changed map");
  for (int i = 0; (i < kUpdates || views.load() < kUpdates) && patience.Lasts(); ++i) {
    const Cell cell{i % 5, 0};
    ASSERT_THAT(store.UpdateAndWait("sea", {.edits = {i / 5 % 2 == 0 ? Block(cell) : Unblock(cell)}}),
                IsOk());
  }
  is_over = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
}

// A door at (8, 4) opens and closes while readers search: each answer is right for the revision it pinned.
// The door is open at odd revisions. The first reader with a corner rule and a size builds the index for
// them, and the writer repairs it.
TEST(ConcurrentSearchesTest, ReadersSeeWholeRevisionsWhileAWriterWrites) {
  std::vector<std::string> rows(9, "........#........");
  rows[4] = ".................";
  MapStore store(10);
  ASSERT_THAT(store.Create("door", DrawMap(rows), absl::UnixEpoch()), IsOk());
  constexpr int kUpdates = 400;
  std::atomic<bool> done = false;
  const auto read = [&] {
    Scratch scratch(1 << 22);
    std::uint64_t last_revision = 0;
    int asked = 0;
    do {
      const PinnedSnapshot pinned = *store.Pin("door");
      ASSERT_GE(pinned->revision, last_revision);
      last_revision = pinned->revision;
      const auto rule = static_cast<CornerRule>(asked % kCornerRuleCount);
      const int footprint = asked % 4 == 3 ? 2 : 1;
      ++asked;
      const Cell goal{17 - footprint, 9 - footprint};
      const auto result =
          FindPath(pinned->grid(),
                   {.start = {0, 0}, .goal = goal, .corner_rule = rule, .footprint = footprint}, {}, scratch);
      ASSERT_TRUE(result.ok()) << result.status();
      // Too narrow for a larger agent.
      const bool open = pinned->revision % 2 == 1 && footprint == 1;
      ASSERT_EQ(result->outcome, open ? Outcome::kFound : Outcome::kUnreachable) << pinned->revision;
      if (open) {
        ASSERT_EQ(PathFault(pinned->grid(), rule, {0, 0}, goal, result->points, result->cost), "");
      }
    } while (!done.load());
  };
  std::thread first(read);
  std::thread second(read);
  for (int i = 0; i < kUpdates; ++i) {
    const auto updated =
        store.UpdateAndWait("door", {.edits = {i % 2 == 0 ? Block({8, 4}) : Unblock({8, 4})}});
    EXPECT_TRUE(updated.ok()) << updated.status();
  }
  done = true;
  first.join();
  second.join();
  EXPECT_EQ((*store.Pin("door"))->revision, kUpdates + 1U);
}

}  // namespace
}  // namespace waystar::core
