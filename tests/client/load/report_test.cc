#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include "client/load/report_text.h"

namespace waystar::load {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Report Example() {
  Report report;
  report.settings.rate = 100;
  report.sent = 110;
  report.tally.answered = 100;
  report.tally.without_path = 3;
  report.tally.AddFailure(absl::UnavailableError("a \"quote\" \n"), 10);
  report.tally.latency.Add(1'000'000, 99);
  report.tally.latency.Add(9'000'000);
  report.seconds = 2;
  report.lag.Add(1000, 100);
  return report;
}

TEST(ReportTextTest, TellsWhatBecameOfTheQueries) {
  const std::string text = ReportText(Example(), "localhost:1");
  EXPECT_THAT(
      text,
      HasSubstr("localhost:1: open loop, 100 FindPath calls a second, 1 connection, for 10 s after 1 s\n"));
  EXPECT_THAT(text, HasSubstr("110 sent, 100 answered (3 without a path), 10 failed\n"));
  EXPECT_THAT(text, HasSubstr("10 UNAVAILABLE: a \"quote\""));
  EXPECT_THAT(text, HasSubstr("50.0 answers a second"));
  EXPECT_THAT(text, HasSubstr("max       9.000 ms"));
  EXPECT_THAT(text, HasSubstr("processor time unknown"));
  EXPECT_THAT(text, Not(HasSubstr("did not keep its schedule")));
}

TEST(ReportTextTest, SaysWhenTheSenderLagged) {
  Report report = Example();
  report.lag.Add(2'000'000, 10);
  EXPECT_THAT(ReportText(report, "x"), HasSubstr("did not keep its schedule"));
  report = Example();
  report.messages_unsent = 1;
  EXPECT_THAT(ReportText(report, "x"), HasSubstr("messages due and not sent: 1\n"));
  EXPECT_THAT(ReportText(report, "x"), HasSubstr("did not keep its schedule"));
}

TEST(ReportJsonTest, IsJson) {
  Report report = Example();
  report.updates.emplace();
  const std::string text = ReportJson(report, "unix:\"x\\y\"");
  google::protobuf::Struct json;
  const auto status = google::protobuf::util::JsonStringToMessage(text, &json);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_THAT(text, StartsWith(R"({"server":"unix:\"x\\y\"","mode":"unary",)"));
  EXPECT_THAT(text, HasSubstr(R"("loop":"open","messages_per_second":100,"arrivals":"even",)"));
  EXPECT_THAT(text, HasSubstr(R"("sent":110,"answered":100,"without_path":3,"failed":10,)"));
  EXPECT_THAT(text,
              HasSubstr(R"("code":"UNAVAILABLE","reason":"","count":10,"message":"a \"quote\" \u000a")"));
  EXPECT_THAT(text, HasSubstr(R"("latency_nanos":{"mean":1080000,)"));
  EXPECT_THAT(text, HasSubstr(R"("max":9000000})"));
  EXPECT_THAT(text, HasSubstr(R"("kept_schedule":true,"server_cpu_nanos":null,"updates":{"sent":0,)"));
}

}  // namespace
}  // namespace waystar::load
