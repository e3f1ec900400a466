// Clients that mean no good, or are broken: each is refused, and the server goes on as before.

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "client/batch.h"
#include "client/client.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/impl/codegen/client_unary_call.h"
#include "grpcpp/support/byte_buffer.h"
#include "tests/service/bounded_context.h"
#include "tests/service/test_server.h"
#include "tests/service/transport/net/tcp_client.h"
#include "tests/testing/mutated_bytes.h"
#include "tests/testing/patience.h"
#include "tests/testing/peak_memory.h"
#include "tests/testing/random.h"
#include "tests/testing/status_codes.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar {
namespace {

using ::waystar::testing::BoundedContext;
using ::waystar::testing::CallRaw;
using ::waystar::testing::CellAt;
using ::waystar::testing::ExpectReturns;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::MutatedBytes;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TakePeakMemory;
using ::waystar::testing::TcpClient;
using ::waystar::testing::TestServer;

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

TEST_F(HostileClientTest, UnknownMethodIsUnimplemented) {
  EXPECT_EQ(Call("/waystar.v1.PathService/FlyThere", "").status().code(), absl::StatusCode::kUnimplemented);
}

// Two bytes each, of which every one would become an object.
TEST_F(HostileClientTest, ListsOfEmptyItemsAreRefusedBeforeTheyAreParsed) {
  const std::vector<std::pair<std::string, std::string>> lists = {
      {"PathService/FindPaths", "queries"},        {"PathService/FindPath", "goals"},
      {"PathService/ComputeCostMatrix", "starts"}, {"PathService/CheckReachability", "pairs"},
      {"MapService/UpdateMap", "edits"},           {"MapService/CreateMap", "rows"}};
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

TEST_F(HostileClientTest, NumbersAtTheEndsOfTheirRangeAreOffTheMap) {
  constexpr int kMost = 2147483647;
  for (const int end : {kMost, -kMost - 1}) {
    EXPECT_EQ(server_.client().FindPath(PathRequest("yard", CellAt(end, end), CellAt(0, 0))).status().code(),
              absl::StatusCode::kOutOfRange);
    EXPECT_EQ(server_.client().FindPath(PathRequest("yard", CellAt(0, 0), CellAt(end, 0))).status().code(),
              absl::StatusCode::kOutOfRange);
  }
}

TEST_F(HostileClientTest, RequestsWithWrongBytesAreAnsweredOrRefused) {
  v1::FindPathRequest query = PathRequest("yard", CellAt(0, 0), CellAt(3, 2));
  query.mutable_snap()->set_radius(1.5);
  query.mutable_agent()->set_footprint(1);
  query.set_max_expansions(1000);
  query.set_path_form(v1::PATH_FORM_SMOOTHED);
  query.set_with_summary(true);
  *query.mutable_view()->mutable_overlay()->mutable_blocked()->add_cells() = CellAt(1, 1);
  v1::FindPathsRequest batch;
  batch.set_map("yard");
  client::AddEnds(query, batch);
  client::AddEnds(PathRequest("", CellAt(1, 0), CellAt(2, 2)), batch);
  v1::UpdateMapRequest update = testing::BlockRequest("yard", {CellAt(2, 1)});
  update.set_request_id("once");
  v1::Obstacle& gate = *update.add_edits()->mutable_add_obstacle();
  gate.set_id("gate");
  auto& disc = *gate.mutable_shape()->add_discs();
  disc.mutable_center()->set_x(1.5);
  disc.set_radius(0.7);
  const std::vector<std::pair<std::string, std::string>> requests = {
      {"PathService/FindPath", query.SerializeAsString()},
      {"PathService/FindPaths", batch.SerializeAsString()},
      {"MapService/UpdateMap", update.SerializeAsString()}};
  testing::Random random(20);
  for (int i = 0; i < 1500; ++i) {
    const auto& [method, bytes] = requests[static_cast<std::size_t>(i) % requests.size()];
    const absl::StatusCode code =
        Call("/waystar.v1." + method, MutatedBytes(bytes, {}, random)).status().code();
    ASSERT_THAT(code, ::testing::Not(::testing::AnyOf(absl::StatusCode::kInternal, absl::StatusCode::kUnknown,
                                                      absl::StatusCode::kUnavailable,
                                                      absl::StatusCode::kDeadlineExceeded)))
        << method << ", request " << i;
  }
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

}  // namespace
}  // namespace waystar
