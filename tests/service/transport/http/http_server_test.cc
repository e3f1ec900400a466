// The HTTP server over loopback, among clients that do not keep to the rules.

#include "server/service/transport/http/http_server.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/base/mutex.h"
#include "tests/service/transport/net/tcp_client.h"
#include "tests/testing/patience.h"

namespace waystar::http {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr std::size_t kMaxBodyBytes = 10'000;
constexpr std::chrono::milliseconds kLong(600'000);

// Writes until it is told to stop, whenever there is room.
void Flood(const std::shared_ptr<Exchange>& exchange) {
  while (exchange->waiting_bytes() < kStreamRoomBytes) {
    exchange->Write(std::string(16'384, 'x'));
  }
  exchange->NotifyWhenRoom([exchange] { Flood(exchange); });
}

// Answers with what was asked. POST /hold stays without an answer, POST /late is answered at its deadline,
// and POST /flood never ends.
class Echo final : public HttpHandler {
 public:
  std::variant<HttpAcceptance, HttpAnswer> Judge(const HttpClient& client, const RequestHead& head) override {
    EXPECT_EQ(client.address.substr(0, 6), "127.0.");
    if (head.path == "/page") {
      return HttpAnswer{.content_type = "text/html", .body = "a page", .fields = {{"Bad", "a\r\nb: c"}}};
    }
    if (head.Field("Authorization") == "Bearer wrong") {
      return HttpAnswer{.code = 401};
    }
    return HttpAcceptance{.max_body_bytes = kMaxBodyBytes,
                          .is_trusted = head.Field("Authorization") == "Bearer right",
                          .identity = head.path.size()};
  }

  void Serve(HttpRequest request, std::shared_ptr<Exchange> exchange) override {
    EXPECT_EQ(request.identity, request.head.path.size());
    {
      MutexLock lock(mutex_);
      served_.push_back(absl::StrCat(request.head.method, " ", request.head.path, " ", request.body));
    }
    if (request.head.path == "/hold" || request.head.path == "/flood") {
      exchange->NotifyWhenGone([this] { gone_.Happen(); });
      if (request.head.path == "/flood") {
        exchange->BeginStream({.content_type = "text/plain"});
        Flood(exchange);
      }
      MutexLock lock(mutex_);
      held_.push_back(exchange);
      held_bodies_.push_back(std::move(request.body_share));
    } else if (request.head.path == "/late") {
      exchange->NotifyWhenLate(std::chrono::steady_clock::now() + std::chrono::milliseconds(1),
                               [exchange] { exchange->Answer({.code = 504, .body = "late"}); });
    } else if (request.head.path == "/silent") {
      exchange->BeginStream({.content_type = "text/plain", .heartbeat = "beat"});
      MutexLock lock(mutex_);
      held_.push_back(exchange);
    } else if (request.head.path == "/stream") {
      exchange->BeginStream({.content_type = "text/plain"});
      exchange->Write("one");
      exchange->Write("");
      exchange->Write("two");
      exchange->Finish();
    } else if (request.head.path != "/forget") {
      exchange->Answer({.content_type = "text/plain", .body = "<" + request.body + ">"});
    }
  }

  std::vector<std::string> served() {
    MutexLock lock(mutex_);
    return served_;
  }
  std::vector<std::shared_ptr<Exchange>> held() {
    MutexLock lock(mutex_);
    return held_;
  }
  void GiveBodiesBack() {
    MutexLock lock(mutex_);
    held_bodies_.clear();
  }
  // One client that was held is gone.
  Event& gone() { return gone_; }

 private:
  Event gone_{"a client to be gone"};
  Mutex mutex_;
  std::vector<std::string> served_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Exchange>> held_ ABSL_GUARDED_BY(mutex_);
  std::vector<BodyShare> held_bodies_ ABSL_GUARDED_BY(mutex_);
};

std::string Request(const std::string& line, const std::string& fields = "", const std::string& body = "") {
  return absl::StrCat(line, " HTTP/1.1\r\nHost: x\r\n", fields,
                      body.empty() ? "" : absl::StrCat("Content-Length: ", body.size(), "\r\n"), "\r\n",
                      body);
}

constexpr char kLast[] = "GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

class HttpServerTest : public ::testing::Test {
 protected:
  // Nothing times out by itself.
  HttpServerTest() {
    limits_.head_time = limits_.body_time = limits_.idle_time = limits_.stall_time = kLong;
    limits_.linger_time = kLong;
  }

  void Start() {
    auto server = HttpServer::Start({.listen = "127.0.0.1:0", .limits = limits_}, echo_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::string AnswerTo(const std::string& bytes) {
    TcpClient client(server_->port());
    client.Send(bytes);
    return client.ReadToTheEnd();
  }

  bool WaitForHeld(std::size_t count) {
    return WaitUntil([&] { return echo_.held().size() == count; }, "requests to be served");
  }

  HttpLimits limits_;
  Echo echo_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersPipelinedRequestsInTurn) {
  Start();
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    bytes += Request("POST /a", "", absl::StrCat("body ", i));
  }
  const std::string answers = AnswerTo(bytes + Request("GET /page") + kLast);
  EXPECT_EQ(Count(answers, "HTTP/1.1 200 OK\r\n"), 302);
  EXPECT_EQ(Count(answers, "Connection: close\r\n"), 1);
  EXPECT_LT(answers.find("<body 7>"), answers.find("<body 299>"));
  EXPECT_THAT(answers, AllOf(HasSubstr("\r\n\r\na page"), Not(HasSubstr("Bad")), EndsWith("<>")));
  EXPECT_EQ(server_->counts().requests, 302);
}

TEST_F(HttpServerTest, StreamsInChunks) {
  Start();
  EXPECT_THAT(
      AnswerTo(Request("GET /stream") + kLast),
      AllOf(HasSubstr("Transfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\nHTTP/1.1 200 OK"),
            EndsWith("<>")));
  EXPECT_THAT(AnswerTo("GET /stream HTTP/1.0\r\n\r\n"),
              AllOf(Not(HasSubstr("chunked")), EndsWith("\r\n\r\nonetwo")));
  EXPECT_THAT(AnswerTo(Request("HEAD /stream") + kLast), Not(HasSubstr("one")));
  EXPECT_THAT(AnswerTo(Request("HEAD /a") + kLast), HasSubstr("Content-Length: 2\r\n\r\nHTTP/1.1"));
}

TEST_F(HttpServerTest, RefusesATokenBeforeTheBodyIsSent) {
  Start();
  const std::string expects = "Content-Length: 5\r\nExpect: 100-continue\r\n";
  EXPECT_THAT(AnswerTo(Request("POST /a", expects + "Authorization: Bearer wrong\r\n")),
              AllOf(StartsWith("HTTP/1.1 401 "), HasSubstr("Connection: close\r\n")));
  EXPECT_THAT(echo_.served(), IsEmpty());

  TcpClient client(server_->port());
  client.Send(Request("POST /a", expects + "Connection: close\r\n"));
  const std::string go_on = "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(client.Read(go_on.size()), go_on);
  client.Send("hello");
  EXPECT_THAT(client.ReadToTheEnd(), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), EndsWith("<hello>")));
}

TEST_F(HttpServerTest, LetsAClientSendOnAfterARefusal) {
  Start();
  // More than the system holds for it.
  EXPECT_THAT(AnswerTo(Request("POST /a", "Content-Length: 6000000\r\n") + std::string(6'000'000, 'x')),
              StartsWith("HTTP/1.1 413 "));
}

TEST_F(HttpServerTest, AnswersWhileOthersSendHalfAHead) {
  limits_.max_connections = 40;
  limits_.max_network_connections = 30;
  Start();
  std::vector<std::unique_ptr<TcpClient>> slow;
  for (const char* const address : {"127.0.0.2", "127.0.0.3", "127.0.0.4"}) {
    for (int i = 0; i < 50; ++i) {
      slow.push_back(std::make_unique<TcpClient>(server_->port(), address));
      slow.back()->Send("GET /a HTTP/1.1\r\nX: ");
    }
  }
  EXPECT_THAT(AnswerTo(kLast), EndsWith("<>"));
  EXPECT_LE(server_->counts().connections, 40);
  EXPECT_GE(server_->counts().evicted, 100);
}

TEST_F(HttpServerTest, EndsNeitherCallsNorTrustedClientsToMakeRoom) {
  limits_.max_connections = 3;
  Start();
  TcpClient call(server_->port(), "127.0.0.2");
  call.Send(Request("POST /hold"));
  ASSERT_TRUE(WaitForHeld(1));
  TcpClient trusted(server_->port(), "127.0.0.2");
  trusted.Send(Request("POST /a", "Authorization: Bearer right\r\n", "b"));
  ASSERT_THAT(trusted.Read(15), StartsWith("HTTP/1.1 200 OK"));
  TcpClient stranger(server_->port(), "127.0.0.3");
  stranger.Send("GET /");
  ASSERT_TRUE(WaitUntil([&] { return server_->counts().connections == 3; }, "all connections"));
  EXPECT_THAT(AnswerTo(kLast), EndsWith("<>"));
  EXPECT_EQ(stranger.ReadToTheEnd(), "");
  EXPECT_TRUE(call.IsOpen());
  EXPECT_TRUE(trusted.IsOpen());
  EXPECT_EQ(server_->counts().evicted, 1);
}

TEST_F(HttpServerTest, RefusesWhereAllServe) {
  limits_.max_connections = 1;
  Start();
  TcpClient call(server_->port());
  call.Send(Request("POST /hold"));
  ASSERT_TRUE(WaitForHeld(1));
  EXPECT_EQ(AnswerTo(kLast), "");
  EXPECT_EQ(server_->counts().refused, 1);
}

TEST_F(HttpServerTest, MakesRoomWhereDescriptorsRunOut) {
  Start();
  std::vector<std::unique_ptr<TcpClient>> slow;
  for (int i = 0; i < 5; ++i) {
    slow.push_back(std::make_unique<TcpClient>(server_->port()));
  }
  // Once that is answered the server accepts no more, for which it takes a descriptor for a moment.
  EXPECT_THAT(AnswerTo(kLast), EndsWith("<>"));
  ASSERT_TRUE(WaitUntil([&] { return server_->counts().connections == 5; }, "the slow connections"));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  // The lowest that is free, which is the client's.
  const int last = ::dup(0);
  ::close(last);
  const rlimit full = {.rlim_cur = static_cast<rlim_t>(last) + 1, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &full), 0);
  const std::string answer = AnswerTo(kLast);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_THAT(answer, EndsWith("<>"));
  EXPECT_EQ(server_->counts().evicted, 1);
  EXPECT_EQ(slow.front()->ReadToTheEnd(), "");
}

TEST_F(HttpServerTest, EndsWhatTakesTooLong) {
  limits_.head_time = limits_.body_time = limits_.idle_time = std::chrono::milliseconds(50);
  Start();
  EXPECT_EQ(AnswerTo(""), "");
  // A client that is held up has its time as well.
  const auto gets = [&](const std::string& bytes, const std::string& first, const std::string& last) {
    return WaitUntil(
        [&] {
          const std::string answer = AnswerTo(bytes);
          return absl::StartsWith(answer, first) && absl::StrContains(answer, last);
        },
        first + last);
  };
  EXPECT_TRUE(gets("GET /", "HTTP/1.1 408 ", "408"));
  EXPECT_TRUE(gets(Request("POST /a", "Content-Length: 5\r\n") + "hell", "HTTP/1.1 408 ", "408"));
  // They are served, and wait then.
  EXPECT_TRUE(gets(Request("POST /a", "", "b"), "HTTP/1.1 200 ", "<b>"));
  EXPECT_TRUE(gets(Request("POST /a", "", "b") + "GET /", "HTTP/1.1 200 ", "HTTP/1.1 408 "));
}

TEST_F(HttpServerTest, EndsAStreamThatNobodyReads) {
  limits_.stall_time = std::chrono::milliseconds(100);
  Start();
  TcpClient deaf(server_->port());
  deaf.Send(Request("POST /flood"));
  ASSERT_TRUE(WaitForHeld(1));
  EXPECT_LT(server_->counts().waiting_bytes, kStreamRoomBytes + 20'000);
  EXPECT_TRUE(echo_.gone().Wait());
  EXPECT_TRUE(WaitUntil([&] { return server_->counts().connections == 0; }, "the end of the connection"));
  EXPECT_EQ(server_->counts().waiting_bytes, 0);
  EXPECT_EQ(server_->counts().stalled, 1);
  EXPECT_TRUE(echo_.held().front()->is_gone());
}

TEST_F(HttpServerTest, KeepsAStreamThatIsRead) {
  Start();
  TcpClient reader(server_->port());
  reader.Send(Request("POST /flood"));
  EXPECT_THAT(reader.Read(20'000'000), SizeIs(20'000'000));
  EXPECT_LT(server_->counts().waiting_bytes, kStreamRoomBytes + 20'000);
}

TEST_F(HttpServerTest, SendsHeartbeatsWhileAStreamIsSilent) {
  limits_.heartbeat_time = std::chrono::milliseconds(1);
  Start();
  TcpClient client(server_->port());
  client.Send(Request("GET /silent"));
  std::string heard;
  while (Count(heard, "\r\nbeat\r\n") < 3) {
    const std::string more = client.Read(1);
    ASSERT_FALSE(more.empty());
    heard += more;
  }
}

TEST_F(HttpServerTest, NotifiesWhenAnAnswerIsLate) {
  Start();
  const std::string answers = AnswerTo(absl::StrCat(Request("POST /late"), Request("POST /late"), kLast));
  EXPECT_EQ(Count(answers, "HTTP/1.1 504 "), 2);
  EXPECT_THAT(answers, EndsWith("\r\n\r\n<>"));
}

TEST_F(HttpServerTest, TellsOfAClientThatLeaves) {
  Start();
  {
    TcpClient client(server_->port());
    client.Send(Request("POST /hold"));
    ASSERT_TRUE(WaitForHeld(1));
    EXPECT_FALSE(echo_.gone().HasHappened());
  }
  EXPECT_TRUE(echo_.gone().Wait());
}

TEST_F(HttpServerTest, TakesAnswersFromOtherThreads) {
  Start();
  std::vector<std::unique_ptr<TcpClient>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<TcpClient>(server_->port()));
    clients.back()->Send(Request("POST /hold", "Connection: close\r\n"));
  }
  ASSERT_TRUE(WaitForHeld(20));
  std::thread other([&] {
    for (const auto& exchange : echo_.held()) {
      exchange->Answer({.body = "late"});
      exchange->Answer({.body = "again"});
    }
  });
  for (const auto& client : clients) {
    EXPECT_THAT(client->ReadToTheEnd(), EndsWith("\r\n\r\nlate"));
  }
  other.join();
}

TEST_F(HttpServerTest, AnswersWhatTheHandlerForgets) {
  Start();
  EXPECT_THAT(AnswerTo(Request("POST /forget")), StartsWith("HTTP/1.1 500 "));
}

TEST_F(HttpServerTest, BoundsWhatBodiesHold) {
  limits_.max_network_body_bytes = 15'000;
  Start();
  const std::string body(10'000, 'x');
  TcpClient client(server_->port());
  client.Send(Request("POST /hold", "", body));
  ASSERT_TRUE(WaitForHeld(1));
  EXPECT_EQ(server_->counts().body_bytes, 10'000);
  EXPECT_THAT(AnswerTo(Request("POST /a", "", body)), StartsWith("HTTP/1.1 503 "));
  echo_.GiveBodiesBack();
  EXPECT_EQ(server_->counts().body_bytes, 0);
  EXPECT_THAT(AnswerTo(Request("POST /a", "Connection: close\r\n", body)), StartsWith("HTTP/1.1 200 "));
  EXPECT_TRUE(WaitUntil([&] { return server_->counts().body_bytes == 0; }, "no bodies"));
}

TEST_F(HttpServerTest, StopsWhileConnectionsAreOpen) {
  Start();
  std::vector<std::unique_ptr<TcpClient>> clients;
  for (const std::string& bytes :
       {std::string(), std::string("GET /"), Request("POST /a", "Content-Length: 5\r\n"),
        Request("POST /hold"), Request("POST /flood"), Request("POST /a", "Content-Length: 99999\r\n")}) {
    clients.push_back(std::make_unique<TcpClient>(server_->port()));
    clients.back()->Send(bytes);
  }
  ASSERT_TRUE(WaitForHeld(2));
  ExpectReturns([&] { server_->Stop(); }, "Stop");
  EXPECT_EQ(server_->counts().connections, 0);
  EXPECT_EQ(server_->counts().waiting_bytes, 0);
  EXPECT_FALSE(TcpClient(server_->port()).is_connected());
  server_.reset();
  for (const auto& exchange : echo_.held()) {
    EXPECT_TRUE(exchange->is_gone());
    exchange->Answer({});
    exchange->Write("x");
  }
}

TEST_F(HttpServerTest, StopsWithTheLastAnswer) {
  limits_.linger_time = std::chrono::milliseconds(10);
  Start();
  TcpClient call(server_->port());
  call.Send(Request("POST /hold"));
  ASSERT_TRUE(WaitForHeld(1));
  TcpClient idle(server_->port());
  std::thread stopping([&] { server_->Stop(absl::InfiniteDuration()); });
  EXPECT_EQ(idle.ReadToTheEnd(), "");
  EXPECT_TRUE(call.IsOpen());
  echo_.held().front()->Answer({.body = "at last"});
  EXPECT_THAT(call.ReadToTheEnd(), AllOf(HasSubstr("\r\nConnection: close\r\n"), EndsWith("at last")));
  stopping.join();
}

TEST_F(HttpServerTest, SaysWhereItCannotListen) {
  Start();
  const std::string taken = absl::StrCat("127.0.0.1:", server_->port());
  EXPECT_THAT(HttpServer::Start({.listen = taken}, echo_).status().message(),
              AllOf(HasSubstr(taken + ": "), HasSubstr("in use")));
  EXPECT_EQ(HttpServer::Start({.listen = "nowhere"}, echo_).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace waystar::http
