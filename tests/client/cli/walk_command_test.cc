// `waystar walk` against a real server.

#include <string>
#include <thread>

#include "client/metrics.h"
#include "tests/client/cli/served_command_test.h"
#include "tests/service/handlers/watch/watches.h"
#include "tests/testing/patience.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;

class WalkCommandTest : public waystar::ServedCommandTest {
 protected:
  WalkCommandTest() { server_.Create("arena", {"..#..", "..#..", "..#.."}); }
};

TEST_F(WalkCommandTest, WalksToTheGoal) {
  EXPECT_EQ(Run({"walk", "arena", "0,0", "1,2", "--pace", "1000"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr("Path found: 2 steps"));
  EXPECT_THAT(out_, HasSubstr("\nArrived after 2 steps.\n"));
  EXPECT_EQ(Run({"walk", "arena", "0,0", "0,0", "--pace", "1000"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("\nArrived after 0 steps.\n"));
}

TEST_F(WalkCommandTest, WalksFromNodeToNode) {
  const std::string isles = folder_.Write("isles.json", R"({
      "nodes": [{"id": "a"}, {"id": "b", "position": {"x": 1}}, {"id": "c", "position": {"x": 2}}],
      "autoConnect": {"maxDistance": 1}})");
  ASSERT_EQ(Run({"map", "create", "isles", "--graph", isles}), ExitCode::kOk) << err_;
  EXPECT_EQ(Run({"walk", "isles", "a", "c", "--pace", "1000"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr("\nArrived after 2 steps.\n"));
}

TEST_F(WalkCommandTest, WaitsForAWay) {
  std::thread walk([this] {
    EXPECT_EQ(Run({"walk", "arena", "0,0", "4,0", "--pace", "1000"}), ExitCode::kOk);
  });
  const auto is_followed = [this] { return client::SumOf(server_.Metrics(), "waystar_agents") == 1; };
  EXPECT_TRUE(WaitUntil(is_followed, "the agent"));
  Update(server_, UnblockRequest("arena", {CellAt(2, 1)}));
  walk.join();
  EXPECT_THAT(out_, HasSubstr("\nArrived after "));
}

TEST_F(WalkCommandTest, SaysWhyItIsNotFollowed) {
  EXPECT_EQ(Run({"walk", "attic", "0,0", "4,0"}), ExitCode::kRefused);
  EXPECT_THAT(err_, HasSubstr("there is no map \"attic\""));
}

}  // namespace
}  // namespace waystar::cli
