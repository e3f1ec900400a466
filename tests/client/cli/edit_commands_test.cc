// `waystar block`, `unblock`, `terrain`, `obstacle`, `portal` and `watch`.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class EditCommandsTest : public waystar::CommandTest {
 protected:
  // Has the server answer an update at revision 8, and returns what `block` prints of it.
  std::string Blocked(const std::string& answer) {
    Serve(server_.update_map, absl::StrCat("version { revision: 8 } ", answer));
    EXPECT_EQ(Run("block arena 3,4"), ExitCode::kOk) << err_;
    return out_;
  }
};

TEST_F(EditCommandsTest, SendOneBatch) {
  ExpectRequests(
      server_.update_map,
      {{"block arena 3,4 -1,-1 3,4..6,9 1,2+3x4",
        "map: 'arena' edits { block { cells { x: 3 y: 4 } cells { x: -1 y: -1 }"
        " rectangles { x: 3 y: 4 width: 4 height: 6 } rectangles { x: 1 y: 2 width: 3 height: 4 } } }"},
       {"block arena disc:10,4,2.5 line:0,0..9,4,2",
        "map: 'arena' edits { block { discs { center { x: 10 y: 4 } radius: 2.5 }"
        " lines { start {} end { x: 9 y: 4 } width: 2 } } }"},
       {"unblock arena 3,4 --expect-revision 7 --expect-epoch 5",
        "map: 'arena' expected_version { epoch: 5 revision: 7 } edits { unblock { cells { x: 3 y: 4 } } }"},
       {"terrain arena ~ 3,4..6,9",
        "map: 'arena' edits { set_terrain { terrain: '~' shape { rectangles { x: 3 y: 4 width: 4 height: 6 } "
        "}"
        " } }"},
       {"obstacle put arena gate 3,4 disc:4,4,1.5",
        "map: 'arena' edits { add_obstacle { id: 'gate' shape { cells { x: 3 y: 4 }"
        " discs { center { x: 4 y: 4 } radius: 1.5 } } } }"},
       {"obstacle put arena fire 3,4 --add -5 --falloff linear --lifetime 1500ms --replace",
        "map: 'arena' edits { put_obstacle { id: 'fire' shape { cells { x: 3 y: 4 } }"
        " cost_addition: -5 falloff: FALLOFF_LINEAR lifetime { seconds: 1 nanos: 500000000 } }"
        " }"},
       {"obstacle put arena mud 3,4 --factor 2.5",
        "map: 'arena' edits { add_obstacle { id: 'mud' shape { cells { x: 3 y: 4 } }"
        " cost_factor: 2.5 } }"},
       {"obstacle move arena cart -1.5,2",
        "map: 'arena' edits { move_obstacle { id: 'cart' dx: -1.5 dy: 2 } }"},
       {"obstacle resize arena fire 3,4",
        "map: 'arena' edits { resize_obstacle { id: 'fire' shape { cells { x: 3 y: 4 } } } }"},
       {"obstacle remove arena fire-1 fire-2",
        "map: 'arena' edits { remove_obstacle: 'fire-1' } edits { remove_obstacle: 'fire-2' }"},
       {"portal put arena stairs 12,4 2,2 --to-map cellar --cost 1.5 --tag dry --closed --replace",
        "map: 'arena' edits { put_portal { id: 'stairs' from { x: 12 y: 4 } to { x: 2 y: 2 }"
        " to_map: 'cellar' cost: 1.5 tags: 'dry' closed: true } }"},
       // One end that is no cell makes positions of both.
       {"portal put keep jump 2,10 6,10.5,3",
        "map: 'keep' edits { add_portal { id: 'jump' from_position { x: 2 y: 10 }"
        " to_position { x: 6 y: 10.5 z: 3 } } }"},
       {"portal put keep jump 2,10,0 6,10",
        "map: 'keep' edits { add_portal { id: 'jump' from_position { x: 2 y: 10 }"
        " to_position { x: 6 y: 10 } } }"},
       {"portal close arena a b",
        "map: 'arena' edits { switch_portal { id: 'a' closed: true } }"
        " edits { switch_portal { id: 'b' closed: true } }"},
       {"portal open arena a", "map: 'arena' edits { switch_portal { id: 'a' } }"},
       {"portal remove arena a", "map: 'arena' edits { remove_portal: 'a' }"}});
}

TEST_F(EditCommandsTest, ExplainMistakes) {
  ExpectMistakes({{"block arena 3,4 5", "'5' is neither a cell such as 3,4 nor a rectangle"},
                  {"obstacle put arena mud 3,4 --factor 2 --add 1", "--factor"},
                  {"obstacle put arena mud 3,4 --falloff steep", "steep"},
                  {"obstacle put arena mud", "SHAPE is required"},
                  {"obstacle move arena cart north", "'north' is not a shift: write DX,DY"},
                  {"portal put keep jump gate 6,10", "'gate' is not a cell"}});
}

TEST_F(EditCommandsTest, TellWhatChanged) {
  EXPECT_EQ(Blocked("changed_cells: 25"), "arena is now at revision 8: 25 cells changed.\n");
  EXPECT_EQ(Blocked("changed_cells: 25 clipped_cells: 1 digest: 0xabcdef"),
            "arena is now at revision 8: 25 cells changed, 1 cell off the map dropped, "
            "digest 0000000000abcdef.\n");
  EXPECT_EQ(Blocked("already_applied: true"), "That was applied already: it made revision 8 of arena.\n");
  EXPECT_EQ(Run("block arena 3,4 --request-id a-b-c"), ExitCode::kOk);
  EXPECT_EQ(Parsed<v1::UpdateMapRequest>(asked_).request_id(), "a-b-c");
  Serve(server_.update_map, "version { revision: 8 }");
  EXPECT_EQ(Run("portal close arena a b"), ExitCode::kOk);
  EXPECT_EQ(out_, "arena is now at revision 8: 2 portals changed.\n");
}

TEST_F(EditCommandsTest, ARevisionIsOfTheEpochThatTheMapHas) {
  Serve(server_.get_map, "info { version { epoch: 9 } }");
  Serve(server_.update_map, "");
  EXPECT_EQ(Run("block arena 3,4 --expect-revision 7"), ExitCode::kOk);
  const v1::Version expected = Parsed<v1::UpdateMapRequest>(asked_).expected_version();
  EXPECT_EQ(expected.revision(), 7U);
  EXPECT_EQ(expected.epoch(), 9U);
}

TEST_F(EditCommandsTest, ARefusalHintsAtWhatToDo) {
  server_.update_map = [](auto&, const auto&, auto&) {
    return Refusal(grpc::StatusCode::ALREADY_EXISTS, "there is an obstacle \"gate\" already",
                   "OBSTACLE_EXISTS", "edits[0].add_obstacle.id");
  };
  EXPECT_EQ(Run("obstacle put arena gate 3,4"), ExitCode::kRefused);
  EXPECT_THAT(err_, HasSubstr("--replace"));
}

TEST_F(EditCommandsTest, ListAllPagesOfObstacles) {
  std::vector<v1::ListObstaclesRequest> requests;
  server_.list_obstacles = [&requests](auto&, const v1::ListObstaclesRequest& request,
                                       v1::ListObstaclesResponse& response) {
    requests.push_back(request);
    response = Parsed<v1::ListObstaclesResponse>(
        request.page_token().empty()
            ? "obstacles { id: 'fire' cost_addition: 5 falloff: FALLOFF_LINEAR lifetime { seconds: 12 }"
              " shape { discs { radius: 3.5 } } } next_page_token: 'fire'"
            : "obstacles { id: 'gate' shape { cells { x: 3 } } }");
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run("obstacle list arena --region 1,2+3x4"), ExitCode::kOk);
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].region().height(), 4);
  EXPECT_EQ(requests[1].page_token(), "fire");
  EXPECT_EQ(out_,
            "ID    SHAPE         COST        FALLOFF  LIFETIME\n"
            "fire  disc:0,0,3.5  addition 5  linear   12s\n"
            "gate  3,0           -           -        -\n");
  EXPECT_EQ(Run("obstacle list arena --names"), ExitCode::kOk);
  EXPECT_EQ(out_, "fire\ngate\n");
}

TEST_F(EditCommandsTest, ListPortals) {
  Serve(server_.list_portals,
        "portals { id: 'stairs' from { x: 12 } to {} to_map: 'cellar' tags: 'dry' both_ways: true"
        " closed: true }"
        " portals { id: 'jump' from_position { x: 2 y: 10 } to_position { x: 6 y: 10.5 z: 3 } }");
  EXPECT_EQ(Run("portal list arena"), ExitCode::kOk) << err_;
  EXPECT_EQ(out_,
            "ID      FROM  TO              TAGS\n"
            "stairs  12,0  map cellar 0,0  dry   both ways closed\n"
            "jump    2,10  6,10.5,3        -\n");
  EXPECT_EQ(Run("portal list arena --names"), ExitCode::kOk) << err_;
  EXPECT_EQ(out_, "stairs\njump\n");
}

class WatchCommandTest : public waystar::CommandTest {
 protected:
  WatchCommandTest() {
    ServeAll(
        server_.watch_map,
        {"watching { version { revision: 7 } digest: 0xabcdef }",
         "commit { version { revision: 8 } changed_cells: 25 changed_areas { rectangle { x: 3 width: 5 "
         "height: 6 } }"
         " changed_areas { disc { center { x: 40 y: 2 } radius: 1.5 } }"
         " edits { block { cells { x: 3 } } } edits { remove_obstacle: 'fire' }"
         " edits { add_nodes { nodes { id: 'koln-hbf' label: 'Köln/Hbf' } nodes { id: 'inn' } } }"
         " digest: 0x0123456789abcdef }",
         "resynchronize { version { revision: 20 } }",
         "commit { version { revision: 21 } changed_cells: 3 edits_omitted: true edits { put_profile {} }"
         " edits { switch_portal { id: 'stairs' } } }"},
        Refusal(grpc::StatusCode::NOT_FOUND, "map \"arena\" has been deleted", "MAP_NOT_FOUND", "map"));
  }
};

TEST_F(WatchCommandTest, TellsOfEveryEventUntilTheEnd) {
  EXPECT_EQ(Run("watch arena --from 8 --from-epoch 99 --edits"), ExitCode::kRefused);
  EXPECT_EQ(asked_,
            Parsed<v1::WatchMapRequest>("map: 'arena' after { epoch: 99 revision: 7 } with_edits: true")
                .DebugString());
  EXPECT_THAT(out_,
              AllOf(HasSubstr("Watching arena, which is at revision 7. Its digest is 0000000000abcdef.\n"
                              "Revision 8 at "),
                    HasSubstr(": 25 cells changed in 3,0+5x6 disc:40,2,1.5, digest 0123456789abcdef\n"
                              "  block 3,0\n  remove obstacle fire\n  add nodes koln-hbf \"Köln/Hbf\", inn\n"
                              "Revisions up to 20 "),
                    HasSubstr("Revision 21 at "), HasSubstr(": 3 cells, 1 portal, 1 profile changed\n"),
                    HasSubstr("\n  (more edits")));
  EXPECT_THAT(err_, HasSubstr("map \"arena\" has been deleted"));
}

TEST_F(WatchCommandTest, EndsAfterSoManyRevisions) {
  EXPECT_EQ(Run("watch arena --json --count 1"), ExitCode::kOk);
  EXPECT_EQ(asked_, Parsed<v1::WatchMapRequest>("map: 'arena'").DebugString());
  EXPECT_THAT(out_, HasSubstr("\"digest\":\"11259375\"}}\n{\"commit\":{\"version\":{\"epoch\":\"0\","
                              "\"revision\":\"8\"},"));
  EXPECT_THAT(out_, Not(HasSubstr("resynchronize")));
}

}  // namespace
}  // namespace waystar::cli
