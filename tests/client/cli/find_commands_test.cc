// `waystar find`, `paths`, `validate` and `trace`.

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/find_text.h"
#include "tests/client/cli/command_test.h"
#include "tests/testing/own_folder.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kStatistics[] =
    " info { version { revision: 3 }"
    " statistics { expanded: 9 generated: 5 search_time { nanos: 1500 } algorithm: ALGORITHM_ASTAR } }";

// A path on the grid of FindCommandTest. `in_path` is added to the path, and `more` to the answer.
std::string GridAnswer(const std::string& in_path = "", const std::string& more = "") {
  return absl::StrCat(
      "outcome: OUTCOME_FOUND reason: OUTCOME_REASON_GOAL_REACHED cost: 5.656854249"
      " path { form: PATH_FORM_EVERY_CELL start { cell {} } end { cell { x: 4 } }"
      " points {} points { x: 1 y: 1 } points { x: 2 y: 2 } points { x: 3 y: 1 } points { x: 4 }",
      in_path, " }", kStatistics, more);
}

constexpr char kGraphAnswer[] =
    "outcome: OUTCOME_FOUND cost: 12 path { start { node: 'harbour' } end { node: 'lighthouse' }"
    " nodes: 'harbour' nodes: 'ford' nodes: 'lighthouse' positions {} positions {} positions {} }";

class FindCommandTest : public waystar::CommandTest {
 protected:
  FindCommandTest() {
    server_.ServeMap(Parsed<v1::MapInfo>("version { revision: 3 }"), {"..#..",  //
                                                                      "..#..",  //
                                                                      "....."});
    Serve(server_.find_path, GridAnswer());
  }
};

TEST_F(FindCommandTest, DrawsThePathAndTellsTheFacts) {
  EXPECT_EQ(Run("find arena 0,0 4,0"), ExitCode::kOk);
  EXPECT_EQ(out_,
            "  0\n"
            "0 ..#..\n"
            "  ..#..\n"
            "  .....\n"
            "Path found: 4 steps at cost 5.656854249 (revision 3; 9 cells expanded in 1.5us by A*)\n");
  EXPECT_EQ(err_, "");
  EXPECT_EQ(Run("find arena 0,0 4,0 --form cells"), ExitCode::kOk);
  EXPECT_THAT(out_, StartsWith("  0\n0 ..#..\n"));
  EXPECT_THAT(out_, HasSubstr("A*)\n0,0 1,1 2,2 3,1 4,0\n"));
  server_.render_map = nullptr;
  EXPECT_EQ(Run("find arena 0,0 4,0 --no-picture"), ExitCode::kOk);
  EXPECT_THAT(out_, StartsWith("Path found: 4 steps"));
  EXPECT_THAT(out_, HasSubstr("\n0,0 1,1 2,2 3,1 4,0\n"));
  EXPECT_EQ(err_, "");
  EXPECT_EQ(Run("find arena 0,0 4,0"), ExitCode::kOk) << "though it cannot draw";
  EXPECT_THAT(out_, StartsWith("Path found: 4 steps"));
  EXPECT_THAT(err_, HasSubstr("not scripted"));
}

TEST_F(FindCommandTest, SendsWhatTheUserAsked) {
  ExpectRequests(
      server_.find_path,
      {{"find arena 0,0 4,0", "map: 'arena' start { cell {} } goals { cell { x: 4 } }"},
       {"find arena 0,0 4,0 1,0 4,2",
        "map: 'arena' start { cell {} }"
        " goals { cell { x: 4 } } goals { cell { x: 1 } } goals { cell { x: 4 y: 2 } }"},
       {"find arena -1,3 4,-2 --corner-rule one-free --algorithm dijkstra --nearest --max-expansions 500 "
        "--form corners",
        "map: 'arena' start { cell { x: -1 y: 3 } } goals { cell { x: 4 y: -2 } }"
        " agent { corner_rule: CORNER_RULE_ONE_SIDE_FREE } algorithm: ALGORITHM_DIJKSTRA"
        " unreachable_policy: UNREACHABLE_POLICY_NEAREST_BY_DISTANCE max_expansions: 500"
        " path_form: PATH_FORM_CORNERS"},
       {"find arena --start-position -3.5,2 --goal-position=4,1e1 --snap 1.5 --profile tank --summary "
        "--positions",
        "map: 'arena' start { position { x: -3.5 y: 2 } } goals { position { x: 4 y: 10 } }"
        " snap { radius: 1.5 } agent { profile_name: 'tank' } with_summary: true with_positions: true"},
       {"find arena 0,0 4,0 --max-cost 9.5 --clip-cost 0 --clip-length 3 --turn-budget 2",
        "map: 'arena' start { cell {} } goals { cell { x: 4 } }"
        " max_cost: 9.5 clip_cost: 0 clip_length: 3 turn_budget: 2"},
       // The cell beside a start position is the goal.
       {"find arena 4,0 --start-position 0.5,0.5",
        "map: 'arena' start { position { x: 0.5 y: 0.5 } } goals { cell { x: 4 } }"},
       {"find arena 4,0 3,2 --start-position 0.5,0.5 --goal-position 1.5,2",
        "map: 'arena' start { position { x: 0.5 y: 0.5 } }"
        " goals { cell { x: 4 } } goals { cell { x: 3 y: 2 } } goals { position { x: 1.5 y: 2 } }"},
       {"find --goal-position 4.5,0.5 arena --goal-position=-1,2 0,0 --goal-position 3,3",
        "map: 'arena' start { cell {} } goals { position { x: 4.5 y: 0.5 } } goals { position { x: -1 y: 2 } "
        "}"
        " goals { position { x: 3 y: 3 } }"},
       {"find islands --start-position 1,2,3 lighthouse --require-tag dry --require-tag wide",
        "map: 'islands' start { position { x: 1 y: 2 z: 3 } } goals { node: 'lighthouse' }"
        " agent { profile { required_tags: 'dry' required_tags: 'wide' } }"},
       {"find temple 1,0 8,0 --avoid water --avoid lava --cost road=0.5 --cost ==3",
        "map: 'temple' start { cell { x: 1 } } goals { cell { x: 8 } } agent { profile {"
        " forbidden_terrains: 'water' forbidden_terrains: 'lava'"
        " terrain_costs { terrain: 'road' cost: 0.5 } terrain_costs { terrain: '=' cost: 3 } } }"},
       {"find islands harbour lighthouse --block-node ford --block-edge harbour,bridge --block-edge "
        "pier>ford",
        "map: 'islands' start { node: 'harbour' } goals { node: 'lighthouse' }"
        " view { overlay { blocked_nodes: 'ford' blocked_edges { from: 'harbour' to: 'bridge' }"
        " blocked_edges { from: 'pier' to: 'ford' one_way: true } } }"},
       {"find temple 1,0,2 8.5,0 --snap 1 --snap-height 2 --corridor --polygons",
        "map: 'temple' start { position { x: 1 z: 2 } } goals { position { x: 8.5 } }"
        " snap { radius: 1 height: 2 } with_corridor: true with_polygons: true"}});
  for (const auto& [word, algorithm] : {std::pair("auto", v1::ALGORITHM_AUTO),
                                        {"astar", v1::ALGORITHM_ASTAR},
                                        {"jump-point", v1::ALGORITHM_JUMP_POINT_SEARCH},
                                        {"lazy-theta", v1::ALGORITHM_LAZY_THETA_STAR},
                                        {"hierarchy", v1::ALGORITHM_SUBGOAL_HIERARCHY},
                                        {"polyanya", v1::ALGORITHM_POLYANYA}}) {
    Run(absl::StrCat("find arena 0,0 4,0 --algorithm ", word));
    EXPECT_EQ(Parsed<v1::FindPathRequest>(asked_).algorithm(), algorithm);
  }
}

TEST_F(FindCommandTest, WaitsForARevisionOfTheMapThatIsThere) {
  Serve(server_.get_map, "info { version { epoch: 7 } }");
  EXPECT_EQ(Run("find arena 0,0 4,0 --no-picture --least-revision 3"), ExitCode::kOk);
  const v1::Version least = Parsed<v1::FindPathRequest>(asked_).view().least_version();
  EXPECT_EQ(least.epoch(), 7U);
  EXPECT_EQ(least.revision(), 3U);
}

TEST_F(FindCommandTest, ExplainsMistakes) {
  ExpectMistakes({{"find arena", "START is required"},
                  {"find arena 1,1", "GOAL is required"},
                  {"find arena 1,1 --goal-position 1", "'1' is not a position"},
                  {"find arena 1;1 2,2", "START: '1;1' is not a cell"},
                  {"find islands --start-position 1,2 --start-position 3,4 b", ""},
                  {"find arena 0,0 4,0 --require-tag dry --profile tank", "--profile"},
                  {"find arena 0,0 4,0 --avoid ~ --profile tank", "--profile"},
                  {"find arena 0,0 4,0 --cost ~=3 --profile tank", "--profile"},
                  {"find arena 0,0 4,0 --cost water", "'water' is not the cost of a terrain"},
                  {"find arena 0,0 4,0 --cost water=much", "'water=much' is not the cost of a terrain"},
                  {"trace arena 0,0 --goal-position 4,0 --goal-position 3,3", ""}});
}

TEST_F(FindCommandTest, TellsOfPathsOverGraphsAndMeshes) {
  Serve(server_.find_path, absl::StrCat(kGraphAnswer, " summary { length: 20 turns: 1 }"));
  EXPECT_EQ(Run("find islands harbour lighthouse --summary"), ExitCode::kOk);
  EXPECT_THAT(out_, StartsWith("Path found: 3 nodes at cost 12"));
  EXPECT_THAT(out_, HasSubstr("\nharbour ford lighthouse\nLength 20, 1 turn\n"));
  Serve(server_.find_path,
        "outcome: OUTCOME_FOUND cost: 7.5"
        " path { start { position { x: 1 z: 2 } } end { position { x: 8.5 z: 2 } } corridor: 4 corridor: 9"
        " polygons { polygon: 4 corners { z: 2 } corners { x: 4.5 z: 2 } corners { y: 1 z: 2.5 } }"
        " polygons { polygon: 9 corners { x: 4.5 z: 2 } corners { x: 9 z: 2 } corners { x: 9 y: 1 z: 2 } }"
        " positions { x: 1 z: 2 } positions { x: 4.5 z: 2 } positions { x: 8.5 z: 2 } }"
        " info { version { revision: 2 } statistics { algorithm: ALGORITHM_POLYANYA expanded: 3 } }");
  EXPECT_EQ(Run("find temple 1,0,2 8.5,0"), ExitCode::kOk) << err_;
  EXPECT_THAT(out_,
              StartsWith("Path found: 2 straight lines of length 7.5 (revision 2; 3 intervals expanded"));
  EXPECT_THAT(out_, HasSubstr("by Polyanya)\n1,0,2 4.5,0,2 8.5,0,2\nPolygons 4 9\n"
                              "Polygon 4: 0,0,2 4.5,0,2 0,1,2.5\nPolygon 9: 4.5,0,2 9,0,2 9,1,2\n"));
}

TEST_F(FindCommandTest, TellsPositionsAndSummary) {
  Serve(server_.find_path, GridAnswer(" positions { x: 0.25 y: -2 } positions { x: 1 y: -2 }",
                                      " summary { length: 2.5 turns: 1"
                                      " legs { terrain: '.' cells: 2 length: 1.25 cost: 3 }"
                                      " legs { terrain: '~' cells: 2 length: 1.25 cost: 3 } }"));
  Serve(server_.get_map, "info { grid {} }");
  EXPECT_EQ(Run("find arena --start-position 0.5,0.5 --goal-position 4.5,0.5"), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("0 ..#..\n"));
  EXPECT_THAT(out_, HasSubstr("4 steps"));
  EXPECT_THAT(out_, HasSubstr("\n0.25,-2 1,-2\n"));
  EXPECT_THAT(out_, HasSubstr("Length 2.5, 1 turn\n"
                              "  .  2 cells  length 1.25  cost 3\n"
                              "  ~  2 cells  length 1.25  cost 3\n"));
}

TEST_F(FindCommandTest, OnlyAWholePathIsASuccess) {
  Serve(server_.find_path,
        absl::StrCat("outcome: OUTCOME_UNREACHABLE reason: OUTCOME_REASON_NO_ROUTE", kStatistics));
  EXPECT_EQ(Run("find arena 0,0 4,0"), ExitCode::kNoPath);
  EXPECT_THAT(out_, StartsWith("  0\n0 ..#..\n  ..#..\n"));
  EXPECT_THAT(out_, HasSubstr("No path to the goal: walls part it from the start"));
  EXPECT_EQ(Run("find islands harbour moon"), ExitCode::kNoPath);
  EXPECT_THAT(out_, HasSubstr("no edges lead there from the start"));
  Serve(server_.find_path, absl::StrCat("outcome: OUTCOME_PARTIAL reason: OUTCOME_REASON_NO_ROUTE"
                                        " path { points {} points { x: 1 y: 1 } end { cell { x: 1 y: 1 } } }",
                                        kStatistics));
  EXPECT_EQ(Run("find arena 0,0 4,0 --nearest"), ExitCode::kNoPath);
  EXPECT_EQ(Run("find arena 0,0 4,0 --nearest --json"), ExitCode::kNoPath);
}

TEST_F(FindCommandTest, ColoursOnlyATerminalThatWantsIt) {
  const auto is_colored = [&](const char* line) {
    Run(line);
    return out_.find("\x1b[") != std::string::npos;
  };
  EXPECT_FALSE(is_colored("find arena 0,0 4,0"));
  EXPECT_TRUE(is_colored("find arena 0,0 4,0 --color always"));
  is_terminal_ = true;
  EXPECT_TRUE(is_colored("find arena 0,0 4,0"));
  EXPECT_FALSE(is_colored("find arena 0,0 4,0 --color never"));
  no_color_ = true;
  EXPECT_FALSE(is_colored("find arena 0,0 4,0"));
}

TEST_F(FindCommandTest, ARefusalIsExplained) {
  server_.find_path = [](auto&, const auto&, auto&) {
    return Refusal(grpc::StatusCode::FAILED_PRECONDITION, "2,0 is blocked", "GOAL_BLOCKED", "goals[0]");
  };
  EXPECT_EQ(Run("find arena 0,0 2,0"), ExitCode::kRefused);
  EXPECT_EQ(out_, "");
  EXPECT_EQ(err_,
            "waystar: 2,0 is blocked (goals[0])\n"
            "--nearest finds a path to the nearest cell that can be reached.\n");
  EXPECT_EQ(Run("find arena 0,0 2,0 --json"), ExitCode::kRefused);
  EXPECT_THAT(err_, StartsWith(R"({"code":9,"message":"2,0 is blocked","details":[)"));
}

TEST(FindTextTest, SaysWhatBecameOfTheQuery) {
  const auto text_of = [](const std::string& answer, v1::PathForm form = v1::PATH_FORM_UNSPECIFIED) {
    v1::FindPathRequest request;
    request.set_path_form(form);
    return FindText(request, Parsed<v1::FindPathResponse>(answer + kStatistics));
  };
  const std::string path =
      " cost: 2.5 path { end { cell { x: 2 y: 1 } } points {} points { x: 1 y: 1 } points { x: 2 y: 1 } }";
  EXPECT_THAT(text_of("outcome: OUTCOME_FOUND" + path, v1::PATH_FORM_SMOOTHED),
              StartsWith("Path found: 2 straight lines at cost 2.5 (revision 3; 9 cells expanded in 1.5us"));
  EXPECT_THAT(
      text_of("outcome: OUTCOME_PARTIAL reason: OUTCOME_REASON_GOAL_BLOCKED" + path),
      StartsWith("No path to the goal: it is blocked; 2 steps at cost 2.5 to 2,1, the nearest cell that "
                 "can be reached ("));
  EXPECT_THAT(
      text_of("outcome: OUTCOME_BUDGET_EXHAUSTED reason: OUTCOME_REASON_EXPANSION_LIMIT" + path),
      StartsWith("Search ended early: the expansion limit was reached; 2 steps at cost 2.5 to 2,1, the "
                 "nearest cell it came to ("));
  EXPECT_THAT(text_of("outcome: OUTCOME_FOUND rest { cost: 3 length: 4 }" + path),
              StartsWith("Path found and clipped: 2 steps at cost 2.5; the rest costs 3 and is 4 long ("));
  EXPECT_THAT(text_of("outcome: OUTCOME_TOO_COSTLY reason: OUTCOME_REASON_COST_LIMIT least_cost: 7"),
              StartsWith("The path is too costly: it costs at least 7 ("));
  EXPECT_THAT(
      FactsText({},
                Parsed<v1::FindPathResponse>(
                    "outcome: OUTCOME_FOUND" + path +
                    " turn_ends { place { cell {} } cost: 1 } turn_ends { place { node: 'a' } cost: 2 }")),
      HasSubstr("\nTurns end at 0,0 (cost 1), a (cost 2)\n"));
  EXPECT_EQ(PathText({}, Parsed<v1::FindPathResponse>("path { directions: 4 directions: 3 }")), "SE E");
}

class PathsCommandTest : public waystar::CommandTest {
 protected:
  static constexpr char kFound[] =
      "results { answer { outcome: OUTCOME_FOUND cost: 5.5"
      " path { end { cell { x: 4 } } points {} points { x: 2 y: 2 } points { x: 4 } } } }";
  static constexpr char kUnreachable[] = "results { answer { outcome: OUTCOME_UNREACHABLE } }";

  v1::FindPathsRequest request() const { return Parsed<v1::FindPathsRequest>(asked_); }
};

TEST_F(PathsCommandTest, IsATable) {
  Serve(server_.find_paths,
        absl::StrCat(kFound, kUnreachable, "results { problem { message: 'the start (9, 9) is blocked' } }",
                     "results { answer { outcome: OUTCOME_PARTIAL"
                     " path { end { cell { x: 1 y: 1 } } points { x: 1 y: 1 } } } }"));
  in_ = "0,0 4,0\n\n# Parted by a wall.\n 10,10\t-1,2  # so far\r\n9,9 1,1\n1,1 2,2";
  EXPECT_EQ(Run("paths arena"), ExitCode::kRefused);
  EXPECT_EQ(out_,
            "START  GOAL  OUTCOME      COST  POINTS\n"
            "0,0    4,0   found        5.5   0,0 2,2 4,0\n"
            "10,10  -1,2  unreachable  -     -\n"
            "9,9    1,1   refused      -     the start (9, 9) is blocked\n"
            "1,1    2,2   partial      0     1,1\n");
  EXPECT_EQ(request().map(), "arena");
  ASSERT_EQ(request().queries_size(), 4);
  EXPECT_EQ(request().queries(1).start().cell().x(), 10);
  EXPECT_EQ(request().queries(1).goals(0).cell().x(), -1);
  EXPECT_EQ(request().path_form(), v1::PATH_FORM_CORNERS);
}

TEST_F(PathsCommandTest, ExitCodeIsThatOfTheWorstAnswer) {
  in_ = "0,0 4,0\n0,0 4,0\n0,0 4,0\n";
  Serve(server_.find_paths, kFound);
  EXPECT_EQ(Run("paths arena"), ExitCode::kOk);
  Serve(server_.find_paths, absl::StrCat(kFound, "results { answer { outcome: OUTCOME_BUDGET_EXHAUSTED } }"));
  EXPECT_EQ(Run("paths arena --json"), ExitCode::kNoPath);
  Serve(server_.find_paths, absl::StrCat(kFound, kUnreachable, "results { problem {} }"));
  EXPECT_EQ(Run("paths arena --json"), ExitCode::kRefused);
}

TEST_F(PathsCommandTest, OptionsGoForAllQueries) {
  in_ = "0,0 4,0\nharbour lighthouse\n";
  ExpectRequests(
      server_.find_paths,
      {{"paths arena - --form directions --nearest --footprint 2 --block 3,3",
        "map: 'arena' agent { footprint: 2 } view { overlay { blocked { cells { x: 3 y: 3 } } } }"
        " path_form: PATH_FORM_DIRECTIONS unreachable_policy: UNREACHABLE_POLICY_NEAREST_BY_DISTANCE"
        " queries { start { cell {} } goals { cell { x: 4 } } }"
        " queries { start { node: 'harbour' } goals { node: 'lighthouse' } }"},
       {"paths arena --profile tank --footprint 3 --snap 1.5",
        "map: 'arena' agent { profile_name: 'tank' footprint: 3 } snap { radius: 1.5 }"
        " queries { start { cell {} } goals { cell { x: 4 } } }"
        " queries { start { node: 'harbour' } goals { node: 'lighthouse' } }"}});
}

TEST_F(PathsCommandTest, ReadsAFile) {
  const waystar::OwnFolder folder;
  const std::string file = folder.Write("queries.txt", "0,0 4,0\n3,3 4,0\n");
  Serve(server_.find_paths, "");
  EXPECT_EQ(Run("paths arena " + file), ExitCode::kOk);
  EXPECT_EQ(request().queries_size(), 2);
  std::filesystem::remove(file);
  EXPECT_EQ(Run("paths arena " + file), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("cannot read " + file + ": No such file"));
  EXPECT_EQ(Run("paths arena " + folder.path().string()), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("it is a folder"));
}

TEST_F(PathsCommandTest, NamesTheLineOfWhatIsWrong) {
  for (const auto& [text, error] : {std::pair("0,0 4,0\n\n0,0\n", "line 3: a query is two cells"),
                                    {"0,0 4,0 5,5\n", "line 1: a query is two cells"},
                                    {"0,0 4;0\n", "line 1: '4;0' is not a cell"}}) {
    in_ = text;
    ExpectMistakes({{"paths arena", error}});
  }
  for (const char* const text :
       {"", "0 arena.map 8 8 0 0 4 0 5.5\n", "version 2\n", "version 1\n0 arena.map 8 8\n",
        "version 1\n0 arena.map 8 8 0 0 4 0 nan\n", "version 1\n0 x.mesh 9 9 0.5 0 inf 0 5.5\n"}) {
    in_ = text;
    ExpectMistakes({{"paths arena --scenario -", "line "}});
  }
}

TEST_F(PathsCommandTest, ComparesWithTheLengthsOfAScenario) {
  Serve(server_.find_paths, absl::StrCat(kFound, kFound, kUnreachable));
  in_ =
      "version 1\n"
      "0\tarena.map\t8\t8\t0\t0\t4\t0\t5.50000100\n"
      "1\tarena.map\t8\t8\t0\t0\t4\t0\t5.40000000\n\n"
      "1\tarena.map\t8\t8\t0\t0\t7\t7\t9.9\n";
  EXPECT_EQ(Run("paths arena --scenario -"), ExitCode::kFailure);
  EXPECT_EQ(out_,
            "3 queries, 1 paths as long as the file says.\n"
            "LINE  START  GOAL  FILE  COST\n"
            "3     0,0    4,0   5.4   5.5\n"
            "5     0,0    7,7   9.9   no path\n");
  EXPECT_EQ(request().queries(2).goals(0).cell().x(), 7);
  // A number with a fraction anywhere in the file makes all of its places positions.
  in_ = "version 1\n0 x.mesh 9 9 0 0 4 0 5.5\n0 x.mesh 9 9 -73.0625 -4.5 4 0 5.5\n";
  EXPECT_EQ(Run("paths arena --scenario -"), ExitCode::kOk) << err_;
  EXPECT_EQ(out_, "2 queries, 2 paths as long as the file says.\n");
  EXPECT_EQ(request().queries(0).goals(0).position().x(), 4.0);
  EXPECT_EQ(request().queries(1).start().position().x(), -73.0625);
}

using ValidateCommandTest = waystar::CommandTest;

TEST_F(ValidateCommandTest, SendsThePath) {
  ExpectRequests(
      server_.validate_paths,
      {{"validate arena 1,1 1,9 --smoothed --footprint 2 --corner-rule always",
        "map: 'arena' paths { points { x: 1 y: 1 } points { x: 1 y: 9 } form: PATH_FORM_SMOOTHED }"
        " agent { footprint: 2 corner_rule: CORNER_RULE_ALWAYS }"},
       {"validate arena 0,0 0,9 --block 3,4..6,9 --ignore-obstacle me",
        "map: 'arena' paths { points {} points { y: 9 } } view { overlay { blocked { rectangles { x: 3 y: 4 "
        "width: 4"
        " height: 6 } } ignored_obstacles: 'me' } }"},
       {"validate islands harbour ford --start-position -1,0 --goal-position=7,0,2 --require-tag dry",
        "map: 'islands' paths { nodes: 'harbour' nodes: 'ford' start { position { x: -1 } }"
        " end { position { x: 7 z: 2 } } }"
        " agent { profile { required_tags: 'dry' } }"},
       {"validate islands --start-position -1,0 --goal-position 7,0",
        "map: 'islands' paths { start { position { x: -1 } } end { position { x: 7 } } }"},
       // Beside a position, cells are positions as well.
       {"validate keep 2,10 4.5,12 20,12 23,2,4",
        "map: 'keep' paths { positions { x: 2 y: 10 } positions { x: 4.5 y: 12 } positions { x: 20 y: 12 }"
        " positions { x: 23 y: 2 z: 4 } }"}});
  ExpectMistakes({{"validate islands --start-position -1,0", "POINTS is required"},
                  {"validate islands harbour 1,1", "POINTS are cells or nodes, not both"}});
}

TEST_F(ValidateCommandTest, TellsWhereAPathIsBlocked) {
  const auto expect = [this](const char* answer, const char* line, const char* text) {
    Serve(server_.validate_paths,
          absl::StrCat("info { version { revision: 7 } } results { cost: 4.5 ", answer, " }"));
    EXPECT_EQ(Run(line), absl::StrContains(answer, "walkable") ? ExitCode::kOk : ExitCode::kNoPath);
    EXPECT_EQ(out_, absl::StrCat(text, ", at revision 7.\n"));
  };
  expect("walkable: true", "validate arena 1,1 1,9", "Walkable at cost 4.5");
  expect("blocked_index: 1 blocked_at { cell { y: 5 } }", "validate arena 0,0 0,9",
         "Blocked at 0,5, on the way to point 1, after cost 4.5");
  expect("blocked_index: 1", "validate islands harbour ford",
         "Blocked on the way to node 1, ford, after cost 4.5");
  expect("blocked_index: 2 blocked_by: 'crane'", "validate islands harbour ford --goal-position 7,0",
         "Blocked by crane on the way to the goal, after cost 4.5");
  expect("blocked_index: 2 blocked_at { position { x: 4.25 z: 3 } }", "validate keep 2,10,0 4.5,12 23,2,4",
         "Blocked at 4.25,0,3, on the way to corner 2, after cost 4.5");
  expect("blocked_index: 0", "validate keep 2,10,0", "Blocked: corner 0 is not on the surface");
}

// The events of a search, and its result.
class TraceCommandTest : public waystar::CommandTest {
 protected:
  TraceCommandTest() {
    server_.trace_search = [this](auto&, const v1::TraceSearchRequest& request,
                                  std::vector<v1::TraceSearchResponse>& messages) {
      asked_ = request.DebugString();
      messages = messages_;
      return grpc::Status::OK;
    };
  }

  void Trace(const std::string& events, const std::string& result) {
    messages_ = {Parsed<v1::TraceSearchResponse>(events),
                 Parsed<v1::TraceSearchResponse>(absl::StrCat("result { ", result, " }"))};
  }

  void TraceGrid(const std::string& more = "") {
    server_.ServeMap(Parsed<v1::MapInfo>("version { revision: 3 }"), {".....",  //
                                                                      ".....",  //
                                                                      "..#.."});
    Trace(
        "events { kind: KIND_GENERATED cell { y: 1 } parent { y: 1 } g: 1.5 f: 2 }"
        "events { kind: KIND_EXPANDED cell { y: 1 } }"
        "events { kind: KIND_GENERATED cell {} parent { y: 1 } }"
        "events { kind: KIND_GENERATED cell { x: 1 y: 1 } parent { y: 1 } }"
        "events { kind: KIND_GENERATED cell { y: 2 } parent { y: 1 } }"
        "events { kind: KIND_EXPANDED cell { x: 1 y: 1 } }"
        "events { kind: KIND_GENERATED cell { x: 2 y: 1 } parent { x: 1 y: 1 } }"
        "events { kind: KIND_EXPANDED cell {} }",
        absl::StrCat("answer { outcome: OUTCOME_FOUND cost: 2 path { end { cell { x: 2 y: 1 } }"
                     " points { y: 1 } points { x: 1 y: 1 } points { x: 2 y: 1 } }",
                     kStatistics, " } ", more));
  }

  void TraceGraph(int caves = 0) {
    std::string events =
        "events { kind: KIND_GENERATED node: 'harbour' f: 12 position {} }"
        "events { kind: KIND_EXPANDED node: 'harbour' f: 12 }"
        "events { kind: KIND_GENERATED node: 'ford' parent_node: 'harbour' g: 6 f: 12 }"
        "events { kind: KIND_GENERATED node: 'bridge' parent_node: 'harbour' g: 10 f: 20 }"
        // Costs more than the way that is found later.
        "events { kind: KIND_GENERATED node: 'lighthouse' parent_node: 'harbour' g: 30 f: 30 }"
        "events { kind: KIND_EXPANDED node: 'ford' g: 6 f: 12 }"
        "events { kind: KIND_GENERATED node: 'lighthouse' parent_node: 'ford' g: 12.5 f: 12.5 }";
    for (int i = 0; i < caves; ++i) {
      absl::StrAppend(&events, "events { kind: KIND_GENERATED node: 'cave-", i,
                      "' parent_node: 'ford' g: 7 f: 20 }");
    }
    Trace(events, absl::StrCat("answer { ", kGraphAnswer, kStatistics, " }"));
  }

  std::vector<v1::TraceSearchResponse> messages_;
};

TEST_F(TraceCommandTest, DrawsTheSearchAndTellsTheFacts) {
  TraceGrid();
  EXPECT_EQ(Run("trace arena 0,1 2,1 --algorithm lazy-theta --max-events 9"), ExitCode::kOk);
  EXPECT_EQ(out_,
            "  0\n"
            "0 .....\n"
            "  .....\n"
            "  ..#..\n"
            "Path found: 2 steps at cost 2 (revision 3; 9 cells expanded in 1.5us by A*)\n"
            "Put on the open list: 5 entries; left open: 2 cells\n");
  EXPECT_EQ(err_, "");
  const auto request = Parsed<v1::TraceSearchRequest>(asked_);
  EXPECT_EQ(request.max_events(), 9);
  EXPECT_EQ(request.query().algorithm(), v1::ALGORITHM_LAZY_THETA_STAR);
  TraceGrid("truncated: true");
  Run("trace arena 0,1 2,1");
  EXPECT_THAT(out_, HasSubstr("Put on the open list: 5 entries. Only the first events are shown: "
                              "--max-events allows up to 1000000.\n"));
  server_.render_map = nullptr;
  EXPECT_EQ(Run("trace arena 0,1 2,1 --no-picture"), ExitCode::kOk);
  EXPECT_THAT(out_, StartsWith("Path found: 2 steps"));
}

TEST_F(TraceCommandTest, SaysWhenThePictureIsOfAnotherRevision) {
  TraceGrid();
  server_.ServeMap(Parsed<v1::MapInfo>("version { revision: 2 }"), {".."});
  EXPECT_EQ(Run("trace arena 0,1 2,1"), ExitCode::kOk);
  EXPECT_THAT(out_, StartsWith("  0\n0 ..\n"));
  EXPECT_THAT(out_, HasSubstr("The picture shows revision 2, the path is for revision 3.\n"));
  // Another map may have any revision.
  server_.ServeMap(Parsed<v1::MapInfo>("version { epoch: 7 revision: 3 }"), {".."});
  Run("trace arena 0,1 2,1");
  EXPECT_THAT(out_, HasSubstr("The picture shows a map that has replaced the one that the path is for.\n"));
}

TEST_F(TraceCommandTest, ListsPlacesInTheOrderOfTheSearch) {
  TraceGraph();
  EXPECT_EQ(Run("trace islands harbour lighthouse"), ExitCode::kOk);
  EXPECT_EQ(out_,
            "ORDER  NODE        COST  TOTAL  FROM\n"
            "1      harbour     0     12\n"
            "2      ford        6     12     harbour\n"
            "open   bridge      10    20     harbour\n"
            "open   lighthouse  12.5  12.5   ford\n"
            "Path found: 3 nodes at cost 12 (revision 3; 9 nodes expanded in 1.5us by A*)\n"
            "harbour ford lighthouse\n"
            "Put on the open list: 5 entries; left open: 2 nodes\n");
  EXPECT_EQ(Run("trace islands harbour lighthouse --no-picture"), ExitCode::kOk);
  EXPECT_THAT(out_, StartsWith("Path found: 3 nodes"));
  TraceGraph(/*caves=*/60);
  Run("trace islands harbour lighthouse");
  EXPECT_THAT(out_, HasSubstr("open   cave-45 "));
  EXPECT_THAT(out_, Not(HasSubstr("cave-46")));
  EXPECT_THAT(out_, HasSubstr("and 14 more: --full lists all\nPath found"));
  Run("trace islands harbour lighthouse --full");
  EXPECT_THAT(out_, HasSubstr("open   cave-59 "));
  EXPECT_THAT(out_, Not(HasSubstr("--full")));
}

constexpr char kMeshEvents[] =
    "events { kind: KIND_GENERATED f: 5 interval { id: 1 polygon: 7 left { x: 1 y: 2 }"
    " right { x: 1 y: 1 z: 0.5 } root {} } }"
    "events { kind: KIND_EXPANDED f: 5 interval { id: 1 } }"
    "events { kind: KIND_GENERATED g: 2.5 f: 5 interval { id: 3 parent: 1 polygon: 9 left { x: 3 y: 2 }"
    " right { x: 3 y: 1 z: 0.5 } root { x: 2.5 } } }";
constexpr char kMeshAnswer[] =
    "answer { outcome: OUTCOME_FOUND cost: 5"
    " path { start { position {} } end { position { x: 4 y: 3 z: 0.5 } }"
    " positions {} positions { x: 4 y: 3 z: 0.5 } }"
    " info { version { revision: 3 }"
    " statistics { expanded: 1 generated: 2 search_time { nanos: 1500 } algorithm: ALGORITHM_POLYANYA } } }";

TEST_F(TraceCommandTest, ListsIntervalsOfAMesh) {
  Trace(kMeshEvents, kMeshAnswer);
  EXPECT_EQ(Run("trace keep 0,0,0 4,3,0.5"), ExitCode::kOk);
  EXPECT_EQ(out_,
            "ORDER  ID  THROUGH  POLYGON  LEFT  RIGHT    ROOT   COST  TOTAL\n"
            "1      1            7        1,2   1,1,0.5  0,0    0     5\n"
            "open   3   1        9        3,2   3,1,0.5  2.5,0  2.5   5\n"
            "Path found: 1 straight line of length 5 (revision 3; 1 interval expanded in 1.5us by Polyanya)\n"
            "0,0 4,3,0.5\n"
            "Put on the open list: 2 entries; left open: 1 interval\n");
}

TEST_F(TraceCommandTest, ListsEvents) {
  TraceGrid();
  server_.render_map = nullptr;
  EXPECT_EQ(Run("trace arena 0,1 2,1 --events"), ExitCode::kOk);
  EXPECT_THAT(out_, StartsWith("generated 0,1 from 0,1 g=1.5 f=2\nexpanded 0,1 g=0 f=0\n"));
  EXPECT_THAT(out_, HasSubstr("expanded 0,0 g=0 f=0\nPath found: 2 steps"));
  TraceGraph();
  Run("trace islands harbour lighthouse --events");
  EXPECT_THAT(out_, StartsWith("generated harbour g=0 f=12\n"
                               "expanded harbour g=0 f=12\n"
                               "generated ford from harbour g=6 f=12\n"));
  Trace(kMeshEvents, kMeshAnswer);
  Run("trace keep 0,0,0 4,3,0.5 --events");
  EXPECT_THAT(out_, StartsWith("generated 1 polygon 7 left 1,2 right 1,1,0.5 root 0,0 g=0 f=5\n"
                               "expanded 1 g=0 f=5\n"
                               "generated 3 parent 1 polygon 9 left 3,2 right 3,1,0.5 root 2.5,0 g=2.5 f=5\n"
                               "Path found: "));
}

TEST_F(TraceCommandTest, PrintsOneJsonDocument) {
  TraceGrid();
  messages_[0].mutable_events()->DeleteSubrange(2, 6);
  EXPECT_EQ(Run("trace arena 0,1 2,1 --json"), ExitCode::kOk);
  EXPECT_THAT(out_, StartsWith(R"({"events":[
{"kind":"KIND_GENERATED","cell":{"x":0,"y":1},"parent":{"x":0,"y":1},"g":1.5,"f":2},
{"kind":"KIND_EXPANDED","cell":{"x":0,"y":1},"g":0,"f":0}
],"result":{"answer":{"info":{"version":{"epoch":"0","revision":"3"},)"));
  EXPECT_THAT(out_, ::testing::EndsWith("\"truncated\":false}}\n"));
  messages_.erase(messages_.begin());
  Run("trace arena 0,1 2,1 --json");
  EXPECT_THAT(out_, StartsWith("{\"events\":[\n],\"result\":{"));
}

TEST_F(TraceCommandTest, ExitCodesAreThoseOfFind) {
  Trace("", "answer { outcome: OUTCOME_PARTIAL }");
  EXPECT_EQ(Run("trace arena 0,1 2,1"), ExitCode::kNoPath);
  EXPECT_EQ(Run("trace arena 0,1 2,1 --json"), ExitCode::kNoPath);
  ServeAll(server_.trace_search, {},
           Refusal(grpc::StatusCode::NOT_FOUND, "there is no map \"arena\"", "MAP_NOT_FOUND", "query.map"));
  EXPECT_EQ(Run("trace arena 0,1 2,1 --json"), ExitCode::kRefused);
  EXPECT_EQ(Run("trace arena 0,1 2,1"), ExitCode::kRefused);
  EXPECT_EQ(out_, "");
  EXPECT_THAT(err_, StartsWith("waystar: there is no map \"arena\" (query.map)\n"));
}

}  // namespace
}  // namespace waystar::cli
