#include <gtest/gtest.h>

#include "client/cli/exit_code.h"
#include "client/errors.h"
#include "tests/client/fake_server.h"

namespace waystar::cli {
namespace {

std::string Text(const grpc::Status& status) { return ErrorText(client::FromGrpc(status), "game-7:7450"); }

using ::waystar::testing::Refusal;

TEST(ErrorTextTest, NamesTheAddressThatCannotBeReached) {
  EXPECT_EQ(Text({grpc::StatusCode::UNAVAILABLE, "connection refused"}),
            "cannot reach a server at game-7:7450: connection refused\n"
            "Is it running? --server HOST:PORT or WAYSTAR_SERVER names another.");
}

TEST(ErrorTextTest, AServerThatStopsCanBeReached) {
  EXPECT_EQ(Text(Refusal(grpc::StatusCode::UNAVAILABLE, "the server is stopping", "DRAINING")),
            "the server is stopping");
}

TEST(ErrorTextTest, NamesTheFieldOnce) {
  EXPECT_EQ(Text(Refusal(grpc::StatusCode::OUT_OF_RANGE, "5,5 is off the map", "OFF_MAP", "goals[0]")),
            "5,5 is off the map (goals[0])");
  EXPECT_EQ(Text(Refusal(grpc::StatusCode::OUT_OF_RANGE, "goal is off the map", "OFF_MAP", "goal")),
            "goal is off the map");
}

TEST(ErrorTextTest, DoesNotNameTheBytesOfAFile) {
  EXPECT_EQ(Text(Refusal(grpc::StatusCode::INVALID_ARGUMENT, "line 1: not a map", "MALFORMED_MAP", "chunk")),
            "line 1: not a map");
}

TEST(ErrorTextTest, HintsAtWhatToDo) {
  EXPECT_EQ(Text(Refusal(grpc::StatusCode::NOT_FOUND, "no map 'x'", "MAP_NOT_FOUND")),
            "no map 'x'\n`waystar map list` shows the maps there are.");
  EXPECT_EQ(Text(Refusal(grpc::StatusCode::UNAVAILABLE, "not all maps are read", "MAPS_LOADING")),
            "not all maps are read\nTry again in a moment: `waystar health` prints SERVING then.");
  EXPECT_EQ(Text(Refusal(grpc::StatusCode::UNAVAILABLE, "no space left", "STORAGE_FAILED")),
            "no space left\nThe server cannot make the change durable. With a --request-id it can be tried "
            "again safely.");
}

TEST(ErrorTextTest, ASilentErrorIsNamedByItsCode) {
  EXPECT_EQ(Text({grpc::StatusCode::INTERNAL, ""}), "the server answered INTERNAL");
}

TEST(ErrorTextTest, SaysWhatToDoAboutATimeout) {
  EXPECT_EQ(Text({grpc::StatusCode::DEADLINE_EXCEEDED, "Deadline Exceeded"}),
            "no answer from game-7:7450 in time\n--timeout allows it more, such as 30s.");
}

}  // namespace
}  // namespace waystar::cli
