// Which maps are in memory.

#include "server/maintenance/map_keeper.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/base/mutex.h"
#include "server/core/store/durable_log.h"
#include "server/storage/folder/image_file.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"

namespace waystar::maintenance {
namespace {

// A source that remembers maps, and holds loads up while the test wants it.
class Attic final : public core::MapSource {
 public:
  explicit Attic(core::MapStore& store) : store_(store) {}

  absl::StatusOr<core::MapVersion> Keep(absl::string_view id) override {
    absl::StatusOr<core::StoredMap> map = store_.Store(id);
    if (!map.ok()) {
      return map.status();
    }
    MutexLock lock(mutex_);
    // A snapshot that is held would take memory.
    images_[std::string(id)] = storage::EncodeStoredMap(*map);
    return map->snapshot->version();
  }

  absl::Status Load(absl::string_view id) override {
    std::string image;
    {
      MutexLock lock(mutex_);
      ++begun_;
      most_at_once_ = std::max(most_at_once_, begun_ - ended_);
      while (is_held_) {
        released_.Wait(mutex_);
      }
      ++ended_;
      if (!failure_.ok()) {
        return failure_;
      }
      image = images_.at(std::string(id));
    }
    absl::StatusOr<storage::MapState> map = storage::DecodeStoredMap(image, "the attic");
    if (!map.ok()) {
      return map.status();
    }
    return store_.Load(*std::move(map));
  }

  void Hold() {
    MutexLock lock(mutex_);
    is_held_ = true;
  }
  void Release() {
    MutexLock lock(mutex_);
    is_held_ = false;
    released_.NotifyAll();
  }
  void Fail(absl::Status failure) {
    MutexLock lock(mutex_);
    failure_ = std::move(failure);
  }
  int begun() const {
    MutexLock lock(mutex_);
    return begun_;
  }
  int most_at_once() const {
    MutexLock lock(mutex_);
    return most_at_once_;
  }

 private:
  core::MapStore& store_;
  mutable Mutex mutex_;
  CondVar released_;
  bool is_held_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  int begun_ ABSL_GUARDED_BY(mutex_) = 0;
  int ended_ ABSL_GUARDED_BY(mutex_) = 0;
  int most_at_once_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::string> images_ ABSL_GUARDED_BY(mutex_);
};

class MapKeeperTest : public ::testing::Test {
 protected:
  explicit MapKeeperTest(std::size_t max_bytes = MemoryAccount::kNoLimit)
      : store_(core::StoreOptions{.max_maps_bytes = max_bytes}) {
    store_.SetResidence(&keeper_);
  }

  void Start(MapKeeperOptions options = {}) { keeper_.Start(attic_, std::move(options)); }
  void Create(const std::string& id, const std::vector<std::string>& rows = {"..."}) {
    ASSERT_THAT(store_.Create(id, DrawMap(rows), store_.Now()).status(), IsOk());
  }
  void PutAway(const std::string& id) {
    const auto version = attic_.Keep(id);
    ASSERT_THAT(version.status(), IsOk());
    ASSERT_TRUE(store_.Unload(id, *version));
  }
  bool WaitForMap(const std::string& id) {
    return WaitUntil([&] { return store_.Pin(id).ok(); }, absl::StrCat("map ", id));
  }

  core::MapStore store_;
  Attic attic_{store_};
  MapKeeper keeper_{store_};
};

TEST_F(MapKeeperTest, AMapIsLoadedOnceForAllWhoAsk) {
  Create("arena");
  PutAway("arena");
  attic_.Hold();
  Start();
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(store_.Pin("arena").ok());
  }
  ASSERT_TRUE(WaitUntil([&] { return attic_.begun() > 0; }, "the load"));
  EXPECT_FALSE(store_.Pin("arena").ok());
  attic_.Release();
  ASSERT_TRUE(WaitForMap("arena"));
  keeper_.Stop();
  EXPECT_EQ(attic_.begun(), 1);
  EXPECT_EQ(keeper_.GetStatistics().loads, 1U);
  EXPECT_EQ(store_.CountResidence().hits, 1U + 1U) << "The load itself is a use.";
}

TEST_F(MapKeeperTest, AsManyAreLoadedAtATimeAsItMay) {
  attic_.Hold();
  for (int i = 0; i < 6; ++i) {
    Create(absl::StrCat("m", i));
    PutAway(absl::StrCat("m", i));
  }
  Start({.loads = 2});
  for (int i = 0; i < 6; ++i) {
    EXPECT_FALSE(store_.Pin(absl::StrCat("m", i)).ok());
  }
  ASSERT_TRUE(WaitUntil([&] { return attic_.begun() == 2; }, "two loads"));
  attic_.Release();
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(WaitForMap(absl::StrCat("m", i)));
  }
  EXPECT_EQ(attic_.most_at_once(), 2);
}

TEST_F(MapKeeperTest, WhatCouldNotBeLoadedIsTriedAgainWhenItIsAskedFor) {
  Create("arena");
  PutAway("arena");
  attic_.Fail(absl::UnavailableError("the disk is away"));
  std::atomic<int> failures = 0;
  Start({.on_load_failure = [&](absl::string_view, const absl::Status&) { ++failures; }});
  EXPECT_FALSE(store_.Pin("arena").ok());
  ASSERT_TRUE(WaitUntil([&] { return failures == 1; }, "the failure"));
  attic_.Fail(absl::OkStatus());
  ASSERT_TRUE(WaitForMap("arena"));
  EXPECT_EQ(keeper_.GetStatistics().failed_loads, 1U);
}

TEST_F(MapKeeperTest, ADamagedMapIsNotThereButItsIdIs) {
  Create("arena");
  PutAway("arena");
  attic_.Fail(absl::DataLossError("damaged"));
  Start();
  EXPECT_EQ(store_.Pin("arena").status().code(), absl::StatusCode::kUnavailable);
  ASSERT_TRUE(WaitUntil([&] { return absl::IsNotFound(store_.Pin("arena").status()); }, "the damage"));
  EXPECT_TRUE(absl::IsAlreadyExists(store_.CheckCanCreate("arena")));
}

class FullKeeperTest : public MapKeeperTest {
 protected:
  static constexpr std::size_t kMaxBytes = std::size_t{4} << 20;
  FullKeeperTest() : MapKeeperTest(kMaxBytes) {}

  static std::vector<std::string> Rows() { return std::vector<std::string>(256, std::string(1024, '.')); }
};

TEST_F(FullKeeperTest, TheLeastRecentlyUsedMakeRoom) {
  // One that is asked for again and again stays.
  Start({.interval = absl::Hours(1)});
  Create("hall", Rows());
  int maps = 0;
  while (keeper_.GetStatistics().evictions < 5) {
    ASSERT_LT(maps, 1000);
    Create(absl::StrCat("m", maps++), Rows());
    EXPECT_THAT(store_.Pin("hall").status(), IsOk());
  }
  EXPECT_FALSE(store_.Pin("m0").ok());
  ASSERT_TRUE(WaitForMap("m0"));
  EXPECT_THAT(store_.Pin("hall").status(), IsOk());
  EXPECT_LE(store_.MeasureMemory().total(), kMaxBytes);
}

TEST_F(FullKeeperTest, RoomIsMadeBeforeItIsNeeded) {
  std::vector<std::string> ids;
  while (store_.memory().taken() <= kMaxBytes / 10 * 9) {
    ids.push_back(absl::StrCat("m", ids.size()));
    ASSERT_LT(ids.size(), 1000U);
    Create(ids.back(), Rows());
    store_.memory().Measure();
  }
  Start({.interval = absl::Milliseconds(1)});
  ASSERT_TRUE(WaitUntil([&] { return keeper_.GetStatistics().evictions > 0; }, "room"));
  EXPECT_TRUE(store_.UnloadedVersion("m0").has_value());
}

}  // namespace
}  // namespace waystar::maintenance
