// What a server tells of its services.

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.pb.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "grpcpp/support/sync_stream.h"
#include "tests/service/bounded_context.h"
#include "tests/service/test_server.h"

namespace waystar {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::waystar::testing::BoundedContext;
using ::waystar::testing::TestServer;
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
