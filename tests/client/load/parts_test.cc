// Histograms, schedules, files of scenarios, and reports.
#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "client/load/report_text.h"
#include "client/load/settings.h"
#include "client/load/tally.h"
#include "client/load/workload.h"

namespace waystar::load {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(HistogramTest, AgreesWithSortedSamples) {
  std::mt19937_64 random(1);
  for (const int size : {1, 2, 100, 10'000}) {
    Histogram histogram;
    std::vector<std::int64_t> samples;
    for (int i = 0; i < size; ++i) {
      const auto sample =
          static_cast<std::int64_t>(std::exp(std::uniform_real_distribution<double>(0, 40)(random)));
      samples.push_back(sample);
      histogram.Add(sample);
    }
    std::sort(samples.begin(), samples.end());
    for (const double percent : {0.01, 1.0, 50.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
      const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * size - 1e-6));
      const std::int64_t exact = samples[std::max<std::size_t>(rank, 1) - 1];
      EXPECT_GE(histogram.Percentile(percent), exact) << percent << "% of " << size;
      EXPECT_LE(histogram.Percentile(percent), exact + exact / 128) << percent << "% of " << size;
    }
    EXPECT_EQ(histogram.max(), samples.back());
    EXPECT_EQ(histogram.count(), samples.size());
  }
}

TEST(HistogramTest, SmallValuesAreExact) {
  Histogram histogram;
  for (int value = 0; value < 256; ++value) {
    histogram.Add(value);
  }
  EXPECT_EQ(histogram.Percentile(50), 127);
  EXPECT_EQ(histogram.Percentile(100), 255);
  EXPECT_DOUBLE_EQ(histogram.Mean(), 127.5);
}

TEST(HistogramTest, KeepsTheLargestAndTheSmallest) {
  Histogram histogram;
  EXPECT_EQ(histogram.Percentile(99), 0);
  EXPECT_EQ(histogram.Mean(), 0);
  histogram.Add(-5);
  histogram.Add(INT64_MAX);
  EXPECT_EQ(histogram.Percentile(50), 0);
  EXPECT_EQ(histogram.Percentile(100), INT64_MAX);
}

TEST(HistogramTest, MergesAndWeighs) {
  Histogram one;
  one.Add(10, 3);
  Histogram other;
  other.Add(1000);
  one.Merge(other);
  EXPECT_EQ(one.count(), 4);
  EXPECT_EQ(one.max(), 1000);
  EXPECT_EQ(one.Percentile(75), 10);
  EXPECT_EQ(one.Mean(), 257.5);
}

TEST(HistogramTest, OctavesCountExactly) {
  Histogram histogram;
  for (const int value : {0, 1, 2, 3, 1023, 1024, 1025, 2047, 2048}) {
    histogram.Add(value);
  }
  const auto octaves = histogram.Octaves();
  ASSERT_EQ(octaves.size(), 12);
  EXPECT_EQ(octaves[0].count, 2);
  EXPECT_EQ(octaves[1].count, 2);
  EXPECT_EQ(octaves[9].count, 1);
  EXPECT_EQ(octaves[10].from, 1024);
  EXPECT_EQ(octaves[10].count, 3);
  EXPECT_EQ(octaves[11].count, 1);
}

Time DueAfter(Schedule schedule, int times) {
  for (int i = 0; i < times; ++i) {
    schedule.Next();
  }
  return schedule.due();
}

TEST(ScheduleTest, NoRoundingAddsUp) {
  const Time begin = Clock::now();
  const Schedule schedule = Schedule::Even(begin, 3);
  EXPECT_EQ(schedule.due(), begin);
  EXPECT_EQ(DueAfter(schedule, 1) - begin, Nanos(333'333'333));
  EXPECT_EQ(DueAfter(schedule, 2) - begin, Nanos(666'666'667));
  EXPECT_EQ(DueAfter(schedule, 3'000'000) - begin, std::chrono::seconds(1'000'000));
}

TEST(ScheduleTest, LanesTakeTurns) {
  const Time begin = Clock::now();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(DueAfter(Schedule::Even(begin, 100, i % 3, 3), i / 3), DueAfter(Schedule::Even(begin, 100), i));
  }
}

TEST(ScheduleTest, RandomTimesHaveTheRateAndTheSpreadOfAPoissonProcess) {
  const Time begin = Clock::now();
  Schedule schedule = Schedule::Random(begin, 1000, 7);
  constexpr int kTimes = 100'000;
  double sum = 0;
  double squares = 0;
  Time before = begin;
  for (int i = 0; i < kTimes; ++i, schedule.Next()) {
    ASSERT_GE(schedule.due(), before);
    const double gap = std::chrono::duration<double, std::milli>(schedule.due() - before).count();
    sum += gap;
    squares += gap * gap;
    before = schedule.due();
  }
  const double mean = sum / kTimes;
  EXPECT_NEAR(mean, 1, 0.02);
  // As large as the mean: that is what tells it from even distances.
  EXPECT_NEAR(std::sqrt(squares / kTimes - mean * mean), 1, 0.03);
}

TEST(ScheduleTest, TheSameSeedGivesTheSameTimes) {
  const Time begin = Clock::now();
  EXPECT_EQ(DueAfter(Schedule::Random(begin, 10, 3), 5), DueAfter(Schedule::Random(begin, 10, 3), 5));
  EXPECT_NE(DueAfter(Schedule::Random(begin, 10, 3), 5), DueAfter(Schedule::Random(begin, 10, 4), 5));
}

// There is one file, of two scenarios, and one that is none.
absl::StatusOr<std::string> ReadFile(const std::string& name) {
  if (name == "arena.map.scen") {
    return std::string(
        "version 1\n0\tarena.map\t49\t49\t1\t11\t1\t12\t1.0\n0\tarena.map\t49\t49\t1\t13\t4\t12\t3.41\n");
  }
  if (name == "bad.scen") {
    return std::string(
        "version 1\n0\tarena.map\t49\t49\t1\t11\t1\t12\t1.0\n0\tarena.map\t49\t49\t1\tx\t1\t12\t1.0\n");
  }
  return absl::NotFoundError("No such file");
}

std::string ErrorOf(const std::string& text) {
  return std::string(ParseScenario(text, &ReadFile).status().message());
}

TEST(ScenarioFileTest, ReadsEveryKind) {
  const auto parts = ParseScenario(
      "# A mix.\n"
      "70 arena random 1000\n"
      "\n"
      "  20.5 arena pair 1,1 60,40 {\"path_form\": \"PATH_FORM_CORNERS\"}\r\n"
      "9 arena scen arena.map.scen {\"agent\": {\"profileName\": \"tank\"}}\n"
      "1 islands query {\"start\": {\"node\": \"harbour\"}, \"goals\": [{\"node\": \"#1\"}]}",
      &ReadFile);
  ASSERT_TRUE(parts.ok()) << parts.status();
  ASSERT_EQ(parts->size(), 4);
  EXPECT_EQ((*parts)[0].weight, 70);
  EXPECT_EQ((*parts)[0].random_pairs, 1000);
  EXPECT_EQ((*parts)[0].common.map(), "arena");
  EXPECT_EQ((*parts)[1].weight, 20.5);
  ASSERT_EQ((*parts)[1].queries.size(), 1);
  EXPECT_EQ((*parts)[1].queries[0].goals(0).cell().x(), 60);
  EXPECT_EQ((*parts)[1].queries[0].path_form(), v1::PATH_FORM_CORNERS);
  ASSERT_EQ((*parts)[2].queries.size(), 2);
  EXPECT_EQ((*parts)[2].queries[1].start().cell().y(), 13);
  EXPECT_EQ((*parts)[2].queries[1].goals(0).cell().x(), 4);
  EXPECT_EQ((*parts)[2].queries[1].agent().profile_name(), "tank");
  EXPECT_EQ((*parts)[3].queries[0].goals(0).node(), "#1");
  EXPECT_EQ((*parts)[3].queries[0].map(), "islands");
}

TEST(ScenarioFileTest, APairHasNoOtherGoal) {
  const auto parts = ParseScenario("1 arena pair 1,1 2,2 {\"goals\": [{\"cell\": {\"x\": 9}}]}", &ReadFile);
  ASSERT_TRUE(parts.ok()) << parts.status();
  ASSERT_EQ((*parts)[0].queries[0].goals_size(), 1);
  EXPECT_EQ((*parts)[0].queries[0].goals(0).cell().x(), 2);
}

TEST(ScenarioFileTest, NamesTheLineOfWhatIsWrong) {
  EXPECT_THAT(ErrorOf("1 arena random 5\n\n0 arena random 5"),
              StartsWith("line 3: a line begins with a weight"));
  EXPECT_THAT(ErrorOf("arena random 5"), StartsWith("line 1: a line begins with a weight"));
  EXPECT_THAT(ErrorOf("nan arena random 5"), StartsWith("line 1: a line begins with a weight"));
  EXPECT_THAT(ErrorOf("1 arena"), StartsWith("line 1: after weight and map comes"));
  EXPECT_THAT(ErrorOf("1 arena walk"), StartsWith("line 1: after weight and map comes"));
  EXPECT_THAT(ErrorOf("1 arena random"), StartsWith("line 1: random is followed by a number"));
  EXPECT_THAT(ErrorOf("1 arena random -3"), StartsWith("line 1: random is followed by a number"));
  EXPECT_THAT(ErrorOf("1 arena pair 1,1"), StartsWith("line 1: a pair is two cells"));
  EXPECT_THAT(ErrorOf("1 arena pair 1,1 2;2"), StartsWith("line 1: '2;2' is not a cell"));
  EXPECT_THAT(ErrorOf("1 arena query"), StartsWith("line 1: query is followed by the JSON"));
  EXPECT_THAT(ErrorOf("1 arena query {\"strat\": 1}"),
              StartsWith("line 1: this is not JSON of a FindPathRequest"));
  EXPECT_THAT(ErrorOf("1 arena pair 1,1 2,2 {"), StartsWith("line 1: this is not JSON of a FindPathRequest"));
  EXPECT_THAT(ErrorOf("1 arena query {\"map\": \"other\"}"), HasSubstr("the map stands at the beginning"));
}

TEST(ScenarioFileTest, NamesTheLineOfAFileOfScenarios) {
  EXPECT_THAT(ErrorOf("1 arena scen bad.scen"),
              StartsWith("line 1: bad.scen line 3: this is not a scenario"));
  EXPECT_THAT(ErrorOf("1 arena scen none.scen"), StartsWith("line 1: cannot read none.scen: No such file"));
}

TEST(ScenarioFileTest, AnEmptyFileIsWrong) {
  EXPECT_EQ(ErrorOf(""), "there is no query in it");
  EXPECT_EQ(ErrorOf("# nothing\n"), "there is no query in it");
}

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
