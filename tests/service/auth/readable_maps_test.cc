// What a token that may read some maps sees of the others.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/batch.h"
#include "gmock/gmock.h"
#include "tests/service/auth/guarded_server.h"
#include "tests/service/bounded_context.h"
#include "tests/testing/patience.h"

namespace waystar::rpc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::waystar::testing::BoundedContext;
using ::waystar::testing::CellAt;
using ::waystar::testing::GuardedServer;
using ::waystar::testing::LocationAt;
using ::waystar::testing::PathRequest;
using ::waystar::testing::Patience;
using ::waystar::testing::ShowToken;
using ::waystar::testing::TokenLine;

class ReadableMapsTest : public ::testing::Test {
 protected:
  // The ids of all pages.
  std::vector<std::string> List(const std::string& token, int page_size) {
    std::vector<std::string> ids;
    v1::ListMapsRequest request;
    request.set_page_size(page_size);
    const Patience patience("the last page");
    do {
      BoundedContext context;
      ShowToken(context, token);
      v1::ListMapsResponse response;
      const grpc::Status status = server_.maps().ListMaps(&context, request, &response);
      EXPECT_TRUE(status.ok()) << status.error_message();
      EXPECT_LE(response.maps_size(), page_size);
      // A page that is not the last is full.
      EXPECT_TRUE(response.maps_size() == page_size || response.next_page_token().empty());
      for (const v1::MapInfo& map : response.maps()) {
        ids.push_back(map.map());
      }
      request.set_page_token(response.next_page_token());
    } while (!request.page_token().empty() && patience.Lasts());
    return ids;
  }

  // Of a call that shows the token.
  template <typename Stub, typename Request, typename Response>
  grpc::Status Call(Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                    const std::string& token, const Request& request, Response& response) {
    BoundedContext context;
    ShowToken(context, token);
    return (stub.*method)(&context, request, &response);
  }

  // Returns the answer to a call that shows the token.
  template <typename Request, typename Response>
  Response Ask(grpc::Status (v1::PathService::Stub::*method)(grpc::ClientContext*, const Request&, Response*),
               const std::string& token, const Request& request) {
    Response response;
    const grpc::Status status = Call(server_.paths(), method, token, request, response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  void PutPortal(const std::string& map, v1::Cell from, const std::string& to_map, v1::Cell to) {
    v1::UpdateMapRequest request;
    request.set_map(map);
    v1::Portal& portal = *request.add_edits()->mutable_add_portal();
    portal.set_id(absl::StrCat("to-", to_map));
    *portal.mutable_from() = from;
    portal.set_to_map(to_map);
    *portal.mutable_to() = to;
    v1::UpdateMapResponse response;
    const grpc::Status status =
        Call(server_.maps(), &v1::MapService::Stub::UpdateMap, "root", request, response);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }

  GuardedServer server_{absl::StrCat(TokenLine("even", "read:m0 read:m2 read:m4 read:m6 read:m8"),
                                     TokenLine("halls", "read:hall"), TokenLine("both", "read:*"))};
};

TEST_F(ReadableMapsTest, ListMapsShowsThoseAloneOnFullPages) {
  for (int i = 0; i < 10; ++i) {
    server_.Create(absl::StrCat("m", i), {"."});
  }
  for (const int page : {1, 2, 3, 100}) {
    EXPECT_THAT(List("even", page), ElementsAre("m0", "m2", "m4", "m6", "m8")) << page;
    EXPECT_EQ(List("both", page).size(), 10) << page;
    EXPECT_EQ(List("halls", page).size(), 0) << page;
  }
}

TEST_F(ReadableMapsTest, MetricsAreOfThoseAlone) {
  for (int i = 0; i < 4; ++i) {
    server_.Create(absl::StrCat("m", i), {"."});
  }
  const auto stub = v1::ServerService::NewStub(server_.server().NewChannel());
  const auto metrics_for = [&](const std::string& token) {
    v1::GetMetricsResponse metrics;
    EXPECT_TRUE(Call(*stub, &v1::ServerService::Stub::GetMetrics, token, {}, metrics).ok());
    return metrics;
  };
  const v1::GetMetricsResponse even = metrics_for("even");
  const v1::GetMetricsResponse halls = metrics_for("halls");
  const v1::GetMetricsResponse both = metrics_for("both");
  EXPECT_THAT(even.ShortDebugString(), AllOf(HasSubstr("m0"), Not(HasSubstr("m1"))));
  EXPECT_THAT(halls.ShortDebugString(), Not(HasSubstr("m0")));
  EXPECT_THAT(client::MetricsOf(even, "waystar_map_bytes"), SizeIs(2));
  EXPECT_THAT(client::MetricsOf(both, "waystar_map_bytes"), SizeIs(4));
  EXPECT_EQ(client::SumOf(even, "waystar_maps"), 2);
  EXPECT_EQ(client::SumOf(halls, "waystar_maps"), 0);
  EXPECT_EQ(client::SumOf(even, "waystar_maps_bytes"), client::SumOf(even, "waystar_map_bytes"));
  EXPECT_EQ(client::SumOf(halls, "waystar_maps_bytes"), 0);
  // Other metrics are the same for all.
  EXPECT_EQ(client::SumOf(halls, "waystar_memory_bytes"), client::SumOf(both, "waystar_memory_bytes"));
  EXPECT_EQ(halls.families_size() + 3, both.families_size());
}

// The two sides of the hall are linked by way of the vault.
TEST_F(ReadableMapsTest, PathsDoNotEnterOthers) {
  server_.Create("hall", {".#."}, "castle");
  server_.Create("vault", {".."}, "castle");
  PutPortal("hall", CellAt(0, 0), "vault", CellAt(0, 0));
  PutPortal("vault", CellAt(1, 0), "hall", CellAt(2, 0));

  using Paths = v1::PathService::Stub;
  const v1::FindPathRequest query = PathRequest("hall", CellAt(0, 0), CellAt(2, 0));
  v1::FindPathsRequest queries;
  queries.set_map("hall");
  client::AddEnds(query, queries);
  for (const auto& [token, outcome] :
       {std::pair{"both", v1::OUTCOME_FOUND}, std::pair{"halls", v1::OUTCOME_UNREACHABLE}}) {
    EXPECT_EQ(Ask(&Paths::FindPath, token, query).outcome(), outcome) << token;
    const v1::FindPathsResponse answers = Ask(&Paths::FindPaths, token, queries);
    EXPECT_EQ(answers.results(0).answer().outcome(), outcome) << token;
  }

  v1::CheckReachabilityRequest reach;
  reach.set_map("hall");
  *reach.add_pairs()->mutable_start() = LocationAt(0, 0);
  *reach.mutable_pairs(0)->mutable_goal() = LocationAt(2, 0);
  EXPECT_TRUE(Ask(&Paths::CheckReachability, "both", reach).reachable(0));
  EXPECT_FALSE(Ask(&Paths::CheckReachability, "halls", reach).reachable(0));

  v1::ComputeCostMatrixRequest matrix;
  matrix.set_map("hall");
  *matrix.add_starts() = LocationAt(0, 0);
  *matrix.add_goals() = LocationAt(2, 0);
  EXPECT_NE(Ask(&Paths::ComputeCostMatrix, "halls", matrix).costs(0),
            Ask(&Paths::ComputeCostMatrix, "both", matrix).costs(0));
}

TEST_F(ReadableMapsTest, StreamedQueriesAreRefusedOneByOne) {
  server_.Create("hall", {"..."});
  server_.Create("vault", {"..."});
  BoundedContext context;
  ShowToken(context, "halls");
  const auto stream = server_.paths().StreamFindPath(&context);
  v1::StreamFindPathRequest request;
  for (const char* map : {"hall", "vault", "nowhere"}) {
    request.add_queries()->set_id(static_cast<std::uint64_t>(request.queries_size()));
    *request.mutable_queries(request.queries_size() - 1)->mutable_query() =
        PathRequest(map, CellAt(0, 0), CellAt(2, 0));
  }
  stream->Write(request);
  stream->WritesDone();
  std::map<std::uint64_t, int> codes;
  v1::StreamFindPathResponse response;
  while (stream->Read(&response)) {
    for (const v1::StreamedAnswer& answer : response.answers()) {
      codes[answer.id()] = answer.problem().code();
    }
  }
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_THAT(codes, ElementsAre(std::pair{1, 0}, std::pair{2, 7}, std::pair{3, 7}));
}

}  // namespace
}  // namespace waystar::rpc
