#include "server/storage/folder/data_folder.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/base/mutex.h"
#include "server/core/edit/edit_digest.h"
#include "server/storage/folder/record_file.h"
#include "tests/storage/folder/crashing_folder.h"
#include "tests/storage/folder/durable_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::storage {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;

constexpr absl::Time kCreated = absl::FromUnixSeconds(1'600'000'000);

class DataFolderTest : public ::testing::Test {
 protected:
  DataFolderTest() { Restart(); }

  // Ends the store, and begins another one with what is in the folder. TryRestart accepts that it fails.
  void TryRestart(const DataOptions& options = {}) {
    store_.reset();
    store_.emplace(folder_, options, core::StoreOptions{.request_ids = request_ids_, .clock = &clock_});
  }
  void Restart(const DataOptions& options = {}) {
    TryRestart(options);
    ASSERT_THAT(store_->status(), IsOk());
  }

  void ExpectLoss(const std::string& message) {
    TryRestart();
    EXPECT_EQ(store_->status().code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(store_->status().message(), HasSubstr(message));
    store_.reset();
  }

  core::MapStore& store() { return store_->store(); }
  core::PinnedSnapshot Arena() { return *store().Pin("arena"); }

  void ExpectArena(core::MapVersion version, std::uint64_t digest) {
    EXPECT_EQ(Arena()->version(), version);
    EXPECT_EQ(Arena()->digest(), digest);
  }
  void ExpectArena(const core::PinnedSnapshot& before) { ExpectArena(before->version(), before->digest()); }

  std::uint64_t Update(absl::string_view map, std::vector<core::Edit> edits, std::string request_id = "") {
    return store_->Update(map, std::move(edits), std::move(request_id));
  }

  void CreateArena() {
    ASSERT_THAT(store().Create("arena", DrawMap({"........", "........"}), kCreated), IsOk());
  }

  std::vector<std::string> FilesThatBegin(absl::string_view prefix) const {
    return waystar::FilesThatBegin(prefix, folder_);
  }

  // Has images made, and waits until they are and old files are gone.
  void MakeImages() {
    Restart({.max_log_bytes = 2});
    ASSERT_TRUE(store_->WaitForImages(1));
  }

  FakeClock clock_;
  core::RequestRetention request_ids_;
  CrashingFolder folder_;
  std::optional<DurableStore> store_;
};

TEST_F(DataFolderTest, ReplacedMapIsTheOneThatComesBack) {
  CreateArena();
  Update("arena", {Block({3, 0})});
  MakeImages();
  Update("arena", {Block({4, 0})});
  const std::uint64_t old_epoch = Arena()->epoch;
  ASSERT_THAT(store().Replace("arena", DrawMap({"##", "..", ".."}), kCreated + absl::Seconds(1)), IsOk());
  EXPECT_EQ(Arena()->revision, 1U);
  Update("arena", {Block({0, 2})});
  for (const bool has_image : {false, true}) {
    if (has_image) {
      MakeImages();
      EXPECT_THAT(FilesThatBegin("image-arena-"), SizeIs(1));
    }
    const core::PinnedSnapshot before = Arena();
    Restart();
    const core::PinnedSnapshot now = Arena();
    ExpectArena(before);
    EXPECT_NE(now->epoch, old_epoch);
    EXPECT_EQ(now->revision, 2U);
    EXPECT_EQ(now->create_time, kCreated + absl::Seconds(1));
  }
  EXPECT_EQ(store().Delete("arena")->revision, 2U);
  Restart();
  EXPECT_EQ((*store().Create("arena", DrawMap({"."}), kCreated))->revision, 1U);
}

// The log may tell of the end of the image's map, or be too young for that.
TEST_F(DataFolderTest, ImageOfTheMapBeforeIsNotTaken) {
  CreateArena();
  for (int x = 0; x < 3; ++x) {
    Update("arena", {Block({x, 0})});
  }
  MakeImages();
  const std::vector<std::string> images = FilesThatBegin("image-arena-");
  ASSERT_THAT(images, SizeIs(1));
  ASSERT_TRUE(absl::EndsWith(images[0], "-4")) << images[0];
  Restart();
  const std::string bytes = folder_.Contents(images[0]);
  const std::uint64_t old_epoch = Arena()->epoch;
  ASSERT_THAT(store().Delete("arena"), IsOk());
  ASSERT_THAT(store().Create("arena", DrawMap({"#.."}), kCreated), IsOk());
  const core::MapVersion version = Arena()->version();
  const std::uint64_t digest = Arena()->digest();
  EXPECT_EQ(version.revision, 1U);
  EXPECT_NE(version.epoch, old_epoch);
  for (const bool log_tells : {true, false}) {
    SCOPED_TRACE(log_tells);
    if (!log_tells) {
      MakeImages();
      store_.reset();
      ASSERT_THAT(folder_.Create(images[0]), IsOk());
      folder_.Contents(images[0]) = bytes;
    }
    Restart();
    ExpectArena(version, digest);
    if (log_tells) {
      EXPECT_THAT(FilesThatBegin("image-arena-"), IsEmpty());
    } else {
      EXPECT_THAT(store_->found().unknown_images, ElementsAre(images[0]));
    }
  }
  EXPECT_EQ(Update("arena", {Block({1, 0})}), 2U);
}

TEST_F(DataFolderTest, RequestsAreRemembered) {
  CreateArena();
  Update("arena", {Block({3, 0})}, "first");
  MakeImages();
  Update("arena", {Block({4, 0})}, "second");
  Restart();
  for (const auto& [x, id] : {std::pair(3, "first"), std::pair(4, "second")}) {
    const auto again = store().UpdateAndWait("arena", {.edits = {Block({x, 0})}, .request_id = id}).value();
    EXPECT_TRUE(again.already_applied);
    EXPECT_EQ(again.revision, static_cast<std::uint64_t>(x - 1));
  }
  EXPECT_EQ(Arena()->revision, 3U);
}

TEST_F(DataFolderTest, RetriesOfWhatWasForgottenEarlyAreRefusedAfterRestarts) {
  request_ids_.max_bytes = 1000;
  Restart();
  CreateArena();
  Update("arena", {Block({3, 0})}, "a");
  constexpr int kMore = 10;
  for (int i = 0; i < kMore; ++i) {
    ASSERT_THAT(store().UpdateAndWait("arena", {.edits = {Block({i % 8, 1})},
                                                .request_id = absl::StrCat("b", i),
                                                .request_time = clock_.Now() + absl::Nanoseconds(i)}),
                IsOk());
  }
  const auto expect_refused = [&](absl::string_view when) {
    ASSERT_THAT(store_->status(), IsOk()) << when;
    EXPECT_EQ(Arena()->revision, 2U + kMore) << when;
    EXPECT_THAT(
        store().UpdateAndWait("arena", {.edits = {Block({3, 0})}, .request_id = "a"}),
        IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kRequestIdExpired, "request_time"))
        << when;
  };
  expect_refused("at first");
  Restart();
  expect_refused("after the log was replayed");
  MakeImages();
  Restart();
  EXPECT_EQ(store_->found().commits, 0U);
  expect_refused("after an image was read");
  request_ids_ = {};
  Restart();
  expect_refused("with more memory");
  clock_.Advance(request_ids_.time + absl::Nanoseconds(kMore));
  EXPECT_EQ(Update("arena", {Block({3, 0})}, "a"), 3U + kMore);
}

TEST_F(DataFolderTest, TellsTheLatestTimeOfItsMaps) {
  EXPECT_EQ(store_->found().latest_time, absl::InfinitePast());
  CreateArena();
  Restart();
  EXPECT_EQ(store_->found().latest_time, kCreated);
  const absl::Time last = clock_.Now();
  Update("arena", {Block({3, 0})}, "first");
  // A client's clock is not believed.
  ASSERT_THAT(store().UpdateAndWait("arena", {.edits = {Block({4, 0})},
                                              .request_id = "second",
                                              .request_time = last + absl::Seconds(50)}),
              IsOk());
  clock_.Advance(-absl::Hours(1));
  Restart();
  EXPECT_EQ(store_->found().latest_time, last);
  MakeImages();
  EXPECT_EQ(store_->found().latest_time, last);
  Restart();
  EXPECT_EQ(store_->found().commits, 0U);
  EXPECT_EQ(store_->found().latest_time, last);
  // What is changed by an earlier time does not hide it.
  Update("arena", {Block({5, 0})});
  MakeImages();
  Restart();
  EXPECT_EQ(store_->found().latest_time, last);
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
  EXPECT_TRUE(Arena()->grid().obstacles().Find("door") == nullptr);
}

TEST_F(DataFolderTest, ImagesLetLogsGo) {
  CreateArena();
  Update("arena", {Block({3, 0})});
  ASSERT_THAT(store().Create("gone", DrawMap({"."}), kCreated), IsOk());
  MakeImages();
  EXPECT_THAT(FilesThatBegin("image-"), SizeIs(2));
  ASSERT_THAT(store().Delete("gone"), IsOk());
  Update("arena", {Block({4, 0})});
  const std::uint64_t digest = Arena()->digest();
  MakeImages();
  EXPECT_THAT(FilesThatBegin("image-"), SizeIs(1));
  EXPECT_EQ(store_->found().maps, 1U);
  EXPECT_EQ(Arena()->digest(), digest);
  Restart();
  EXPECT_EQ(store_->found().commits, 0U);
  EXPECT_EQ(Arena()->digest(), digest);
}

TEST_F(DataFolderTest, MapsThatAreLongToReplayGetImages) {
  // Each update paints 4,096 cells in some 30 bytes.
  const std::vector<std::string> rows(64, std::string(64, '.'));
  const core::Edit all = core::BlockCells{.shape = {.rectangles = {{0, 0, 64, 64}}}};
  ASSERT_THAT(store().Create("arena", DrawMap(rows), kCreated), IsOk());
  DataOptions options;
  options.log.long_work = 20'000;
  Restart(options);
  const auto has_image = [&] { return !FilesThatBegin("image-").empty(); };
  for (int i = 0; i < 4; ++i) {
    Update("arena", {all});
  }
  EXPECT_THAT(FilesThatBegin("image-"), IsEmpty());
  Update("arena", {all});
  EXPECT_TRUE(WaitUntil(has_image, "an image"));

  // A start that has replayed more makes one as well.
  CrashingFolder other;
  {
    DurableStore store(other);
    ASSERT_THAT(store.store().Create("arena", DrawMap(rows), kCreated), IsOk());
    for (int i = 0; i < 5; ++i) {
      store.Update("arena", {all});
    }
  }
  const DurableStore store(other, options);
  EXPECT_TRUE(WaitUntil([&] { return !waystar::FilesThatBegin("image-", other).empty(); },
                        "an image after the start"));
}

// The map "arena", whose image is damaged and needs the log, beside a good one.
class DamagedMapTest : public DataFolderTest {
 protected:
  DamagedMapTest() {
    CreateArena();
    EXPECT_THAT(store().Create("other", DrawMap({"..."}), kCreated), IsOk());
    MakeImages();
    Restart();
    Update("arena", {Block({1, 0})});
    digest_ = Arena()->digest();
    store_.reset();
    image_ = FilesThatBegin("image-arena").at(0);
    folder_.Contents(image_).back() ^= 1;
  }

  // Restarts without the map.
  void Skip() {
    store_.reset();
    last_log_ = LogFiles().back();
    TryRestart({.max_log_bytes = 2, .read = {.skip_damaged_maps = true}});
  }

  // Waits until the log files are gone that were there before Skip.
  void WaitForRound() {
    ASSERT_TRUE(WaitUntil([&] { return LogFiles().front() > last_log_; }, "a round of images"));
  }

  std::vector<std::string> LogFiles() const {
    std::vector<std::string> files = FilesThatBegin("log-");
    std::erase_if(files, [](const std::string& name) { return absl::EndsWith(name, ".kept"); });
    return files;
  }

  std::string last_log_;
  std::string image_;
  std::uint64_t digest_ = 0;
};

TEST_F(DamagedMapTest, IsNamedAndSkippedOnlyIfAsked) {
  const auto names = *folder_.List();
  ExpectLoss(absl::StrCat(image_, " is damaged at byte "));
  EXPECT_EQ(*folder_.List(), names);

  Skip();
  ASSERT_THAT(store_->status(), IsOk());
  ASSERT_THAT(store_->found().damaged, SizeIs(1));
  EXPECT_THAT(store_->found().damaged[0].message(), HasSubstr(image_));
  EXPECT_EQ(store().size(), 1U);
  EXPECT_THAT(store().Create("arena", DrawMap({"."}), kCreated),
              IsError(absl::StatusCode::kAlreadyExists, ErrorReason::kMapExists, "map"));
  EXPECT_EQ(store().Pin("arena").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(DamagedMapTest, KeepsNoFileOfTheLogFromBeingRemoved) {
  for (int i = 0; i < 3; ++i) {
    Skip();
    ASSERT_THAT(store_->status(), IsOk());
    Update("other", {Block({1, 0})});
    WaitForRound();
  }
  // Files come and go while there is a store.
  store_.reset();
  EXPECT_LE(LogFiles().size(), 2U);
  EXPECT_THAT(FilesThatBegin("log-"), SizeIs(LogFiles().size() + 1))
      << "the one that the image needs is kept";
  EXPECT_THAT(FilesThatBegin("image-arena"), ElementsAre(image_, absl::StrCat(image_, ".kept")));
}

TEST_F(DamagedMapTest, ComesBackFromItsKeptFiles) {
  Skip();
  Update("other", {Block({1, 0})});
  WaitForRound();
  store_.reset();
  CrashingFolder mended;
  const auto names = folder_.List();
  for (const std::string& name : *names) {
    if (const std::string original(absl::StripSuffix(name, ".kept")); original != name) {
      ASSERT_THAT(mended.Create(original), IsOk());
      mended.Contents(original) = folder_.Contents(name);
    }
  }
  mended.Contents(image_).back() ^= 1;
  DurableStore store(mended, {.read = {.skip_damaged_maps = true}});
  ASSERT_THAT(store.status(), IsOk());
  const auto arena = store.store().Pin("arena").value();
  EXPECT_EQ(arena->revision, 2U);
  EXPECT_EQ(arena->digest(), digest_);
}

TEST_F(DamagedMapTest, IsDeletedByName) {
  Skip();
  const auto last = store().Delete("arena").value();
  EXPECT_EQ(last.revision, 2U);
  EXPECT_EQ(store().Delete("arena").status().code(), absl::StatusCode::kNotFound);
  Restart();
  EXPECT_EQ(store().size(), 1U);
  EXPECT_THAT(FilesThatBegin("image-arena"), ElementsAre(absl::StrCat(image_, ".kept")));
  const auto again = store().Create("arena", DrawMap({"."}), kCreated).value();
  EXPECT_EQ(again->revision, 1U);
}

TEST_F(DamagedMapTest, IsReplacedByName) {
  Skip();
  const auto next = store().Replace("arena", DrawMap({"#."}), kCreated).value();
  EXPECT_EQ(next->revision, 1U);
  Update("arena", {Block({1, 0})});
  WaitForRound();
  Restart();
  EXPECT_EQ(Arena()->revision, 2U);
  EXPECT_EQ(Arena()->epoch, next->epoch);
}

TEST_F(DamagedMapTest, StaysIfItsEndCannotBeLogged) {
  Skip();
  folder_.FailAfter(0, true);
  EXPECT_EQ(store().Delete("arena").status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(store().Replace("arena", DrawMap({"."}), kCreated).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_THAT(store().Create("arena", DrawMap({"."}), kCreated),
              IsError(absl::StatusCode::kAlreadyExists, ErrorReason::kMapExists, "map"));
  EXPECT_EQ(store().size(), 1U);
}

TEST_F(DamagedMapTest, StopsTheStartIfItsFilesCannotBeKept) {
  const auto names = *folder_.List();
  folder_.FailAfter(0, true);
  Skip();
  EXPECT_FALSE(store_->status().ok());
  store_.reset();
  folder_.StopFailing();
  EXPECT_EQ(*folder_.List(), names);
}

TEST_F(DataFolderTest, ReadingEndsWhenItIsTold) {
  CreateArena();
  ASSERT_THAT(store().Create("yard", DrawMap({"."}), kCreated), IsOk());
  DataOptions options;
  options.read.on_progress = [](std::size_t read, std::size_t total) {
    EXPECT_EQ(total, 2U);
    return read < 1;
  };
  TryRestart(options);
  EXPECT_EQ(store_->status().code(), absl::StatusCode::kCancelled);
  Restart();
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
  EXPECT_EQ(Arena()->revision, 2U);
  EXPECT_FALSE(store_->data().Statistics().log.status.ok());
  folder_.StopFailing();
  // Nobody has to try for it to be told.
  EXPECT_TRUE(WaitUntil([&] { return store_->data().Statistics().log.status.ok(); }, "the disk's recovery"));
  EXPECT_EQ(Update("arena", {Block({5, 0})}), 3U);
  const std::uint64_t digest = Arena()->digest();
  Restart();
  EXPECT_EQ(Arena()->digest(), digest);
}

TEST_F(DataFolderTest, NoFlippedBitChangesAMap) {
  CreateArena();
  Update("arena", {Block({3, 0})}, "first");
  MakeImages();
  Update("arena", {Block({4, 1})}, "second");
  Update("arena", {Unblock({3, 0})});
  const core::PinnedSnapshot last = Arena();
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
      EXPECT_EQ((*found)->revision, last->revision) << name << " " << i;
      // Without a mark it is not known that no revision was lost.
      EXPECT_EQ((*found)->epoch == last->epoch, name != "MARK") << name << " " << i;
      EXPECT_EQ((*found)->digest(), last->digest()) << name << " " << i;
    }
  }
  EXPECT_GT(flips, 300);
}

TEST_F(DataFolderTest, MissingLogIsRefusedAndNothingRemoved) {
  CreateArena();
  MakeImages();
  store_.reset();
  for (const std::string& log : FilesThatBegin("log-")) {
    ASSERT_THAT(folder_.Remove(log), IsOk());
  }
  const auto names = *folder_.List();
  ExpectLoss("is missing");
  EXPECT_EQ(*folder_.List(), names);
}

TEST_F(DataFolderTest, LogThatWasCutIsRefused) {
  CreateArena();
  for (int x = 0; x < 8; ++x) {
    Update("arena", {Block({x, 0})});
  }
  store_.reset();
  std::string& log = folder_.Contents(LogFileName(1));
  // At the end of a record, so that nothing in the log shows it.
  const auto records = ReadRecords("log", log, FileKind::kLog, std::nullopt).value();
  const std::string whole = log;
  log.resize(records.records.at(5).offset);
  ExpectLoss("the end of the log is missing");
  folder_.Contents(LogFileName(1)) = whole;
  Restart();
  EXPECT_EQ(Arena()->revision, 9U);
}

TEST_F(DataFolderTest, LastFileOfTheLogIsMissed) {
  CreateArena();
  Restart();
  Update("arena", {Block({3, 0})});
  store_.reset();
  ASSERT_THAT(folder_.Remove(LogFileName(2)), IsOk());
  ExpectLoss(LogFileName(2));
}

TEST_F(DataFolderTest, MapsKnowTheRequestThatTheyWereCreatedBy) {
  const core::CreationRequest request{.request_id = "a", .fingerprint = core::FingerprintOf("rows")};
  ASSERT_THAT(store().Create("arena", DrawMap({"........"}), kCreated, request), IsOk());
  Update("arena", {Block({3, 0})});
  for (const bool has_image : {false, true}) {
    if (has_image) {
      MakeImages();
    }
    Restart();
    const auto found = store().FindCreated("arena", request).value();
    EXPECT_EQ(found, Arena());
    EXPECT_THAT(
        store().FindCreated("arena", {.request_id = "a", .fingerprint = core::FingerprintOf("others")}),
        IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kRequestIdReused, "request_id"));
  }
}

// The start that finds a loss may end before it has written down that there are new epochs.
TEST_F(DataFolderTest, MapsGetNewEpochsWhereverTheStartThatGivesThemEnds) {
  CreateArena();
  Update("arena", {Block({3, 0})});
  const std::uint64_t epoch = Arena()->epoch;
  store_.reset();
  ASSERT_THAT(folder_.Remove("MARK"), IsOk());
  bool has_crashed = true;
  for (int operations = 0; has_crashed; ++operations) {
    const std::unique_ptr<CrashingFolder> folder = folder_.AfterKill();
    folder->CrashAfter(operations);
    { const DurableStore start(*folder); }
    has_crashed = folder->has_crashed();
    const std::unique_ptr<CrashingFolder> left = folder->AfterKill();
    DurableStore next(*left);
    ASSERT_THAT(next.status(), IsOk());
    EXPECT_NE((*next.store().Pin("arena"))->epoch, epoch) << operations;
  }
}

// The parameter: the map was created again since its last image.
class NewEpochsTest : public DataFolderTest, public ::testing::WithParamInterface<bool> {};

TEST_P(NewEpochsTest, AreGivenWhereNothingSaysHowFarTheLogWent) {
  CreateArena();
  if (GetParam()) {
    Update("arena", {Block({5, 1})});
    MakeImages();
    Restart();
    ASSERT_THAT(store().Delete("arena"), IsOk());
    CreateArena();
  }
  Update("arena", {Block({3, 0})}, "first");
  if (!GetParam()) {
    MakeImages();
  }
  Update("arena", {Block({4, 0})});
  const core::PinnedSnapshot before = Arena();
  store_.reset();
  ASSERT_THAT(folder_.Remove("MARK"), IsOk());
  Restart();
  EXPECT_THAT(store_->found().new_epochs, HasSubstr("MARK"));
  const core::PinnedSnapshot after = Arena();
  EXPECT_NE(after->epoch, before->epoch);
  ExpectArena({.epoch = after->epoch, .revision = before->revision}, before->digest());
  const auto again =
      store().UpdateAndWait("arena", {.edits = {Block({3, 0})}, .request_id = "first"}).value();
  EXPECT_TRUE(again.already_applied);
  EXPECT_EQ(again.epoch, after->epoch);

  // It is the map's from then on, whether read from the log or from an image.
  Update("arena", {Block({5, 0})});
  const core::PinnedSnapshot last = Arena();
  EXPECT_EQ(last->epoch, after->epoch);
  Restart();
  EXPECT_THAT(store_->found().new_epochs, IsEmpty());
  ExpectArena(last);
  MakeImages();
  Restart();
  ExpectArena(last);
}

INSTANTIATE_TEST_SUITE_P(, NewEpochsTest, ::testing::Bool(),
                         [](const auto& tested) { return tested.param ? "CreatedAgain" : "Created"; });

TEST_F(DataFolderTest, RestartsDoNotPileUpFiles) {
  CreateArena();
  for (int i = 0; i < 60; ++i) {
    Restart();
    Update("arena", {i % 2 == 0 ? Block({1, 1}) : Unblock({1, 1})});
  }
  const auto are_gone = [&] { return FilesThatBegin("log-").size() < 20; };
  EXPECT_TRUE(WaitUntil(are_gone, "the end of old files"));
  EXPECT_EQ(Arena()->revision, 61U);
}

TEST_F(DataFolderTest, FilesThatNothingExplainsStay) {
  CreateArena();
  MakeImages();
  store_.reset();
  const std::vector<std::string> strangers = {"image-other-77-3", "image-arena-77-1", "notes.new", "notes"};
  for (const std::string& name : strangers) {
    ASSERT_THAT(folder_.Create(name), IsOk());
  }
  ASSERT_THAT(folder_.Create("log-000000000009.new"), IsOk());
  MakeImages();
  ASSERT_THAT(store_->status(), IsOk());
  EXPECT_THAT(store_->found().unknown_images, ElementsAre("image-arena-77-1", "image-other-77-3"));
  EXPECT_THAT(*folder_.List(), IsSupersetOf(strangers));
  EXPECT_THAT(*folder_.List(), Not(Contains("log-000000000009.new")));
}

TEST(LogFileNumberTest, OnlyNamesThatTheLogWritesHaveOne) {
  EXPECT_EQ(LogFileNumber("log-000000000012"), 12U);
  EXPECT_EQ(LogFileNumber("log-1234567890123"), 1'234'567'890'123U);
  for (const char* const name :
       {"log-12", "log- 000000000012", "log-+00000000012", "log-0000000000012", "log-000000000012 ",
        "log-000000000012.new", "log-00000000001x", "000000000012"}) {
    EXPECT_EQ(LogFileNumber(name), std::nullopt) << name;
  }
}

TEST_F(DataFolderTest, FileThatVanishesIsNoticedAtTheNextCommit) {
  CreateArena();
  for (const bool is_removed : {true, false}) {
    CrashingFolder folder;
    DurableStore store(folder);
    ASSERT_THAT(store.store().Create("arena", DrawMap({"..."}), kCreated), IsOk());
    if (is_removed) {
      ASSERT_THAT(folder.Remove(LogFileName(1)), IsOk());
    } else {
      folder.Contents(LogFileName(1)).resize(30);
    }
    const auto refused = store.store().UpdateAndWait("arena", BlockBatch({1, 0}));
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(refused.status().message(), HasSubstr(LogFileName(1)));
    EXPECT_THAT(refused.status().message(), HasSubstr("until the server is restarted"));
    EXPECT_EQ((*store.store().Pin("arena"))->revision, 1U);
    EXPECT_FALSE(store.data().Statistics().log.status.ok());
    EXPECT_FALSE(store.data().Sync().ok());
  }
}

TEST_F(DataFolderTest, ImageThatVanishesIsMadeAgain) {
  CreateArena();
  MakeImages();
  const std::string image = FilesThatBegin("image-").at(0);
  ASSERT_THAT(folder_.Remove(image), IsOk());
  // The next file is longer than nothing, too.
  ASSERT_THAT(store().Create("yard", DrawMap({"."}), kCreated), IsOk());
  EXPECT_TRUE(WaitUntil([&] { return FilesThatBegin("image-").size() == 2; }, "both images"));
  EXPECT_THAT(FilesThatBegin("image-"), Contains(image));
}

TEST_F(DataFolderTest, FailureNamesTheFileThatIsThere) {
  CreateArena();
  // The sync after the write.
  folder_.FailAfter(1, false);
  const auto refused = store().UpdateAndWait("arena", BlockBatch({1, 0}));
  EXPECT_THAT(refused.status().message(), HasSubstr(absl::StrCat(LogFileName(1), ": ")));
}

TEST_F(DataFolderTest, WhatARelaxedSyncHasFailedToWriteStaysInDoubtUntilARestart) {
  DataOptions options;
  options.log.durability = Durability::kRelaxed;
  options.log.sync_interval = absl::ZeroDuration();
  options.log.retry_interval = absl::ZeroDuration();
  Restart(options);
  CreateArena();
  ASSERT_THAT(store_->data().Sync(), IsOk());
  EXPECT_EQ(store_->data().Statistics().log.unsynced_age, absl::ZeroDuration());
  // The sync that follows the write and the mark.
  folder_.FailAfter(2, false);
  Update("arena", {Block({1, 0})});
  EXPECT_TRUE(WaitUntil([&] { return !store_->data().Statistics().log.status.ok(); }, "the failed sync"));
  EXPECT_GT(store_->data().Statistics().log.unsynced_age, absl::ZeroDuration());
  const auto refused = store().UpdateAndWait("arena", BlockBatch({2, 0}));
  EXPECT_THAT(refused.status().message(), HasSubstr("until the server is restarted"));
  EXPECT_FALSE(refused.status().GetPayload(kRetryDelayPayload).has_value());
  // The restart writes it again: what the system has forgotten to write is on stable storage then.
  Restart(options);
  EXPECT_EQ(Arena()->revision, 2U);
  ASSERT_THAT(store().UpdateAndWait("arena", BlockBatch({2, 0})), IsOk());
  ASSERT_THAT(store_->data().Sync(), IsOk());
  const auto after = folder_.AfterCrash(Loss::kDrop, 1);
  DurableStore again(*after);
  ASSERT_THAT(again.status(), IsOk());
  EXPECT_EQ((*again.store().Pin("arena"))->revision, 3U);
}

TEST_F(DataFolderTest, TellsHowLongSyncsTookAndCommitsWaited) {
  std::vector<absl::Duration> syncs;
  std::vector<absl::Duration> commits;
  Restart({.log = {.on_sync = [&](absl::Duration took) { syncs.push_back(took); },
                   .on_commit = [&](absl::Duration waited) { commits.push_back(waited); }}});
  CreateArena();
  Update("arena", {Block({1, 0})});
  folder_.FailAfter(0, true);
  EXPECT_FALSE(store().UpdateAndWait("arena", BlockBatch({2, 0})).ok());
  // The log's thread has ended when they are read.
  store_.reset();
  EXPECT_EQ(commits.size(), 2U);
  EXPECT_GE(syncs.size(), 2U);
  EXPECT_THAT(commits, Each(Gt(absl::ZeroDuration())));
  EXPECT_THAT(syncs, Each(Ge(absl::ZeroDuration())));
}

TEST_F(DataFolderTest, TellsHowTheLogEnded) {
  std::vector<absl::Status> ends;
  const DataOptions options = {.log = {.on_end = [&](const absl::Status& end) { ends.push_back(end); }}};
  Restart(options);
  CreateArena();
  store_.reset();
  EXPECT_THAT(ends, ElementsAre(IsOk()));
  // The sync of the log, the empty record, its sync, the mark and its sync.
  for (int operation = 0; operation < 5; ++operation) {
    ends.clear();
    Restart(options);
    folder_.FailAfter(operation, true);
    store_.reset();
    EXPECT_THAT(ends, ElementsAre(Not(IsOk()))) << operation;
    folder_.StopFailing();
  }
  ends.clear();
  Restart(options);
  folder_.FailAfter(0, true);
  EXPECT_FALSE(store().UpdateAndWait("arena", BlockBatch({1, 0})).ok());
  store_.reset();
  EXPECT_THAT(ends, ElementsAre(Not(IsOk())));
}

// Folder on whose disk some files cannot be created.
class FaultyFolder final : public BorrowedFolder {
 public:
  using BorrowedFolder::BorrowedFolder;

  void Refuse(std::string prefix) {
    MutexLock lock(mutex_);
    refused_ = std::move(prefix);
  }
  void Accept() {
    MutexLock lock(mutex_);
    refused_.reset();
  }

  absl::StatusOr<std::unique_ptr<AppendFile>> Create(absl::string_view name) override {
    {
      MutexLock lock(mutex_);
      if (refused_ && absl::StartsWith(name, *refused_)) {
        return absl::ResourceExhaustedError("the disk is full");
      }
    }
    return BorrowedFolder::Create(name);
  }

 private:
  Mutex mutex_;
  std::optional<std::string> refused_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(DataFolderTest, FullDiskIsStartedFromToRead) {
  CreateArena();
  store_.reset();
  FaultyFolder full(folder_);
  full.Refuse("");
  DurableStore store(full, {.log = {.retry_interval = absl::ZeroDuration()}});
  ASSERT_THAT(store.status(), IsOk());
  EXPECT_EQ((*store.store().Pin("arena"))->revision, 1U);
  EXPECT_EQ(store.store().UpdateAndWait("arena", BlockBatch({1, 0})).status().code(),
            absl::StatusCode::kUnavailable);
  full.Accept();
  EXPECT_TRUE(WaitUntil([&] { return store.data().Statistics().log.status.ok(); }, "the disk's recovery"));
  EXPECT_THAT(store.store().UpdateAndWait("arena", BlockBatch({1, 0})), IsOk());
}

TEST_F(DataFolderTest, NewFolderMustBeWritable) {
  CrashingFolder empty;
  FaultyFolder full(empty);
  full.Refuse("");
  EXPECT_EQ(DurableStore(full).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(DataFolderTest, LogIsLimitedThoughImagesCannotBeMade) {
  store_.reset();
  FaultyFolder faulty(folder_);
  faulty.Refuse("image-");
  DurableStore store(faulty, {.max_log_bytes = 1 << 20, .image_retry_interval = absl::ZeroDuration()});
  ASSERT_THAT(store.store().Create("arena", DrawMap({"........"}), kCreated), IsOk());
  absl::Status refused;
  for (int i = 0; i < 100'000 && refused.ok(); ++i) {
    refused = store.store()
                  .UpdateAndWait("arena", {.edits = std::vector<core::Edit>(1000, Block({i % 8, 0}))})
                  .status();
  }
  EXPECT_THAT(refused.message(), HasSubstr("the log is at its limit"));
  // All files together, and one group.
  EXPECT_LT(store.data().Statistics().log.bytes, 9U << 17);
  EXPECT_LE(FilesThatBegin("log-").size(), 3U);
  faulty.Accept();
  EXPECT_TRUE(WaitUntil([&] { return store.data().Statistics().log.bytes < 1 << 19; }, "shorter logs"));
  EXPECT_THAT(store.store().UpdateAndWait("arena", BlockBatch({1, 0})), IsOk());
}

}  // namespace
}  // namespace waystar::storage
