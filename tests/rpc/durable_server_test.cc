// A server with a data folder: what is there after a restart, and who may use the folder.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/rpc/server.h"
#include "tests/rpc/test_server.h"

namespace waystar {
namespace {

using ::testing::HasSubstr;
using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::TestServer;

class DurableServerTest : public ::testing::Test {
 protected:
  DurableServerTest()
      : folder_(std::filesystem::path(::testing::TempDir()) / absl::StrCat("durable-", ::getpid())) {
    std::filesystem::create_directories(folder_ / "maps");
    options_ = {.maps_dir = (folder_ / "maps").string(), .data_dir = (folder_ / "data").string()};
    Restart();
  }
  ~DurableServerTest() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Restart() {
    server_.reset();
    server_.emplace(options_);
  }

  // Returns all that is told of a map; fails the test if there is none.
  v1::MapInfo InfoOf(const std::string& map) {
    v1::GetMapRequest request;
    request.set_map(map);
    const auto answer = server_->client().GetMap(request);
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? answer->info() : v1::MapInfo();
  }

  std::filesystem::path folder_;
  runtime::Options options_;
  std::optional<TestServer> server_;
};

TEST_F(DurableServerTest, MapsAreTheSameAfterARestart) {
  server_->Create("arena", {"...", "..."});
  ASSERT_TRUE(server_->client().UpdateObstacles(BlockRequest("arena", {CellAt(1, 0)})).ok());
  const v1::MapInfo before = InfoOf("arena");
  Restart();
  const v1::MapInfo after = InfoOf("arena");
  EXPECT_EQ(after.epoch(), before.epoch());
  EXPECT_EQ(after.revision(), before.revision());
  EXPECT_EQ(after.digest(), before.digest());
  EXPECT_EQ(after.grid().walkable_cells(), 5);
}

TEST_F(DurableServerTest, ARequestIdIsRememberedOverARestart) {
  server_->Create("arena", {"..."});
  v1::UpdateObstaclesRequest request = BlockRequest("arena", {CellAt(1, 0)});
  request.set_request_id("once");
  const auto first = server_->client().UpdateObstacles(request);
  ASSERT_TRUE(first.ok()) << first.status();
  Restart();
  const auto again = server_->client().UpdateObstacles(request);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->already_applied());
  EXPECT_EQ(again->revision(), first->revision());
}

TEST_F(DurableServerTest, FilesBecomeMapsOnlyIfThereAreNoneOfTheirNames) {
  std::ofstream(folder_ / "maps" / "arena.txt") << "...\n";
  Restart();
  ASSERT_TRUE(server_->client().UpdateObstacles(BlockRequest("arena", {CellAt(1, 0)})).ok());
  Restart();
  EXPECT_EQ(InfoOf("arena").grid().walkable_cells(), 2);
}

TEST_F(DurableServerTest, ASecondServerOfTheFolderIsRefused) {
  runtime::Options options = options_;
  options.listen = "127.0.0.1:0";
  options.workers = 1;
  const absl::Status second = rpc::Server::Start(options).status();
  EXPECT_EQ(second.code(), absl::StatusCode::kFailedPrecondition) << second;
  EXPECT_THAT(std::string(second.message()), HasSubstr(options.data_dir));
}

}  // namespace
}  // namespace waystar
