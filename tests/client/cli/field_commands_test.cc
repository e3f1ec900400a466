// `waystar reach`, `reachable`, `flow`, `matrix`, `ray`, `sample` and `probe`, on all kinds of maps.

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

class FieldCommandsTest : public waystar::CommandTest {
 protected:
  FieldCommandsTest() {
    server_.ServeMap(Parsed<v1::MapInfo>("version { revision: 3 }"), {"..#..",  //
                                                                      "..#..",  //
                                                                      "....."});
  }

  // Has the server answer at revision 3, and expects what a command prints of it.
  template <typename Request, typename Response>
  void Expect(Handler<Request, Response>& handler, const std::string& answer, const char* line,
              const std::string& printed, ExitCode code = ExitCode::kOk) {
    Serve(handler, absl::StrCat("info { version { revision: 3 } } ", answer));
    EXPECT_EQ(Run(line), code) << line << "\n" << err_;
    EXPECT_EQ(out_, printed) << line;
  }

  void ServeMesh() { Serve(server_.get_map, "info { kind: MAP_KIND_MESH mesh { polygons: 3 } }"); }
};

TEST_F(FieldCommandsTest, SendWhatTheUserAsked) {
  ExpectRequests(
      server_.find_reachable,
      {{"reach arena 0,0 --max-cost 1.2 --footprint 2 --region 0,0..3,2 --towards",
        "map: 'arena' start { cell {} } max_cost: 1.2 agent { footprint: 2 } region { width: 4 height: 3 }"
        " towards_start: true"},
       // It may be a grid, whose costs may be too many.
       {"reach islands --start-position 0,0,2 --snap 3",
        "map: 'islands' start { position { z: 2 } } snap { radius: 3 }"},
       {"reach islands harbour --require-tag dry --block-node ford --block-edge bridge>lighthouse",
        "map: 'islands' start { node: 'harbour' } agent { profile { required_tags: 'dry' } } with_costs: true"
        " view { overlay { blocked_nodes: 'ford'"
        " blocked_edges { from: 'bridge' to: 'lighthouse' one_way: true } } }"}});
  ExpectRequests(
      server_.compute_flow_field,
      {{"flow arena 0,0 4,0", "map: 'arena' goals { cell {} } goals { cell { x: 4 } }"},
       {"flow islands lighthouse", "map: 'islands' goals { node: 'lighthouse' } with_costs: true"}});
  ExpectRequests(server_.compute_cost_matrix,
                 {{"matrix arena --from-position 0.5,1 --from 0,0 --to 3,3",
                   "map: 'arena' starts { cell {} } starts { position { x: 0.5 y: 1 } }"
                   " goals { cell { x: 3 y: 3 } }"}});
  ExpectRequests(server_.cast_ray,
                 {{"ray arena 1,0 4,0", "map: 'arena' from { cell { x: 1 } } to { cell { x: 4 } }"},
                  {"ray arena --from-position 0.25,0 --to-position=-4,1.5",
                   "map: 'arena' from { position { x: 0.25 } } to { position { x: -4 y: 1.5 } }"},
                  {"ray arena 4,0 --from-position 0.25,0",
                   "map: 'arena' from { position { x: 0.25 } } to { cell { x: 4 } }"}});
  ExpectRequests(server_.explain_path,
                 {{"explain arena 1,0 4,0 --price 5 --only-obstacles --obstacle-price gate:=2.5 =7",
                   "map: 'arena' start { cell { x: 1 } } goal { cell { x: 4 } } price: 5"
                   " prices { id_prefix: 'gate:' price: 2.5 } prices { price: 7 } only_obstacles: true"}});
  ExpectRequests(server_.sample_places,
                 {{"sample arena", "map: 'arena' count: 1"},
                  {"sample arena --count 2 --seed 9 --distinct --reachable-from 1,1",
                   "map: 'arena' count: 2 seed: 9 distinct: true reachable_from { cell { x: 1 y: 1 } }"},
                  {"sample islands --along-edges", "map: 'islands' count: 1 along_edges: true"}});
  ExpectRequests(
      server_.probe_surface,
      {{"probe keep -1,2,3", "map: 'keep' probes { position { x: -1 y: 2 z: 3 } }"},
       {"probe keep 4,2 --move-to 5,2 --snap 1",
        "map: 'keep' probes { position { x: 4 y: 2 } move_to { x: 5 y: 2 } } snap { radius: 1 }"},
       {"probe keep 4,2 --ray-to 5,2", "map: 'keep' probes { position { x: 4 y: 2 } ray_to { x: 5 y: 2 } }"},
       {"probe keep 4,2 --wall-within 0.25",
        "map: 'keep' probes { position { x: 4 y: 2 } wall_within: 0.25 }"}});
  ExpectRequests(server_.check_moves,
                 {{"check-moves islands harbour ford 1500ms 0,0 1,0 1s --speed 2.5 --time-tolerance 50ms",
                   "map: 'islands' speed: 2.5 time_tolerance { nanos: 50000000 }"
                   " moves { from { node: 'harbour' } to { node: 'ford' }"
                   " elapsed { seconds: 1 nanos: 500000000 } }"
                   " moves { from { cell {} } to { cell { x: 1 } } elapsed { seconds: 1 } }"}});
  ExpectRequests(server_.check_reachability,
                 {{"reachable arena 0,0 -4,0 harbour lighthouse --footprint 2",
                   "map: 'arena' agent { footprint: 2 } pairs { start { cell {} } goal { cell { x: -4 } } }"
                   " pairs { start { node: 'harbour' } goal { node: 'lighthouse' } }"}});
}

TEST_F(FieldCommandsTest, ExplainMistakes) {
  ExpectMistakes({{"reach arena", "START is required"},
                  {"reach arena 1,1 --start-position 1.5,-2", "--start-position"},
                  {"reach islands harbour --block-edge ford", "'ford' is not an edge"},
                  {"matrix arena --from 0,0", "--to is required"},
                  {"ray arena 0.25 1,0", "is not a cell"},
                  {"ray arena 4,0", "TO is required"},
                  {"ray arena 4,0 5,0 --from-position 0.25,0", "TO is given twice"},
                  {"sample islands --along-edges --distinct", "--distinct"},
                  {"probe keep", "POSITION is required"},
                  {"probe keep 4,2 --wall-within 1 --ray-to 5,2", "--ray-to"},
                  {"reachable arena 0,0 4,0 1,1", "the last one has no GOAL"},
                  {"reachable arena", "PLACES is required"},
                  {"check-moves arena 0,0 4,0 1s", "--speed is required"},
                  {"check-moves arena --speed 1 0,0 4,0", "the last one is incomplete"},
                  {"check-moves arena --speed 1 0,0 4,0 soon", "'soon' is not a length of time"},
                  {"reachable arena 0,0 4;0", "'4;0' is not a cell"}});
}

TEST_F(FieldCommandsTest, ReachDrawsCellsAndListsNodesAndPolygonsByCost) {
  Expect(server_.find_reachable, R"(bounds { width: 2 height: 2 } cells: "\003\001" count: 3)",
         "reach arena 0,0 --max-cost 1.2",
         "  0\n"
         "0 S*#..\n"
         "  *.#..\n"
         "  .....\n"
         "S start  * within reach\n"
         "3 cells within reach, x 0 to 1 and y 0 to 1 (revision 3)\n");
  Expect(server_.find_reachable,
         "nodes { node: 'lighthouse' cost: 12.5 } nodes { node: 'harbour' cost: 0 } nodes { node: 'ford' "
         "cost: 6 }",
         "reach islands harbour --max-cost 15",
         "NODE        COST\n"
         "harbour     0\n"
         "ford        6\n"
         "lighthouse  12.5\n"
         "3 nodes within reach (revision 3)\n");
  Expect(server_.find_reachable, "", "reach islands --start-position 1,0 --snap 2",
         "0 nodes within reach (revision 3)\n");
  ServeMesh();
  Expect(server_.find_reachable,
         "polygons { polygon: 3 cost: 4.25 nearest { x: 3 y: 2.5 z: 4.25 } }"
         " polygons { polygon: 16 cost: 0 nearest { x: 16 y: 2.5 } }",
         "reach keep 16,2.5,0 --max-cost 5",
         "POLYGON  NEAREST     COST\n"
         "16       16,2.5      0\n"
         "3        3,2.5,4.25  4.25\n"
         "2 polygons within reach (revision 3)\n");
  EXPECT_TRUE(Parsed<v1::FindReachableRequest>(asked_).with_costs());
}

TEST_F(FieldCommandsTest, FlowDrawsArrowsAndListsNextNodesAndPolygons) {
  Expect(server_.compute_flow_field,
         R"(region { width: 5 height: 3 })"
         R"( directions: "\011\007\000\003\011\001\010\000\002\001\001\010\007\002\001")",
         "flow arena 0,0 4,0",
         "  0\n"
         "0 G<#>G\n"
         "  ^\\#/^\n"
         "  ^\\</^\n"
         "G goal  ^ / > \\ v < ways to a goal\n"
         "Ways to a goal from 11 cells of 5 x 3 (revision 3)\n");
  Expect(server_.compute_flow_field,
         R"(region { width: 5 height: 1 } directions: "\003\012\000\011\007")"
         R"( portals { cell { x: 1 } portal: "stairs" arrival { x: 3 } })",
         "flow arena 3,0",
         "  0\n"
         "0 >.#G<\n"
         "  ..#..\n"
         "  .....\n"
         "G goal  ^ / > \\ v < ways to a goal\n"
         "Ways to a goal from 3 cells of 5 x 1 (revision 3)\n"
         "Portals: 1,0 -stairs-> 3,0\n");
  Expect(server_.compute_flow_field,
         "nodes { node: 'ford' next: 'lighthouse' cost: 6.25 } nodes { node: 'lighthouse' cost: 0 }",
         "flow islands lighthouse",
         "NODE        NEXT        COST\n"
         "lighthouse  -           0\n"
         "ford        lighthouse  6.25\n"
         "Ways to a goal from 2 nodes (revision 3)\n");
  ServeMesh();
  Expect(server_.compute_flow_field,
         "polygons { polygon: 7 cost: 6.5 middle { x: 1 y: 2 } next { x: 3 y: 2 z: 1 } }", "flow keep 2,3,4",
         "POLYGON  MIDDLE  NEXT   COST\n"
         "7        1,2     3,2,1  6.5\n"
         "Ways to a goal from 1 polygon (revision 3)\n");
  EXPECT_TRUE(Parsed<v1::ComputeFlowFieldRequest>(asked_).with_costs());
}

TEST_F(FieldCommandsTest, MatricesPairsAndMovesAreTables) {
  Expect(server_.compute_cost_matrix, "costs: [1, -1, 2.5, 0]",
         "matrix islands --from harbour 1,1 --to ford --to-position 3,4",
         "FROM     ford  3,4\n"
         "harbour  1     -\n"
         "1,1      2.5   0\n");
  Expect(server_.check_reachability, "reachable: [true, false]", "reachable arena 0,0 -4,0 1,1 60,40",
         "START  GOAL   REACHABLE\n"
         "0,0    -4,0   yes\n"
         "1,1    60,40  no\n",
         ExitCode::kNoPath);
  EXPECT_EQ(Run("reachable arena 0,0 40,0 --json"), ExitCode::kNoPath);
  Expect(server_.check_moves,
         "results { verdict: MOVE_VERDICT_OK nearest { cell { x: 4 } } judged_back { nanos: 250000000 } }"
         " results { verdict: MOVE_VERDICT_TOO_FAST least_time { seconds: 4 nanos: 1234567 }"
         "           nearest { cell {} } }"
         " results { verdict: MOVE_VERDICT_BLOCKED blocked_at { position { x: 2.5 } } obstacle: 'crane'"
         "           nearest { node: 'ford' } }"
         " results { verdict: MOVE_VERDICT_NOT_REACHABLE }",
         "check-moves arena --speed 1 0,0 4,0 4s 0,0 4,0 1s harbour ford 2s 0,0 1,0 2s",
         "FROM     TO    TIME  VERDICT           LEAST   BLOCKED AT  PUT AT\n"
         "0,0      4,0   4s    ok 250ms ago      -       -           4,0\n"
         "0,0      4,0   1s    too fast          4.001s  -           0,0\n"
         "harbour  ford  2s    blocked by crane  -       2.5,0       ford\n"
         "0,0      1,0   2s    not reachable     -       -           -\n",
         ExitCode::kNoPath);
  Serve(server_.check_reachability, "reachable: true");
  EXPECT_EQ(Run("reachable arena 0,0 4,0"), ExitCode::kOk);
}

TEST_F(FieldCommandsTest, RayTellsWhatIsInTheWay) {
  Expect(server_.cast_ray, "blocked: true cell { x: 2 } position { x: 1.5 }", "ray arena 1,0 4,0",
         "Blocked by 2,0, at 1.5,0 (revision 3)\n", ExitCode::kNoPath);
  Expect(server_.cast_ray, "", "ray arena 1,0 1,1", "Free (revision 3)\n");
  const std::string blocked = "blocked: true fraction: 0.25 position { x: 3 z: 1.5 }";
  const char* const line = "ray islands pier market";
  Expect(server_.cast_ray, blocked + " obstacle: 'crane'", line,
         "Blocked by crane after 0.25 of the way, at 3,0,1.5 (revision 3)\n", ExitCode::kNoPath);
  Expect(server_.cast_ray, blocked, line,
         "Blocked by a cell of the reference map after 0.25 of the way, at 3,0,1.5 (revision 3)\n",
         ExitCode::kNoPath);
  Expect(server_.cast_ray, blocked, "ray islands pier market --block disc:3,0,1",
         "Blocked after 0.25 of the way, at 3,0,1.5 (revision 3)\n", ExitCode::kNoPath);
}

TEST_F(FieldCommandsTest, ExplainListsTheBlockers) {
  const char* const line = "explain arena 0,0 2,0";
  Expect(server_.explain_path,
         "outcome: OUTCOME_FOUND cost: 2 price: 1050 path { points {} points { x: 1 } points { x: 2 } }"
         " blockers { terrain: '~' entry { cell { x: 1 } } price: 1000 }"
         " blockers { obstacle: 'gate' entry { cell { x: 2 } } price: 50 }",
         line,
         "Blocked: a path of cost 2 enters 2 blockers at a price of 1050 (revision 3)\n"
         "BLOCKED BY     AT   PRICE\n"
         "terrain ~      1,0  1000\n"
         "obstacle gate  2,0  50\n"
         "0,0 1,0 2,0\n",
         ExitCode::kNoPath);
  Expect(server_.explain_path, "outcome: OUTCOME_FOUND cost: 2", line,
         "Nothing blocks a path of cost 2 (revision 3)\n");
  Expect(server_.explain_path, "outcome: OUTCOME_UNREACHABLE", line,
         "No path leads there, whatever is removed (revision 3)\n", ExitCode::kNoPath);
}

TEST_F(FieldCommandsTest, ExplainShowsTheCornersOfAPathOnAMesh) {
  Serve(server_.explain_path,
        "info { version { revision: 3 } statistics { algorithm: ALGORITHM_POLYANYA } }"
        " outcome: OUTCOME_FOUND cost: 7 price: 1000"
        " path { start { position { x: 1 } } positions { x: 1 } positions { x: 4 y: 2 } positions { x: 8 } }"
        " blockers { obstacle: 'pile' entry { position { x: 3 y: 1 } } price: 1000 }");
  EXPECT_EQ(Run("explain keep 1,0,0 8,0,0"), ExitCode::kNoPath) << err_;
  EXPECT_EQ(out_,
            "Blocked: a path of cost 7 enters 1 blocker at a price of 1000 (revision 3)\n"
            "BLOCKED BY     AT   PRICE\n"
            "obstacle pile  3,1  1000\n"
            "1,0 4,2 8,0\n");
}

TEST_F(FieldCommandsTest, SampleListsWhatWasDrawn) {
  Expect(server_.sample_places, "cells { x: 1 y: 2 } cells { x: 3 }", "sample arena", "1,2\n3,0\n");
  Expect(server_.sample_places, "nodes: ['pier', 'market']", "sample islands", "pier\nmarket\n");
  Expect(server_.sample_places,
         "points { edge { from: 'pier' to: 'market' } fraction: 0.25 position { x: 4.5 z: -2 } }",
         "sample islands --along-edges", "4.5,0,-2 on pier -> market, 0.25 of it\n");
}

TEST_F(FieldCommandsTest, ProbeTellsOfTheSurface) {
  const auto expect = [this](const std::string& result, const char* options, const char* text,
                             ExitCode code = ExitCode::kOk) {
    Expect(server_.probe_surface, absl::StrCat("results { ", result, " }"),
           absl::StrCat("probe keep 4,2", options).c_str(), absl::StrCat(text, " (revision 3)\n"), code);
  };
  expect("", "", "No surface of the mesh is there, or near enough", ExitCode::kNoPath);
  const std::string found = "found: true end { x: 4.5 y: 2 } polygon: 7 ";
  expect(found, "", "On the mesh at 4.5,2 in polygon 7");
  expect(found, " --move-to 5,2", "Comes to 4.5,2 in polygon 7");
  expect(found, " --ray-to 5,2", "Free, to 4.5,2 in polygon 7");
  expect(found, " --wall-within 0.25", "No wall is so near");
  const std::string blocked = found + "blocked: true distance: 0.5 wall_normal { x: -1 }";
  expect(blocked, " --move-to 5,2", "Comes to 4.5,2 in polygon 7, stopped by a wall that faces -1,0");
  expect(blocked, " --ray-to 5,2", "Blocked after 0.5, at 4.5,2 in polygon 7, by a wall that faces -1,0");
  expect(blocked, " --wall-within 1", "0.5 to a wall that faces -1,0, at 4.5,2 in polygon 7");
}

}  // namespace
}  // namespace waystar::cli
