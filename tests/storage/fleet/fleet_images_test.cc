// Images of a fleet that lie in files.

#include "server/storage/fleet/fleet_images.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/storage/etcd/etcd_client.h"
#include "server/storage/fleet/cluster_keys.h"
#include "server/storage/fleet/cluster_values.h"
#include "tests/storage/fleet/fleet_server.h"

namespace waystar::cluster {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using waystar::testing::DrawMap;
using waystar::testing::EtcdCluster;
using waystar::testing::IsOk;
using waystar::testing::WaitUntil;

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
  static std::string FolderOf(const EtcdCluster& etcd) {
    std::string path = etcd.folder() + "/images";
    std::filesystem::create_directories(path);
    return path;
  }
  static FleetOptions OptionsFor(const EtcdCluster& etcd) {
    FleetOptions options = FleetServer::OptionsFor(etcd.Options());
    options.image_dir = FolderOf(etcd);
    options.log.images.max_parts = 0;
    return options;
  }
  static std::vector<std::string> FilesOf(const EtcdCluster& etcd) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(FolderOf(etcd))) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
};

TEST_F(FleetImagesTest, ServersReadThemFromTheFolder) {
  const EtcdCluster etcd(1);
  const FleetOptions options = OptionsFor(etcd);
  FleetServer a(options);
  FleetServer b(options);
  ASSERT_THAT(a.Create("arena", {"....", "...."}), IsOk());
  b.AwaitRevision("arena", 1);
  ExpectSame(a, b, "arena");
  EXPECT_THAT(FilesOf(etcd), SizeIs(1));
  EXPECT_THAT(FilesOf(etcd), Each(StartsWith("map-arena-")));
  ASSERT_THAT(b.Update("arena", 1), IsOk());
  ASSERT_THAT(b.store.Replace("arena", DrawMap({"#.."}), b.store.Now()), IsOk());
  WaitUntil([&] { return a.RevisionOf("arena") == 1 && a.Drawn("arena") == "#.."; }, "the new map");
  ExpectSame(a, b, "arena");
  ASSERT_THAT(a.Update("arena", 1), IsOk());
  const FleetServer late(options);
  EXPECT_THAT(late.found.damaged, IsEmpty());
  ExpectSame(a, late, "arena");
  // Nothing but the file's name lies in etcd.
  const auto base = DecodeBase(
      etcd.NewClient()->Range({.key = ClusterKeys("/waystar/").Base("arena")})->entries.at(0).value);
  ASSERT_THAT(base, IsOk());
  EXPECT_EQ(etcd.NewClient()->Range({.key = PartKey(base->image.data, 0)})->entries.at(0).value, base->file);
}

TEST_F(FleetImagesTest, LaterImagesTakeThePlaceOfFiles) {
  const EtcdCluster etcd(1);
  FleetOptions options = OptionsFor(etcd);
  options.log.max_records = 4;
  options.compaction_interval = absl::Milliseconds(50);
  options.kept_time = absl::Milliseconds(200);
  FleetServer a(options);
  FleetServer b(options);
  ASSERT_THAT(a.Create("arena", {"................"}), IsOk());
  ASSERT_THAT(b.Create("tower", {"..."}), IsOk());
  const std::string first = FilesOf(etcd).at(0);
  for (int x = 0; x < 12; ++x) {
    ASSERT_THAT(a.Update("arena", x, absl::StrCat(x)), IsOk());
  }
  WaitUntil([&] { return FleetServer(options).found.records < 8; }, "an image");
  ASSERT_THAT(a.store.Delete("tower", {}), IsOk());
  // A file that a server left that died.
  const ClusterKeys keys("/waystar/");
  const MapBase lost = BaseInFile(keys, "arena", {.epoch = 7, .revision = 1}, "x");
  std::ofstream(absl::StrCat(FolderOf(etcd), "/", lost.file)) << "x";
  // And one that nobody of the fleet has written.
  std::ofstream(absl::StrCat(FolderOf(etcd), "/README")) << "x";
  WaitUntil(
      [&] {
        const std::vector<std::string> names = FilesOf(etcd);
        return names.size() == 2 && std::ranges::find(names, "README") != names.end();
      },
      "the removal of files");
  const FleetServer late(options);
  EXPECT_THAT(late.found.damaged, IsEmpty());
  ExpectSame(a, late, "arena");
  EXPECT_EQ(late.RevisionOf("tower"), 0U);
}

TEST_F(FleetImagesTest, AMapWhoseFileIsDamagedConcernsNoOther) {
  const EtcdCluster etcd(1);
  const FleetOptions options = OptionsFor(etcd);
  FleetServer a(options);
  for (const char* const id : {"cut", "gone", "whole"}) {
    ASSERT_THAT(a.Create(id, {"...."}), IsOk());
  }
  for (const std::string& name : FilesOf(etcd)) {
    const std::string path = absl::StrCat(FolderOf(etcd), "/", name);
    if (name.starts_with("map-cut-")) {
      std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
    } else if (name.starts_with("map-gone-")) {
      std::filesystem::remove(path);
    }
  }
  FleetServer b(options);
  EXPECT_THAT(b.found.damaged, SizeIs(2));
  EXPECT_EQ(b.RevisionOf("whole"), 1U);
  ASSERT_THAT(b.store.Replace("gone", DrawMap({"#."}), b.store.Now()), IsOk());
  WaitUntil([&] { return a.Drawn("gone") == "#."; }, "the new map");
  ExpectSame(a, b, "gone");
}

TEST_F(FleetImagesTest, AServerWithoutTheFolderDoesNotStart) {
  const EtcdCluster etcd(1);
  FleetOptions options = OptionsFor(etcd);
  FleetServer a(options);
  ASSERT_THAT(a.Create("arena", {"...."}), IsOk());
  options.image_dir.clear();
  core::MapStore store{core::StoreOptions()};
  FleetFound found;
  const absl::Status opened = Fleet::Open(options, store, found).status();
  EXPECT_EQ(opened.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(opened.message(), HasSubstr("--image_dir"));
  core::MapStore other{core::StoreOptions()};
  options.image_dir = "/nowhere/images";
  EXPECT_EQ(Fleet::Open(options, other, found).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(FleetImagesTest, AMapThatIsTooLargeIsRefusedWithoutAFolder) {
  const EtcdCluster etcd(1);
  FleetOptions options = OptionsFor(etcd);
  options.image_dir.clear();
  FleetServer a(options);
  const absl::Status refused = a.Create("arena", {"...."});
  EXPECT_THAT(refused, FailsWith("IMPORT_TOO_LARGE"));
  EXPECT_THAT(refused.message(), HasSubstr("--image_dir"));
}

TEST_F(FleetImagesTest, AFolderThatTakesNothingRefusesTheMap) {
  const EtcdCluster etcd(1);
  const FleetOptions options = OptionsFor(etcd);
  FleetServer a(options);
  ASSERT_THAT(a.Create("tower", {"...."}), IsOk());
  std::filesystem::rename(FolderOf(etcd), etcd.folder() + "/away");
  std::filesystem::remove_all(etcd.folder() + "/away");
  EXPECT_THAT(a.Create("arena", {"...."}), FailsWith("STORAGE_FAILED"));
  EXPECT_THAT(a.fleet->Statistics().status, IsOk());
  ASSERT_THAT(a.Update("tower", 1), IsOk());
  const auto left = etcd.NewClient()->Range({.key = "/waystar/data/arena/",
                                             .range_end = etcd::EndOfPrefix("/waystar/data/arena/"),
                                             .keys_only = true});
  ASSERT_THAT(left, IsOk());
  EXPECT_THAT(left->entries, IsEmpty());
}

}  // namespace
}  // namespace waystar::cluster
