#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/client.h"
#include "tests/client/fake_server.h"
#include "tests/testing/patience.h"

namespace waystar::client {
namespace {

using ::waystar::testing::FakeServer;
using ::waystar::testing::kPatience;
using ::waystar::testing::Refusal;

class TraceTest : public ::testing::Test {
 protected:
  absl::StatusOr<v1::TraceSearchResult> Trace(const v1::TraceSearchRequest& request = {}) {
    Options options;
    options.target = server_.target();
    options.transfer_timeout = kPatience;
    return Client(options).TraceSearch(
        request, [this](const v1::SearchEvent& event) { absl::StrAppend(&seen_, event.cell().x(), " "); });
  }

  FakeServer server_;
  std::string seen_;
};

TEST_F(TraceTest, HandsOverEventsInOrderAndReturnsTheResult) {
  server_.trace_search = [](auto&, const v1::TraceSearchRequest& request,
                            std::vector<v1::TraceSearchResponse>& messages) {
    messages.resize(3);
    messages[0].add_events()->mutable_cell()->set_x(1);
    messages[0].add_events()->mutable_cell()->set_x(2);
    messages[1].add_events()->mutable_cell()->set_x(3);
    messages[2].mutable_result()->mutable_answer()->set_cost(request.max_events());
    return grpc::Status::OK;
  };
  v1::TraceSearchRequest request;
  request.set_max_events(5);
  const auto result = Trace(request);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(seen_, "1 2 3 ");
  EXPECT_EQ(result->answer().cost(), 5);
}

TEST_F(TraceTest, ATraceWithoutAResultIsAnError) {
  server_.trace_search = [](auto&, const auto&, std::vector<v1::TraceSearchResponse>& messages) {
    messages.emplace_back().add_events();
    return grpc::Status::OK;
  };
  EXPECT_TRUE(absl::IsDataLoss(Trace().status()));
}

TEST_F(TraceTest, ARefusalHasItsReasonAndField) {
  server_.trace_search = [](auto&, const auto&, auto&) {
    return Refusal(grpc::StatusCode::NOT_FOUND, "no map 'arena'", "MAP_NOT_FOUND", "query.map");
  };
  const auto result = Trace();
  EXPECT_EQ(ReasonOf(result.status()), "MAP_NOT_FOUND");
  EXPECT_EQ(FieldOf(result.status()), "query.map");
}

}  // namespace
}  // namespace waystar::client
