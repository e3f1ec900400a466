// What calls leave in the log, and what they get back for their request ids.

#include "server/service/metrics/call_interceptor.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"
#include "tests/service/bounded_context.h"
#include "tests/service/captured_log.h"
#include "tests/service/test_server.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::waystar::testing::BoundedContext;
using ::waystar::testing::CellAt;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;

using Metadata = std::vector<std::pair<std::string, std::string>>;

constexpr char kTraceParent[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

// Calls FindPath, and returns what the server sent back as the request's id; "" if nothing.
std::string IdSentBack(v1::PathService::Stub& stub, const Metadata& metadata) {
  BoundedContext context;
  for (const auto& [key, value] : metadata) {
    context.AddMetadata(key, value);
  }
  v1::FindPathResponse response;
  static_cast<void>(stub.FindPath(&context, PathRequest("m", CellAt(0, 0), CellAt(1, 0)), &response));
  const auto& sent = context.GetServerInitialMetadata();
  const auto found = sent.find("x-request-id");
  return found == sent.end() ? "" : std::string(found->second.data(), found->second.size());
}

// A service that fails as the test says.
class FailingServer {
 public:
  explicit FailingServer(grpc::Status status) : service_(std::move(status)) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service_);
    std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
    interceptors.push_back(rpc::MakeCallInterceptors(nullptr));
    builder.experimental().SetInterceptorCreators(std::move(interceptors));
    server_ = builder.BuildAndStart();
    stub_ = v1::PathService::NewStub(
        grpc::CreateChannel(absl::StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials()));
  }

  // What is written to the log meanwhile.
  std::string LogOf(const Metadata& metadata) {
    return testing::LogOf([&] { IdSentBack(*stub_, metadata); });
  }

 private:
  class Service final : public v1::PathService::CallbackService {
   public:
    explicit Service(grpc::Status status) : status_(std::move(status)) {}

    grpc::ServerUnaryReactor* FindPath(grpc::CallbackServerContext* context,
                                       const v1::FindPathRequest* /*request*/,
                                       v1::FindPathResponse* /*response*/) override {
      grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
      reactor->Finish(status_);
      return reactor;
    }

   private:
    const grpc::Status status_;
  };

  Service service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::PathService::Stub> stub_;
};

TEST(CallLogTest, FaultsOfTheServerAreWrittenDown) {
  FailingServer server({grpc::StatusCode::INTERNAL, "it broke\nlevel=info"});
  const std::string log = server.LogOf({{"x-request-id", "order-66"}, {"traceparent", kTraceParent}});
  EXPECT_THAT(log, HasSubstr("level=error event=call_failed method=waystar.v1.PathService/FindPath code=13 "
                             "error=\"it broke\\nlevel=info\" peer="));
  EXPECT_THAT(log, HasSubstr("request_id=order-66\n"));
}

TEST(CallLogTest, NamesTheTraceOrMakesUpAnId) {
  FailingServer server({grpc::StatusCode::UNKNOWN, ""});
  EXPECT_THAT(server.LogOf({{"traceparent", kTraceParent}}),
              HasSubstr("request_id=0af7651916cd43dd8448eb211c80319c\n"));
  // Only then is the call looked at, unless it is counted.
  EXPECT_THAT(server.LogOf({}), IsEmpty());
  const std::string made_up = "request_id=local-[0-9a-f]+\n";
  // Too long, of other characters, no trace, and no id at all.
  EXPECT_THAT(server.LogOf({{"x-request-id", std::string(129, 'a')}}), ContainsRegex(made_up));
  EXPECT_THAT(server.LogOf({{"x-request-id", "a b"}}), ContainsRegex(made_up));
  EXPECT_THAT(server.LogOf({{"traceparent", "00-00000000000000000000000000000000-b7ad6b7169203331-01"}}),
              ContainsRegex(made_up));
  EXPECT_THAT(server.LogOf({{"traceparent", "00-0af7651916cd43dd8448eb211c80319"}}), ContainsRegex(made_up));
}

TEST(CallLogTest, RefusalsAreNotWrittenDown) {
  FailingServer server({grpc::StatusCode::RESOURCE_EXHAUSTED, "too much"});
  EXPECT_THAT(server.LogOf({}), IsEmpty());
}

TEST(RequestIdTest, IsSentBackToWhoGaveOne) {
  TestServer server;
  server.Create("m", {".."});
  const auto stub = v1::PathService::NewStub(server.NewChannel());
  EXPECT_EQ(IdSentBack(*stub, {{"x-request-id", "order-66"}}), "order-66");
  EXPECT_EQ(IdSentBack(*stub, {{"x-request-id", std::string(128, 'a')}}), std::string(128, 'a'));
  EXPECT_EQ(IdSentBack(*stub, {}), "");
  EXPECT_EQ(IdSentBack(*stub, {{"traceparent", kTraceParent}}), "");
  EXPECT_EQ(IdSentBack(*stub, {{"x-request-id", "a b"}}), "");
  EXPECT_EQ(IdSentBack(*stub, {{"x-request-id", std::string(129, 'a')}}), "");
}

}  // namespace
}  // namespace waystar
