// Digests on the wire: two servers that come to the same map on different ways, and who is told of it.

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"
#include "tests/rpc/watch/watch_of_map.h"

namespace waystar {
namespace {

using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::TestServer;
using ::waystar::testing::WatchOfMap;
using ::waystar::testing::WatchRequest;

std::uint64_t DigestOf(TestServer& server, const std::string& map = "room") {
  v1::GetMapRequest request;
  request.set_map(map);
  return server.client().GetMap(request)->info().digest();
}

class DigestTest : public ::testing::Test {
 protected:
  DigestTest() {
    for (TestServer* server : {&one_, &other_}) {
      server->Create("room", {"....", "...."});
    }
  }

  static v1::UpdateObstaclesResponse Update(TestServer& server, const v1::UpdateObstaclesRequest& request) {
    const auto updated = server.client().UpdateObstacles(request);
    EXPECT_TRUE(updated.ok()) << updated.status();
    return *updated;
  }

  TestServer one_;
  TestServer other_;
};

TEST_F(DigestTest, IsTheSameOnServersThatHoldTheSame) {
  EXPECT_EQ(DigestOf(one_), DigestOf(other_));
  v1::UpdateObstaclesRequest batch = BlockRequest("room", {CellAt(1, 1)});
  v1::PutObstacle& put = *batch.add_edits()->mutable_put_obstacle();
  put.mutable_obstacle()->set_id("crate");
  *put.mutable_obstacle()->mutable_shape()->add_cells() = CellAt(2, 0);
  const std::uint64_t digest = Update(one_, batch).digest();

  v1::UpdateObstaclesRequest first;
  first.set_map("room");
  *first.add_edits() = batch.edits(1);
  EXPECT_NE(Update(other_, first).digest(), digest);
  EXPECT_EQ(Update(other_, BlockRequest("room", {CellAt(1, 1)})).digest(), digest);
  EXPECT_EQ(DigestOf(one_), digest);
  EXPECT_EQ(DigestOf(other_), digest);
  EXPECT_EQ(one_.client().ListMaps({})->maps(0).digest(), digest);
}

TEST_F(DigestTest, MovesWithAnImage) {
  Update(one_, BlockRequest("room", {CellAt(3, 0)}));
  v1::ExportMapRequest request;
  request.set_map("room");
  request.set_format(v1::MAP_FORMAT_WAYSTAR);
  const auto image = one_.client().ExportMap(request);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->header.info().digest(), DigestOf(one_));
  v1::ImportMapHeader header;
  header.set_map("moved");
  header.set_format(v1::MAP_FORMAT_WAYSTAR);
  const auto imported = other_.client().ImportMap(header, image->bytes);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->info().digest(), DigestOf(one_));
  EXPECT_EQ(DigestOf(other_, "moved"), DigestOf(one_));
}

TEST_F(DigestTest, WatchesAreToldWhatUpdatesAreAnswered) {
  WatchOfMap watch(one_, WatchRequest("room"));
  EXPECT_EQ(watch.NextEvent().watching().digest(), DigestOf(one_));
  std::vector<std::uint64_t> answered;
  std::vector<std::uint64_t> told;
  for (int x = 0; x < 4; ++x) {
    answered.push_back(Update(one_, BlockRequest("room", {CellAt(x, 0)})).digest());
    told.push_back(watch.NextEvent().revision().digest());
  }
  EXPECT_EQ(told, answered);

  v1::WatchMapRequest lost = WatchRequest("room", 2);
  lost.set_from_epoch(1);
  WatchOfMap again(one_, lost);
  const v1::WatchMapResponse resynchronize = again.NextEvent();
  EXPECT_EQ(resynchronize.resynchronize().revision(), 5U);
  EXPECT_EQ(resynchronize.resynchronize().digest(), answered.back());
}

}  // namespace
}  // namespace waystar
