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
  std::vector<std::string> Files() const {
    return testing::FilesThatBegin("", std::filesystem::path(folder_));
  }

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
      Decode<MapBase>(client_->Range({.key = ClusterKeys("/waystar/").Base("arena")})->entries.at(0).value);
  ASSERT_THAT(base, IsOk());
  EXPECT_EQ(client_->Range({.key = PartKey(base->image.data, 0)})->entries.at(0).value, base->file);
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
  const auto left = client_->Range({.key = "/waystar/data/arena/",
                                    .range_end = etcd::EndOfPrefix("/waystar/data/arena/"),
                                    .keys_only = true});
  ASSERT_THAT(left, IsOk());
  EXPECT_THAT(left->entries, IsEmpty());
}

}  // namespace
}  // namespace waystar::cluster
