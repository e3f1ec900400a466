// The metrics port among clients that are slow on purpose.

#include "server/service/metrics/metrics_server.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/service/transport/net/tcp_client.h"

namespace waystar::rpc {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::waystar::testing::TcpClient;

constexpr char kRequest[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

// Returns more than a connection holds.
std::string Books() { return absl::StrCat(std::string(2'000'000, 'x'), "\nreaders_total 7\n"); }

class MetricsServerTest : public ::testing::Test {
 protected:
  MetricsServerTest() {
    auto server = MetricsServer::Start("127.0.0.1:0", &Books);
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::string AnswerTo(const std::string& request) {
    TcpClient client(server_->port());
    client.Send(request);
    return client.ReadToTheEnd();
  }

  void ExpectScrapes() {
    EXPECT_THAT(AnswerTo(kRequest),
                AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), EndsWith("\nreaders_total 7\n")));
  }

  // Returns connections on which those bytes were sent and nothing is read.
  std::vector<std::unique_ptr<TcpClient>> Connections(int count, const std::string& bytes) {
    std::vector<std::unique_ptr<TcpClient>> clients;
    for (int i = 0; i < count; ++i) {
      clients.push_back(std::make_unique<TcpClient>(server_->port()));
      clients.back()->Send(bytes);
    }
    return clients;
  }

  std::unique_ptr<MetricsServer> server_;
};

TEST_F(MetricsServerTest, AnswersWhileOthersSendHalfARequest) {
  const auto slow = Connections(150, "GET /metrics HTTP/1.1\r\nX: ");
  ExpectScrapes();
}

TEST_F(MetricsServerTest, AnswersWhileOthersDoNotRead) {
  const auto deaf = Connections(5, kRequest);
  ExpectScrapes();
}

TEST_F(MetricsServerTest, ClosesASlowConnectionInTheEnd) {
  TcpClient silent(server_->port());
  EXPECT_EQ(silent.ReadToTheEnd(), "");
}

TEST_F(MetricsServerTest, TellsOthersWhatTheyDidWrong) {
  EXPECT_THAT(AnswerTo("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(AnswerTo("POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"),
              StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(AnswerTo("hello\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(AnswerTo(std::string(20'000, 'x')), StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(AnswerTo("GET //metrics HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(AnswerTo("GET /metrics?name=books HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(MetricsServerTest, SaysWhyItCannotListen) {
  const std::string taken = absl::StrCat("127.0.0.1:", server_->port());
  EXPECT_THAT(MetricsServer::Start(taken, &Books).status().message(),
              AllOf(HasSubstr("--metrics_listen=" + taken), HasSubstr("in use")));
}

}  // namespace
}  // namespace waystar::rpc
