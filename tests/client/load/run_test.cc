// Short loads on a real server of this process.
#include "client/load/run.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/load/report_text.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"

namespace waystar::load {
namespace {

class RunTest : public ::testing::Test {
 protected:
  RunTest() {
    v1::CreateMapRequest create;
    create.set_map("field");
    create.mutable_blank()->set_width(32);
    create.mutable_blank()->set_height(32);
    EXPECT_TRUE(server_.client().CreateMap(create).ok());
    // The first messages count, so that there are some however slow the machine is.
    settings_.warm_up = Nanos(0);
    settings_.duration = std::chrono::milliseconds(200);
    settings_.deadline = absl::ToChronoNanoseconds(kPatience);
  }

  Report RunLoad(const std::string& scenario = "1 field random 50") {
    auto parts = ParseScenario(scenario, [](const std::string&) { return absl::NotFoundError("none"); });
    EXPECT_TRUE(parts.ok()) << parts.status();
    const auto workload =
        Workload::Make(*std::move(parts), server_.client(), 7, settings_.updates_per_second > 0);
    EXPECT_TRUE(workload.ok()) << workload.status();
    auto report = load::Run(
        settings_, {.target = server_.target()}, *workload, [this](const Progress&) { ++told_; },
        wait_for_stop_);
    EXPECT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->sent, report->tally.answered + report->tally.failed());
    EXPECT_EQ(report->tally.latency.count(), report->tally.answered);
    return *std::move(report);
  }

  TestServer server_;
  Settings settings_;
  int told_ = 0;
  WaitForStop wait_for_stop_ = &WaitInFull;
};

TEST_F(RunTest, ClosedLoopsOfEveryMode) {
  for (const auto& [mode, per_message] :
       {std::pair(Mode::kUnary, 1), {Mode::kBatch, 5}, {Mode::kStream, 3}}) {
    settings_.mode = mode;
    settings_.per_message = per_message;
    settings_.in_flight = 4;
    settings_.connections = 2;
    told_ = 0;
    const Report report = RunLoad();
    EXPECT_GT(report.tally.answered, 0);
    EXPECT_EQ(report.tally.answered % (mode == Mode::kBatch ? per_message : 1), 0);
    EXPECT_EQ(report.tally.failed(), 0);
    EXPECT_EQ(report.tally.without_path, 0);
    EXPECT_GT(told_, 0);
  }
}

TEST_F(RunTest, OpenLoopsSendByTheSchedule) {
  struct Case {
    Mode mode;
    Arrivals arrivals;
    int threads;
  };
  for (const Case& loop : {Case{Mode::kUnary, Arrivals::kEven, 1},
                           {Mode::kUnary, Arrivals::kEven, 3},
                           {Mode::kStream, Arrivals::kEven, 1},
                           {Mode::kUnary, Arrivals::kRandom, 2}}) {
    settings_.mode = loop.mode;
    settings_.arrivals = loop.arrivals;
    settings_.threads = loop.threads;
    settings_.connections = loop.threads;
    settings_.rate = 500;
    settings_.in_flight = 1000;
    const Report report = RunLoad();
    // Messages that are due in 200 ms, unless the machine does not let the sender run. At random they are 100
    // on the average; so far off only once in millions of seeds.
    EXPECT_NEAR(static_cast<double>(report.sent + report.messages_unsent), 100,
                loop.arrivals == Arrivals::kRandom ? 60 : 0);
    EXPECT_EQ(report.lag.count(), report.sent);
    EXPECT_EQ(report.tally.failed(), 0);
  }
}

TEST_F(RunTest, CountsFailuresByCodeAndReason) {
  server_.Create("wall", {".#", ".."});
  // So many that they are of both kinds, which are sent at once.
  settings_.in_flight = 32;
  for (const Mode mode : {Mode::kUnary, Mode::kStream, Mode::kBatch}) {
    settings_.mode = mode;
    const Report report = RunLoad("1 wall pair 0,0 1,0\n1 wall pair 0,0 1,1");
    EXPECT_GT(report.tally.answered, 0);
    ASSERT_EQ(report.tally.failures.size(), 1);
    EXPECT_EQ(report.tally.failures.begin()->first,
              std::make_pair(std::string("FAILED_PRECONDITION"), std::string("GOAL_BLOCKED")));
  }
}

TEST_F(RunTest, CountsAnswersWithoutAPath) {
  server_.Create("halves", {".#."});
  const Report report = RunLoad("1 halves pair 0,0 2,0");
  EXPECT_GT(report.tally.answered, 0);
  EXPECT_EQ(report.tally.without_path, report.tally.answered);
}

TEST_F(RunTest, UpdatesLeaveNoCellBlocked) {
  settings_.updates_per_second = 1000;
  settings_.in_flight = 2;
  const Report report = RunLoad();
  EXPECT_EQ(report.tally.failed(), 0);
  ASSERT_TRUE(report.updates.has_value());
  EXPECT_EQ(report.updates->sent, report.updates->tally.answered);
  v1::SamplePlacesRequest request;
  request.set_map("field");
  request.set_count(1);
  const auto sample = server_.client().SamplePlaces(request);
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ(sample->candidates(), 32 * 32);
}

TEST_F(RunTest, AStreamThatBreaksFailsWhatIsUnderWay) {
  for (const Mode mode : {Mode::kUnary, Mode::kStream}) {
    settings_.mode = mode;
    // A port that a server has given back may be another's by now.
    const std::string target = "127.0.0.1:1";
    auto parts = ParseScenario("1 field pair 0,0 1,1", nullptr);
    const auto workload = Workload::Make(*std::move(parts), server_.client(), 0, false);
    const auto report = load::Run(settings_, {.target = target}, *workload);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->tally.answered, 0);
    EXPECT_GT(report->sent, 0);
    EXPECT_EQ(report->sent, report->tally.failed());
    EXPECT_EQ(report->tally.failures.begin()->first.first, "UNAVAILABLE");
  }
}

TEST_F(RunTest, ARunThatIsCutShortSendsNothingMore) {
  settings_.rate = 0.001;
  settings_.duration = std::chrono::hours(1);
  settings_.updates_per_second = 0.001;
  wait_for_stop_ = [](Nanos) { return true; };
  const Report report = RunLoad();
  EXPECT_TRUE(report.is_cut_short);
  EXPECT_LE(report.sent, 1);
  EXPECT_LT(report.settings.duration, std::chrono::hours(1));
  EXPECT_EQ(report.messages_unsent, 0);
}

TEST_F(RunTest, TellsTheServersProcessorTime) { EXPECT_TRUE(RunLoad().server_cpu.has_value()); }

TEST_F(RunTest, RefusesOptionsThatMakeNoSense) {
  auto parts = ParseScenario("1 field random 5", nullptr);
  const auto workload = Workload::Make(*std::move(parts), server_.client(), 0, false);
  ASSERT_TRUE(workload.ok()) << workload.status();
  const auto report = load::Run(settings_, {.target = "10.0.0.1:1", .token = "secret"}, *workload);
  EXPECT_TRUE(absl::IsInvalidArgument(report.status()));
}

TEST_F(RunTest, AMapThatIsNotThereIsTold) {
  auto parts = ParseScenario("1 nowhere random 5", nullptr);
  EXPECT_TRUE(absl::IsNotFound(Workload::Make(*std::move(parts), server_.client(), 0, false).status()));
}

}  // namespace
}  // namespace waystar::load
