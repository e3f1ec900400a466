// Data folders of other releases: those of older ones are read, those of newer ones are refused.

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/store/map_store.h"
#include "server/storage/folder/data_folder.h"
#include "server/storage/folder/folder.h"
#include "server/storage/folder/record_file.h"
#include "tests/storage/folder/durable_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/folders.h"
#include "tests/testing/own_folder.h"
#include "tests/testing/slow_digest.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::storage {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr absl::Time kMade = absl::FromUnixSeconds(1'600'000'000);

DurableStore Open(const fs::path& path, const DataOptions& options = {}) {
  static const FakeClock clock;
  return DurableStore(OpenPosixFolder(path.string()), options, {.clock = &clock});
}

core::GridMap Board() {
  core::GridSettings settings;
  settings.connectivity = core::Connectivity::kSix;
  settings.diagonal_cost = 1;
  settings.frame.hexagons = core::HexBoard{.layout = core::HexLayout::kOddColumns, .columns = 8, .rows = 6};
  return DrawMap({"........", "..##....", "........", "........", ".....#..", "........"}, settings);
}

core::GridMap River() {
  core::GridSettings settings;
  settings.terrains = {core::Terrain{},
                       {.symbol = '~', .name = "river", .cost = 3},
                       {.symbol = '^', .name = "rock", .impassable = true}};
  settings.world = "island";
  return DrawMap({"....~~......", "....~~...^..", "....~~...^..", "....~~......", ".#..~~......"}, settings);
}

// Makes the folder that the tests read: maps of all kinds, each with an image, commits after it and
// remembered requests; one that lies in the log alone; and one that is deleted. It is for the first release
// of a format.
void Make(const fs::path& path) {
  {
    DurableStore opened = Open(path);
    core::MapStore& store = opened.store();
    EXPECT_THAT(store.Create("squares", River(), kMade), IsOk());
    EXPECT_THAT(store.Create("hexagons", Board(), kMade), IsOk());
    EXPECT_THAT(store.Create("graph",
                             *core::WaypointGraph::Create(
                                 {.nodes = {{.id = "a"}, {.id = "b", .position = {3, 4, 0}}, {.id = "c"}},
                                  .edges = {{.name = {"a", "b"}, .cost = 2.5, .tags = {"boat"}}}}),
                             kMade),
                IsOk());
    EXPECT_THAT(store.Create("gone", DrawMap({"..."}), kMade), IsOk());
    opened.Update("squares", {Block({1, 1}), core::SetTerrain{{.rectangles = {{6, 0, 2, 2}}}, '~'}}, "first");
    opened.Update(
        "squares",
        {core::PutObstacle{.obstacle = {.id = "door", .shape = {.cells = {{2, 2}}}}},
         core::PutObstacle{
             .obstacle = {.id = "fire",
                          .shape = {.discs = {{.center = {8, 3}, .radius = 1.5}}},
                          .effect = {.kind = core::ObstacleEffect::Kind::kAddCost, .amount = 2.5}},
             .lifetime = absl::Hours(1)},
         core::PutPortal{.portal = {.id = "stairs", .from = {0, 0}, .to = {11, 4}}},
         core::PutProfile{{.name = "boat", .profile = {.terrain_costs = {{.symbol = '~', .cost = 1}}}}}},
        "second");
    opened.Update("gone", {Block({1, 0})});
    EXPECT_THAT(store.Delete("gone"), IsOk());
  }
  {
    DurableStore opened = Open(path, {.max_log_bytes = 2});
    EXPECT_TRUE(opened.WaitForImages(3));
  }
  DurableStore opened = Open(path);
  opened.Update("squares",
                {Unblock({1, 1}), core::MoveObstacle{.id = "door", .dx = 1},
                 core::SwitchPortal{.id = "stairs", .closed = true}},
                "third");
  opened.Update("hexagons", {Block({3, 3}), Block({4, 3})});
  opened.Update("graph", {core::PutNodes{.nodes = {{.id = "d", .position = {1, 1, 1}}}},
                          core::PutEdges{.edges = {{.name = {"b", "d", true}}}},
                          core::SetEnabled{.nodes = {"c"}, .enabled = false}});
  EXPECT_THAT(opened.store().Create("late", DrawMap({".#.", "..."}), kMade), IsOk());
  opened.Update("late", {Block({0, 0})});
}

class OldFolderTest : public ::testing::Test {
 protected:
  OldFolderTest() { fs::copy(SourceFolder() / "tests/data/data-folder-1", folder_); }

  static std::string DigestOf(const core::MapSnapshot& map) {
    EXPECT_EQ(map.digest(), SlowDigest(map.map)) << map.id;
    return absl::StrFormat("%016x", map.digest());
  }

  // Writes a file of the folder anew as one of another version.
  void SetVersion(const fs::path& file, char version) const {
    constexpr std::size_t kVersionAt = 8;
    constexpr std::size_t kChecksumAt = 20;
    std::ifstream in(file, std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(in), {});
    bytes.at(kVersionAt) = version;
    const std::uint32_t checksum = Crc32c(absl::string_view(bytes).substr(0, kChecksumAt));
    for (std::size_t i = 0; i < 4; ++i) {
      bytes[kChecksumAt + i] = static_cast<char>(checksum >> (8 * i));
    }
    std::ofstream(file, std::ios::binary) << bytes;
  }

  const OwnFolder own_;
  const fs::path folder_ = own_.path() / "data";
};

TEST(OldFolderMaker, MakesAFolderIfItIsToldWhere) {
  if (const char* const path = std::getenv("WAYSTAR_MAKE_FOLDER"); path != nullptr) {
    Make(path);
  }
}

TEST_F(OldFolderTest, Version1IsRead) {
  ASSERT_THAT(FilesThatBegin("image-", folder_), SizeIs(3));
  DurableStore opened = Open(folder_);
  ASSERT_THAT(opened.status(), IsOk());
  EXPECT_EQ(opened.found().maps, 4U);
  EXPECT_EQ(opened.found().commits, 4U);
  EXPECT_EQ(opened.found().torn_bytes, 0U);
  struct Expected {
    const char* map;
    std::uint64_t revision;
    const char* digest;
  };
  for (const Expected& expected : std::vector<Expected>{{"squares", 4, "090ab0fffbd4aecb"},
                                                        {"hexagons", 2, "d55501c282dfbdbc"},
                                                        {"graph", 2, "9308fa12d1a66344"},
                                                        {"late", 2, "93bb42a28da7abeb"}}) {
    const auto map = opened.store().Pin(expected.map).value();
    EXPECT_EQ(map->revision, expected.revision) << expected.map;
    EXPECT_EQ(map->create_time, kMade) << expected.map;
    EXPECT_EQ(DigestOf(*map), expected.digest) << expected.map;
  }
  EXPECT_EQ(opened.store().Pin("gone").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(OldFolderTest, Version1KeepsObstaclesAndRequests) {
  DurableStore opened = Open(folder_);
  ASSERT_THAT(opened.status(), IsOk());
  const core::PinnedSnapshot squares = *opened.store().Pin("squares");
  const core::GridMap& map = squares->grid();
  ASSERT_NE(map.obstacles().Find("door"), nullptr);
  EXPECT_EQ(map.obstacles().Find("door")->shape.cells, (std::vector<core::Cell>{{3, 2}}));
  ASSERT_NE(map.obstacles().Find("fire"), nullptr);
  EXPECT_NE(map.obstacles().Find("fire")->expiry, absl::InfiniteFuture());
  for (const char* const id : {"first", "second", "third"}) {
    const auto again = opened.store().UpdateAndWait("squares", {.edits = {Block({0, 4})}, .request_id = id});
    // Known, of another batch.
    EXPECT_EQ(again.status().code(), absl::StatusCode::kInvalidArgument) << id;
  }
}

TEST_F(OldFolderTest, NewerLogsAreRefusedAndLeftAsTheyAre) {
  const fs::path log = folder_ / FilesThatBegin("log-", folder_).back();
  SetVersion(log, 2);
  const std::size_t files = FilesThatBegin("", folder_).size();
  const DurableStore opened = Open(folder_, {.read = {.skip_damaged_maps = true}});
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(opened.status().message(),
              HasSubstr(absl::StrCat(log.string(), " is of version 2, and this server knows only 1")));
  EXPECT_EQ(FilesThatBegin("", folder_).size(), files);
}

TEST_F(OldFolderTest, NewerImagesAreRefused) {
  const fs::path image = folder_ / FilesThatBegin("image-squares", folder_).at(0);
  SetVersion(image, 2);
  const DurableStore opened = Open(folder_);
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(opened.status().message(), HasSubstr(absl::StrCat(image.string(), " is of version 2")));
}

}  // namespace
}  // namespace waystar::storage
