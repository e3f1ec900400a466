// Every RPC there is, by every kind of token; and what a token that may read some maps sees of the others.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/batch.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "server/service/auth/check_access.h"
#include "tests/service/about_map.h"
#include "tests/service/auth/guarded_server.h"
#include "tests/testing/folders.h"
#include "tests/testing/patience.h"

namespace waystar::rpc {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::MethodDescriptor;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

absl::Status ToStatus(const google::rpc::Status& problem) {
  return {static_cast<absl::StatusCode>(problem.code()), problem.message()};
}

// What an answer of a stream says went wrong with what it answers.
absl::Status ProblemIn(const google::protobuf::MethodDescriptor& method, const grpc::ByteBuffer& bytes) {
  grpc::ProtoBufferReader reader(const_cast<grpc::ByteBuffer*>(&bytes));
  if (method.output_type() == v1::StreamUpdatesResponse::descriptor()) {
    v1::StreamUpdatesResponse response;
    EXPECT_TRUE(response.ParseFromZeroCopyStream(&reader));
    return ToStatus(response.problem());
  }
  if (method.output_type() == v1::StreamFindPathResponse::descriptor()) {
    v1::StreamFindPathResponse response;
    EXPECT_TRUE(response.ParseFromZeroCopyStream(&reader));
    return ToStatus(response.answers(0).problem());
  }
  if (method.output_type() == v1::StreamCheckMovesResponse::descriptor()) {
    v1::StreamCheckMovesResponse response;
    EXPECT_TRUE(response.ParseFromZeroCopyStream(&reader));
    return ToStatus(response.problem());
  }
  if (method.output_type() == v1::FollowAgentsResponse::descriptor()) {
    v1::FollowAgentsResponse response;
    EXPECT_TRUE(response.ParseFromZeroCopyStream(&reader));
    return response.states().empty() ? absl::OkStatus() : ToStatus(response.states(0).end());
  }
  return absl::OkStatus();
}

// Waits for what was started; whether it went well.
bool Await(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  EXPECT_TRUE(queue.Next(&tag, &ok));
  return ok;
}

// Returns how a call with that one request ends: for a stream that answers, the error in the first answer, or
// OK. Shows the token, unless that is empty.
absl::Status CallAny(const std::shared_ptr<grpc::Channel>& channel,
                     const google::protobuf::MethodDescriptor& method,
                     const google::protobuf::Message& request, const std::string& token) {
  grpc::GenericStub stub(channel);
  BoundedContext context;
  if (!token.empty()) {
    ShowToken(context, token);
  }
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareCall(
      &context, absl::StrCat("/", method.service()->full_name(), "/", method.name()), &queue);
  call->StartCall(nullptr);
  Await(queue);
  grpc::ByteBuffer bytes;
  bool owned = false;
  grpc::GenericSerialize<grpc::ProtoBufferWriter, google::protobuf::Message>(request, &bytes, &owned);
  call->WriteLast(bytes, grpc::WriteOptions(), nullptr);
  Await(queue);
  absl::Status problem;
  grpc::ByteBuffer answer;
  call->Read(&answer, nullptr);
  if (Await(queue) && method.server_streaming()) {
    problem = ProblemIn(method, answer);
    // Some never end.
    context.TryCancel();
  }
  grpc::Status status;
  call->Finish(&status, nullptr);
  Await(queue);
  queue.Shutdown();
  if (!problem.ok() || status.error_code() == grpc::StatusCode::CANCELLED) {
    return problem;
  }
  return client::FromGrpc(status);
}

// Of all services of the contract.
std::vector<const MethodDescriptor*> AllRpcs() {
  std::vector<const MethodDescriptor*> rpcs;
  const std::filesystem::path root = SourceFolder() / "proto";
  for (const auto& entry : std::filesystem::directory_iterator(root / "waystar" / "v1")) {
    const std::string name = std::filesystem::relative(entry.path(), root).string();
    const auto* file = google::protobuf::DescriptorPool::generated_pool()->FindFileByName(name);
    EXPECT_NE(file, nullptr) << name;
    for (int i = 0; file != nullptr && i < file->service_count(); ++i) {
      for (int j = 0; j < file->service(i)->method_count(); ++j) {
        rpcs.push_back(file->service(i)->method(j));
      }
    }
  }
  return rpcs;
}

std::unique_ptr<Message> NewRequest(const MethodDescriptor& rpc) {
  return std::unique_ptr<Message>(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(rpc.input_type())->New());
}

bool IsMapName(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_STRING &&
         (field.name() == "map" || absl::EndsWith(field.name(), "_map"));
}

// A way from a message to one of its fields.
using FieldPath = std::vector<const FieldDescriptor*>;

// To the names of maps anywhere in a message of that type.
void FindMapNames(const Descriptor& type, FieldPath& path, std::vector<FieldPath>& found) {
  constexpr std::size_t kMaxDepth = 6;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    path.push_back(&field);
    if (IsMapName(field)) {
      found.push_back(path);
    } else if (field.message_type() != nullptr && path.size() < kMaxDepth) {
      FindMapNames(*field.message_type(), path, found);
    }
    path.pop_back();
  }
}

std::vector<FieldPath> MapNamesOf(const Descriptor& type) {
  std::vector<FieldPath> found;
  FieldPath path;
  FindMapNames(type, path, found);
  return found;
}

// Names a map where the path says, and another in fields called "map" on the way there.
void NameMap(Message& message, const FieldPath& path, std::size_t depth, const std::string& map,
             const std::string& other) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  const FieldDescriptor& field = *path[depth];
  const FieldDescriptor* own = message.GetDescriptor()->FindFieldByName("map");
  if (own != nullptr && own != &field) {
    reflection.SetString(&message, own, other);
  }
  if (field.message_type() == nullptr) {
    reflection.SetString(&message, &field, map);
  } else {
    NameMap(*(field.is_repeated() ? reflection.AddMessage(&message, &field)
                                  : reflection.MutableMessage(&message, &field)),
            path, depth + 1, map, other);
  }
}

// A request about a map; an empty one if the RPC is not about any.
std::unique_ptr<Message> RequestAbout(const MethodDescriptor& rpc, const std::string& map) {
  auto request = NewRequest(rpc);
  for (const FieldPath& path : MapNamesOf(*rpc.input_type())) {
    if (path.back()->name() == "map") {
      NameMap(*request, path, 0, map, map);
      break;
    }
  }
  return request;
}

std::string NameOf(const FieldPath& path) {
  return absl::StrJoin(path, ".", [](std::string* out, const auto* field) { *out += field->name(); });
}

TEST(RpcPermissionsTest, EveryRpcHasARowAndEveryRowAnRpc) {
  absl::flat_hash_set<std::string> rows;
  for (const RpcPermission& row : RpcPermissions()) {
    EXPECT_TRUE(rows.insert(std::string(row.rpc)).second) << row.rpc << " has two rows";
  }
  absl::flat_hash_set<const Descriptor*> requests;
  for (const MethodDescriptor* rpc : AllRpcs()) {
    EXPECT_EQ(rows.erase(rpc->full_name()), 1) << rpc->full_name() << " has no row";
    EXPECT_TRUE(requests.insert(rpc->input_type()).second)
        << rpc->full_name() << " shares its request with another RPC, and so its row";
  }
  EXPECT_TRUE(rows.empty()) << *rows.begin() << " is not an RPC";
}

TEST(RpcPermissionsTest, WhatHasNoRowIsForThoseWhoMayDoEverything) {
  const RpcPermission row = PermissionOfRequest(v1::Cell::descriptor());
  EXPECT_EQ(row.scope, AccessScope::kServer);
  EXPECT_EQ(row.permission, Permission::kAdmin);
}

// Everybody that a server tells apart.
class EveryRpcTest : public ::testing::Test {
 protected:
  EveryRpcTest() { server_.Create("arena", {"....", "...."}); }

  absl::Status Call(const MethodDescriptor& rpc, const Message& request, const std::string& token) {
    return CallAny(channel_, rpc, request, token);
  }

  static bool IsDenied(const absl::Status& status) { return absl::IsPermissionDenied(status); }

  GuardedServer server_{absl::StrCat(TokenLine("reader", "read:arena"), TokenLine("updater", "update:arena"),
                                     TokenLine("admin", "admin:arena admin:open*"),
                                     TokenLine("stranger", "admin:elsewhere"))};
  std::shared_ptr<grpc::Channel> channel_ = server_.server().NewChannel();
};

TEST_F(EveryRpcTest, AsksForAToken) {
  for (const MethodDescriptor* rpc : AllRpcs()) {
    const auto request = RequestAbout(*rpc, "arena");
    const absl::Status missing = Call(*rpc, *request, "");
    EXPECT_TRUE(absl::IsUnauthenticated(missing)) << rpc->full_name() << ": " << missing;
    EXPECT_EQ(client::ReasonOf(missing), "MISSING_TOKEN") << rpc->full_name();
    const absl::Status unknown = Call(*rpc, *request, "unknown");
    EXPECT_TRUE(absl::IsUnauthenticated(unknown)) << rpc->full_name() << ": " << unknown;
    EXPECT_EQ(client::ReasonOf(unknown), "BAD_TOKEN") << rpc->full_name();
  }
}

TEST_F(EveryRpcTest, AllowsWhatItsRowSays) {
  const std::vector<std::pair<std::string, Permission>> tokens = {
      {"reader", Permission::kRead}, {"updater", Permission::kUpdate}, {"admin", Permission::kAdmin}};
  for (const MethodDescriptor* rpc : AllRpcs()) {
    const RpcPermission row = PermissionOfRequest(rpc->input_type());
    const auto request = RequestAbout(*rpc, "arena");
    for (const auto& [token, permission] : tokens) {
      const bool is_allowed = row.scope == AccessScope::kAnyToken ||
                              (row.scope == AccessScope::kMaps && permission >= row.permission);
      const absl::Status status = Call(*rpc, *request, token);
      EXPECT_EQ(IsDenied(status), !is_allowed) << rpc->full_name() << " by " << token << ": " << status;
      EXPECT_FALSE(absl::IsUnauthenticated(status)) << rpc->full_name() << ": " << status;
      // What the RPC has removed.
      if (rpc->name() == "DeleteMap" && status.ok()) {
        server_.Create("arena", {"....", "...."});
      }
    }
    EXPECT_EQ(IsDenied(Call(*rpc, *request, "stranger")), row.scope != AccessScope::kAnyToken)
        << rpc->full_name();
    EXPECT_FALSE(IsDenied(Call(*rpc, *request, "root"))) << rpc->full_name();
    if (rpc->name() == "DeleteMap") {
      server_.Create("arena", {"....", "...."});
    }
  }
}

TEST_F(EveryRpcTest, DoesNotTellWhetherThereIsSuchAMap) {
  for (const MethodDescriptor* rpc : AllRpcs()) {
    const absl::Status there = Call(*rpc, *RequestAbout(*rpc, "arena"), "stranger");
    const absl::Status not_there = Call(*rpc, *RequestAbout(*rpc, "atlas"), "stranger");
    EXPECT_EQ(there.code(), not_there.code()) << rpc->full_name();
    EXPECT_EQ(absl::StrReplaceAll(there.message(), {{"arena", "atlas"}}), not_there.message())
        << rpc->full_name();
  }
}

TEST_F(EveryRpcTest, AsksForEveryMapThatARequestNames) {
  int fields = 0;
  for (const MethodDescriptor* rpc : AllRpcs()) {
    for (const FieldPath& path : MapNamesOf(*rpc->input_type())) {
      ++fields;
      const auto secret = NewRequest(*rpc);
      NameMap(*secret, path, 0, "secret", "open");
      EXPECT_TRUE(IsDenied(Call(*rpc, *secret, "admin"))) << rpc->full_name() << " " << NameOf(path);
      const auto open = NewRequest(*rpc);
      NameMap(*open, path, 0, "open2", "open");
      EXPECT_FALSE(IsDenied(Call(*rpc, *open, "admin"))) << rpc->full_name() << " " << NameOf(path);
    }
  }
  EXPECT_GT(fields, 30);
}

class ReadableMapsTest : public ::testing::Test {
 protected:
  // The ids of all pages.
  std::vector<std::string> List(const std::string& token, int page_size) {
    std::vector<std::string> ids;
    v1::ListMapsRequest request;
    request.set_page_size(page_size);
    const client::Client client = server_.ClientOf(token);
    const Patience patience("the last page");
    do {
      const auto response = client.ListMaps(request).value();
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

  void PutPortal(const std::string& map, v1::Cell from, const std::string& to_map, v1::Cell to) {
    auto request = About<v1::UpdateMapRequest>(map);
    v1::Portal& portal = *request.add_edits()->mutable_add_portal();
    portal.set_id(absl::StrCat("to-", to_map));
    *portal.mutable_from() = from;
    portal.set_to_map(to_map);
    *portal.mutable_to() = to;
    ASSERT_TRUE(server_.ClientOf("root").UpdateMap(request).ok());
  }

  GuardedServer server_{absl::StrCat(TokenLine("even", "read:m0 read:m2 read:m4 read:m6 read:m8"),
                                     TokenLine("halls", "read:hall"), TokenLine("both", "read:*"),
                                     TokenLine("porter", "update:hall"))};
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
  const auto even = server_.ClientOf("even").GetMetrics().value();
  const auto halls = server_.ClientOf("halls").GetMetrics().value();
  const auto both = server_.ClientOf("both").GetMetrics().value();
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

  const client::Client with_both = server_.ClientOf("both");
  const client::Client with_halls = server_.ClientOf("halls");
  const v1::FindPathRequest query = PathRequest("hall", CellAt(0, 0), CellAt(2, 0));
  auto queries = About<v1::FindPathsRequest>("hall");
  client::AddEnds(query, queries);
  EXPECT_EQ(with_both.FindPath(query)->outcome(), v1::OUTCOME_FOUND);
  EXPECT_EQ(with_halls.FindPath(query)->outcome(), v1::OUTCOME_UNREACHABLE);
  EXPECT_EQ(with_both.FindPaths(queries)->results(0).answer().outcome(), v1::OUTCOME_FOUND);
  EXPECT_EQ(with_halls.FindPaths(queries)->results(0).answer().outcome(), v1::OUTCOME_UNREACHABLE);

  auto reach = About<v1::CheckReachabilityRequest>("hall");
  *reach.add_pairs()->mutable_start() = LocationAt(0, 0);
  *reach.mutable_pairs(0)->mutable_goal() = LocationAt(2, 0);
  EXPECT_TRUE(with_both.CheckReachability(reach)->reachable(0));
  EXPECT_FALSE(with_halls.CheckReachability(reach)->reachable(0));

  auto matrix = About<v1::ComputeCostMatrixRequest>("hall");
  *matrix.add_starts() = LocationAt(0, 0);
  *matrix.add_goals() = LocationAt(2, 0);
  EXPECT_NE(with_halls.ComputeCostMatrix(matrix)->costs(0), with_both.ComputeCostMatrix(matrix)->costs(0));
}

TEST_F(ReadableMapsTest, GoalsOnOthersAreNotListed) {
  server_.Create("hall", {"..."}, "castle");
  server_.Create("vault", {"..."}, "castle");
  PutPortal("hall", CellAt(2, 0), "vault", CellAt(0, 0));
  BoundedContext context;
  ShowToken(context, "both");
  const auto stream = server_.paths().FollowAgents(&context);
  v1::FollowAgentsRequest request;
  v1::FindPathRequest& query = *request.add_changes()->mutable_put();
  query = PathRequest("hall", CellAt(0, 0), CellAt(1, 0));
  query.set_goal_map("vault");
  stream->Write(request);
  v1::FollowAgentsResponse response;
  while (response.states().empty() && stream->Read(&response)) {
  }
  const auto list = [this](const std::string& token) {
    return server_.ClientOf(token).ListAgents(About<v1::ListAgentsRequest>("hall"))->agents(0);
  };
  EXPECT_EQ(list("root").client(), "both");
  EXPECT_EQ(list("root").goal_map(), "vault");
  EXPECT_TRUE(list("root").has_goal());
  EXPECT_EQ(list("porter").at().ShortDebugString(), "cell { }");
  EXPECT_EQ(list("porter").goal_map(), "");
  EXPECT_FALSE(list("porter").has_goal());
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
