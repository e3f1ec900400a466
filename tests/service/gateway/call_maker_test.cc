// What a call over HTTP holds while its messages become JSON, and JSON becomes its message.

#include "server/service/transport/http/call_maker.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"
#include "grpcpp/support/status.h"
#include "server/base/mutex.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"
#include "waystar/v1/map_service.pb.h"

namespace waystar::http {
namespace {

using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::size_t kBudget = 100'000'000;

// One request, and a client that reads the answer when it is asked to.
class Client {
 public:
  // It gives its call `budget` bytes.
  Client(CallMaker& maker, const std::string& method, HttpRequest request, std::size_t budget = kBudget,
         CallOptions options = {})
      : exchange_(std::make_shared<Exchange>(RequestHead{.method = "POST"}, true, is_draining_, server_bytes_,
                                             [] {})) {
    options.hold = [held = held_, budget](std::size_t bytes) {
      MutexLock lock(held->mutex);
      held->bytes.push_back(bytes);
      return bytes <= budget;
    };
    try {
      maker.Make(*google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
                     absl::StrCat("waystar.v1.MapService.", method)),
                 std::move(request), Exchange::ForHandler(exchange_), std::move(options));
    } catch (const std::bad_alloc&) {
      // As a connection does.
    }
  }
  ~Client() { exchange_->Detach(); }

  std::string ReadToTheEnd() {
    std::string answer;
    EXPECT_TRUE(WaitUntil(
        [&] {
          const bool is_complete = exchange_->state() == Exchange::State::kComplete;
          const std::string taken = exchange_->Take();
          exchange_->OnSent(taken.size());
          answer += taken;
          return is_complete && taken.empty();
        },
        "the end of an answer"));
    return answer;
  }

  // Takes the place of the connection, whose timer has run out.
  void BeLate() { exchange_->OnLate(); }

  // What its call said that it holds, one after the other.
  std::vector<std::size_t> held() const {
    MutexLock lock(held_->mutex);
    return held_->bytes;
  }
  bool HoldsAnything() const { return held_.use_count() > 1; }
  bool HoldsNothing() {
    // What waits for the client to go is let go as after an answer.
    exchange_->Detach();
    return WaitUntil([&] { return !HoldsAnything(); }, "an answer to be let go");
  }

 private:
  struct Held {
    Mutex mutex;
    std::vector<std::size_t> bytes ABSL_GUARDED_BY(mutex);
  };

  std::atomic<bool> is_draining_ = false;
  std::atomic<std::size_t> server_bytes_ = 0;
  const std::shared_ptr<Held> held_ = std::make_shared<Held>();
  const std::shared_ptr<Exchange> exchange_;
};

class CallMakerTest : public ::testing::Test {
 protected:
  CallMakerTest() { server_.Create("arena", std::vector<std::string>(200, std::string(200, '.'))); }

  static HttpRequest WithBody(const std::string& body) { return {.body = body}; }

  TestServer server_;
  CallMaker maker_{server_.NewChannel(), 1};
};

// A method of this process, which the test ends.
class DirectCallTest : public ::testing::Test {
 protected:
  CallOptions Options() {
    return {.call = [this](const grpc::ByteBuffer& /*request*/, AnswerDone done) {
      done_ = std::move(done);
      return [this] { ++cancellations_; };
    }};
  }

  void End(const grpc::Status& status, const std::string& wire) {
    const grpc::Slice slice(wire);
    std::exchange(done_, nullptr)(status, grpc::ByteBuffer(&slice, 1));
  }

  AnswerDone done_;
  int cancellations_ = 0;
  std::optional<CallMaker> maker_{std::in_place, nullptr, 1};
};

TEST_F(DirectCallTest, AnswersWithItsMessage) {
  Client client(*maker_, "GetMap", {.body = R"({"map": "arena"})"}, kBudget, Options());
  v1::GetMapResponse response;
  response.mutable_info()->set_map("arena");
  End(grpc::Status::OK, response.SerializeAsString());
  EXPECT_THAT(client.ReadToTheEnd(), HasSubstr(R"({"info":{"map":"arena"}})"));
  EXPECT_TRUE(client.HoldsNothing());
}

TEST_F(DirectCallTest, AnswersWithItsError) {
  Client client(*maker_, "GetMap", {.body = R"({"map": "arena"})"}, kBudget, Options());
  End({grpc::StatusCode::NOT_FOUND, "no such map"}, "");
  EXPECT_THAT(client.ReadToTheEnd(), StartsWith("HTTP/1.1 404"));
}

TEST_F(DirectCallTest, RefusesAnAnswerThatMayNotBeHeld) {
  Client client(*maker_, "GetMap", {.body = R"({"map": "arena"})"}, 100, Options());
  v1::GetMapResponse response;
  response.mutable_info()->set_map(std::string(200, 'a'));
  End(grpc::Status::OK, response.SerializeAsString());
  EXPECT_THAT(client.ReadToTheEnd(), StartsWith("HTTP/1.1 429"));
}

TEST_F(DirectCallTest, IsAnsweredAndCancelledAtItsDeadline) {
  Client client(*maker_, "GetMap", {.body = R"({"map": "arena"})"}, kBudget, Options());
  client.BeLate();
  EXPECT_THAT(client.ReadToTheEnd(), StartsWith("HTTP/1.1 504"));
  EXPECT_EQ(cancellations_, 1);
  End({grpc::StatusCode::CANCELLED, ""}, "");
  EXPECT_TRUE(client.HoldsNothing());
}

TEST_F(DirectCallTest, HoldsAnAnswerThatBeginsWhenItsTimeIsOver) {
  Client client(*maker_, "GetMap", {.body = R"({"map": "arena"})"}, kBudget, Options());
  End(grpc::Status::OK, "");
  client.BeLate();
  EXPECT_TRUE(client.HoldsAnything());
  EXPECT_THAT(client.ReadToTheEnd(), StartsWith("HTTP/1.1 200"));
  EXPECT_TRUE(client.HoldsNothing());
}

TEST_F(DirectCallTest, IsAnsweredAtOnceIfItCannotBegin) {
  CallOptions options = Options();
  options.call = [](const grpc::ByteBuffer& /*request*/,
                    const AnswerDone& /*done*/) -> std::function<void()> { throw std::bad_alloc(); };
  Client client(*maker_, "GetMap", {.body = R"({"map": "arena"})"}, kBudget, std::move(options));
  EXPECT_THAT(client.ReadToTheEnd(), StartsWith("HTTP/1.1 500"));
}

TEST_F(DirectCallTest, IsCancelledAndAwaitedWhenTheMakerGoes) {
  CallOptions options = Options();
  options.call = [this](const grpc::ByteBuffer& /*request*/, AnswerDone done) {
    done_ = std::move(done);
    return [this] { End({grpc::StatusCode::CANCELLED, ""}, ""); };
  };
  // The connection goes first, as when the gateway stops.
  Client(*maker_, "GetMap", {.body = R"({"map": "arena"})"}, kBudget, std::move(options));
  EXPECT_TRUE(done_);
  maker_.reset();
  EXPECT_FALSE(done_);
}

TEST_F(CallMakerTest, AnswersHoldTheirBytesFromMessageToJson) {
  Client client(maker_, "ExportMap", WithBody(R"({"map": "arena"})"));
  EXPECT_THAT(client.ReadToTheEnd(), HasSubstr(R"({"error":{}})"));
  // The message with the map's text, with its JSON, and that JSON while it waits to be sent.
  const std::vector<std::size_t> held = client.held();
  const auto message =
      std::find_if(held.begin(), held.end(), [](std::size_t bytes) { return bytes > 40'000; });
  ASSERT_GT(held.end() - message, 2);
  EXPECT_GT(message[1], message[0] + 50'000);
  EXPECT_LT(message[2], message[1] - 40'000);
  EXPECT_TRUE(client.HoldsNothing());
}

TEST_F(CallMakerTest, StreamsThatMayNotHoldAMessageEnd) {
  Client client(maker_, "ExportMap", WithBody(R"({"map": "arena"})"), 20'000);
  EXPECT_THAT(client.ReadToTheEnd(), HasSubstr(R"({"error":{"code":8,)"));
  EXPECT_THAT(client.held().back(), Gt(40'000)) << "the message was not converted";
  EXPECT_TRUE(client.HoldsNothing());
}

TEST_F(CallMakerTest, RequestsAreCountedUntilTheyAreSent) {
  const auto ledger = std::make_shared<BodyLedger>(kBudget, kBudget);
  HttpRequest request = WithBody(absl::StrCat(R"({"map": ")", std::string(100'000, 'a'), R"("})"));
  request.body_share = BodyShare(ledger, net::Network());
  ASSERT_TRUE(request.body_share.GrowTo(request.body.size()));
  Client client(maker_, "GetMap", std::move(request));
  EXPECT_THAT(client.ReadToTheEnd(), StartsWith("HTTP/1.1 4"));
  EXPECT_TRUE(WaitUntil([&] { return ledger->bytes() == 0; }, "a request to be let go"));
}

TEST_F(CallMakerTest, RequestsWhoseMessageDoesNotFitAreRefused) {
  const auto ledger = std::make_shared<BodyLedger>(150'000, 150'000);
  HttpRequest request = WithBody(absl::StrCat(R"({"map": ")", std::string(100'000, 'a'), R"("})"));
  request.body_share = BodyShare(ledger, net::Network());
  ASSERT_TRUE(request.body_share.GrowTo(request.body.size()));
  Client client(maker_, "GetMap", std::move(request));
  EXPECT_THAT(client.ReadToTheEnd(), StartsWith("HTTP/1.1 429"));
  EXPECT_TRUE(WaitUntil([&] { return ledger->bytes() == 0; }, "a request to be let go"));
}

}  // namespace
}  // namespace waystar::http
