// Agents that are followed at a fleet of three servers, two of which are killed.

#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/agent_follower.h"
#include "client/client.h"
#include "gmock/gmock.h"
#include "server/storage/etcd/etcd_client.h"
#include "tests/e2e/server_process.h"
#include "tests/service/test_server.h"
#include "tests/storage/etcd/etcd_process.h"
#include "tests/testing/patience.h"

namespace waystar {
namespace {

constexpr int kSide = 16;

class FleetAgentsTest : public OneMemberTest {
 protected:
  void SetUp() override {
    OneMemberTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    const std::string cluster =
        absl::StrCat("--cluster=etcd://", etcd::TextOf(etcd_->Options().endpoints.front()), "/games");
    std::vector<std::string> addresses;
    for (int i = 0; i < 3; ++i) {
      servers_.push_back(std::make_unique<ServerProcess>(std::vector<std::string>{cluster}));
      addresses.push_back(absl::StrCat("127.0.0.1:", servers_.back()->port()));
    }
    client_ = std::make_unique<client::Client>(
        client::Options{.target = absl::StrJoin(addresses, ","), .timeout = kPatience});
    last_ = servers_.back()->NewClient();
    const auto created = last_->CreateMap(BlankMap("arena", kSide));
    ASSERT_TRUE(created.ok()) << created.status();
    // Agents on a map that their server has not heard of yet are no longer followed.
    for (const auto& server : servers_) {
      const std::unique_ptr<client::Client> client = server->NewClient();
      ASSERT_TRUE(
          WaitUntil([&] { return client->GetMap(About<v1::GetMapRequest>("arena")).ok(); }, "the map"));
    }
  }

  // Blocks a cell, or frees it.
  void Change(int x, int y, bool is_blocked) {
    auto update = About<v1::UpdateMapRequest>("arena");
    v1::Edit& edit = *update.add_edits();
    *(is_blocked ? edit.mutable_block() : edit.mutable_unblock())->add_cells() = CellAt(x, y);
    const auto updated = last_->UpdateMap(update);
    ASSERT_TRUE(updated.ok()) << updated.status();
    version_ = updated->version();
  }

  // Returns true if all agents have the paths that queries find after the last change.
  bool AreRight(client::AgentFollower& follower, const std::vector<v1::FindPathRequest>& queries) {
    follower.Flush();
    for (std::uint64_t id = 0; id < queries.size(); ++id) {
      v1::FindPathRequest query = queries[id];
      *query.mutable_view()->mutable_least_version() = version_;
      const auto found = client_->FindPath(query);
      EXPECT_TRUE(found.ok()) << found.status();
      const std::optional<client::AgentPath> path = follower.Find(id);
      EXPECT_TRUE(!path || !path->has_ended) << path->problem;
      if (!found.ok() || !path || !path->answer || !path->problem.ok() ||
          path->answer->outcome() != found->outcome() || path->answer->cost() != found->cost()) {
        return false;
      }
    }
    return true;
  }

  std::vector<std::unique_ptr<ServerProcess>> servers_;
  // Clients of all servers, and of the one that is never killed.
  std::unique_ptr<client::Client> client_;
  std::unique_ptr<client::Client> last_;
  v1::Version version_;
};

TEST_F(FleetAgentsTest, PathsStayRightWhileServersAreKilled) {
  client::AgentFollower follower(*client_);
  std::vector<v1::FindPathRequest> queries;
  for (int i = 0; i < kSide; ++i) {
    queries.push_back(PathRequest("arena", CellAt(0, i), CellAt(kSide - 1, kSide - 1 - i)));
    follower.Put(static_cast<std::uint64_t>(i), queries.back());
  }
  const auto are_right = [&] { return AreRight(follower, queries); };
  Change(8, 8, true);
  ASSERT_TRUE(WaitUntil(are_right, "the first paths"));
  for (int round = 0; round < 2; ++round) {
    for (int y = 1; y < kSide; ++y) {
      Change(4 + 6 * round, y, true);
      if (y == kSide / 2) {
        servers_[static_cast<std::size_t>(round)]->Signal(SIGKILL);
      }
    }
    ASSERT_TRUE(WaitUntil(are_right, "paths round the wall"));
    Change(4 + 6 * round, 9, false);
    ASSERT_TRUE(WaitUntil(are_right, "cheaper paths"));
  }
  EXPECT_TRUE(follower.status().ok()) << follower.status();
}

}  // namespace
}  // namespace waystar
