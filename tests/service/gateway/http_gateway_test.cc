// The RPCs over HTTP, by clients that speak no gRPC.

#include "server/service/gateway/http_gateway.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "server/service/auth/failed_tokens.h"
#include "tests/service/auth/guarded_server.h"
#include "tests/service/gateway/http_server.h"
#include "tests/service/test_server.h"
#include "tests/service/transport/http/http_call.h"
#include "tests/service/transport/http/tls_client.h"
#include "tests/service/transport/net/tcp_client.h"
#include "tests/testing/certificates.h"
#include "tests/testing/patience.h"

namespace waystar::rpc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

HttpRequest WithToken(const HttpRequest& request, const std::string& token) {
  return WithHeader(request, "Authorization", absl::StrCat("Bearer ", token));
}

TEST(HttpGatewayTest, AnswersACall) {
  HttpServer server;
  HttpCall call(server.port(), Post("PathService/FindPath", kFind));
  EXPECT_EQ(call.code(), 200);
  EXPECT_EQ(call.Header("content-type"), "application/json");
  const auto answer = FromJson<v1::FindPathResponse>(call.Body());
  EXPECT_EQ(answer.outcome(), v1::OUTCOME_FOUND);
  EXPECT_EQ(answer.path().points_size(), 6);
  EXPECT_EQ(server.server().CountsOf("waystar.v1.PathService/FindPath").requests, 1);
}

TEST(HttpGatewayTest, TellsWhyACallFailed) {
  HttpServer server;
  HttpCall call(server.port(), Post("MapService/GetMap", R"({"map": "nowhere"})"));
  EXPECT_EQ(call.code(), 404);
  const auto status = FromJson<google::rpc::Status>(call.Body());
  EXPECT_EQ(status.code(), 5);
  EXPECT_EQ(ReasonIn(status), "MAP_NOT_FOUND");
  EXPECT_EQ(FieldIn(status), "map");
}

TEST(HttpGatewayTest, HasTheMethodsOfTheServices) {
  HttpServer server;
  for (const char* const path :
       {"//", "/waystar.v1.PathService", "/waystar.v1.PathService/Nothing",
        "/waystar.v1.PathService/FindPath/", "/waystar.v1.Nothing/FindPath",
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", "/../etc/passwd", "/%00"}) {
    HttpCall call(server.port(), {.method = "POST", .path = path});
    EXPECT_THAT(call.code(), ::testing::AnyOf(404, 400)) << path;
  }
  HttpCall health(server.port(), {.method = "POST", .path = "/grpc.health.v1.Health/Check", .body = "{}"});
  EXPECT_EQ(health.Body(), R"({"status":"SERVING"})");
  HttpCall get(server.port(), {.path = "/waystar.v1.PathService/FindPath"});
  EXPECT_EQ(get.code(), 405);
  EXPECT_EQ(get.Header("allow"), "POST, OPTIONS");
}

TEST(HttpGatewayTest, KnowsEachPathByOneSpelling) {
  HttpServer server;
  for (const char* const path : {"//waystar.v1.MapService/ListMaps",
                                 "/waystar.v1.MapService//ListMaps",
                                 "/waystar.v1.PathService/..%2Fwaystar.v1.MapService/ListMaps",
                                 "/waystar.v1.PathService/../waystar.v1.MapService/ListMaps",
                                 "/waystar.v1.PathService/%2e%2e/waystar.v1.MapService/ListMaps",
                                 "/waystar.v1.PathService/..;/waystar.v1.MapService/ListMaps",
                                 "/./waystar.v1.MapService/ListMaps",
                                 "/waystar.v1.MapService/./ListMaps",
                                 "/waystar.v1.MapService\\ListMaps",
                                 "\\waystar.v1.MapService/ListMaps",
                                 "/waystar.v1.MapService%5cListMaps",
                                 "/waystar.v1.MapService%2fListMaps",
                                 "/waystar.v1.MapService/%4cistMaps",
                                 "/waystar.v1.MapService/%4CistMaps",
                                 "/waystar.v1.MapService/%254cistMaps",
                                 "/waystar.v1.MapService/listMaps",
                                 "/waystar.v1.MapService/ListMaps%00",
                                 "/waystar.v1.MapService/ListMaps%20",
                                 "/waystar.v1.MapService/ListMaps%0d%0a",
                                 "/waystar.v1.MapService/ListMaps/",
                                 "/waystar.v1.MapService/ListMaps;a",
                                 "/waystar.v1.MapService/ListMaps/..",
                                 "/waystar%2ev1%2eMapService/ListMaps",
                                 "waystar.v1.MapService/ListMaps",
                                 "http://localhost/waystar.v1.MapService/ListMaps"}) {
    HttpCall call(server.port(), {.method = "POST", .path = path, .body = "{}"});
    EXPECT_EQ(call.code(), 404) << path;
  }
  EXPECT_EQ(HttpCall(server.port(), Post("MapService/ListMaps", "{}")).code(), 200);
}

TEST(HttpGatewayTest, AsksForTheTokenBeforeTheBody) {
  GuardedServer guarded(TokenLine("reader", "read:a*"), HttpServer::OverHttp({}));
  const int port = guarded.server().server().http_port();
  for (const char* const header : {"", "Authorization: Bearer guess\r\n"}) {
    TcpClient client(port);
    client.Send(absl::StrCat("POST /waystar.v1.MapService/GetMap HTTP/1.1\r\nHost: a\r\n", header,
                             "Content-Length: 4000000\r\n\r\n"));
    EXPECT_THAT(client.Read(12), "HTTP/1.1 401") << header;
  }
}

TEST(HttpGatewayTest, AnswersProbesWithoutATokenAsTheMetricsPortDoes) {
  GuardedServer guarded("", HttpServer::OverHttp({.metrics_listen = "127.0.0.1:0"}));
  Server& server = guarded.server().server();
  const int ports[] = {server.http_port(), server.metrics_port()};
  for (const int port : ports) {
    for (const char* const path : {"/healthz", "/readyz"}) {
      HttpCall probe(port, {.path = path});
      EXPECT_EQ(probe.code(), 200) << path;
      EXPECT_EQ(probe.Body(), "ok\n") << path;
    }
  }
  server.ReportNotServing();
  for (const int port : ports) {
    EXPECT_EQ(HttpCall(port, {.path = "/healthz"}).code(), 200);
    HttpCall probe(port, {.path = "/readyz"});
    EXPECT_EQ(probe.code(), 503);
    EXPECT_EQ(probe.Body(), "not serving\n");
  }
}

TEST(HttpGatewayTest, TurnsOutWhoeverGuessesTokens) {
  GuardedServer guarded("", HttpServer::OverHttp({}));
  int answers = 0;
  for (int i = 0; i < FailedTokens::kOfConnection + 10; ++i) {
    TcpClient client(guarded.server().server().http_port());
    client.Send(
        absl::StrCat("POST /waystar.v1.MapService/GetMap HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer guess",
                     i, "\r\nContent-Length: 0\r\n\r\n"));
    answers += absl::StartsWith(client.ReadToTheEnd(), "HTTP/1.1 401") ? 1 : 0;
  }
  EXPECT_EQ(answers, FailedTokens::kOfConnection + 1);
}

TEST(HttpGatewayTest, CountsCallsThatAreNotMade) {
  GuardedServer guarded("", HttpServer::OverHttp({}));
  const int port = guarded.server().server().http_port();
  for (const char* const token : {"guess", "another"}) {
    EXPECT_EQ(HttpCall(port, WithToken(Post("MapService/GetMap", kArena), token)).code(), 401);
  }
  HttpCall call(port, WithToken(Post("ServerService/GetMetrics", "{}"), "root"));
  const CountedCalls counts =
      CountsIn(FromJson<v1::GetMetricsResponse>(call.Body()), "waystar.v1.MapService/GetMap");
  EXPECT_EQ(counts.requests, 2);
  EXPECT_THAT(counts.failures, ElementsAre(Pair("Unauthenticated", 2)));
}

TEST(HttpGatewayStreamTest, IsLines) {
  HttpServer server;
  HttpCall call(server.port(), Post("MapService/ExportMap", kArena));
  EXPECT_EQ(call.code(), 200);
  EXPECT_EQ(call.Header("content-type"), "application/x-ndjson");
  EXPECT_EQ(ResultIn<v1::ExportMapResponse>(call.NextLine()).header().info().grid().width(), 4);
  EXPECT_THAT(ResultIn<v1::ExportMapResponse>(call.NextLine()).chunk(), HasSubstr("....\n.##.\n....\n"));
  EXPECT_EQ(ErrorIn(call.NextLine()).code(), 0);
  EXPECT_EQ(call.NextLine(), std::nullopt);
}

TEST(HttpGatewayStreamTest, IsEvents) {
  HttpServer server;
  HttpCall call(server.port(),
                WithHeader(Post("MapService/ExportMap", kArena), "Accept", "text/event-stream"));
  EXPECT_EQ(call.Header("content-type"), "text/event-stream");
  EXPECT_THAT(call.NextLine().value_or(""), StartsWith(R"(data: {"header":)"));
  EXPECT_THAT(call.NextLine().value_or(""), StartsWith(R"(data: {"chunk":)"));
  EXPECT_EQ(call.NextLine(), "event: end");
  EXPECT_EQ(call.NextLine(), "data: {}");
  EXPECT_EQ(call.NextLine(), std::nullopt);
}

TEST(HttpGatewayStreamTest, TellsOfEachMessageAtOnce) {
  HttpServer server;
  HttpCall watch(server.port(), Post("MapService/WatchMap", kArena));
  EXPECT_EQ(ResultIn<v1::WatchMapResponse>(watch.NextLine()).watching().version().revision(), 1);
  ASSERT_TRUE(server.server().client().UpdateMap(BlockRequest("arena", {CellAt(0, 1)})).ok());
  EXPECT_EQ(ResultIn<v1::WatchMapResponse>(watch.NextLine()).commit().version().revision(), 2);
}

TEST(HttpGatewayStreamTest, ThatFailsAtOnceHasTheCodeOfItsError) {
  HttpServer server;
  HttpCall call(server.port(), Post("MapService/ExportMap", R"({"map": "nowhere"})"));
  EXPECT_EQ(call.code(), 404);
  EXPECT_EQ(ReasonIn(FromJson<google::rpc::Status>(call.Body())), "MAP_NOT_FOUND");
}

TEST(HttpGatewayStreamTest, IsCancelledWhenTheClientIsGone) {
  HttpServer server({.max_watches = 1});
  {
    HttpCall first(server.port(), Post("MapService/WatchMap", kArena));
    EXPECT_EQ(first.code(), 200);
    EXPECT_EQ(HttpCall(server.port(), Post("MapService/WatchMap", kArena)).code(), 429);
  }
  EXPECT_TRUE(
      WaitUntil([&] { return HttpCall(server.port(), Post("MapService/WatchMap", kArena)).code() == 200; },
                "the place of a watch whose client is gone"));
}

TEST(HttpGatewayStreamTest, EndsWhenTheServerStops) {
  HttpServer server;
  HttpCall watch(server.port(), Post("MapService/WatchMap", kArena));
  EXPECT_TRUE(watch.NextLine().has_value());
  server.server().server().Stop(kPatience);
  EXPECT_EQ(ReasonIn(ErrorIn(watch.NextLine())), "DRAINING");
}

TEST(HttpGatewayTest, EndsItsCallsWhenItStops) {
  DirectDone open;
  std::atomic<bool> has_begun = false;
  const auto* const get_map =
      google::protobuf::DescriptorPool::generated_pool()->FindMethodByName("waystar.v1.MapService.GetMap");
  const DirectMethods methods = {
      {get_map, [&](const HttpHead& /*head*/, const grpc::ByteBuffer& /*request*/, DirectDone done) {
         open = std::move(done);
         has_begun = true;
         return [&] { std::exchange(open, nullptr)(grpc::Status::CANCELLED, grpc::ByteBuffer()); };
       }}};
  AccessControl access;
  CallStatistics statistics;
  const auto gateway =
      HttpGateway::Start({.listen = "127.0.0.1:0"}, methods, nullptr, access, statistics).value();
  TcpClient client(gateway->port());
  client.Send("POST /waystar.v1.MapService/GetMap HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}");
  ASSERT_TRUE(WaitUntil([&] { return has_begun.load(); }, "a call"));
  gateway->Stop(absl::ZeroDuration());
  EXPECT_FALSE(open) << "a call goes on after the server has stopped";
}

TEST(HttpGatewayTest, AsksForTheSameTokens) {
  GuardedServer guarded(TokenLine("reader", "read:a*"), HttpServer::OverHttp({}));
  guarded.Create("arena", {".."});
  const int port = guarded.server().server().http_port();
  const HttpRequest request = Post("MapService/GetMap", kArena);
  EXPECT_EQ(HttpCall(port, WithToken(request, "reader")).code(), 200);
  EXPECT_EQ(HttpCall(port, WithToken(Post("MapService/DeleteMap", kArena), "reader")).code(), 403);

  HttpCall missing(port, WithHeader(request, "Connection", "keep-alive"));
  EXPECT_EQ(missing.code(), 401);
  EXPECT_EQ(missing.Header("www-authenticate"), "Bearer");
  EXPECT_EQ(ReasonIn(FromJson<google::rpc::Status>(missing.Body())), "MISSING_TOKEN");
  EXPECT_TRUE(missing.IsClosed());

  const std::string log = LogOf([&] { EXPECT_EQ(HttpCall(port, WithToken(request, "guess")).code(), 401); });
  EXPECT_THAT(log, HasSubstr("event=token_refused reason=BAD_TOKEN peer=http:127.0.0.1"));
}

TEST(HttpGatewayTest, IsNotImpersonatedByClientsOfGrpc) {
  GuardedServer guarded("", HttpServer::OverHttp({}));
  waystar::BoundedContext context;
  context.AddMetadata("waystar-http-client", "http:192.0.2.1");
  v1::GetMapResponse response;
  const std::string log = LogOf([&] { guarded.maps().GetMap(&context, v1::GetMapRequest(), &response); });
  EXPECT_THAT(log, HasSubstr("peer=ipv4:127.0.0.1:"));
}

TEST(HttpGatewayTest, CountsAnAddressAsOneClient) {
  HttpServer server({.max_watches = 4});
  HttpCall first(server.port(), Post("MapService/WatchMap", kArena));
  HttpCall second(server.port(), Post("MapService/WatchMap", kArena));
  HttpCall third(server.port(), Post("MapService/WatchMap", kArena));
  EXPECT_EQ(third.code(), 200);
  EXPECT_EQ(HttpCall(server.port(), Post("MapService/WatchMap", kArena)).code(), 429);
}

TEST(HttpGatewayTest, KnowsTheSitesThatMayCall) {
  HttpServer server({.http_allow_origin = "https://game.example"});
  const HttpRequest request = Post("PathService/FindPath", kFind);
  HttpCall own(server.port(), WithHeader(request, "Origin", "https://game.example"));
  EXPECT_EQ(own.code(), 200);
  EXPECT_EQ(own.Header("access-control-allow-origin"), "https://game.example");
  EXPECT_EQ(own.Header("vary"), "Origin");

  HttpCall strange(server.port(), WithHeader(request, "Origin", "https://evil.example"));
  EXPECT_EQ(strange.code(), 403);
  EXPECT_EQ(strange.Header("access-control-allow-origin"), "");
  EXPECT_EQ(ReasonIn(FromJson<google::rpc::Status>(strange.Body())), "ORIGIN_NOT_ALLOWED");
  EXPECT_EQ(server.server().CountsOf("waystar.v1.PathService/FindPath").requests, 1);

  HttpRequest preflight{.method = "OPTIONS",
                        .path = request.path,
                        .headers = {{"Origin", "https://game.example"},
                                    {"Access-Control-Request-Method", "POST"},
                                    {"Access-Control-Request-Headers", "content-type,waystar-timeout"}}};
  HttpCall asked(server.port(), preflight);
  EXPECT_EQ(asked.code(), 204);
  EXPECT_EQ(asked.Header("access-control-allow-origin"), "https://game.example");
  EXPECT_EQ(asked.Header("access-control-allow-methods"), "POST");
  EXPECT_THAT(asked.Header("access-control-allow-headers"), HasSubstr("waystar-timeout"));
  preflight.headers["Origin"] = "https://evil.example";
  HttpCall refused(server.port(), preflight);
  EXPECT_EQ(refused.code(), 403);
  EXPECT_EQ(refused.Header("access-control-allow-origin"), "");
}

// The RPCs over HTTP with TLS.

class HttpTlsTest : public ::testing::Test, protected CertificateFiles {
 protected:
  HttpTlsTest() { Install(authority_.Issue("game.test")); }

  runtime::Options Options() const {
    return {.tls_cert = cert_.path(), .tls_key = key_.path(), .http_tls = true};
  }

  void Serve(const runtime::Options& options) {
    server_ = std::make_unique<TestServer>(HttpServer::OverHttp(options));
  }

  int port() const { return server_->server().http_port(); }
  std::string Ask(const TlsClient& client) const { return client.Ask(port(), kCall); }
  TlsClient Trusting(const Authority& authority) const { return TlsClient({.roots = authority.cert()}); }

  static constexpr char kCall[] =
      "POST /grpc.health.v1.Health/Check HTTP/1.1\r\nHost: game.test\r\nContent-Length: 2\r\n"
      "Connection: close\r\n\r\n{}";
  static constexpr char kServing[] = R"({"status":"SERVING"})";

  const Authority authority_;
  const Authority other_;
  std::unique_ptr<TestServer> server_;
};

TEST_F(HttpTlsTest, ANewCertificateHoldsFromTheNextConnectionOn) {
  Serve(Options());
  ASSERT_THAT(Ask(Trusting(authority_)), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr(kServing)));
  EXPECT_EQ(Ask(Trusting(other_)), "");
  Install(other_.Issue("game.test"));
  EXPECT_THAT(Ask(Trusting(other_)), HasSubstr(kServing));
  EXPECT_EQ(Ask(Trusting(authority_)), "");
}

TEST_F(HttpTlsTest, ABadCertificateLeavesThatInUse) {
  Serve(Options());
  const std::string log = LogOf([&] {
    cert_.Write("nonsense");
    for (int i = 0; i < 3; ++i) {
      EXPECT_THAT(Ask(Trusting(authority_)), HasSubstr(kServing));
    }
  });
  const std::size_t at = log.find("event=tls_files_refused");
  ASSERT_NE(at, std::string::npos) << log;
  EXPECT_EQ(log.find("event=tls_files_refused", at + 1), std::string::npos) << log;
}

TEST_F(HttpTlsTest, ClientsShowTheirCertificates) {
  client_ca_.Write(other_.cert());
  runtime::Options options = Options();
  options.tls_client_ca = client_ca_.path();
  Serve(options);
  const auto showing = [&](const Identity& identity) {
    return TlsClient({.roots = authority_.cert(), .cert = identity.cert, .key = identity.key});
  };
  const TlsClient known = showing(other_.Issue("game-1"));
  EXPECT_THAT(Ask(known), HasSubstr(kServing));
  EXPECT_THAT(Ask(known), HasSubstr(kServing));
  EXPECT_EQ(Ask(Trusting(authority_)), "") << "with none";
  EXPECT_EQ(Ask(showing(authority_.Issue("game-1"))), "") << "with one of another root";
  EXPECT_EQ(Ask(showing(other_.Issue("game-1", {.begin = -7200, .end = -3600}))), "")
      << "with one that is over";
  // Other roots hold from the next connection on.
  client_ca_.Write(authority_.cert());
  EXPECT_THAT(Ask(showing(authority_.Issue("game-1"))), HasSubstr(kServing));
  EXPECT_EQ(Ask(known), "");
}

TEST_F(HttpTlsTest, WithoutItHttpDoesNotLeaveTheMachine) {
  runtime::Options options{.listen = "127.0.0.1:0",
                           .workers = 1,
                           .tls_cert = cert_.path(),
                           .tls_key = key_.path(),
                           .http_listen = "0.0.0.0:0"};
  const auto refused = Server::Start(options);
  EXPECT_TRUE(absl::IsInvalidArgument(refused.status())) << refused.status();
  EXPECT_THAT(refused.status().message(), HasSubstr("--http_tls"));
  options.http_tls = true;
  const auto server = Server::Start(options);
  EXPECT_TRUE(server.ok()) << server.status();
}

}  // namespace
}  // namespace waystar::rpc
