// Images of maps that move from one server to another.

#include <string>

#include "gmock/gmock.h"
#include "tests/service/about_map.h"
#include "tests/service/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::waystar::testing::About;
using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::Parsed;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;

// With its obstacles, portals and profiles, and what becomes of them there is what becomes of them here.
TEST(MapImageRpcTest, AnImageMovesAMapToAnotherServer) {
  TestServer here;
  TestServer there;
  here.Create("arena", {"......", "......", "......"},
              Parsed<v1::GridOptions>("profiles { name: 'cart' profile { footprint: 2 } }"));
  const auto request = Parsed<v1::UpdateMapRequest>(R"(
    map: "arena"
    edits { add_obstacle {
      id: "crate" shape { cells { x: 2 y: 1 } } lifetime { seconds: 3600 }
    } }
    edits { add_portal { id: "stairs" from {} to { x: 5 y: 2 } } })");
  const auto updated = here.client().UpdateMap(request).value();

  auto wanted = About<v1::ExportMapRequest>("arena");
  wanted.set_format(v1::MAP_FORMAT_WAYSTAR);
  const auto image = here.client().ExportMap(wanted).value();
  EXPECT_EQ(image.header.format(), v1::MAP_FORMAT_WAYSTAR);
  EXPECT_EQ(image.header.info().digest(), updated.digest());
  auto header = About<v1::ImportMapHeader>("arena");
  const auto imported = there.client().ImportMap(header, image.bytes).value();
  EXPECT_EQ(imported.info().version().revision(), 1U);
  EXPECT_EQ(imported.info().digest(), updated.digest());
  EXPECT_EQ(there.client().ExportMap(wanted)->bytes, image.bytes);
  auto list = About<v1::ListObstaclesRequest>("arena");
  const auto obstacles = there.client().ListObstacles(list);
  ASSERT_EQ(obstacles->obstacles_size(), 1);
  EXPECT_GT(obstacles->obstacles(0).lifetime().seconds(), 3000);
  EXPECT_EQ(there.Find(PathRequest("arena", CellAt(0, 0), CellAt(5, 2))).path().crossings_size(), 1);

  header.set_map("other");
  EXPECT_THAT(there.client().ImportMap(header, image.bytes.substr(0, 60)),
              IsRefused(kInvalid, "BAD_FORMAT", "chunk"));
  header.mutable_grid()->set_cell_size(2.0);
  EXPECT_THAT(there.client().ImportMap(header, image.bytes),
              IsRefused(kInvalid, "BAD_SOURCE", "header.grid"));
}

TEST(MapImageRpcTest, AGraphHasNoOtherFormat) {
  TestServer server;
  const auto create = Parsed<v1::CreateMapRequest>(R"(map: "roads" graph { nodes { id: "gate" } })");
  ASSERT_TRUE(server.client().CreateMap(create).ok());
  EXPECT_THAT(server.client().ExportMap(About<v1::ExportMapRequest>("roads")),
              IsRefused(absl::StatusCode::kFailedPrecondition, "WRONG_MAP_KIND", "map"));
}

class ReplacingImportTest : public ::testing::Test {
 protected:
  ReplacingImportTest() {
    server_.Create("arena", {"......", "......"});
    server_.Create("yard", {"..#"});
    header_.set_map("arena");
    header_.set_format(v1::MAP_FORMAT_WAYSTAR);
    header_.set_replace(true);
    auto wanted = About<v1::ExportMapRequest>("yard");
    wanted.set_format(v1::MAP_FORMAT_WAYSTAR);
    const auto image = server_.client().ExportMap(wanted);
    EXPECT_TRUE(image.ok()) << image.status();
    image_ = image->bytes;
    header_.set_expected_digest(image->header.info().digest());
  }

  v1::MapInfo Arena() { return InfoOf(server_, "arena"); }

  TestServer server_;
  v1::ImportMapHeader header_;
  std::string image_;
};

TEST_F(ReplacingImportTest, PutsTheMapInThePlaceOfTheOneThatIsThere) {
  ASSERT_TRUE(server_.client().UpdateMap(BlockRequest("arena", {CellAt(1, 0)})).ok());
  const v1::MapInfo before = Arena();
  EXPECT_EQ(before.version().revision(), 2U);
  const auto imported = server_.client().ImportMap(header_, image_).value();
  EXPECT_EQ(imported.info().digest(), header_.expected_digest());
  EXPECT_NE(imported.info().version().epoch(), before.version().epoch());
  EXPECT_EQ(imported.info().version().revision(), 1U);
  EXPECT_EQ(Arena().version().epoch(), imported.info().version().epoch());
}

TEST_F(ReplacingImportTest, OneThatIsRefusedChangesNothing) {
  const v1::MapInfo before = Arena();
  EXPECT_THAT(server_.client().ImportMap(header_, image_.substr(0, image_.size() - 1)),
              IsRefused(kInvalid, "BAD_FORMAT", "chunk"));
  header_.set_expected_digest(header_.expected_digest() + 1);
  EXPECT_THAT(server_.client().ImportMap(header_, image_),
              IsRefused(absl::StatusCode::kFailedPrecondition, "DIGEST_MISMATCH", "header.expected_digest"));
  EXPECT_EQ(Arena().version().epoch(), before.version().epoch());
  EXPECT_EQ(Arena().version().revision(), before.version().revision());
  header_.set_map("other");
  header_.set_replace(false);
  EXPECT_THAT(server_.client().ImportMap(header_, image_),
              IsRefused(absl::StatusCode::kFailedPrecondition, "DIGEST_MISMATCH", "header.expected_digest"));
  auto request = About<v1::GetMapRequest>("other");
  EXPECT_THAT(server_.client().GetMap(request),
              IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "map"));
}

}  // namespace
}  // namespace waystar
