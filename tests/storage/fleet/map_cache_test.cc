// Images of a fleet's maps: in a server's own cache, and in files that all servers share.

#include "server/storage/fleet/map_cache.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/storage/etcd/etcd_client.h"
#include "server/storage/fleet/cluster_keys.h"
#include "server/storage/fleet/cluster_values.h"
#include "server/storage/folder/folder.h"
#include "server/storage/folder/image_file.h"
#include "tests/storage/fleet/fleet_server.h"
#include "tests/storage/folder/crashing_folder.h"
#include "tests/testing/own_folder.h"

namespace waystar::cluster {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr absl::string_view kKeys = "/waystar/";
const absl::Time kThen = absl::FromUnixSeconds(1'790'000'000);

std::unique_ptr<MapCache> OpenCache(std::unique_ptr<storage::Folder> folder) {
  auto cache = MapCache::Open(std::move(folder), kKeys);
  EXPECT_THAT(cache, IsOk());
  return *std::move(cache);
}

class MapCacheTest : public ::testing::Test {
 protected:
  void Create(const std::string& id, const std::vector<std::string>& rows) {
    ASSERT_THAT(store_.Create(id, DrawMap(rows), store_.Now()).status(), IsOk());
  }
  void BlockIn(const std::string& id, int x) {
    ASSERT_THAT(store_.UpdateAndWait(id, {.edits = {Block({x, 0})}}).status(), IsOk());
  }
  std::uint64_t DigestOf(const std::string& id) { return (*store_.Pin(id))->digest(); }

  void Refresh() { ASSERT_THAT(cache_->Refresh(store_, kThen), IsOk()); }
  std::vector<std::string> ImageFiles() const { return FilesThatBegin("image-", *files_); }

  core::MapStore store_{core::StoreOptions()};
  // The cache owns it.
  CrashingFolder* const files_ = new CrashingFolder;
  const std::unique_ptr<MapCache> cache_ = OpenCache(std::unique_ptr<storage::Folder>(files_));
};

TEST_F(MapCacheTest, MapsComeBackAsTheyWere) {
  Create("arena", {"...."});
  Create("tower", {"..."});
  BlockIn("arena", 1);
  EXPECT_EQ(cache_->known_at(), absl::InfinitePast());
  Refresh();

  const auto again = OpenCache(files_->AfterCrash(Loss::kDrop, 1));
  EXPECT_EQ(again->known_at(), kThen);
  EXPECT_THAT(again->images(), ElementsAre(Key("arena"), Key("tower")));
  const auto arena = again->Read("arena");
  ASSERT_THAT(arena, IsOk());
  EXPECT_EQ(arena->snapshot.version(), (*store_.Pin("arena"))->version());
  EXPECT_EQ(arena->snapshot.digest(), DigestOf("arena"));
}

TEST_F(MapCacheTest, HoldsOneImageOfEachMapThatThereIs) {
  Create("arena", {"...."});
  Create("tower", {"..."});
  for (int x = 0; x < 3; ++x) {
    BlockIn("arena", x);
    Refresh();
    EXPECT_THAT(ImageFiles(), SizeIs(2));
  }
  ASSERT_THAT(store_.Delete("tower").status(), IsOk());
  Refresh();
  EXPECT_THAT(cache_->images(), ElementsAre(Key("arena")));
  EXPECT_THAT(ImageFiles(), SizeIs(1));
}

// Wherever the power goes, the list and its images are of one round.
TEST_F(MapCacheTest, AnEndAtAnyTimeLeavesOneRound) {
  bool has_ended = true;
  for (std::int64_t operation = 0; has_ended; ++operation) {
    core::MapStore store{core::StoreOptions()};
    std::map<std::string, std::vector<std::uint64_t>> digests;
    const auto note = [&](const std::string& id) { digests[id].push_back((*store.Pin(id))->digest()); };
    ASSERT_THAT(store.Create("arena", DrawMap({"...."}), store.Now()).status(), IsOk());
    ASSERT_THAT(store.Create("tower", DrawMap({"..."}), store.Now()).status(), IsOk());
    note("arena");
    note("tower");
    auto folder = std::make_unique<CrashingFolder>();
    CrashingFolder& files = *folder;
    const auto cache = OpenCache(std::move(folder));
    ASSERT_THAT(cache->Refresh(store, kThen), IsOk());
    ASSERT_THAT(store.UpdateAndWait("arena", {.edits = {Block({1, 0})}}).status(), IsOk());
    ASSERT_THAT(store.Delete("tower").status(), IsOk());
    note("arena");
    files.CrashAfter(operation);
    has_ended = !cache->Refresh(store, kThen + absl::Minutes(1)).ok();
    for (const Loss loss : {Loss::kDrop, Loss::kTear, Loss::kReorder, Loss::kKeep}) {
      const auto again = OpenCache(files.AfterCrash(loss, static_cast<std::uint64_t>(operation)));
      const bool is_old = again->known_at() == kThen;
      EXPECT_TRUE(is_old || again->known_at() == kThen + absl::Minutes(1)) << operation;
      EXPECT_THAT(again->images(), SizeIs(is_old ? 2 : 1)) << operation;
      for (const auto& [id, version] : again->images()) {
        const auto read = again->Read(id);
        ASSERT_THAT(read, IsOk()) << operation;
        EXPECT_EQ(read->snapshot.digest(), is_old ? digests[id].front() : digests[id].back()) << operation;
      }
      ASSERT_THAT(again->Refresh(store, kThen), IsOk());
    }
  }
}

TEST_F(MapCacheTest, ADamagedImageIsMadeAgain) {
  Create("arena", {"...."});
  Refresh();
  files_->Contents(ImageFiles().front()).back() ^= 1;
  EXPECT_TRUE(absl::IsDataLoss(cache_->Read("arena").status()));
  EXPECT_THAT(cache_->images(), IsEmpty());
  Refresh();
  EXPECT_THAT(cache_->Read("arena"), IsOk());
}

TEST_F(MapCacheTest, NoFlippedBitOfTheListIsTaken) {
  Create("arena", {"...."});
  Refresh();
  const std::string list = *files_->Read("fleet");
  for (std::size_t i = 0; i < list.size(); ++i) {
    files_->Contents("fleet")[i] ^= 4;
    const auto damaged = OpenCache(files_->AfterKill());
    EXPECT_THAT(damaged->images(), IsEmpty()) << i;
    EXPECT_THAT(damaged->Refresh(store_, kThen), IsOk());
    EXPECT_THAT(damaged->images(), SizeIs(1));
    files_->Contents("fleet") = list;
  }
}

TEST_F(MapCacheTest, FoldersOfOthersAreRefusedAndLeftAsTheyAre) {
  Create("arena", {"...."});
  Refresh();
  const absl::Status of_others = MapCache::Open(files_->AfterKill(), "/other/").status();
  EXPECT_TRUE(absl::IsFailedPrecondition(of_others));
  EXPECT_THAT(of_others.message(), HasSubstr("of the fleet with the keys"));

  auto of_one_server = std::make_unique<CrashingFolder>();
  ASSERT_THAT(of_one_server->Create("log-000000000001"), IsOk());
  const absl::Status of_one = MapCache::Open(std::move(of_one_server), kKeys).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(of_one));
  EXPECT_THAT(of_one.message(), HasSubstr("in no fleet"));
}

class CachedFleetTest : public FleetTest {
 protected:
  FleetOptions CachingOptions() const {
    FleetOptions options = FleetServer::OptionsFor(etcd_->Options());
    options.cache_dir = folder_.PathOf("cache");
    options.cache_patience = absl::ZeroDuration();
    options.cache.interval = absl::Milliseconds(10);
    return options;
  }
  // Waits until the cache has no other images than of the maps that the server has.
  void AwaitImages(const FleetServer& server) const {
    WaitUntil(
        [&] {
          std::vector<std::string> expected;
          for (const auto& map : server.store.ListAll("", 100)) {
            expected.push_back(storage::ImageFileName({.map = map.id, .version = map.version}));
          }
          std::ranges::sort(expected);
          const std::filesystem::path cache = folder_.path() / "cache";
          return std::filesystem::exists(cache / "fleet") && ImagesIn(cache) == expected;
        },
        "the images");
  }

 private:
  const OwnFolder folder_;
};

TEST_F(CachedFleetTest, AServerStartsWhileEtcdIsAway) {
  FleetServer other(*etcd_);
  for (const char* const id : {"arena", "tower", "yard"}) {
    ASSERT_THAT(other.Create(id, {"........"}), IsOk());
  }
  {
    FleetServer first(CachingOptions());
    EXPECT_FALSE(first.found.cached_at.has_value());
    ASSERT_THAT(first.Update("arena", 0, "once"), IsOk());
    AwaitImages(first);
  }
  ASSERT_THAT(other.Update("arena", 1), IsOk());
  ASSERT_THAT(other.store.Delete("tower", {}), IsOk());
  ASSERT_THAT(other.store.Replace("yard", DrawMap({"##"}), other.store.Now()), IsOk());
  ASSERT_THAT(other.Create("attic", {"."}), IsOk());
  etcd_->Kill(0);

  FleetOptions options = CachingOptions();
  std::chrono::steady_clock::time_point heard;
  std::once_flag is_told;
  options.log.on_heard = [&](std::chrono::steady_clock::time_point at) {
    std::call_once(is_told, [&] { heard = at; });
  };
  const auto start = std::chrono::steady_clock::now();
  FleetServer again(options);
  ASSERT_TRUE(again.found.cached_at.has_value());
  // Answers tell their age from the first on.
  EXPECT_LT(heard, start);
  EXPECT_NE(heard, std::chrono::steady_clock::time_point());
  EXPECT_GT(*again.found.cached_at, absl::Now() - absl::Hours(1));
  EXPECT_LE(*again.found.cached_at, absl::Now());
  EXPECT_GT(again.fleet->Staleness(), absl::ZeroDuration());
  EXPECT_EQ(again.found.maps, 3U);
  EXPECT_EQ(again.Drawn("arena"), "#.......");
  EXPECT_EQ(again.RevisionOf("tower"), 1U);
  EXPECT_THAT(again.Update("arena", 2), FailsWith("STORAGE_FAILED"));
  EXPECT_THAT(again.Create("cellar", {"."}), FailsWith("STORAGE_FAILED"));
  EXPECT_THAT(again.store.Delete("tower", {}), FailsWith("STORAGE_FAILED"));

  etcd_->Restart(0);
  WaitUntil([&] { return again.RevisionOf("attic") == 1 && again.RevisionOf("tower") == 0; }, "etcd");
  for (const char* const id : {"arena", "attic", "yard"}) {
    ExpectSame(again, other, id);
  }
  WaitUntil([&] { return again.Update("yard", 1).ok(); }, "changes that are taken");
  ExpectSame(again, other, "yard");
  const auto repeated = again.Update("arena", 0, "once").value();
  EXPECT_TRUE(repeated.already_applied);
  AwaitImages(again);
  EXPECT_EQ(again.fleet->Statistics().broken, 0U);
}

// Whatever changes come just when etcd is back, none gets by what the server has not followed yet.
TEST_F(CachedFleetTest, ChangesWaitUntilTheServerHasFollowed) {
  FleetServer other(*etcd_);
  ASSERT_THAT(other.Create("arena", {"................"}), IsOk());
  ASSERT_THAT(other.Create("tower", {"................"}), IsOk());
  {
    const FleetServer first(CachingOptions());
    AwaitImages(first);
  }
  other.UpdateEach("arena", 0, 8);
  ASSERT_THAT(other.store.Delete("tower", {}), IsOk());
  etcd_->Kill(0);
  FleetServer again(CachingOptions());
  std::atomic<bool> is_over = false;
  std::atomic<int> taken = 0;
  std::thread writer([&] {
    while (!is_over) {
      taken += again.Update("arena", 8 + taken % 8).ok() ? 1 : 0;
      EXPECT_FALSE(again.Update("tower", 0).ok());
    }
  });
  etcd_->Restart(0);
  WaitUntil([&] { return taken >= 20; }, "changes that are taken");
  is_over = true;
  writer.join();
  EXPECT_EQ(again.RevisionOf("arena"), 9U + static_cast<std::uint64_t>(taken));
  ExpectSame(again, other, "arena");
  EXPECT_EQ(other.RevisionOf("tower"), 0U);
  EXPECT_EQ(again.fleet->Statistics().broken, 0U);
}

TEST_F(CachedFleetTest, WithoutAnImageAServerWaitsForEtcd) {
  FleetServer other(*etcd_);
  ASSERT_THAT(other.Create("arena", {"...."}), IsOk());
  etcd_->Kill(0);
  FleetOptions options = CachingOptions();
  bool is_away = false;
  options.on_away = [&](const absl::Status& /*status*/) {
    is_away = true;
    etcd_->Restart(0);
  };
  const FleetServer first(options);
  EXPECT_TRUE(is_away);
  EXPECT_FALSE(first.found.cached_at.has_value());
  EXPECT_EQ(first.found.maps, 1U);
}

// An image that leads elsewhere than etcd says is not believed.
TEST_F(CachedFleetTest, AServerReadsEtcdWhereItsImageIsWrong) {
  FleetServer other(*etcd_);
  ASSERT_THAT(other.Create("arena", {"...."}), IsOk());
  {
    const FleetServer first(CachingOptions());
    AwaitImages(first);
  }
  {
    auto folder = storage::OpenPosixFolder(CachingOptions().cache_dir);
    ASSERT_THAT(folder, IsOk());
    core::MapSnapshot wrong = *(*other.store.Pin("arena"));
    wrong.map = DrawMap({"#..."});
    ASSERT_THAT(
        storage::WriteImageFile({.snapshot = std::make_shared<const core::MapSnapshot>(std::move(wrong))},
                                **folder, [] { return absl::OkStatus(); })
            .status(),
        IsOk());
  }
  ASSERT_THAT(other.Update("arena", 2), IsOk());
  const FleetServer again(CachingOptions());
  EXPECT_THAT(again.found.damaged, IsEmpty());
  EXPECT_EQ(again.Drawn("arena"), "..#.");
}

TEST(ImageFileNameTest, NamesAreReadBack) {
  const ImageFileName name{
      .map = "a-1.b_c", .version = {.epoch = ~std::uint64_t{0}, .revision = 17}, .writer = 255};
  EXPECT_EQ(NameOf(name), "map-a-1.b_c-ffffffffffffffff-0000000000000011-00000000000000ff");
  const auto read = ParseImageFileName(NameOf(name));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->map, name.map);
  EXPECT_EQ(read->version, name.version);
  EXPECT_EQ(read->writer, name.writer);
  for (const char* const other :
       {"", "map-", "map-a", "image-a-1-2", "map--0000000000000001-0000000000000011-00000000000000ff",
        "map-a-0000000000000001-0000000000000011-00000000000000FF",
        "map-a-0000000000000001-0000000000000011-00000000000000ff.new",
        "map-../a-0000000000000001-0000000000000011-00000000000000ff",
        "map-a_0000000000000001-0000000000000011-00000000000000ff"}) {
    EXPECT_FALSE(ParseImageFileName(other).has_value()) << other;
  }
}

// Every image goes into a file.
class FleetImagesTest : public FleetTest {
 protected:
  void SetUp() override {
    FleetTest::SetUp();
    if (!IsSkipped()) {
      folder_ = etcd_->folder() + "/images";
      std::filesystem::create_directories(folder_);
      options_ = FleetServer::OptionsFor(etcd_->Options());
      options_.image_dir = folder_;
      options_.log.images.max_parts = 0;
    }
  }
  std::vector<std::string> Files() const { return FilesThatBegin("", std::filesystem::path(folder_)); }

  std::string folder_;
  FleetOptions options_;
};

TEST_F(FleetImagesTest, ServersReadThemFromTheFolder) {
  FleetServer a(options_);
  FleetServer b(options_);
  ASSERT_THAT(a.Create("arena", {"....", "...."}), IsOk());
  ExpectSame(a, b, "arena");
  EXPECT_THAT(Files(), SizeIs(1));
  EXPECT_THAT(Files(), Each(StartsWith("map-arena-")));
  ASSERT_THAT(b.Update("arena", 1), IsOk());
  ASSERT_THAT(b.store.Replace("arena", DrawMap({"#.."}), b.store.Now()), IsOk());
  WaitUntil([&] { return a.RevisionOf("arena") == 1 && a.Drawn("arena") == "#.."; }, "the new map");
  ExpectSame(a, b, "arena");
  ASSERT_THAT(a.Update("arena", 1), IsOk());
  const FleetServer late(options_);
  EXPECT_THAT(late.found.damaged, IsEmpty());
  ExpectSame(a, late, "arena");
  // Nothing but the file's name lies in etcd.
  const auto base =
      Decode<MapBase>(client_->Range({.key = ClusterKeys("/waystar/").Base("arena")})->entries.at(0).value)
          .value();
  EXPECT_EQ(client_->Range({.key = PartKey(base.image.data, 0)})->entries.at(0).value, base.file);
}

TEST_F(FleetImagesTest, LaterImagesTakeThePlaceOfFiles) {
  options_.log.max_records = 4;
  options_.compaction_interval = absl::Milliseconds(50);
  options_.kept_time = absl::Milliseconds(200);
  FleetServer a(options_);
  FleetServer b(options_);
  ASSERT_THAT(a.Create("arena", {"................"}), IsOk());
  ASSERT_THAT(b.Create("tower", {"..."}), IsOk());
  const std::string first = Files().at(0);
  for (int x = 0; x < 12; ++x) {
    ASSERT_THAT(a.Update("arena", x, absl::StrCat(x)), IsOk());
  }
  WaitUntil([&] { return FleetServer(options_).found.records < 8; }, "an image");
  ASSERT_THAT(a.store.Delete("tower", {}), IsOk());
  // A file that a server left that died.
  const ClusterKeys keys("/waystar/");
  const MapBase lost = BaseInFile(keys, "arena", {.epoch = 7, .revision = 1}, "x");
  std::ofstream(absl::StrCat(folder_, "/", lost.file)) << "x";
  // And one that nobody of the fleet has written.
  std::ofstream(absl::StrCat(folder_, "/README")) << "x";
  WaitUntil(
      [&] {
        const std::vector<std::string> names = Files();
        return names.size() == 2 && std::ranges::find(names, "README") != names.end();
      },
      "the removal of files");
  const FleetServer late(options_);
  EXPECT_THAT(late.found.damaged, IsEmpty());
  ExpectSame(a, late, "arena");
  EXPECT_EQ(late.RevisionOf("tower"), 0U);
}

TEST_F(FleetImagesTest, AMapWhoseFileIsDamagedConcernsNoOther) {
  FleetServer a(options_);
  for (const char* const id : {"cut", "gone", "whole"}) {
    ASSERT_THAT(a.Create(id, {"...."}), IsOk());
  }
  for (const std::string& name : Files()) {
    const std::string path = absl::StrCat(folder_, "/", name);
    if (name.starts_with("map-cut-")) {
      std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
    } else if (name.starts_with("map-gone-")) {
      std::filesystem::remove(path);
    }
  }
  FleetServer b(options_);
  EXPECT_THAT(b.found.damaged, SizeIs(2));
  EXPECT_EQ(b.RevisionOf("whole"), 1U);
  ASSERT_THAT(b.store.Replace("gone", DrawMap({"#."}), b.store.Now()), IsOk());
  WaitUntil([&] { return a.Drawn("gone") == "#."; }, "the new map");
  ExpectSame(a, b, "gone");
}

TEST_F(FleetImagesTest, AServerWithoutTheFolderDoesNotStart) {
  FleetServer a(options_);
  ASSERT_THAT(a.Create("arena", {"...."}), IsOk());
  options_.image_dir.clear();
  const absl::Status opened = StatusOfStart(options_);
  EXPECT_EQ(opened.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(opened.message(), HasSubstr("--image_dir"));
  options_.image_dir = "/nowhere/images";
  EXPECT_EQ(StatusOfStart(options_).code(), absl::StatusCode::kNotFound);
}

TEST_F(FleetImagesTest, AMapThatIsTooLargeIsRefusedWithoutAFolder) {
  options_.image_dir.clear();
  FleetServer a(options_);
  const absl::Status refused = a.Create("arena", {"...."});
  EXPECT_THAT(refused, FailsWith("IMPORT_TOO_LARGE"));
  EXPECT_THAT(refused.message(), HasSubstr("--image_dir"));
}

TEST_F(FleetImagesTest, AFolderThatTakesNothingRefusesTheMap) {
  FleetServer a(options_);
  ASSERT_THAT(a.Create("tower", {"...."}), IsOk());
  std::filesystem::rename(folder_, etcd_->folder() + "/away");
  std::filesystem::remove_all(etcd_->folder() + "/away");
  EXPECT_THAT(a.Create("arena", {"...."}), FailsWith("STORAGE_FAILED"));
  EXPECT_THAT(a.fleet->Statistics().status, IsOk());
  ASSERT_THAT(a.Update("tower", 1), IsOk());
  const std::string data = "/waystar/data/arena/";
  const auto left =
      client_->Range({.key = data, .range_end = etcd::EndOfPrefix(data), .keys_only = true}).value();
  EXPECT_THAT(left.entries, IsEmpty());
}

}  // namespace
}  // namespace waystar::cluster
