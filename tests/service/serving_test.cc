// The server as a whole: loading maps, health, many clients at once, stopping.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.pb.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "grpcpp/support/sync_stream.h"
#include "server/service/server.h"
#include "tests/service/about_map.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"

namespace waystar {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;

class MapsDirTest : public RestartTest {
 protected:
  MapsDirTest() { options_.data_dir.clear(); }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / "maps" / name) << text;
  }
};

TEST_F(MapsDirTest, LoadsMapAndTextFilesUnderTheirStems) {
  Write("ARENA.map", "type octile\nheight 1\nwidth 3\nmap\n..@\n");
  Write("tiny.txt", "..\n");
  Write("README.md", "not a map");
  Write("ARENA.map.scen", "not a map");
  TestServer server(options_);
  const auto listed = server.client().ListMaps({}).value();
  ASSERT_EQ(listed.maps_size(), 2);
  EXPECT_EQ(listed.maps(0).map(), "arena");
  EXPECT_EQ(listed.maps(0).grid().walkable_cells(), 2);
  EXPECT_EQ(listed.maps(1).map(), "tiny");
}

TEST_F(MapsDirTest, RefusesToStartOnABadFileAndNamesIt) {
  Write("broken.map", "type octile\nheight 2\nwidth 3\nmap\n..@\n");
  EXPECT_EQ(StartError().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(StartError().message()),
              HasSubstr("broken.map: line 5: the file ends after 1 of the 2"));
}

TEST_F(MapsDirTest, RefusesToStartOnABadOrDoubleName) {
  Write("Bad Name.txt", "..\n");
  EXPECT_THAT(std::string(StartError().message()), HasSubstr("Bad Name.txt: a map's id"));
  std::filesystem::remove(folder_ / "maps" / "Bad Name.txt");
  Write("twice.map", "type octile\nheight 1\nwidth 1\nmap\n.\n");
  Write("twice.txt", "..\n");
  EXPECT_THAT(std::string(StartError().message()), HasSubstr("twice.txt: there is a map \"twice\" already"));
}

TEST_F(MapsDirTest, BuildsLevelsForTheirAgents) {
  Write("yard.obj", "v 0 0 0\nv 0 0 20\nv 20 0 20\nv 20 0 0\nf 1 2 3 4\n");
  Write("yard.agents", "# Two sizes.\n\nagent human 0.4 1.8\nagent troll 1.5 3\n");
  TestServer server(options_);
  const v1::MeshInfo yard = InfoOf(server, "yard").mesh();
  EXPECT_EQ(yard.agent_radius(), 0.4);
  ASSERT_EQ(yard.larger_surfaces_size(), 1);
  EXPECT_EQ(yard.larger_surfaces(0).radius(), 1.5);
  Write("yard.agents", "agent human 0.4 1.8\nagent 1.5 3\n");
  EXPECT_THAT(std::string(StartError().message()),
              HasSubstr("yard.obj: agents, line 2: expected \"agent NAME"));
}

TEST_F(MapsDirTest, RefusesToStartWithoutTheFolder) {
  std::filesystem::remove_all(folder_);
  EXPECT_EQ(StartError().code(), absl::StatusCode::kNotFound);
}

TEST_F(MapsDirTest, LeavesOutDamagedFilesIfItShould) {
  Write("good.txt", "..\n..\n");
  Write("bad.txt", "..?\n");
  Write("good.map", "type octile\nheight 1\nwidth 1\nmap\n.\n");
  Write("worse name.txt", ".\n");
  options_.skip_damaged_maps = true;
  TestServer server(options_);
  const auto listed = server.client().ListMaps({}).value();
  ASSERT_EQ(listed.maps_size(), 1);
  EXPECT_EQ(listed.maps(0).map(), "good");
  EXPECT_EQ(listed.maps(0).grid().width(), 1) << "the file that comes first";
  // That there is no room for a map is not the file's fault.
  options_.max_maps = 0;
  EXPECT_EQ(StartError().code(), absl::StatusCode::kResourceExhausted);
}

TEST(ServingTest, TakenAddressIsAnError) {
  TestServer first;
  const auto second = rpc::Server::Start({.listen = first.target(), .workers = 1});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(first.target()));
}

// A service that somebody watches and that does not exist is not listed.
TEST(ServingTest, ListsTheHealthOfItsServices) {
  TestServer server;
  const auto health = grpc::health::v1::Health::NewStub(server.NewChannel());
  BoundedContext watching;
  grpc::health::v1::HealthCheckRequest unknown;
  unknown.set_service("waystar.v1.NoService");
  const auto watch = health->Watch(&watching, unknown);
  grpc::health::v1::HealthCheckResponse seen;
  ASSERT_TRUE(watch->Read(&seen));
  EXPECT_EQ(seen.status(), grpc::health::v1::HealthCheckResponse::SERVICE_UNKNOWN);

  BoundedContext listing;
  grpc::health::v1::HealthListResponse listed;
  const grpc::Status status = health->List(&listing, grpc::health::v1::HealthListRequest(), &listed);
  ASSERT_TRUE(status.ok()) << status.error_message();
  std::vector<std::string> services;
  for (const auto& [service, answer] : listed.statuses()) {
    services.push_back(service);
    EXPECT_EQ(answer.status(), grpc::health::v1::HealthCheckResponse::SERVING) << service;
  }
  EXPECT_THAT(services, UnorderedElementsAre("", "waystar.v1.MapService", "waystar.v1.PathService",
                                             "waystar.v1.PictureService", "waystar.v1.ServerService"));
  EXPECT_TRUE(server.client().CheckHealth({}).ok());
  EXPECT_EQ(server.client().CheckHealth(unknown).status().code(), absl::StatusCode::kNotFound);
}

// An export that is under way when the server is told to stop goes on to its end; new calls are refused.
TEST(ServingTest, StopFinishesCallsInFlight) {
  TestServer server(WithPatientTransfers());
  server.Create("there", {"."});
  waystar::LargeExport export_under_way(server);
  // A watch of the health service would go on for ever; it must not hold up the stop.
  const auto health = grpc::health::v1::Health::NewStub(server.NewChannel());
  BoundedContext watching;
  const auto watch = health->Watch(&watching, grpc::health::v1::HealthCheckRequest());
  grpc::health::v1::HealthCheckResponse seen;
  ASSERT_TRUE(watch->Read(&seen));
  EXPECT_EQ(seen.status(), grpc::health::v1::HealthCheckResponse::SERVING);

  std::thread stop([&] { server.server().Stop(kPatience); });
  ASSERT_TRUE(watch->Read(&seen));
  EXPECT_EQ(seen.status(), grpc::health::v1::HealthCheckResponse::NOT_SERVING);
  absl::Status refused;
  const auto is_refused = [&] {
    refused = server.client().FindPath(PathRequest("there", CellAt(0, 0), CellAt(0, 0))).status();
    return !refused.ok();
  };
  EXPECT_TRUE(WaitUntil(is_refused, "the refusal of new calls"));
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable) << refused;
  EXPECT_EQ(client::ReasonOf(refused), "DRAINING");
  const grpc::Status status = export_under_way.ReadToTheEnd();
  EXPECT_TRUE(status.ok()) << status.error_message();
  stop.join();
}

// What a server tells of its services.

using Request = grpc::reflection::v1::ServerReflectionRequest;
using Response = grpc::reflection::v1::ServerReflectionResponse;

// Of the version that is the parameter.
class ReflectionTest : public ::testing::TestWithParam<std::string> {
 protected:
  ReflectionTest()
      : channel_(server_.NewChannel()),
        method_("/grpc.reflection." + GetParam() + ".ServerReflection/ServerReflectionInfo") {}

  std::vector<Response> Ask(const std::vector<Request>& requests) {
    BoundedContext context;
    const grpc::internal::RpcMethod method(method_.c_str(), grpc::internal::RpcMethod::BIDI_STREAMING);
    const std::unique_ptr<grpc::ClientReaderWriter<Request, Response>> stream(
        grpc::internal::ClientReaderWriterFactory<Request, Response>::Create(channel_.get(), method,
                                                                             &context));
    std::vector<Response> responses;
    for (const Request& request : requests) {
      EXPECT_TRUE(stream->Write(request));
      EXPECT_TRUE(stream->Read(&responses.emplace_back()));
      EXPECT_EQ(responses.back().original_request().message_request_case(), request.message_request_case());
    }
    EXPECT_TRUE(stream->WritesDone());
    EXPECT_TRUE(stream->Finish().ok());
    return responses;
  }
  Response Ask(const Request& request) { return Ask(std::vector<Request>{request}).front(); }

  static std::vector<std::string> FilesIn(const Response& response) {
    std::vector<std::string> names;
    for (const std::string& bytes : response.file_descriptor_response().file_descriptor_proto()) {
      google::protobuf::FileDescriptorProto file;
      EXPECT_TRUE(file.ParseFromString(bytes));
      names.push_back(file.name());
    }
    return names;
  }

  TestServer server_;
  std::shared_ptr<grpc::Channel> channel_;
  const std::string method_;
};

TEST_P(ReflectionTest, ListsTheServices) {
  Request request;
  request.set_list_services("*");
  const Response response = Ask(request);
  std::vector<std::string> names;
  for (const auto& service : response.list_services_response().service()) {
    names.push_back(service.name());
  }
  EXPECT_THAT(names, ElementsAre("grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
                                 "waystar.v1.MapService", "waystar.v1.PathService",
                                 "waystar.v1.PictureService", "waystar.v1.ServerService"));
}

TEST_P(ReflectionTest, SendsAFileWithAllThatItImports) {
  Request by_symbol;
  by_symbol.set_file_containing_symbol("waystar.v1.PathService.FindPath");
  Request by_name;
  by_name.set_file_by_filename("grpc/health/v1/health.proto");
  const std::vector<Response> responses = Ask({by_symbol, by_name});
  EXPECT_THAT(FilesIn(responses[0]), IsSupersetOf({"waystar/v1/path_service.proto", "waystar/v1/types.proto",
                                                   "google/rpc/status.proto", "google/protobuf/any.proto"}));
  EXPECT_THAT(FilesIn(responses[1]), ElementsAre("grpc/health/v1/health.proto"));
}

TEST_P(ReflectionTest, AnswersWhatThereIsNotAndGoesOn) {
  std::vector<Request> requests(5);
  requests[0].set_file_by_filename("nowhere.proto");
  requests[1].set_file_containing_symbol("waystar.v1.Nothing");
  requests[2].mutable_file_containing_extension()->set_containing_type("waystar.v1.Cell");
  requests[3].set_all_extension_numbers_of_type("waystar.v1.Nothing");
  const std::vector<Response> responses = Ask(requests);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(responses[i].error_response().error_code(), 5) << i;
  }
  EXPECT_EQ(responses[4].error_response().error_code(), 3);
  Request extensions;
  extensions.set_all_extension_numbers_of_type("waystar.v1.Cell");
  EXPECT_THAT(Ask(extensions).all_extension_numbers_response().extension_number(), IsEmpty());
}

TEST_P(ReflectionTest, StreamsEndWithTheServer) {
  BoundedContext context;
  const grpc::internal::RpcMethod method(method_.c_str(), grpc::internal::RpcMethod::BIDI_STREAMING);
  const std::unique_ptr<grpc::ClientReaderWriter<Request, Response>> stream(
      grpc::internal::ClientReaderWriterFactory<Request, Response>::Create(channel_.get(), method, &context));
  Request request;
  request.set_list_services("");
  Response response;
  ASSERT_TRUE(stream->Write(request));
  ASSERT_TRUE(stream->Read(&response));
  server_.server().Stop(absl::ZeroDuration());
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_FALSE(stream->Finish().ok());
}

INSTANTIATE_TEST_SUITE_P(Versions, ReflectionTest, ::testing::Values("v1", "v1alpha"),
                         [](const auto& version) { return version.param; });

}  // namespace
}  // namespace waystar
