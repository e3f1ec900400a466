// How errors, messages, tables and progress are written.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/progress.h"
#include "client/cli/table.h"
#include "client/errors.h"
#include "tests/client/fake_server.h"

namespace waystar::cli {
namespace {

using ::waystar::testing::Refusal;

TEST(ExitCodeTest, TellsRefusalsFromAnUnavailableServer) {
  EXPECT_EQ(ExitCodeFor(absl::OkStatus()), ExitCode::kOk);
  EXPECT_EQ(ExitCodeFor(absl::NotFoundError("")), ExitCode::kRefused);
  EXPECT_EQ(ExitCodeFor(absl::UnavailableError("")), ExitCode::kUnavailable);
  EXPECT_EQ(ExitCodeFor(absl::DeadlineExceededError("")), ExitCode::kUnavailable);
  EXPECT_EQ(ExitCodeFor(absl::InternalError("")), ExitCode::kFailure);
  const auto exhausted = [](absl::Duration retry_delay) {
    return client::FromGrpc(
        Refusal(grpc::StatusCode::RESOURCE_EXHAUSTED, "too much", "QUEUE_FULL", "", retry_delay));
  };
  EXPECT_EQ(ExitCodeFor(exhausted(absl::Milliseconds(50))), ExitCode::kUnavailable);
  EXPECT_EQ(ExitCodeFor(exhausted(absl::ZeroDuration())), ExitCode::kRefused);
}

TEST(ErrorTextTest, SaysWhatIsWrongAndWhatToDo) {
  const auto text_of = [](const grpc::Status& status) {
    return ErrorText(client::FromGrpc(status), "game-7:7450");
  };
  EXPECT_EQ(text_of({grpc::StatusCode::UNAVAILABLE, "connection refused"}),
            "cannot reach a server at game-7:7450: connection refused\n"
            "Is it running? --server HOST:PORT or WAYSTAR_SERVER names another.");
  EXPECT_EQ(text_of(Refusal(grpc::StatusCode::UNAVAILABLE, "the server is stopping", "DRAINING")),
            "the server is stopping");
  EXPECT_EQ(text_of({grpc::StatusCode::INTERNAL, ""}), "the server answered INTERNAL");
  EXPECT_EQ(text_of({grpc::StatusCode::DEADLINE_EXCEEDED, "Deadline Exceeded"}),
            "no answer from game-7:7450 in time\n--timeout allows it more, such as 30s.");
  EXPECT_EQ(text_of({grpc::StatusCode::UNAUTHENTICATED, "no token"}),
            "no token\n--token or WAYSTAR_TOKEN tells the server who you are.");
  EXPECT_EQ(text_of(Refusal(grpc::StatusCode::NOT_FOUND, "no map 'x'", "MAP_NOT_FOUND")),
            "no map 'x'\n`waystar map list` shows the maps there are.");
  // The field is named once, unless it is the bytes of a file.
  EXPECT_EQ(text_of(Refusal(grpc::StatusCode::OUT_OF_RANGE, "5,5 is off the map", "OFF_MAP", "goals[0]")),
            "5,5 is off the map (goals[0])");
  EXPECT_EQ(text_of(Refusal(grpc::StatusCode::OUT_OF_RANGE, "goal is off the map", "OFF_MAP", "goal")),
            "goal is off the map");
  EXPECT_EQ(
      text_of(Refusal(grpc::StatusCode::INVALID_ARGUMENT, "line 1: not a map", "MALFORMED_MAP", "chunk")),
      "line 1: not a map");
}

TEST(JsonTest, NamesEnumsAndPrintsZeros) {
  v1::SearchEvent event;
  event.set_kind(v1::SearchEvent::KIND_EXPANDED);
  event.mutable_cell();
  EXPECT_EQ(ToJson(event, /*pretty=*/false), R"({"kind":"KIND_EXPANDED","cell":{"x":0,"y":0},"g":0,"f":0})"
                                             "\n");
  EXPECT_EQ(ToJson(event.cell(), /*pretty=*/true), "{\n \"x\": 0,\n \"y\": 0\n}\n");
}

TEST(JsonTest, AnErrorCarriesItsDetails) {
  const auto status =
      client::FromGrpc(Refusal(grpc::StatusCode::NOT_FOUND, "no map 'x'", "MAP_NOT_FOUND", "map"));
  EXPECT_EQ(
      ToJson(status, /*pretty=*/false),
      R"({"code":5,"message":"no map 'x'","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo",)"
      R"("reason":"MAP_NOT_FOUND","domain":"waystar","metadata":{"field":"map"}}]})"
      "\n");
}

TEST(TableTest, AlignsColumnsAndCutsTheWidestToFit) {
  EXPECT_EQ(FormatTable({}), "");
  EXPECT_EQ(FormatTable({{"MAP", "SIZE", "REVISION"}, {"a", "10 x 20", "1"}, {"castle", "1 x 1", "42"}}),
            "MAP     SIZE     REVISION\n"
            "a       10 x 20  1\n"
            "castle  1 x 1    42\n");
  EXPECT_EQ(FormatTable({{"START", "PATH", "WHY"}, {"1,1", "1,1 2,2 3,3 4,4", "a wall stands there"}}, 30),
            "START  PATH        WHY\n"
            "1,1    1,1 2,2 3…  a wall sta…\n");
  EXPECT_EQ(FormatTable({{"abcdefgh", "ijklmnop"}}, 1), "abc…  ijk…\n");
  // Characters are counted, not bytes.
  EXPECT_EQ(FormatTable({{"äöü", "1"}, {"abc", "2"}}, 6), "äöü  1\nabc  2\n");
  EXPECT_EQ(FormatTable({{"ääääää"}}, 5), "ääää…\n");
}

TEST(ProgressTest, TellsHowFarAndHowFastAndHowLongYet) {
  EXPECT_EQ(ProgressLine("importing", 12 << 20, 24 << 20, absl::Seconds(2)),
            "importing  [############------------]  50%  12.0 of 24.0 MiB  6.0 MiB/s  2s left");
  EXPECT_EQ(ProgressLine("exporting", 10 << 20, 0, absl::Seconds(5)), "exporting  10.0 MiB  2.0 MiB/s");
}

TEST(ProgressTest, IsForTerminalsAndPeopleAndGoneAtTheEnd) {
  const auto written = [](bool is_terminal, bool json) {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    Io io{in, out, err};
    io.shows_progress = is_terminal;
    Session session(io);
    session.options().json = json;
    Progress(session, "importing").Show(1, 2);
    EXPECT_EQ(out.str(), "");
    return err.str();
  };
  EXPECT_THAT(
      written(/*is_terminal=*/true, /*json=*/false),
      ::testing::AllOf(::testing::StartsWith("\r\x1b[Kimporting  ["), ::testing::EndsWith("\r\x1b[K")));
  EXPECT_EQ(written(/*is_terminal=*/false, /*json=*/false), "");
  EXPECT_EQ(written(/*is_terminal=*/true, /*json=*/true), "");
}

}  // namespace
}  // namespace waystar::cli
