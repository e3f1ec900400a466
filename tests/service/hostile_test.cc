// Clients that mean no good, or are broken: each is refused, and the server goes on as before. What happens
// to connections, and what requests would take in memory.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "gmock/gmock.h"
#include "google/protobuf/arena.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "grpcpp/client_context.h"
#include "grpcpp/impl/codegen/client_unary_call.h"
#include "grpcpp/support/byte_buffer.h"
#include "server/base/error.h"
#include "server/service/call/request_parser.h"
#include "tests/service/about_map.h"
#include "tests/service/test_server.h"
#include "tests/service/transport/net/tcp_client.h"
#include "tests/testing/patience.h"
#include "tests/testing/peak_memory.h"
#include "tests/testing/status_codes.h"
#include "waystar/v1/map_service.grpc.pb.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {
namespace {

using ::testing::AnyOf;

class HostileClientTest : public ::testing::Test {
 protected:
  HostileClientTest() { server_.Create("yard", {"....", "....", "...."}); }

  // Whether the server still does what it is there for.
  void ExpectServes() {
    const auto answer = server_.client().FindPath(PathRequest("yard", CellAt(0, 0), CellAt(3, 2)));
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->outcome(), v1::OUTCOME_FOUND);
  }

  absl::StatusOr<grpc::ByteBuffer> Call(const std::string& method, const std::string& bytes) {
    return CallRaw(*channel_, method, bytes);
  }

  TestServer server_;
  const std::shared_ptr<grpc::Channel> channel_ = server_.NewChannel();
};

TEST_F(HostileClientTest, CompressedBombsAreNotInflated) {
  const std::string zeros(std::size_t{64} << 20, '\0');
  const grpc::Slice slice(zeros.data(), zeros.size(), grpc::Slice::STATIC_SLICE);
  const grpc::ByteBuffer bomb(&slice, 1);
  ExpectServes();
  TakePeakMemory();
  const std::size_t before = TakePeakMemory();
  for (const char* method : {"/waystar.v1.PathService/FindPath", "/waystar.v1.PathService/StreamFindPath",
                             "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/List"}) {
    BoundedContext context;
    context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
    grpc::ByteBuffer response;
    const grpc::internal::RpcMethod rpc(method, grpc::internal::RpcMethod::NORMAL_RPC);
    const grpc::Status status = grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
        channel_.get(), rpc, &context, bomb, &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << method;
  }
  EXPECT_LT(TakePeakMemory(), before + (std::size_t{16} << 20));
  ExpectServes();
}

TEST_F(HostileClientTest, CompressedRequestsOfAFairSizeAreSaidToBeUnsupported) {
  const auto stub = v1::PathService::NewStub(server_.NewChannel());
  for (const grpc_compression_algorithm algorithm : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    BoundedContext context;
    context.set_compression_algorithm(algorithm);
    v1::FindPathResponse response;
    const grpc::Status status =
        stub->FindPath(&context, PathRequest("yard", CellAt(0, 0), CellAt(3, 2)), &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
    EXPECT_THAT(status.error_message(), ::testing::HasSubstr("is disabled"));
  }
}

TEST_F(HostileClientTest, DeepNestingIsNoMessage) {
  // Groups in groups, of a field that there is not: tag 3 << 3 for "begin a group of field 100".
  std::string deep;
  for (int i = 0; i < 100'000; ++i) {
    deep += "\xa3\x06";
  }
  EXPECT_THAT(Call("/waystar.v1.PathService/FindPath", deep), IsRefused(kInvalid, "BAD_VALUE", ""));
  ExpectServes();
}

TEST_F(HostileClientTest, InvalidUtf8NamesTheField) {
  // Field 1 of each: the map's id.
  const std::string bad_id = "\x0a\x02\xc3\x28";
  for (const char* method : {"/waystar.v1.PathService/FindPath", "/waystar.v1.MapService/CreateMap",
                             "/waystar.v1.MapService/GetMap", "/waystar.v1.MapService/UpdateMap"}) {
    EXPECT_THAT(Call(method, bad_id), IsRefused(kInvalid, "BAD_VALUE", "map")) << method;
  }
  // query.map: fields 1 and 1.
  EXPECT_THAT(Call("/waystar.v1.PictureService/TraceSearch", "\x0a\x04\x0a\x02\xc3\x28"),
              IsRefused(kInvalid, "BAD_VALUE", "query.map"));
  // rows[0] is fine, rows[1] is not.
  EXPECT_THAT(Call("/waystar.v1.MapService/CreateMap", std::string("\x0a\x01m\x12\x01.\x12\x01\xff", 9)),
              IsRefused(kInvalid, "BAD_VALUE", "rows[1]"));
  // grid.terrains[0].symbol: fields 6, 3, 1.
  EXPECT_THAT(Call("/waystar.v1.MapService/CreateMap", "\x32\x05\x1a\x03\x0a\x01\xff"),
              IsRefused(kInvalid, "BAD_VALUE", "grid.terrains[0].symbol"));
}

TEST_F(HostileClientTest, BytesThatAreNoMessageAreSaidToBeNone) {
  const auto answer = Call("/waystar.v1.PathService/FindPath", "\x0a\xff\xff\xff\xff");
  EXPECT_THAT(answer, IsRefused(kInvalid, "BAD_VALUE", ""));
  EXPECT_THAT(std::string(answer.status().message()), ::testing::HasSubstr("waystar.v1.FindPathRequest"));
}

TEST_F(HostileClientTest, UnknownFieldsAreIgnored) {
  // map "yard", and field 1000 with some bytes.
  EXPECT_TRUE(Call("/waystar.v1.MapService/GetMap", "\x0a\x04yard\xc2\x3e\x03xyz").ok());
}

// Two bytes each, of which every one would become an object.
TEST_F(HostileClientTest, ListsOfEmptyItemsAreRefusedBeforeTheyAreParsed) {
  const std::vector<std::pair<std::string, std::string>> lists = {{"PathService/FindPaths", "queries"},
                                                                  {"PathService/FindPath", "goals"},
                                                                  {"PathService/ComputeCostMatrix", "starts"},
                                                                  {"PathService/CheckReachability", "pairs"},
                                                                  {"PathService/CheckMoves", "moves"},
                                                                  {"MapService/UpdateMap", "edits"},
                                                                  {"MapService/CreateMap", "rows"}};
  const google::protobuf::DescriptorPool& pool = *google::protobuf::DescriptorPool::generated_pool();
  for (const auto& [method, list] : lists) {
    const std::string name = "waystar.v1." + method;
    const google::protobuf::MethodDescriptor* const described =
        pool.FindMethodByName(absl::StrReplaceAll(name, {{"/", "."}}));
    ASSERT_NE(described, nullptr) << name;
    const int number = described->input_type()->FindFieldByName(list)->number();
    ASSERT_LT(number, 16);
    std::string bytes;
    while (bytes.size() < 4'000'000) {
      bytes += static_cast<char>(number << 3 | 2);
      bytes += '\0';
    }
    static_cast<void>(Call("/" + name, ""));
    TakePeakMemory();
    const std::size_t before = TakePeakMemory();
    EXPECT_THAT(Call("/" + name, bytes),
                IsRefused(absl::StatusCode::kResourceExhausted, "TOO_MANY_ITEMS", list));
    EXPECT_LT(TakePeakMemory(), before + (std::size_t{32} << 20)) << name;
  }
  ExpectServes();
}

// Connections on which nothing more ever comes.
TEST_F(HostileClientTest, HalfOpenConnectionsHoldUpNobody) {
  std::vector<TcpClient> clients;
  for (int i = 0; i < 200; ++i) {
    TcpClient& client = clients.emplace_back(server_.server().port());
    ASSERT_TRUE(client.is_connected());
    if (i % 2 == 0) {
      client.Send("PRI * HTTP/2.0\r\n");
    }
  }
  ExpectServes();
  ExpectReturns([&] { server_.server().Stop(absl::Hours(1)); }, "Stop");
}

TEST_F(HostileClientTest, ThousandsOfIdleStreamsHoldUpNobody) {
  constexpr std::size_t kStreams = 2700;
  std::vector<std::unique_ptr<v1::PathService::Stub>> stubs;
  std::vector<std::unique_ptr<BoundedContext>> contexts;
  std::vector<
      std::unique_ptr<grpc::ClientReaderWriter<v1::StreamFindPathRequest, v1::StreamFindPathResponse>>>
      streams;
  v1::StreamFindPathRequest request;
  *request.add_queries()->mutable_query() = PathRequest("yard", CellAt(0, 0), CellAt(3, 2));
  v1::StreamFindPathResponse response;
  for (std::size_t i = 0; i < kStreams; ++i) {
    // A connection may have a thousand.
    if (i % 900 == 0) {
      stubs.push_back(v1::PathService::NewStub(server_.NewChannel()));
    }
    contexts.push_back(std::make_unique<BoundedContext>());
    streams.push_back(stubs.back()->StreamFindPath(contexts.back().get()));
  }
  // The last one is answered while all others are there.
  ASSERT_TRUE(streams.back()->Write(request));
  ASSERT_TRUE(streams.back()->Read(&response));
  EXPECT_EQ(response.answers(0).answer().outcome(), v1::OUTCOME_FOUND);
  ExpectServes();
  for (std::size_t i = 0; i < kStreams; ++i) {
    contexts[i]->TryCancel();
    streams[i]->Finish();
  }
  ExpectServes();
}

// What happens to connections, over real sockets, also of strangers who speak no gRPC or not enough of it.

// Creates the map "m" on a server that ends connections early: calls that meet such an end are made again.
void CreateInTime(TestServer& server) {
  auto create = About<v1::CreateMapRequest>("m");
  create.add_rows("..");
  const auto is_created = [&] {
    const absl::Status status = server.client().CreateMap(create).status();
    return status.ok() || absl::IsAlreadyExists(status);
  };
  EXPECT_TRUE(WaitUntil(is_created, "a call that meets no end of a connection"));
}

v1::FindPathRequest Query() { return PathRequest("m", CellAt(0, 0), CellAt(1, 0)); }

bool Serves(TestServer& server) { return server.client().FindPath(Query()).ok(); }

std::unique_ptr<grpc::ClientReader<v1::WatchMapResponse>> Watch(v1::MapService::Stub& stub,
                                                                grpc::ClientContext& context) {
  auto request = About<v1::WatchMapRequest>("m");
  return stub.WatchMap(&context, request);
}

// The watches would never end by themselves.
TEST(ConnectionsTest, EndAtTheirAgeAndGrace) {
  TestServer server(
      {.max_connection_age = absl::Milliseconds(300), .max_connection_age_grace = absl::Milliseconds(300)});
  CreateInTime(server);
  const auto stub = v1::MapService::NewStub(server.NewChannel());
  const auto is_told_and_ended = [&] {
    bool has_begun = false;
    BoundedContext context;
    const auto watch = Watch(*stub, context);
    v1::WatchMapResponse event;
    while (watch->Read(&event)) {
      has_begun = true;
    }
    EXPECT_THAT(watch->Finish().error_code(),
                AnyOf(grpc::StatusCode::UNAVAILABLE, grpc::StatusCode::CANCELLED));
    return has_begun;
  };
  EXPECT_TRUE(WaitUntil(is_told_and_ended, "a watch that begins before its connection ends"));
}

TEST(ConnectionsTest, TakeOnlySoManyCallsAtATime) {
  TestServer server({.max_concurrent_streams = 1});
  server.Create("m", {".."});
  const auto channel = server.NewChannel();
  const auto maps = v1::MapService::NewStub(channel);
  const auto paths = v1::PathService::NewStub(channel);
  BoundedContext watching;
  const auto watch = Watch(*maps, watching);
  v1::WatchMapResponse event;
  ASSERT_TRUE(watch->Read(&event));

  // Waits at the client for as long as the watch is open.
  v1::FindPathResponse response;
  grpc::ClientContext waiting;
  waiting.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(50));
  EXPECT_EQ(paths->FindPath(&waiting, Query(), &response).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  watching.TryCancel();
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::CANCELLED);
  BoundedContext free;
  EXPECT_TRUE(paths->FindPath(&free, Query(), &response).ok());
  // Others have connections of their own.
  EXPECT_TRUE(Serves(server));
}

TEST(ConnectionsTest, ServeWithinALimitOfMemory) {
  TestServer server({.rpc_memory_mib = 64});
  server.Create("m", {".."});
  EXPECT_TRUE(Serves(server));
}

constexpr absl::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// Returns true if the server serves a client who was not connected yet.
bool ServesNewcomer(TestServer& server) {
  BoundedContext context;
  v1::FindPathResponse response;
  return v1::PathService::NewStub(server.NewChannel())->FindPath(&context, Query(), &response).ok();
}

std::vector<std::unique_ptr<TcpClient>> Connect(TestServer& server, int count) {
  std::vector<std::unique_ptr<TcpClient>> clients;
  for (int i = 0; i < count; ++i) {
    clients.push_back(std::make_unique<TcpClient>(server.server().port()));
  }
  return clients;
}

TEST(StrangersTest, ThoseBeyondTheLimitAreClosedAndTheOthersMakeRoomWhenTheyLeave) {
  // No stranger is to be cut for its silence while the others are counted.
  TestServer server({.max_connections = 30, .max_address_connections = 20, .handshake_timeout = kPatience});
  server.Create("m", {".."});
  auto strangers = Connect(server, 50);
  const auto open = [&] {
    return std::count_if(strangers.begin(), strangers.end(), [](const auto& each) { return each->IsOpen(); });
  };
  EXPECT_TRUE(WaitUntil([&] { return open() == 19; }, "the end of connections beyond the limit"));
  EXPECT_TRUE(Serves(server));
  EXPECT_FALSE(ServesNewcomer(server));
  EXPECT_EQ(open(), 19);
  EXPECT_EQ(client::SumOf(server.Metrics(), "waystar_connections"), 20);
  strangers.clear();
  EXPECT_TRUE(WaitUntil([&] { return ServesNewcomer(server); }, "a place for a newcomer"));
}

TEST(StrangersTest, ThoseWhoDoNotSayWhatTheySpeakAreCut) {
  TestServer server({.handshake_timeout = absl::Milliseconds(200)});
  CreateInTime(server);
  for (const absl::string_view sent : {absl::string_view(), kPreface.substr(0, 10), kPreface}) {
    TcpClient stranger(server.server().port());
    stranger.Send(sent);
    stranger.ReadToTheEnd();
    EXPECT_FALSE(stranger.IsOpen());
  }
  EXPECT_TRUE(Serves(server));
}

// What requests would take in memory, told from their bytes.

constexpr std::size_t kUnbounded = std::size_t{1} << 40;

// In pieces, as messages come from the network.
absl::StatusOr<std::size_t> Weigh(const std::string& bytes, const google::protobuf::Descriptor& type,
                                  std::size_t most = kUnbounded) {
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()), 7);
  return WeighRequest(stream, type, most);
}

template <typename Message>
std::size_t MemoryOf(const std::string& bytes) {
  google::protobuf::Arena arena;
  auto& message = *Message::default_instance().New(&arena);
  static_cast<void>(message.ParseFromString(bytes));
  return arena.SpaceUsed();
}

std::string Times(int count, const std::string& bytes) {
  std::string all;
  for (int i = 0; i < count; ++i) {
    all += bytes;
  }
  return all;
}

// The estimate bounds what is taken, and is at most four times as much.
template <typename Message>
void ExpectWeighsRight(const std::string& bytes) {
  const auto weight = Weigh(bytes, *Message::descriptor()).value();
  const std::size_t memory = MemoryOf<Message>(bytes);
  EXPECT_GE(weight + bytes.size() + 4096, memory);
  EXPECT_LE(weight, 4 * memory);
}

TEST(RequestWeightTest, IsThatOfWhatIsParsed) {
  constexpr int kMany = 20'000;
  v1::UpdateMapRequest update;
  v1::FindPathsRequest batch;
  v1::CreateMapRequest create;
  for (int i = 0; i < kMany; ++i) {
    auto& cells = *update.add_edits()->mutable_block();
    cells.add_cells()->set_x(i);
    auto& query = *batch.add_queries();
    query.mutable_start()->mutable_cell()->set_x(i);
    query.add_goals()->mutable_cell()->set_y(i);
    query.set_goal_map("a name that is longer than the others");
    create.add_rows(std::string(static_cast<std::size_t>(i % 40), '.'));
  }
  ExpectWeighsRight<v1::UpdateMapRequest>(update.SerializeAsString());
  ExpectWeighsRight<v1::FindPathsRequest>(batch.SerializeAsString());
  ExpectWeighsRight<v1::CreateMapRequest>(create.SerializeAsString());
}

TEST(RequestWeightTest, IsThatOfEmptyMessages) {
  // Two bytes each: the tag of a field and the length 0.
  ExpectWeighsRight<v1::FindPathsRequest>(Times(100'000, std::string("\x2a\0", 2)));
  ExpectWeighsRight<v1::CreateMapRequest>(Times(100'000, std::string("\x12\0", 2)));
}

TEST(RequestWeightTest, TellsTheFieldThatIsTooMuch) {
  auto goals = About<v1::FindPathRequest>("m");
  for (int i = 0; i < 100'000; ++i) {
    goals.add_goals();
  }
  const absl::Status refused =
      Weigh(goals.SerializeAsString(), *v1::FindPathRequest::descriptor(), 1 << 20).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrorReasonOf(refused), "TOO_MANY_ITEMS");
  EXPECT_EQ(ErrorFieldOf(refused), "goals");
}

TEST(RequestWeightTest, CountsWhatTheContractDoesNotHave) {
  // Fields of the number 100: a number, some bytes, and groups with a number in each.
  for (const std::string& unknown :
       {std::string("\xa0\x06\x01"), std::string("\xa2\x06\x00", 3), std::string("\xa3\x06\x08\x01\xa4\x06"),
        // And the field 1, a string, as a number.
        std::string("\x08\x01")}) {
    EXPECT_FALSE(Weigh(Times(100'000, unknown), *v1::FindPathRequest::descriptor(), 3'000'000).ok());
  }
}

TEST(RequestWeightTest, EndsWhereBytesAreNoMessage) {
  for (const std::string& bytes :
       {std::string("\x0a\xff\xff\xff\xff\x0f"), std::string("\x0a\x05m"), std::string("\x00\x00", 2),
        std::string("\x0c"), std::string("\x0f"), std::string("\x1a\x05\x0a\x08"), Times(1000, "\xa3\x06")}) {
    EXPECT_TRUE(Weigh(bytes, *v1::FindPathRequest::descriptor()).ok());
  }
}

}  // namespace
}  // namespace waystar::rpc
