// FollowAgents: the states of agents that walk, and how far they are known to be right.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/errors.h"
#include "client/metrics.h"
#include "gmock/gmock.h"
#include "grpcpp/channel.h"
#include "grpcpp/support/sync_stream.h"
#include "server/runtime/options.h"
#include "tests/service/about_map.h"
#include "tests/service/handlers/watch/watches.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar::rpc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// A stream of agents over a connection of its own.
class Agents {
 public:
  explicit Agents(const TestServer& server) : Agents(server.NewChannel()) {}
  explicit Agents(const std::shared_ptr<grpc::Channel>& channel)
      : stub_(v1::PathService::NewStub(channel)), stream_(stub_->FollowAgents(&context_)) {
    request_.mutable_at_most_every();
    request_.mutable_cheaper_every();
  }

  v1::AgentChange& Change(std::uint64_t agent) {
    v1::AgentChange& change = *request_.add_changes();
    change.set_agent(agent);
    change.set_number(++number_);
    return change;
  }
  void Put(std::uint64_t agent, const v1::FindPathRequest& query) { *Change(agent).mutable_put() = query; }
  // Puts an agent at a cell, with the path of a state.
  void PutWith(std::uint64_t agent, v1::Cell at, const v1::FindPathRequest& query,
               const v1::AgentState& state) {
    v1::AgentChange& change = Change(agent);
    *change.mutable_put() = query;
    *change.mutable_put()->mutable_start()->mutable_cell() = at;
    *change.mutable_held()->mutable_path() = state.answer().path();
    change.mutable_held()->set_cost(state.answer().cost());
    *change.mutable_held()->mutable_version() = state.version();
  }
  void MoveTo(std::uint64_t agent, int x, int y) {
    *Change(agent).mutable_at()->mutable_cell() = CellAt(x, y);
  }
  v1::FollowAgentsRequest& request() { return request_; }

  // Sends what was put since the last time.
  void Send() {
    stream_->Write(request_);
    request_.Clear();
  }

  // Returns the next message with states.
  std::vector<v1::AgentState> NextStates() {
    v1::FollowAgentsResponse message;
    while (stream_->Read(&message)) {
      Note(message);
      if (!message.states().empty()) {
        return {message.states().begin(), message.states().end()};
      }
    }
    ADD_FAILURE() << "the stream has ended: " << stream_->Finish().error_message();
    return {};
  }

  // "7#2 cost 3 at 5": agent, number, what it is told, and the revision.
  std::vector<std::string> Next() {
    std::vector<std::string> told;
    for (const v1::AgentState& state : NextStates()) {
      told.push_back(Told(state));
    }
    return told;
  }
  std::string NextOne() {
    const std::vector<std::string> told = Next();
    EXPECT_THAT(told, SizeIs(1));
    return told.empty() ? "" : told.front();
  }

  static std::string Told(const v1::AgentState& state) {
    const std::string head = absl::StrCat(state.agent(), "#", state.number(), " ");
    const std::string tail = absl::StrCat(" at ", state.version().revision());
    switch (state.state_case()) {
      case v1::AgentState::kAnswer:
        return absl::StrCat(head,
                            state.answer().outcome() == v1::OUTCOME_FOUND
                                ? absl::StrCat("cost ", state.answer().cost())
                                : v1::Outcome_Name(state.answer().outcome()),
                            tail);
      case v1::AgentState::kProblem:
        return absl::StrCat(head, "problem ", ReasonIn(state.problem()), tail);
      case v1::AgentState::kEnd:
        return absl::StrCat(head, "end ", ReasonIn(state.end()));
      case v1::AgentState::kHeld:
        return absl::StrCat(head, "held", tail);
      case v1::AgentState::STATE_NOT_SET:
        break;
    }
    return head;
  }

  // Returns the states that come until the map's progress has that revision.
  std::vector<std::string> UntilProgress(std::uint64_t revision) {
    std::vector<std::string> told;
    v1::FollowAgentsResponse message;
    while (progress_ < revision && stream_->Read(&message)) {
      Note(message);
      for (const v1::AgentState& state : message.states()) {
        told.push_back(Told(state));
      }
    }
    EXPECT_EQ(progress_, revision);
    return told;
  }

  // Returns how the stream ends: "3 BAD_VALUE at_most_every".
  std::string End() {
    v1::FollowAgentsResponse message;
    while (stream_->Read(&message)) {
    }
    const absl::Status status = client::FromGrpc(stream_->Finish());
    return absl::StrCat(static_cast<int>(status.code()), " ", client::ReasonOf(status), " ",
                        client::FieldOf(status));
  }
  // The newest states by agent.
  const std::map<std::uint64_t, v1::AgentState>& newest() const { return newest_; }
  void HalfClose() { stream_->WritesDone(); }
  void Cancel() { context_.TryCancel(); }

 private:
  static std::string ReasonIn(const google::rpc::Status& status) {
    const absl::Status error = client::FromMessage(status);
    return absl::StrCat(client::ReasonOf(error), " ", client::FieldOf(error));
  }
  void Note(const v1::FollowAgentsResponse& message) {
    for (const v1::AgentState& state : message.states()) {
      newest_[state.agent()] = state;
    }
    for (const v1::MapProgress& progress : message.progress()) {
      EXPECT_GE(progress.version().revision(), progress_);
      EXPECT_GE(progress.walkable_revision(), progress.version().revision());
      progress_ = progress.version().revision();
    }
  }

  BoundedContext context_;
  std::unique_ptr<v1::PathService::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::FollowAgentsRequest, v1::FollowAgentsResponse>> stream_;
  v1::FollowAgentsRequest request_;
  std::uint64_t number_ = 0;
  std::uint64_t progress_ = 0;
  std::map<std::uint64_t, v1::AgentState> newest_;
};

v1::FindPathRequest Across(const std::string& map = "arena") {
  return PathRequest(map, CellAt(0, 0), CellAt(5, 0));
}

class AgentStreamTest : public ::testing::Test {
 protected:
  explicit AgentStreamTest(const runtime::Options& options = {}) : server_(options) {
    server_.Create("arena", {"......", "......"});
  }

  void Block(int x, int y) { Update(server_, BlockRequest("arena", {CellAt(x, y)})); }

  TestServer server_;
};

TEST_F(AgentStreamTest, TellsOfPathsThatChange) {
  Agents agents(server_);
  agents.Put(7, Across());
  agents.Send();
  EXPECT_EQ(agents.NextOne(), "7#1 cost 5 at 1");
  Block(2, 0);
  EXPECT_EQ(agents.NextOne(), "7#1 cost 5.82843 at 2");
  agents.MoveTo(7, 3, 1);
  // Its state says that the move was taken.
  agents.Put(8, PathRequest("arena", CellAt(5, 1), CellAt(5, 0)));
  agents.Send();
  EXPECT_EQ(agents.NextOne(), "8#3 cost 1 at 2");
  Block(1, 1);
  EXPECT_THAT(agents.UntilProgress(3), ElementsAre()) << "which lies behind";
  Block(4, 0);
  EXPECT_THAT(agents.UntilProgress(4), ElementsAre("7#2 cost 3 at 4"));
}

TEST_F(AgentStreamTest, ProgressSaysThatSilenceMeansRight) {
  Agents agents(server_);
  agents.Put(1, Across());
  agents.Put(2, PathRequest("arena", CellAt(0, 1), CellAt(1, 1)));
  agents.Send();
  EXPECT_THAT(agents.UntilProgress(1), UnorderedElementsAre("1#1 cost 5 at 1", "2#2 cost 1 at 1"));
  Block(5, 1);
  EXPECT_THAT(agents.UntilProgress(2), ElementsAre());
  Block(2, 0);
  EXPECT_THAT(agents.UntilProgress(3), ElementsAre("1#1 cost 5.82843 at 3"));
}

TEST_F(AgentStreamTest, AgentsGoElsewhereAndLeaveTheirPath) {
  Agents agents(server_);
  agents.Put(1, Across());
  agents.Send();
  EXPECT_EQ(agents.NextOne(), "1#1 cost 5 at 1");
  agents.MoveTo(1, 2, 0);
  *agents.Change(1).mutable_goal()->mutable_cell() = CellAt(2, 1);
  agents.Send();
  EXPECT_EQ(agents.NextOne(), "1#3 cost 1 at 1");
  agents.MoveTo(1, 5, 1);
  agents.Send();
  EXPECT_EQ(agents.NextOne(), "1#4 cost 3 at 1");
  agents.Change(1).mutable_remove();
  agents.Put(2, Across());
  agents.Send();
  EXPECT_EQ(agents.NextOne(), "2#6 cost 5 at 1");
}

TEST_F(AgentStreamTest, ProblemsPassAndEndsDoNot) {
  Agents agents(server_);
  Block(0, 0);
  agents.Put(1, Across());
  agents.Send();
  EXPECT_EQ(agents.NextOne(), "1#1 problem START_BLOCKED start at 2");
  Update(server_, UnblockRequest("arena", {CellAt(0, 0)}));
  EXPECT_EQ(agents.NextOne(), "1#1 cost 5 at 3");
  Update(server_, BlockRequest("arena", {CellAt(4, 0), CellAt(4, 1)}));
  EXPECT_EQ(agents.NextOne(), "1#1 OUTCOME_UNREACHABLE at 4");

  v1::FindPathRequest nowhere = Across();
  nowhere.clear_goals();
  agents.Put(2, nowhere);
  agents.Put(3, Across("attic"));
  agents.MoveTo(4, 0, 0);
  *agents.Change(5).mutable_goal()->mutable_cell() = CellAt(2, 1);
  agents.Send();
  std::vector<std::string> ends;
  while (ends.size() < 4) {
    const std::vector<std::string> next = agents.Next();
    ends.insert(ends.end(), next.begin(), next.end());
  }
  EXPECT_THAT(ends, UnorderedElementsAre("2#2 end MISSING_FIELD goals", "3#3 end MAP_NOT_FOUND map",
                                         "4#4 end AGENT_NOT_FOUND agent", "5#5 end AGENT_NOT_FOUND agent"));

  EXPECT_TRUE(server_.client().DeleteMap(About<v1::DeleteMapRequest>("arena")).ok());
  EXPECT_EQ(agents.NextOne(), "1#1 end MAP_NOT_FOUND map");
}

TEST_F(AgentStreamTest, WrongMessagesEndTheStream) {
  const auto end_of = [this](auto fill) {
    Agents agents(server_);
    fill(agents);
    agents.Send();
    return agents.End();
  };
  EXPECT_EQ(end_of([](Agents& agents) {
              agents.Put(1, Across());
              agents.Change(1);
            }),
            "3 MISSING_FIELD changes[1].change");
  EXPECT_EQ(end_of([](Agents& agents) { agents.request().mutable_at_most_every()->set_seconds(11); }),
            "3 BAD_VALUE at_most_every");
  EXPECT_EQ(end_of([](Agents& agents) { agents.request().mutable_cheaper_every()->set_seconds(-1); }),
            "3 BAD_VALUE cheaper_every");
  EXPECT_EQ(end_of([](Agents& agents) { agents.request().set_off_path(0); }), "3 BAD_VALUE off_path");
  EXPECT_EQ(end_of([](Agents& agents) {
              for (int i = 0; i <= 10'000; ++i) {
                agents.Change(1).mutable_remove();
              }
            }),
            "8 TOO_MANY_ITEMS changes");
}

// Agents go from the arena down a ladder, which is far from the goal, or down stairs.
class AgentsDownstairsTest : public AgentStreamTest {
 protected:
  AgentsDownstairsTest() {
    Update(server_, Parsed<v1::UpdateMapRequest>(R"(
      map: "arena"
      edits { add_portal { id: "ladder" from { x: 0 y: 1 } to { x: 0 y: 1 } to_map: "cellar" } }
      edits { add_portal { id: "stairs" from { x: 5 y: 0 } to { x: 5 y: 0 } to_map: "cellar" } })"));
  }

  void CreateCellar() { server_.Create("cellar", {"......", "......"}); }
  static v1::FindPathRequest Down() {
    v1::FindPathRequest request = PathRequest("arena", CellAt(4, 0), CellAt(5, 1));
    request.set_goal_map("cellar");
    return request;
  }
};

TEST_F(AgentsDownstairsTest, ChangesOfEachMapChangeTheirPaths) {
  CreateCellar();
  Agents agents(server_);
  agents.Put(1, Down());
  agents.Send();
  EXPECT_EQ(agents.NextOne(), "1#1 cost 2 at 2");
  Update(server_, BlockRequest("cellar", {CellAt(5, 0)}));
  EXPECT_EQ(agents.NextOne(), "1#1 cost 9.41421 at 2");
  Block(5, 1);
  Update(server_, UnblockRequest("cellar", {CellAt(5, 0)}));
  EXPECT_EQ(agents.NextOne(), "1#1 cost 2 at 3");
  Block(5, 0);
  EXPECT_THAT(agents.NextOne(), HasSubstr("1#1 cost 9.41421 at 4"));
  *agents.Change(1).mutable_at()->mutable_cell() = CellAt(0, 1);
  agents.request().mutable_changes()->rbegin()->set_map("cellar");
  agents.Send();
  EXPECT_EQ(agents.NextOne(), "1#2 cost 5 at 3") << "at that revision of the cellar";
  Update(server_, BlockRequest("cellar", {CellAt(3, 1)}));
  EXPECT_EQ(agents.NextOne(), "1#2 cost 5.82843 at 4");
}

TEST_F(AgentsDownstairsTest, TheirMapsComeAndGo) {
  Agents agents(server_);
  agents.Put(1, Down());
  agents.Send();
  EXPECT_EQ(agents.NextOne(), "1#1 problem MAP_NOT_FOUND goal_map at 2");
  CreateCellar();
  EXPECT_EQ(agents.NextOne(), "1#1 cost 2 at 2");
  EXPECT_TRUE(server_.client().DeleteMap(About<v1::DeleteMapRequest>("cellar")).ok());
  EXPECT_EQ(agents.NextOne(), "1#1 problem MAP_NOT_FOUND goal_map at 2");
  agents.Change(1).mutable_at()->mutable_cell();
  agents.request().mutable_changes()->rbegin()->set_map("cellar");
  agents.Send();
  EXPECT_EQ(agents.NextOne(), "1#2 end MAP_NOT_FOUND map");
}

TEST_F(AgentStreamTest, GoesOnWithoutFurtherChanges) {
  Agents agents(server_);
  agents.Put(1, Across());
  agents.Send();
  agents.HalfClose();
  EXPECT_EQ(agents.NextOne(), "1#1 cost 5 at 1");
  Block(2, 0);
  EXPECT_EQ(agents.NextOne(), "1#1 cost 5.82843 at 2");
  EXPECT_TRUE(server_.client().DeleteMap(About<v1::DeleteMapRequest>("arena")).ok());
  EXPECT_EQ(agents.NextOne(), "1#1 end MAP_NOT_FOUND map");
  EXPECT_EQ(agents.End(), "0  ") << "without an agent left";
}

TEST_F(AgentStreamTest, AgentsResumeWithTheirPaths) {
  Agents first(server_);
  first.Put(1, Across());
  first.Send();
  first.UntilProgress(1);
  const v1::AgentState state = first.newest().at(1);
  Block(5, 1);

  Agents agents(server_);
  agents.PutWith(1, CellAt(2, 0), Across(), state);
  agents.PutWith(2, CellAt(2, 1), Across(), state);
  agents.Send();
  EXPECT_THAT(agents.UntilProgress(2), UnorderedElementsAre("1#1 held at 2", "2#2 cost 3.41421 at 2"));
  Block(3, 0);
  EXPECT_THAT(agents.UntilProgress(3), UnorderedElementsAre("1#1 cost 5 at 3", "2#2 cost 4 at 3"));
  agents.PutWith(3, CellAt(2, 0), Across(), state);
  v1::AgentState other_map = state;
  other_map.mutable_version()->set_epoch(state.version().epoch() + 1);
  agents.PutWith(4, CellAt(2, 0), Across(), other_map);
  agents.Send();
  std::vector<std::string> told = agents.Next();
  while (told.size() < 2) {
    told.push_back(agents.NextOne());
  }
  EXPECT_THAT(told, UnorderedElementsAre("3#3 cost 5 at 3", "4#4 end MAP_REPLACED held.version.epoch"));
}

TEST_F(AgentStreamTest, PathsFromTheFutureWaitForIt) {
  Agents first(server_);
  first.Put(1, Across());
  first.Send();
  first.UntilProgress(1);
  v1::AgentState state = first.newest().at(1);
  state.mutable_version()->set_revision(2);
  Agents agents(server_);
  agents.PutWith(1, CellAt(0, 0), Across(), state);
  agents.Send();
  EXPECT_EQ(agents.NextOne(), "1#1 problem REVISION_NOT_YET view.least_version at 1");
  Block(5, 1);
  EXPECT_EQ(agents.NextOne(), "1#1 held at 2");
}

TEST_F(AgentStreamTest, CheaperPathsAreFoundForThoseThatResume) {
  Update(server_, BlockRequest("arena", {CellAt(2, 0)}));
  Agents first(server_);
  first.Put(1, Across());
  first.Send();
  first.UntilProgress(2);
  Update(server_, UnblockRequest("arena", {CellAt(2, 0)}));
  Agents agents(server_);
  agents.PutWith(1, CellAt(0, 0), Across(), first.newest().at(1));
  agents.Send();
  EXPECT_THAT(agents.UntilProgress(3), ::testing::Contains("1#1 cost 5 at 3"));
}

// Agents with one goal share searches, which changes neither their costs nor the progress.
TEST(SiegeTest, AgentsWithOneGoalHaveCheapestPaths) {
  TestServer server;
  constexpr int kSide = 60;
  std::vector<std::string> rows(kSide, std::string(kSide, '.'));
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      rows[y][x] = (x * 7 + y * 13) % 11 == 0 && x > 0 && x + 1 < kSide ? '#' : '.';
    }
  }
  server.Create("arena", rows);
  Agents agents(server);
  std::vector<v1::FindPathRequest> queries;
  for (int i = 0; i < kSide; ++i) {
    queries.push_back(PathRequest("arena", CellAt(0, i), CellAt(kSide - 1, kSide / 2)));
    agents.Put(static_cast<std::uint64_t>(i), queries.back());
  }
  agents.Send();
  agents.UntilProgress(1);
  std::vector<v1::Cell> wall;
  for (int y = 0; y + 1 < kSide; ++y) {
    wall.push_back(CellAt(kSide / 2, y));
  }
  Update(server, BlockRequest("arena", wall));
  agents.UntilProgress(2);
  ASSERT_THAT(agents.newest(), SizeIs(kSide));
  bool is_shared = false;
  for (const auto& [agent, state] : agents.newest()) {
    EXPECT_EQ(state.version().revision(), 2);
    EXPECT_EQ(state.answer().cost(), server.Find(queries[agent]).cost()) << agent;
    is_shared = is_shared || state.answer().info().statistics().algorithm() == v1::ALGORITHM_DIJKSTRA;
  }
  EXPECT_TRUE(is_shared) << "no flood has answered several";
}

class FewAgentsTest : public AgentStreamTest {
 protected:
  FewAgentsTest() : AgentStreamTest({.max_agents = 4}) {}
};

TEST_F(FewAgentsTest, AClientHasAShareOfAllAgents) {
  Agents agents(server_);
  for (std::uint64_t id = 1; id <= 4; ++id) {
    agents.Put(id, PathRequest("arena", CellAt(0, 0), CellAt(static_cast<int>(id), 0)));
  }
  agents.Send();
  EXPECT_THAT(agents.UntilProgress(1), UnorderedElementsAre("1#1 cost 1 at 1", "2#2 cost 2 at 1",
                                                            "3#3 cost 3 at 1", "4#4 end TOO_MANY_AGENTS "));
  agents.Change(2).mutable_remove();
  agents.Put(1, Across());
  agents.Put(4, Across());
  agents.Send();
  std::vector<std::string> told = agents.Next();
  while (told.size() < 2) {
    told.push_back(agents.NextOne());
  }
  EXPECT_THAT(told, UnorderedElementsAre("1#6 cost 5 at 1", "4#7 cost 5 at 1"));
  agents.Cancel();
  agents.End();
  // The server may not have heard of the end of the first yet.
  const auto fits = [&] {
    Agents others(server_);
    others.Put(1, Across());
    others.Put(2, Across());
    others.Put(3, Across());
    others.Send();
    int answers = 0;
    for (int read = 0; read < 3;) {
      for (const v1::AgentState& state : others.NextStates()) {
        answers += state.has_answer() ? 1 : 0;
        ++read;
      }
    }
    others.Cancel();
    others.End();
    return answers == 3;
  };
  EXPECT_TRUE(WaitUntil(fits, "the places of the first stream"));
}

// ListAgents, beside the streams.
class ListAgentsTest : public AgentStreamTest {
 protected:
  v1::ListAgentsResponse List(const std::string& more = "") {
    const auto request = Merged(About<v1::ListAgentsRequest>("arena"), more);
    const absl::StatusOr<v1::ListAgentsResponse> listed = server_.client().ListAgents(request);
    EXPECT_TRUE(listed.ok()) << listed.status();
    return listed.value_or(v1::ListAgentsResponse());
  }
  // "7 WALKING at 0,0: 0.5,0.5 5.5,0.5" for each agent.
  std::vector<std::string> Told() {
    std::vector<std::string> told;
    const v1::ListAgentsResponse listed = List();
    for (const v1::FollowedAgent& agent : listed.agents()) {
      const v1::Cell& at = agent.at().cell();
      std::string& text = told.emplace_back(absl::StrCat(
          agent.agent(), " ", absl::StripPrefix(v1::AgentStatus_Name(agent.status()), "AGENT_STATUS_"),
          " at ", at.x(), ",", at.y(), ":"));
      for (const v1::Position& place : agent.path()) {
        absl::StrAppend(&text, " ", place.x(), ",", place.y());
      }
    }
    return told;
  }
};

TEST_F(ListAgentsTest, AgentsWalkAndAreStuckAndLeave) {
  EXPECT_THAT(Told(), IsEmpty());
  Agents agents(server_);
  agents.Put(7, Across());
  agents.Send();
  agents.UntilProgress(1);
  EXPECT_THAT(Told(), ElementsAre("7 WALKING at 0,0: 0.5,0.5 5.5,0.5"));
  EXPECT_THAT(List().agents(0).client(), HasSubstr("127.0.0.1"));
  agents.MoveTo(7, 2, 0);
  agents.Put(8, PathRequest("arena", CellAt(5, 1), CellAt(5, 0)));
  agents.Send();
  const std::vector<std::string> both = {"7 WALKING at 2,0: 2.5,0.5 5.5,0.5",
                                         "8 WALKING at 5,1: 5.5,1.5 5.5,0.5"};
  EXPECT_TRUE(WaitUntil([&] { return Told() == both; }, "the path of the second"));
  Update(server_, BlockRequest("arena", {CellAt(4, 0), CellAt(4, 1)}));
  agents.UntilProgress(2);
  EXPECT_THAT(Told(), ElementsAre("7 STUCK at 2,0:", "8 WALKING at 5,1: 5.5,1.5 5.5,0.5"));
  Agents others(server_);
  others.Put(7, PathRequest("arena", CellAt(0, 1), CellAt(0, 0)));
  others.Send();
  others.UntilProgress(2);
  EXPECT_THAT(Told(), SizeIs(3));
  agents.Cancel();
  agents.End();
  const auto has_left = [&] { return List().agents_size() == 1; };
  EXPECT_TRUE(WaitUntil(has_left, "the end of the first stream"));
  EXPECT_THAT(Told(), ElementsAre("7 WALKING at 0,1: 0.5,1.5 0.5,0.5"));
}

TEST_F(ListAgentsTest, PagesHoldEachAgentOnce) {
  Agents agents(server_);
  std::vector<std::uint64_t> all;
  for (std::uint64_t id = 1; id <= 23; ++id) {
    agents.Put(id, PathRequest("arena", CellAt(static_cast<int>(id % 6), 0), CellAt(5, 1)));
    all.push_back(id);
  }
  agents.Send();
  agents.UntilProgress(1);
  for (const int size : {1, 5, 22, 23, 24}) {
    std::vector<std::uint64_t> listed;
    std::string token;
    do {
      const v1::ListAgentsResponse page =
          List(absl::StrCat("page_size: ", size, " page_token: '", token, "'"));
      EXPECT_LE(page.agents_size(), size);
      for (const v1::FollowedAgent& agent : page.agents()) {
        listed.push_back(agent.agent());
      }
      token = page.next_page_token();
    } while (!token.empty());
    EXPECT_EQ(listed, all) << size;
  }
  const auto error_of = [&](const std::string& more) {
    return client::FieldOf(server_.client().ListAgents(Parsed<v1::ListAgentsRequest>(more)).status());
  };
  EXPECT_EQ(error_of("map: 'arena' page_size: -1"), "page_size");
  EXPECT_EQ(error_of("map: 'arena' page_token: 'x'"), "page_token");
  EXPECT_EQ(error_of("map: 'attic'"), "map");
}

// A client that reads late is told the newest state of each agent, even those for which there was no room.
TEST(UnreadAgentsTest, NoStateIsLostForGood) {
  TestServer server({.max_connection_memory_mib = 1});
  constexpr int kSide = 900;
  server.CreateBlank("plain", kSide, kSide);
  Agents agents(server.NewNarrowChannel());
  constexpr int kAgents = 30;
  for (int i = 0; i < kAgents; ++i) {
    v1::FindPathRequest query = PathRequest("plain", CellAt(0, 0), CellAt(kSide - 1, kSide - 1 - i));
    query.set_with_positions(true);
    agents.Put(static_cast<std::uint64_t>(i), query);
  }
  agents.Send();
  const auto is_dropped = [&] {
    return client::SumOf(server.Metrics(), "waystar_call_memory_refused_total") > 0;
  };
  ASSERT_TRUE(WaitUntil(is_dropped, "a state without room"));
  std::vector<bool> told(kAgents);
  for (int left = kAgents; left > 0;) {
    const std::vector<v1::AgentState> states = agents.NextStates();
    ASSERT_FALSE(states.empty());
    for (const v1::AgentState& state : states) {
      ASSERT_TRUE(state.has_answer()) << Agents::Told(state);
      left -= told[state.agent()] ? 0 : 1;
      told[state.agent()] = true;
    }
  }
}

}  // namespace
}  // namespace waystar::rpc
