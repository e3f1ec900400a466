#include "server/storage/data_folder.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/core/graph/waypoint_graph.h"
#include "tests/storage/crashing_folder.h"
#include "tests/storage/durable_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::storage {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::waystar::testing::Block;
using ::waystar::testing::BlockBatch;
using ::waystar::testing::CrashingFolder;
using ::waystar::testing::DrawMap;
using ::waystar::testing::DurableStore;
using ::waystar::testing::FakeClock;
using ::waystar::testing::IsOk;
using ::waystar::testing::Loss;
using ::waystar::testing::Unblock;
using ::waystar::testing::WaitUntil;

constexpr absl::Time kCreated = absl::FromUnixSeconds(1'600'000'000);

class DataFolderTest : public ::testing::Test {
 protected:
  DataFolderTest() { Restart(); }

  // Ends the store, and begins another one with what is in the folder.
  void Restart(const DataOptions& options = {}) {
    store_.reset();
    store_.emplace(folder_, options, core::StoreOptions{.clock = &clock_});
  }

  core::MapStore& store() { return store_->store(); }

  std::uint64_t Update(absl::string_view map, std::vector<core::Edit> edits, std::string request_id = "") {
    const auto result =
        store().UpdateAndWait(map, {.edits = std::move(edits), .request_id = std::move(request_id)});
    EXPECT_THAT(result, IsOk());
    return result.ok() ? result->revision : 0;
  }

  void CreateArena() {
    ASSERT_THAT(store().Create("arena", DrawMap({"........", "........"}), kCreated), IsOk());
  }

  std::vector<std::string> FilesThatBegin(absl::string_view prefix) const {
    std::vector<std::string> files;
    const auto names = folder_.List();
    for (const std::string& name : *names) {
      if (absl::StartsWith(name, prefix)) {
        files.push_back(name);
      }
    }
    return files;
  }

  // Has images made, and waits until they are and old files are gone.
  void MakeImages() {
    // An image is made when a file is longer than nothing.
    Restart({.max_log_bytes = 2});
    const auto are_made = [&] {
      const auto statistics = store_->data().Statistics();
      EXPECT_THAT(statistics.image_status, IsOk());
      return !statistics.image_status.ok() || (FilesThatBegin("log-").size() <= 1 && statistics.images > 0);
    };
    ASSERT_TRUE(WaitUntil(are_made, "the images, and the end of old files"));
  }

  FakeClock clock_;
  CrashingFolder folder_;
  std::optional<DurableStore> store_;
};

TEST_F(DataFolderTest, MapsComeBackAsTheyWere) {
  CreateArena();
  Update("arena", {Block({3, 0}), Block({4, 1})});
  Update("arena", {Unblock({3, 0})});
  ASSERT_THAT(
      store().Create("isles", *core::WaypointGraph::Create({.nodes = {{.id = "a"}, {.id = "b"}}}), kCreated),
      IsOk());
  Update("isles", {core::PutNodes{.nodes = {{.id = "c"}}}});
  const core::PinnedSnapshot arena = *store().Pin("arena");
  const core::PinnedSnapshot isles = *store().Pin("isles");

  Restart();
  ASSERT_THAT(store_->status(), IsOk());
  EXPECT_EQ(store_->found().maps, 2U);
  EXPECT_EQ(store_->found().commits, 3U);
  for (const core::PinnedSnapshot& before : {arena, isles}) {
    const core::PinnedSnapshot now = *store().Pin(before->id);
    EXPECT_EQ(now->epoch, before->epoch);
    EXPECT_EQ(now->revision, before->revision);
    EXPECT_EQ(now->create_time, kCreated);
    EXPECT_EQ(now->digest(), before->digest());
  }
  EXPECT_EQ(Update("arena", {Block({0, 0})}), arena->revision + 1);
}

TEST_F(DataFolderTest, RequestsAreRemembered) {
  CreateArena();
  Update("arena", {Block({3, 0})}, "first");
  MakeImages();
  Update("arena", {Block({4, 0})}, "second");
  Restart();
  for (const auto& [x, id] : {std::pair(3, "first"), std::pair(4, "second")}) {
    const auto again = store().UpdateAndWait("arena", {.edits = {Block({x, 0})}, .request_id = id});
    ASSERT_THAT(again, IsOk());
    EXPECT_TRUE(again->already_applied);
    EXPECT_EQ(again->revision, static_cast<std::uint64_t>(x - 1));
  }
  EXPECT_EQ((*store().Pin("arena"))->revision, 3U);
}

TEST_F(DataFolderTest, ObstaclesExpireAfterARestartAsTheyWouldHave) {
  CreateArena();
  Update("arena", {core::PutObstacle{.obstacle = {.id = "door", .shape = {.cells = {{1, 1}}}},
                                     .lifetime = absl::Minutes(5)}});
  clock_.Advance(absl::Minutes(3));
  Restart();
  EXPECT_EQ(store().ExpireDue(clock_.Now()), clock_.Now() + absl::Minutes(2));
  clock_.Advance(absl::Minutes(2));
  store().ExpireDue(clock_.Now());
  EXPECT_EQ((*store().UpdateAndWait("arena", BlockBatch({7, 1}))).revision, 4U);
  EXPECT_TRUE((*store().Pin("arena"))->grid().obstacles().Find("door") == nullptr);
}

TEST_F(DataFolderTest, DeletedMapsStayDeletedAndTheirRevisionsUsed) {
  CreateArena();
  Update("arena", {Block({3, 0})});
  Update("arena", {Block({4, 0})});
  ASSERT_THAT(store().Delete("arena"), IsOk());
  Restart();
  EXPECT_EQ(store().size(), 0U);
  CreateArena();
  EXPECT_EQ((*store().Pin("arena"))->revision, 4U);
  Restart();
  EXPECT_EQ((*store().Pin("arena"))->revision, 4U);
}

TEST_F(DataFolderTest, ImagesLetLogsGo) {
  CreateArena();
  Update("arena", {Block({3, 0})});
  ASSERT_THAT(store().Create("gone", DrawMap({"."}), kCreated), IsOk());
  MakeImages();
  EXPECT_THAT(FilesThatBegin("image-"), SizeIs(2));
  ASSERT_THAT(store().Delete("gone"), IsOk());
  Update("arena", {Block({4, 0})});
  const std::uint64_t digest = (*store().Pin("arena"))->digest();
  MakeImages();
  EXPECT_THAT(FilesThatBegin("image-"), SizeIs(1));
  EXPECT_EQ(store_->found().maps, 1U);
  EXPECT_EQ((*store().Pin("arena"))->digest(), digest);
  Restart();
  EXPECT_EQ(store_->found().commits, 0U);
  EXPECT_EQ((*store().Pin("arena"))->digest(), digest);
}

TEST_F(DataFolderTest, WriteThatWasCutShortIsLeftOutAndSaid) {
  CreateArena();
  Update("arena", {Block({3, 0})});
  folder_.CrashAfter(0);
  EXPECT_FALSE(store().UpdateAndWait("arena", BlockBatch({4, 0})).ok());
  store_.reset();
  const auto after = folder_.AfterCrash(Loss::kKeep, 1);
  DurableStore store(*after);
  ASSERT_THAT(store.status(), IsOk());
  EXPECT_GT(store.found().torn_bytes, 0U);
  EXPECT_EQ((*store.store().Pin("arena"))->revision, 2U);
}

TEST_F(DataFolderTest, DamagedMapIsNamedAndLeftOutOnlyIfAsked) {
  CreateArena();
  ASSERT_THAT(store().Create("other", DrawMap({"..."}), kCreated), IsOk());
  MakeImages();
  store_.reset();
  const std::string image = FilesThatBegin("image-arena").at(0);
  folder_.Contents(image).back() ^= 1;
  const auto names = *folder_.List();
  Restart();
  EXPECT_EQ(store_->status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(store_->status().message(), HasSubstr(absl::StrCat(image, " is damaged at byte ")));
  store_.reset();
  EXPECT_EQ(*folder_.List(), names);

  Restart({.max_log_bytes = 2, .read = {.skip_damaged_maps = true}});
  ASSERT_THAT(store_->status(), IsOk());
  ASSERT_THAT(store_->found().damaged, SizeIs(1));
  EXPECT_THAT(store_->found().damaged[0].message(), HasSubstr(image));
  EXPECT_EQ(store().size(), 1U);
  Update("other", {Block({1, 0})});
  // What could help the map is kept, and whoever mends it has it back.
  store_.reset();
  folder_.Contents(image).back() ^= 1;
  Restart();
  ASSERT_THAT(store_->status(), IsOk());
  EXPECT_EQ(store().size(), 2U);
}

TEST_F(DataFolderTest, ReadingEndsWhenItIsTold) {
  CreateArena();
  ASSERT_THAT(store().Create("yard", DrawMap({"."}), kCreated), IsOk());
  DataOptions options;
  options.read.on_progress = [](std::size_t read, std::size_t total) {
    EXPECT_EQ(total, 2U);
    return read < 1;
  };
  Restart(options);
  EXPECT_EQ(store_->status().code(), absl::StatusCode::kCancelled);
  Restart();
  ASSERT_THAT(store_->status(), IsOk());
  EXPECT_EQ(store_->found().maps, 2U);
}

TEST_F(DataFolderTest, ChangesAreRefusedWhileTheDiskFailsAndGoOnAfterwards) {
  DataOptions options;
  options.log.retry_interval = absl::ZeroDuration();
  Restart(options);
  CreateArena();
  Update("arena", {Block({3, 0})});
  folder_.FailAfter(0, true);
  const auto refused = store().UpdateAndWait("arena", BlockBatch({4, 0}));
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(store().Create("other", DrawMap({"."}), kCreated).ok());
  EXPECT_EQ((*store().Pin("arena"))->revision, 2U);
  EXPECT_FALSE(store_->data().Statistics().log_status.ok());
  folder_.StopFailing();
  // Nobody has to try for it to be told.
  EXPECT_TRUE(WaitUntil([&] { return store_->data().Statistics().log_status.ok(); }, "the disk's recovery"));
  EXPECT_EQ(Update("arena", {Block({5, 0})}), 3U);
  const std::uint64_t digest = (*store().Pin("arena"))->digest();
  Restart();
  ASSERT_THAT(store_->status(), IsOk());
  EXPECT_EQ((*store().Pin("arena"))->digest(), digest);
}

TEST_F(DataFolderTest, NoFlippedBitChangesAMap) {
  CreateArena();
  Update("arena", {Block({3, 0})}, "first");
  MakeImages();
  Update("arena", {Block({4, 1})}, "second");
  Update("arena", {Unblock({3, 0})});
  const core::PinnedSnapshot last = *store().Pin("arena");
  store_.reset();
  int flips = 0;
  const auto names = folder_.List();
  for (const std::string& name : *names) {
    std::string& bytes = folder_.Contents(name);
    for (std::size_t i = 0; i < bytes.size(); ++i, ++flips) {
      const auto damaged = folder_.AfterCrash(Loss::kKeep, 1);
      damaged->Contents(name)[i] = static_cast<char>(bytes[i] ^ (1 << (i % 8)));
      DurableStore store(*damaged);
      if (!store.status().ok()) {
        EXPECT_THAT(store.status().message(), HasSubstr(name)) << i;
        continue;
      }
      const auto found = store.store().Pin("arena");
      ASSERT_THAT(found, IsOk()) << name << " " << i;
      EXPECT_EQ((*found)->version(), last->version()) << name << " " << i;
      EXPECT_EQ((*found)->digest(), last->digest()) << name << " " << i;
    }
  }
  EXPECT_GT(flips, 300);
}

}  // namespace
}  // namespace waystar::storage
