// StreamCheckMoves: a message is answered as a call of its own would be.

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "client/errors.h"
#include "gmock/gmock.h"
#include "tests/service/about_map.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar::rpc {
namespace {

using ::testing::ElementsAre;

class MoveStreamTest : public ::testing::Test {
 protected:
  MoveStreamTest() : stub_(v1::PathService::NewStub(server_.NewChannel())) {
    server_.Create("yard", {".....", ".###."});
  }

  static v1::StreamCheckMovesRequest Walk(const std::string& map, int seconds) {
    v1::StreamCheckMovesRequest request;
    v1::CheckMovesRequest& moves = *request.mutable_moves();
    moves = Parsed<v1::CheckMovesRequest>("speed: 1 moves { from { cell {} } to { cell { x: 4 } } }");
    moves.set_map(map);
    moves.mutable_moves(0)->mutable_elapsed()->set_seconds(seconds);
    return request;
  }

  TestServer server_;
  std::unique_ptr<v1::PathService::Stub> stub_;
};

TEST_F(MoveStreamTest, AnswersMessagesInOrder) {
  BoundedContext context;
  const auto stream = stub_->StreamCheckMoves(&context);
  for (const auto& request :
       {Walk("yard", 4), Walk("attic", 4), v1::StreamCheckMovesRequest(), Walk("yard", 1)}) {
    stream->Write(request);
  }
  stream->WritesDone();
  std::vector<std::string> told;
  for (v1::StreamCheckMovesResponse response; stream->Read(&response);) {
    EXPECT_EQ(response.index(), told.size());
    told.push_back(response.has_answer() ? v1::MoveVerdict_Name(response.answer().results(0).verdict())
                                         : client::ReasonOf(client::FromMessage(response.problem())));
  }
  EXPECT_THAT(told, ElementsAre("MOVE_VERDICT_OK", "MAP_NOT_FOUND", "BAD_MAP_ID", "MOVE_VERDICT_TOO_FAST"));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(MoveStreamTest, EndsWhenTheServerStops) {
  BoundedContext context;
  const auto stream = stub_->StreamCheckMoves(&context);
  v1::StreamCheckMovesResponse response;
  ASSERT_TRUE(stream->Write(Walk("yard", 4)) && stream->Read(&response));
  std::thread stop([&] { server_.server().Stop(kPatience, kPatience); });
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(client::ReasonOf(client::FromGrpc(stream->Finish())), "DRAINING");
  stop.join();
}

}  // namespace
}  // namespace waystar::rpc
