// Whole servers in a fleet.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "server/etcd/etcd_address.h"
#include "server/runtime/options.h"
#include "tests/etcd/etcd_process.h"
#include "tests/rpc/test_server.h"

namespace waystar {
namespace {

using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::EtcdCluster;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;
using ::waystar::testing::VersionOf;

class FleetServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!EtcdCluster::IsInstalled()) {
      GTEST_SKIP() << "there is no etcd on the PATH: apt-get install etcd-server etcd-client";
    }
  }

  static runtime::Options OptionsFor(const EtcdCluster& etcd) {
    std::vector<std::string> hosts;
    for (const etcd::Endpoint& endpoint : etcd.Options().endpoints) {
      hosts.push_back(etcd::TextOf(endpoint));
    }
    runtime::Options options;
    options.cluster = absl::StrCat("etcd://", absl::StrJoin(hosts, ","), "/games");
    return options;
  }
};

TEST_F(FleetServerTest, AQuestionWaitsForWhatAnotherServerHasAcknowledged) {
  const EtcdCluster etcd(1);
  TestServer a(OptionsFor(etcd));
  TestServer b(OptionsFor(etcd));
  a.Create("arena", {"...", "..."});
  v1::FindPathRequest query = PathRequest("arena", CellAt(0, 0), CellAt(2, 0));
  for (int i = 0; i < 20; ++i) {
    TestServer& writer = i % 2 == 0 ? a : b;
    TestServer& reader = i % 2 == 0 ? b : a;
    v1::UpdateObstaclesRequest update = BlockRequest("arena", {CellAt(1, 0)});
    update.set_request_id(absl::StrCat("update-", i));
    const auto updated = writer.client().UpdateObstacles(update);
    ASSERT_TRUE(updated.ok()) << updated.status();
    *query.mutable_view()->mutable_least_version() = updated->version();
    const v1::FindPathResponse found = reader.Find(query);
    EXPECT_GE(found.version().revision(), updated->version().revision());
    EXPECT_EQ(found.version().epoch(), updated->version().epoch());
    // A retry at another server is the same batch.
    const auto again = reader.client().UpdateObstacles(update);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(again->already_applied());
    EXPECT_EQ(again->version().revision(), updated->version().revision());
  }
  EXPECT_EQ(VersionOf(a, "arena").revision(), 21U);
  const auto statistics = a.client().GetServerStatistics({});
  ASSERT_TRUE(statistics.ok());
  EXPECT_TRUE(statistics->has_fleet());
  EXPECT_FALSE(statistics->has_storage());
  EXPECT_EQ(statistics->fleet().landed(), 11U);
  EXPECT_EQ(statistics->fleet().followed(), 10U);
  EXPECT_FALSE(statistics->fleet().refuses());
}

TEST_F(FleetServerTest, MapsAreThereAfterAllServersHaveGone) {
  const EtcdCluster etcd(1);
  {
    TestServer a(OptionsFor(etcd));
    a.Create("arena", {"..."});
    ASSERT_TRUE(a.client().UpdateObstacles(BlockRequest("arena", {CellAt(1, 0)})).ok());
    EXPECT_TRUE(a.End().ok());
  }
  TestServer b(OptionsFor(etcd));
  EXPECT_EQ(VersionOf(b, "arena").revision(), 2U);
}

}  // namespace
}  // namespace waystar
