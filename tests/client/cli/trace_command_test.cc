#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/client/cli/cells.h"
#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::waystar::testing::At;
using ::waystar::testing::Refusal;

class TraceCommandTest : public ::waystar::testing::CommandTest {
 protected:
  TraceCommandTest() {
    server_.trace_search = [this](auto&, const v1::TraceSearchRequest& request,
                                  std::vector<v1::TraceSearchResponse>& messages) {
      request_ = request;
      messages = messages_;
      return grpc::Status::OK;
    };
    v1::MapInfo info;
    info.mutable_version()->set_revision(3);
    server_.ServeMap(info, {".....",  //
                            ".....",  //
                            "..#.."});
    Generate(At(0, 1), At(0, 1));
    Expand(At(0, 1));
    Generate(At(0, 0), At(0, 1));
    Generate(At(1, 1), At(0, 1));
    Generate(At(0, 2), At(0, 1));
    Expand(At(1, 1));
    Generate(At(2, 1), At(1, 1));
    Expand(At(0, 0));
    Result().set_outcome(v1::OUTCOME_FOUND);
    Result().set_cost(2);
    Result().mutable_version()->set_revision(3);
    *Result().mutable_end() = At(2, 1);
    for (const v1::Cell& cell : {At(0, 1), At(1, 1), At(2, 1)}) {
      *Result().add_points() = cell;
    }
    v1::SearchStatistics& statistics = *Result().mutable_statistics();
    statistics.set_expanded(3);
    statistics.set_generated(5);
    statistics.mutable_search_time()->set_nanos(1500);
    statistics.set_algorithm(v1::ALGORITHM_JUMP_POINT_SEARCH);
  }

  void Generate(const v1::Cell& cell, const v1::Cell& parent) {
    v1::SearchEvent& event = *messages_[0].add_events();
    event.set_kind(v1::SearchEvent::KIND_GENERATED);
    *event.mutable_cell() = cell;
    *event.mutable_parent() = parent;
    event.set_g(1.5);
    event.set_f(2);
  }

  void Expand(const v1::Cell& cell) {
    v1::SearchEvent& event = *messages_[0].add_events();
    event.set_kind(v1::SearchEvent::KIND_EXPANDED);
    *event.mutable_cell() = cell;
  }

  v1::FindPathResponse& Result() { return *messages_[1].mutable_result()->mutable_answer(); }

  std::vector<v1::TraceSearchResponse> messages_{2};
  v1::TraceSearchRequest request_;
};

TEST_F(TraceCommandTest, DrawsTheSearchAndTellsTheFacts) {
  EXPECT_EQ(Run({"trace", "arena", "0,1", "2,1"}), ExitCode::kOk);
  EXPECT_EQ(out_,
            "  0\n"
            "0 6....\n"
            "  S*G..\n"
            "  o.#..\n"
            "S start  G goal  * path  0-9 expanded, first to last  o open  # obstacle\n"
            "Path found: 2 steps at cost 2 (revision 3; 3 cells expanded in 1.5us by jump point search)\n"
            "Put on the open list: 5 entries; left open: 2 cells\n");
  EXPECT_EQ(err_, "");
}

TEST_F(TraceCommandTest, SendsWhatTheUserAsked) {
  Run({"trace", "arena", "0,1", "2,1", "--algorithm", "lazy-theta", "--footprint", "2", "--max-events", "9",
       "--nearest"});
  EXPECT_EQ(request_.max_events(), 9);
  EXPECT_EQ(request_.query().map(), "arena");
  EXPECT_EQ(request_.query().start().cell().y(), 1);
  EXPECT_EQ(request_.query().goals(0).cell().x(), 2);
  EXPECT_EQ(request_.query().algorithm(), v1::ALGORITHM_LAZY_THETA_STAR);
  EXPECT_EQ(request_.query().agent().footprint(), 2);
  EXPECT_EQ(request_.query().unreachable_policy(), v1::UNREACHABLE_POLICY_NEAREST_BY_DISTANCE);
}

TEST_F(TraceCommandTest, ListsEvents) {
  server_.export_map = nullptr;
  EXPECT_EQ(Run({"trace", "arena", "0,1", "2,1", "--events"}), ExitCode::kOk);
  EXPECT_THAT(out_, StartsWith("generated 0,1 from 0,1 g=1.5 f=2\nexpanded 0,1 g=0 f=0\n"));
  EXPECT_THAT(out_, HasSubstr("expanded 0,0 g=0 f=0\nPath found: 2 steps"));
  EXPECT_EQ(err_, "");
}

TEST_F(TraceCommandTest, PrintsOneJsonDocument) {
  messages_[0].mutable_events()->DeleteSubrange(2, 6);
  Result().clear_points();
  Result().clear_statistics();
  EXPECT_EQ(Run({"trace", "arena", "0,1", "2,1", "--json"}), ExitCode::kOk);
  EXPECT_THAT(out_, StartsWith(R"({"events":[
{"kind":"KIND_GENERATED","cell":{"x":0,"y":1},"parent":{"x":0,"y":1},"g":1.5,"f":2},
{"kind":"KIND_EXPANDED","cell":{"x":0,"y":1},"g":0,"f":0}
],"result":{"answer":{"version":{"epoch":"0","revision":"3"},"outcome":"OUTCOME_FOUND","reason":"REASON_UNSPECIFIED","cost":2,)"));
  EXPECT_THAT(out_, EndsWith("\"truncated\":false}}\n"));
  messages_.erase(messages_.begin());
  Run({"trace", "arena", "0,1", "2,1", "--json"});
  EXPECT_THAT(out_, StartsWith("{\"events\":[\n],\"result\":{"));
}

TEST_F(TraceCommandTest, CanDoWithoutAPicture) {
  server_.export_map = nullptr;
  EXPECT_EQ(Run({"trace", "arena", "0,1", "2,1", "--no-picture"}), ExitCode::kOk);
  EXPECT_THAT(out_, StartsWith("Path found: 2 steps"));
  EXPECT_EQ(err_, "");
}

TEST_F(TraceCommandTest, SaysWhenEventsAreMissing) {
  messages_[1].mutable_result()->set_truncated(true);
  Run({"trace", "arena", "0,1", "2,1"});
  EXPECT_THAT(out_, HasSubstr("Put on the open list: 5 entries. Only the first events are shown: "
                              "--max-events allows up to 1000000.\n"));
}

TEST_F(TraceCommandTest, DrawsWhatIsLeftOnAMapThatShrank) {
  server_.ServeMap({}, {"..", ".."});
  EXPECT_EQ(Run({"trace", "arena", "0,1", "2,1"}), ExitCode::kOk);
  EXPECT_THAT(out_, StartsWith("  0\n0 6.\n  S*\n"));
}

TEST_F(TraceCommandTest, ExitCodesAreThoseOfFind) {
  Result().set_outcome(v1::OUTCOME_PARTIAL);
  EXPECT_EQ(Run({"trace", "arena", "0,1", "2,1"}), ExitCode::kNoPath);
  EXPECT_EQ(Run({"trace", "arena", "0,1", "2,1", "--json"}), ExitCode::kNoPath);
  server_.trace_search = [](auto&, const auto&, auto&) {
    return Refusal(grpc::StatusCode::NOT_FOUND, "there is no map \"arena\"", "MAP_NOT_FOUND", "query.map");
  };
  EXPECT_EQ(Run({"trace", "arena", "0,1", "2,1", "--json"}), ExitCode::kRefused);
  EXPECT_EQ(out_, "");
  EXPECT_EQ(Run({"trace", "arena", "0,1", "2,1"}), ExitCode::kRefused);
  EXPECT_EQ(out_, "");
  EXPECT_THAT(err_, StartsWith("waystar: there is no map \"arena\" (query.map)\n"));
}

}  // namespace
}  // namespace waystar::cli
