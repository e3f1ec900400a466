// How cells, places, terrains and shapes are read from a command line, and how errors, messages, tables and
// progress are written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <sstream>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_split.h"
#include "client/cli/exit_code.h"
#include "client/cli/progress.h"
#include "client/cli/shape_argument.h"
#include "client/cli/table.h"
#include "client/errors.h"
#include "tests/client/fake_server.h"
#include "tests/service/about_map.h"

namespace waystar::cli {
namespace {

TEST(CellArgumentTest, ReadsCells) {
  for (const char* text : {"3,14", "-1,-20"}) {
    const auto cell = ParseCell(text);
    ASSERT_TRUE(cell.ok()) << cell.status();
    EXPECT_EQ(FormatCell(*cell), text);
  }
  for (const char* text :
       {"", ",", "3", "3,", ",4", "3;4", "3,4,5", "a,b", "1.5,2", "99999999999,1", "3,4..5,6"}) {
    EXPECT_FALSE(ParseCell(text).ok()) << text;
  }
}

// Expects that each text is read as that message, in text format.
template <typename Message>
void ExpectRead(std::initializer_list<std::pair<const char*, const char*>> cases) {
  for (const auto& [text, expected] : cases) {
    Message message;
    const absl::Status status = ParseMessage(text, message);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(message.DebugString(), Parsed<Message>(expected).DebugString()) << text;
  }
}

template <typename Message>
void ExpectRefused(std::initializer_list<const char*> texts) {
  for (const char* const text : texts) {
    Message message;
    EXPECT_FALSE(ParseMessage(text, message).ok()) << text;
  }
}

TEST(CellArgumentTest, ReadsEdges) {
  ExpectRead<v1::EdgeName>({{"pier,market-1", "from: 'pier' to: 'market-1'"},
                            {"pier>market-1", "from: 'pier' to: 'market-1' one_way: true"}});
  ExpectRefused<v1::EdgeName>({"", ",", "pier", "pier,", ">pier", "a,b,c", "a,b>c", "a b", "-a,b"});
}

TEST(CellArgumentTest, ReadsTerrains) {
  ExpectRead<v1::Terrain>({{"~=river:3.5", "symbol: '~' name: 'river' cost: 3.5"},
                           {"^=peak:impassable", "symbol: '^' name: 'peak' impassable: true"},
                           {"~=:2", "symbol: '~' cost: 2"},
                           {"~=river", "symbol: '~' name: 'river'"},
                           {"==sign:1", "symbol: '=' name: 'sign' cost: 1"}});
  ExpectRefused<v1::Terrain>({"", "~", "~river:3", "river=3", "~=river:", "~=river:wet", "~:river=3"});
}

TEST(ShapeArgumentTest, MayBeARectangle) {
  // Each argument, and its rectangle as corner and size. The server checks the size.
  for (const auto& [text, written] : {std::pair("3,4..6,9", "3,4+4x6"),
                                      {"6,9..3,4", "3,4+4x6"},
                                      {"3,9..6,4", "3,4+4x6"},
                                      {"5,5..5,5", "5,5+1x1"},
                                      {"-2,-3..1,0", "-2,-3+4x4"},
                                      {"-3,4+2x5", "-3,4+2x5"},
                                      {"3,4+0x-5", "3,4+0x-5"}}) {
    const auto shape = ParseShape(text);
    ASSERT_TRUE(shape.ok()) << shape.status();
    EXPECT_EQ(shape->rectangles_size(), 1);
    EXPECT_EQ(FormatShape(*shape), written) << text;
    const auto part = ParseMapPart(text);
    ASSERT_TRUE(part.ok()) << part.status();
    EXPECT_TRUE(std::holds_alternative<v1::Rectangle>(*part)) << text;
  }
}

TEST(ShapeArgumentTest, WritesWhatItReads) {
  v1::Shape all;
  const std::string text =
      "3,4 3,4+2x5 disc:10,-4.5,2.25 polygon:0,0..8.5,0..4,-6 line:0.5,1..9,4 line:0,1..9,4,2.5";
  for (const absl::string_view part : absl::StrSplit(text, ' ')) {
    const auto shape = ParseShape(part);
    ASSERT_TRUE(shape.ok()) << shape.status();
    all.MergeFrom(*shape);
  }
  EXPECT_EQ(FormatShape(all), text);
  EXPECT_EQ(all.discs(0).radius(), 2.25);
  EXPECT_EQ(all.polygons(0).vertices(2).y(), -6);
  EXPECT_EQ(all.lines(1).width(), 2.5);
  all.add_cells();
  all.add_cells();
  EXPECT_EQ(FormatShape(all), "3,4 0,0 0,0 3,4+2x5 disc:10,-4.5,2.25 polygon:0,0..8.5,0..4,-6 and 2 more");
}

TEST(ShapeArgumentTest, RefusesOthers) {
  ExpectRefused<v1::Shape>({"", "disc 1,2,3"});
  for (const absl::string_view text :
       absl::StrSplit("3 3,4.. 3,4..5 3,4+2 3,4+2x 3,4-5,6 .. + -2147483648,0..2147483647,0 disc: disc:1,2 "
                      "disc:1,2,3,4 disc:a,b,c Disc:1,2,3 polygon: polygon:1,2.. polygon:1,2..3 "
                      "polygon:1,2,3..4,5..6,7 line:1,2 line:1,2..3 line:1,2..3,4,5,6 line:1,2,3..4,5 "
                      "line:1,2..3,4..5,6",
                      ' ')) {
    EXPECT_FALSE(ParseShape(text).ok()) << text;
  }
}

TEST(ShapeArgumentTest, PartsOfAMapMayHaveFractions) {
  for (const auto& [text, expected] :
       {std::pair("13.5,-52.25..13.75,-52.125", "x: 13.5 y: -52.25 width: 0.25 height: 0.125"),
        {"13.75,-52.125..13.5,-52.25", "x: 13.5 y: -52.25 width: 0.25 height: 0.125"},
        {"13,52+0.5x0.25", "x: 13 y: 52 width: 0.5 height: 0.25"},
        {"0,0..1,1.5", "width: 1 height: 1.5"}}) {
    const auto part = ParseMapPart(text);
    ASSERT_TRUE(part.ok()) << part.status();
    ASSERT_TRUE(std::holds_alternative<v1::WorldArea>(*part)) << text;
    EXPECT_EQ(std::get<v1::WorldArea>(*part).DebugString(), Parsed<v1::WorldArea>(expected).DebugString());
  }
  for (const char* text : {"", "1.5", "1.5,2", "1.5,2..3", "1.5,2..", "..1.5,2", "1.5,2+3", "1.5,2+3x",
                           "1.5,2+x3", "1.5+3x4", "1.5,2+3.5x4x5"}) {
    EXPECT_FALSE(ParseMapPart(text).ok()) << text;
  }
}

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
  EXPECT_EQ(text_of({grpc::StatusCode::UNAVAILABLE, "Trying to connect an http1.x server"}),
            "the server at game-7:7450 speaks HTTP/1 there, not gRPC\n"
            "--server takes the address of the server's --listen, not that of its --http_listen.");
  EXPECT_EQ(text_of(Refusal(grpc::StatusCode::UNAVAILABLE, "the server is stopping", "DRAINING")),
            "the server is stopping");
  EXPECT_EQ(text_of({grpc::StatusCode::INTERNAL, ""}), "the server answered INTERNAL");
  EXPECT_EQ(text_of({grpc::StatusCode::DEADLINE_EXCEEDED, "Deadline Exceeded"}),
            "no answer from game-7:7450 in time\n--timeout allows it more, such as 30s.");
  EXPECT_EQ(text_of({grpc::StatusCode::UNAUTHENTICATED, "no token"}),
            "no token\n--token or WAYSTAR_TOKEN tells the server who you are.");
  EXPECT_EQ(text_of(Refusal(grpc::StatusCode::NOT_FOUND, "no map 'x'", "MAP_NOT_FOUND")),
            "no map 'x'\n`waystar map list` shows the maps there are.");
  EXPECT_EQ(text_of(Refusal(grpc::StatusCode::OUT_OF_RANGE, "the goal (5, -5) is off the map", "OFF_MAP")),
            "the goal 5,-5 is off the map");
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
            "importing  50%  12.0 of 24.0 MiB  6.0 MiB/s  2s left");
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
      ::testing::AllOf(::testing::StartsWith("\r\x1b[Kimporting  50%"), ::testing::EndsWith("\r\x1b[K")));
  EXPECT_EQ(written(/*is_terminal=*/false, /*json=*/false), "");
  EXPECT_EQ(written(/*is_terminal=*/true, /*json=*/true), "");
}

}  // namespace
}  // namespace waystar::cli
