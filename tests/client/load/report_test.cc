#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include "client/load/report_text.h"

namespace waystar::load {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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
  google::protobuf::Struct json;
  const auto status = google::protobuf::util::JsonStringToMessage(ReportJson(report, "unix:\"x\\y\""), &json);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const auto& fields = json.fields();
  EXPECT_EQ(fields.at("server").string_value(), "unix:\"x\\y\"");
  EXPECT_EQ(fields.at("sent").number_value(), 110);
  EXPECT_EQ(fields.at("failed").number_value(), 10);
  const auto& failure = fields.at("failures").list_value().values(0).struct_value().fields();
  EXPECT_EQ(failure.at("code").string_value(), "UNAVAILABLE");
  EXPECT_EQ(failure.at("message").string_value(), "a \"quote\" \n");
  EXPECT_EQ(fields.at("latency_nanos").struct_value().fields().at("max").number_value(), 9'000'000);
  EXPECT_TRUE(fields.at("kept_schedule").bool_value());
  EXPECT_TRUE(fields.at("server_cpu_nanos").has_null_value());
}

}  // namespace
}  // namespace waystar::load
