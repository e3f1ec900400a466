#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/client/cli/cells.h"
#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
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

class GraphTraceCommandTest : public ::waystar::testing::CommandTest {
 protected:
  GraphTraceCommandTest() {
    server_.trace_search = [this](auto&, const v1::TraceSearchRequest&,
                                  std::vector<v1::TraceSearchResponse>& messages) {
      messages = messages_;
      return grpc::Status::OK;
    };
    Generate("harbour", "", 0, 12);
    Expand("harbour", 0, 12);
    Generate("ford", "harbour", 6, 12);
    Generate("bridge", "harbour", 10, 20);
    Expand("ford", 6, 12);
    Generate("lighthouse", "ford", 12.5, 12.5);
    answer_.set_outcome(v1::OUTCOME_FOUND);
    answer_.set_cost(12.5);
    answer_.mutable_version()->set_revision(3);
    for (const char* const node : {"harbour", "ford", "lighthouse"}) {
      answer_.add_nodes(node);
      answer_.add_positions();
    }
    v1::SearchStatistics& statistics = *answer_.mutable_statistics();
    statistics.set_expanded(2);
    statistics.set_generated(4);
    statistics.mutable_search_time()->set_nanos(1500);
    statistics.set_algorithm(v1::ALGORITHM_ASTAR);
  }

  void Generate(const std::string& node, const std::string& parent, double g, double f) {
    v1::SearchEvent& event = Add(v1::SearchEvent::KIND_GENERATED, node, g, f);
    event.set_parent_node(parent);
    event.mutable_position()->set_x(g);
  }

  void Expand(const std::string& node, double g, double f) {
    Add(v1::SearchEvent::KIND_EXPANDED, node, g, f);
  }

  std::vector<v1::TraceSearchResponse> messages_{2};
  v1::FindPathResponse& answer_ = *messages_[1].mutable_result()->mutable_answer();

 private:
  v1::SearchEvent& Add(v1::SearchEvent::Kind kind, const std::string& node, double g, double f) {
    v1::SearchEvent& event = *messages_[0].add_events();
    event.set_kind(kind);
    event.set_node(node);
    event.set_g(g);
    event.set_f(f);
    return event;
  }
};

TEST_F(GraphTraceCommandTest, ListsNodesInTheOrderOfTheSearch) {
  EXPECT_EQ(Run({"trace", "islands", "harbour", "lighthouse"}), ExitCode::kOk);
  EXPECT_EQ(out_,
            "ORDER  NODE        COST  TOTAL  FROM\n"
            "1      harbour     0     12\n"
            "2      ford        6     12     harbour\n"
            "open   bridge      10    20     harbour\n"
            "open   lighthouse  12.5  12.5   ford\n"
            "Path found: 3 nodes at cost 12.5 (revision 3; 2 nodes expanded in 1.5us by A*)\n"
            "harbour ford lighthouse\n"
            "Put on the open list: 4 entries; left open: 2 nodes\n");
  EXPECT_EQ(err_, "");
}

TEST_F(GraphTraceCommandTest, ListsEventsWithTheNamesOfNodes) {
  EXPECT_EQ(Run({"trace", "islands", "harbour", "lighthouse", "--events"}), ExitCode::kOk);
  EXPECT_THAT(out_, StartsWith("generated harbour g=0 f=12\n"
                               "expanded harbour g=0 f=12\n"
                               "generated ford from harbour g=6 f=12\n"
                               "generated bridge from harbour g=10 f=20\n"
                               "expanded ford g=6 f=12\n"
                               "generated lighthouse from ford g=12.5 f=12.5\n"
                               "Path found: 3 nodes"));
  EXPECT_EQ(err_, "");
}

TEST_F(GraphTraceCommandTest, CanDoWithoutATable) {
  EXPECT_EQ(Run({"trace", "islands", "harbour", "lighthouse", "--no-picture"}), ExitCode::kOk);
  EXPECT_THAT(out_, StartsWith("Path found: 3 nodes"));
  EXPECT_EQ(err_, "");
}

TEST_F(GraphTraceCommandTest, ListsTheFirstNodesUnlessAskedForAll) {
  for (int i = 0; i < 60; ++i) {
    Generate(absl::StrCat("cave-", i), "ford", 7, 20);
  }
  Run({"trace", "islands", "harbour", "lighthouse"});
  EXPECT_THAT(out_, HasSubstr("open   cave-45 "));
  EXPECT_THAT(out_, Not(HasSubstr("cave-46")));
  EXPECT_THAT(out_, HasSubstr("and 14 more: --full lists all\nPath found"));
  Run({"trace", "islands", "harbour", "lighthouse", "--full"});
  EXPECT_THAT(out_, HasSubstr("open   cave-59 "));
  EXPECT_THAT(out_, Not(HasSubstr("--full")));
}

TEST_F(GraphTraceCommandTest, ListsWhatWasSearchedInVain) {
  answer_.set_outcome(v1::OUTCOME_UNREACHABLE);
  answer_.set_reason(v1::REASON_NO_ROUTE);
  answer_.clear_nodes();
  answer_.clear_positions();
  EXPECT_EQ(Run({"trace", "islands", "harbour", "moon"}), ExitCode::kNoPath);
  EXPECT_THAT(out_, HasSubstr("2      ford        6     12     harbour\n"));
  EXPECT_THAT(out_, HasSubstr("No path to the goal: no edges lead there from the start (revision 3; 2 nodes "
                              "expanded in 1.5us by A*)\nPut on the open list"));
}

TEST_F(GraphTraceCommandTest, PrintsEventsOfNodesAsJson) {
  EXPECT_EQ(Run({"trace", "islands", "harbour", "lighthouse", "--json"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr(R"("node":"ford","parentNode":"harbour")"));
}

class MeshTraceCommandTest : public ::waystar::testing::CommandTest {
 protected:
  MeshTraceCommandTest() {
    server_.trace_search = [this](auto&, const v1::TraceSearchRequest&,
                                  std::vector<v1::TraceSearchResponse>& messages) {
      messages = messages_;
      return grpc::Status::OK;
    };
    Generate(1, 0, 7, 0, 5);
    Generate(2, 0, 8, 0, 9.5);
    Add(v1::SearchEvent::KIND_EXPANDED, 1, 0, 5);
    Generate(3, 1, 9, 2.5, 5);
    answer_.set_outcome(v1::OUTCOME_FOUND);
    answer_.set_cost(5);
    answer_.mutable_version()->set_revision(3);
    *answer_.add_positions() = PositionAt(0, 0, 0);
    *answer_.add_positions() = PositionAt(4, 3, 0.5);
    v1::SearchStatistics& statistics = *answer_.mutable_statistics();
    statistics.set_expanded(1);
    statistics.set_generated(3);
    statistics.mutable_search_time()->set_nanos(1500);
    statistics.set_algorithm(v1::ALGORITHM_POLYANYA);
  }

  static v1::Position PositionAt(double x, double y, double z) {
    v1::Position position;
    position.set_x(x);
    position.set_y(y);
    position.set_z(z);
    return position;
  }

  void Generate(std::uint32_t id, std::uint32_t parent, std::uint32_t polygon, double g, double f) {
    v1::MeshInterval& interval = *Add(v1::SearchEvent::KIND_GENERATED, id, g, f).mutable_interval();
    interval.set_parent(parent);
    interval.set_polygon(polygon);
    *interval.mutable_left() = PositionAt(id, 2, 0);
    *interval.mutable_right() = PositionAt(id, 1, 0.5);
    *interval.mutable_root() = PositionAt(g, 0, 0);
  }

  std::vector<v1::TraceSearchResponse> messages_{2};
  v1::FindPathResponse& answer_ = *messages_[1].mutable_result()->mutable_answer();

 private:
  v1::SearchEvent& Add(v1::SearchEvent::Kind kind, std::uint32_t id, double g, double f) {
    v1::SearchEvent& event = *messages_[0].add_events();
    event.set_kind(kind);
    event.mutable_interval()->set_id(id);
    event.set_g(g);
    event.set_f(f);
    return event;
  }
};

TEST_F(MeshTraceCommandTest, ListsIntervalsInTheOrderOfTheSearch) {
  EXPECT_EQ(Run({"trace", "keep", "0,0,0", "4,3,0.5"}), ExitCode::kOk);
  EXPECT_EQ(out_,
            "ORDER  ID  THROUGH  POLYGON  LEFT  RIGHT    ROOT   COST  TOTAL\n"
            "1      1            7        1,2   1,1,0.5  0,0    0     5\n"
            "open   2            8        2,2   2,1,0.5  0,0    0     9.5\n"
            "open   3   1        9        3,2   3,1,0.5  2.5,0  2.5   5\n"
            "Path found: 1 straight line of length 5 (revision 3; 1 interval expanded in 1.5us by Polyanya)\n"
            "0,0 4,3,0.5\n"
            "Put on the open list: 3 entries; left open: 2 intervals\n");
  EXPECT_EQ(err_, "");
}

TEST_F(MeshTraceCommandTest, ListsEvents) {
  EXPECT_EQ(Run({"trace", "keep", "0,0,0", "4,3,0.5", "--events"}), ExitCode::kOk);
  EXPECT_THAT(out_, StartsWith("generated 1 to polygon 7 between 1,2 and 1,1,0.5 seen from 0,0 g=0 f=5\n"
                               "generated 2 to polygon 8 between 2,2 and 2,1,0.5 seen from 0,0 g=0 f=9.5\n"
                               "expanded 1 g=0 f=5\n"
                               "generated 3 through 1 to polygon 9 between 3,2 and 3,1,0.5 seen from 2.5,0 "
                               "g=2.5 f=5\n"
                               "Path found: "));
  EXPECT_EQ(err_, "");
}

TEST_F(MeshTraceCommandTest, PrintsOneJsonDocument) {
  EXPECT_EQ(Run({"trace", "keep", "0,0,0", "4,3,0.5", "--json"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("\"interval\":{\"id\":3,\"parent\":1,\"polygon\":9,"));
}

TEST_F(MeshTraceCommandTest, ListsTheFirstIntervalsUnlessAskedForAll) {
  for (std::uint32_t id = 4; id < 64; ++id) {
    Generate(id, 1, 9, 1, 20);
  }
  Run({"trace", "keep", "0,0,0", "4,3,0.5"});
  EXPECT_THAT(out_, HasSubstr("and 13 more: --full lists all\nPath found"));
  Run({"trace", "keep", "0,0,0", "4,3,0.5", "--full"});
  EXPECT_THAT(out_, Not(HasSubstr("--full")));
  Run({"trace", "keep", "0,0,0", "4,3,0.5", "--no-picture"});
  EXPECT_THAT(out_, StartsWith("Path found: "));
}

}  // namespace
}  // namespace waystar::cli
