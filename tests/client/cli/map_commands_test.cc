#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;
using ::waystar::testing::Refusal;

v1::MapInfo Arena() {
  v1::MapInfo info;
  info.set_map("arena");
  info.mutable_version()->set_revision(3);
  info.set_digest(0x0123456789abcdef);
  info.mutable_create_time()->set_seconds(1700000000);
  info.set_memory_bytes(4096);
  v1::GridInfo& grid = *info.mutable_grid();
  grid.set_width(4);
  grid.set_height(2);
  grid.mutable_squares()->set_connectivity(v1::CONNECTIVITY_EIGHT);
  grid.mutable_squares()->set_diagonal_cost(1.5);
  grid.set_walkable_cells(7);
  grid.set_obstacle_cells(1);
  v1::Terrain& river = *grid.add_terrains();
  river.set_symbol("~");
  river.set_name("river");
  river.set_cost(3);
  return info;
}

constexpr char kFacts[] =
    "map            arena\n"
    "size           4 x 2 cells\n"
    "revision       3\n"
    "digest         0123456789abcdef\n"
    "created        2023-11-14 22:13:20 UTC\n"
    "neighbours     8\n"
    "diagonal cost  1.5\n"
    "walkable       7 cells\n"
    "obstacles      1 cells\n"
    "memory         4096 bytes\n"
    "terrain        ~ river, cost 3\n";

class MapCommandsTest : public ::waystar::testing::CommandTest {
 protected:
  MapCommandsTest() {
    server_.list_maps = [](auto&, const v1::ListMapsRequest& request, v1::ListMapsResponse& response) {
      if (request.page_token().empty()) {
        *response.add_maps() = Arena();
        response.set_next_page_token("more");
      } else {
        response.add_maps()->set_map("cave");
      }
      return grpc::Status::OK;
    };
  }
};

TEST_F(MapCommandsTest, ListsAllPages) {
  EXPECT_EQ(Run({"map", "list"}), ExitCode::kOk);
  EXPECT_EQ(out_,
            "MAP    SIZE   REVISION  WALKABLE  OBSTACLES\n"
            "arena  4 x 2  3         7         1\n"
            "cave   0 x 0  0         0         0\n");
}

TEST_F(MapCommandsTest, ListsNamesAlone) {
  EXPECT_EQ(Run({"map", "list", "--names"}), ExitCode::kOk);
  EXPECT_EQ(out_, "arena\ncave\n");
}

TEST_F(MapCommandsTest, ListsAsJson) {
  EXPECT_EQ(Run({"map", "list", "--json"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("\"map\":\"arena\""));
  EXPECT_THAT(out_, HasSubstr("\"map\":\"cave\""));
  EXPECT_THAT(out_, HasSubstr("\"nextPageToken\":\"\""));
}

TEST_F(MapCommandsTest, ShowsFactsAndPicture) {
  server_.ServeMap(Arena(), {"..#.", "~~.."});
  EXPECT_EQ(Run({"map", "show", "arena"}), ExitCode::kOk);
  EXPECT_EQ(out_, std::string(kFacts) +
                      "\n"
                      "  0\n"
                      "0 ..#.\n"
                      "  ~~..\n"
                      "# obstacle  ~ river, cost 3\n");
}

TEST_F(MapCommandsTest, ShowsFactsAlone) {
  server_.get_map = [](auto&, const auto&, v1::GetMapResponse& response) {
    *response.mutable_info() = Arena();
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"map", "show", "arena", "--no-picture"}), ExitCode::kOk);
  EXPECT_EQ(out_, kFacts);
  EXPECT_EQ(Run({"map", "show", "arena", "--json"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr(R"("squares":{"connectivity":"CONNECTIVITY_EIGHT","diagonalCost":1.5})"));
}

TEST_F(MapCommandsTest, ALargeMapIsShownSmallerUnlessAskedFor) {
  server_.ServeMap({}, std::vector<std::string>(10, std::string(200, '.')));
  EXPECT_EQ(Run({"map", "show", "arena"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("Each character stands for 3 x 3 cells."));
  EXPECT_EQ(Run({"map", "show", "arena", "--full"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr(std::string(200, '.')));
}

TEST_F(MapCommandsTest, CreatesABlankMap) {
  v1::CreateMapRequest received;
  server_.create_map = [&](auto&, const v1::CreateMapRequest& request, v1::CreateMapResponse& response) {
    received = request;
    *response.mutable_info() = Arena();
    return grpc::Status::OK;
  };
  EXPECT_EQ(
      Run({"map", "create", "arena", "4x2", "--fill", "~", "--terrain", "~=river:3", "--connectivity", "4"}),
      ExitCode::kOk);
  EXPECT_EQ(out_, "Created arena: 4 x 2 cells, revision 3.\n");
  EXPECT_EQ(received.map(), "arena");
  EXPECT_EQ(received.blank().width(), 4);
  EXPECT_EQ(received.blank().height(), 2);
  EXPECT_EQ(received.blank().fill(), "~");
  EXPECT_EQ(received.grid().squares().connectivity(), v1::CONNECTIVITY_FOUR);
  EXPECT_EQ(received.grid().terrains_size(), 1);
  EXPECT_EQ(Run({"map", "create", "arena", "4x2", "--hexagons", "even-columns"}), ExitCode::kOk);
  EXPECT_EQ(received.grid().hexagons().layout(), v1::HEX_LAYOUT_EVEN_COLUMNS);
}

TEST_F(MapCommandsTest, ACreationMayBeTriedAgain) {
  std::string request_id;
  server_.create_map = [&](auto&, const v1::CreateMapRequest& request, v1::CreateMapResponse& response) {
    response.set_already_created(!request_id.empty());
    request_id = request.request_id();
    *response.mutable_info() = Arena();
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"map", "create", "arena", "4x2", "--request-id", "once"}), ExitCode::kOk);
  EXPECT_EQ(out_, "Created arena: 4 x 2 cells, revision 3.\n");
  EXPECT_EQ(request_id, "once");
  EXPECT_EQ(Run({"map", "create", "arena", "4x2", "--request-id", "once"}), ExitCode::kOk);
  EXPECT_EQ(out_, "Already created arena: 4 x 2 cells, revision 3.\n");
}

TEST_F(MapCommandsTest, SquaresAreNoHexagons) {
  EXPECT_EQ(Run({"map", "create", "arena", "4x2", "--hexagons", "odd-rows", "--connectivity", "4"}),
            ExitCode::kUsage);
  EXPECT_EQ(Run({"map", "create", "arena", "4x2", "--diagonal-cost", "1.5", "--hexagons", "odd-rows"}),
            ExitCode::kUsage);
}

TEST_F(MapCommandsTest, DeletesOneMapAtAVersion) {
  v1::DeleteMapRequest received;
  server_.delete_map = [&](auto&, const v1::DeleteMapRequest& request, v1::DeleteMapResponse& /*response*/) {
    received = request;
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"map", "delete", "arena", "--expect-revision", "5", "--expect-epoch", "7"}), ExitCode::kOk);
  EXPECT_EQ(received.expected_version().epoch(), 7U);
  EXPECT_EQ(received.expected_version().revision(), 5U);
  EXPECT_EQ(Run({"map", "delete", "arena", "cave", "--expect-revision", "5"}), ExitCode::kUsage);
}

TEST_F(MapCommandsTest, DeletesWhatItCan) {
  server_.delete_map = [](auto&, const v1::DeleteMapRequest& request, v1::DeleteMapResponse& response) {
    if (request.map() == "gone") {
      return Refusal(grpc::StatusCode::NOT_FOUND, "no map 'gone'", "MAP_NOT_FOUND", "map");
    }
    response.mutable_version()->set_revision(5);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"map", "delete", "arena", "gone", "cave"}), ExitCode::kRefused);
  EXPECT_EQ(out_, "Deleted arena at revision 5.\nDeleted cave at revision 5.\n");
  EXPECT_THAT(err_, HasSubstr("no map 'gone'"));
  EXPECT_EQ(Run({"map", "delete", "arena", "--json"}), ExitCode::kOk);
  EXPECT_EQ(out_, "{\"version\":{\"epoch\":\"0\",\"revision\":\"5\"}}\n");
}

}  // namespace
}  // namespace waystar::cli
