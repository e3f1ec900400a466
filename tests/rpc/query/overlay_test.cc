// Overlays over the wire: what one query alone sees otherwise, and nobody else.

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::kOutOfRange;
using ::waystar::testing::PathRequest;
using ::waystar::testing::Show;
using ::waystar::testing::TestServer;

// A room with a guard in the middle, and the way past him. What is asked with an overlay must leave both, and
// the answer to the plain query, as they were.
class OverlayRpcTest : public ::testing::Test {
 protected:
  static v1::FindPathRequest PlainQuery() {
    v1::FindPathRequest query = PathRequest("room", CellAt(0, 1), CellAt(6, 1));
    query.set_algorithm(v1::ALGORITHM_ASTAR);
    return query;
  }

  // The query with what `lay` puts into its overlay.
  static v1::FindPathRequest Query(const std::function<void(v1::Overlay&)>& lay) {
    v1::FindPathRequest query = PlainQuery();
    lay(*query.mutable_overlay());
    return query;
  }

  v1::FindPathResponse Find(const v1::FindPathRequest& query) {
    const auto found = server_.client().FindPath(query);
    EXPECT_TRUE(found.ok()) << found.status();
    return found.ok() ? *found : v1::FindPathResponse();
  }

  absl::StatusOr<v1::TraceSearchResult> Trace(const v1::FindPathRequest& query,
                                              std::vector<v1::SearchEvent>* events = nullptr) {
    v1::TraceSearchRequest request;
    *request.mutable_query() = query;
    return server_.client().TraceSearch(request, [events](const v1::SearchEvent& event) {
      if (events != nullptr) {
        events->push_back(event);
      }
    });
  }

  // "FOUND 6 at 2: (0, 1) (1, 1)".
  static std::string Told(const v1::FindPathResponse& answer) {
    return absl::StrCat(v1::Outcome_Name(answer.outcome()), " ", answer.cost(), " at ", answer.revision(),
                        ": ", Show(answer.points()));
  }

  // All that can be seen of the map without an overlay.
  std::string State() {
    v1::GetMapRequest get;
    get.set_map("room");
    v1::ListObstaclesRequest list;
    list.set_map("room");
    v1::ExportMapRequest file;
    file.set_map("room");
    const auto info = server_.client().GetMap(get);
    const auto obstacles = server_.client().ListObstacles(list);
    const auto exported = server_.client().ExportMap(file);
    EXPECT_TRUE(info.ok() && obstacles.ok() && exported.ok());
    return absl::StrCat(info->info().DebugString(), obstacles->DebugString(), exported->bytes,
                        Told(Find(PlainQuery())));
  }

  void SetUp() override {
    server_.Create("room", {".......",  //
                            ".......",  //
                            "......."});
    v1::UpdateObstaclesRequest update;
    update.set_map("room");
    v1::Obstacle& guard = *update.add_edits()->mutable_put_obstacle()->mutable_obstacle();
    guard.set_id("guard");
    *guard.mutable_shape()->add_cells() = CellAt(3, 1);
    ASSERT_TRUE(server_.client().UpdateObstacles(update).ok());
    plain_ = Find(PlainQuery());
    EXPECT_GT(plain_.cost(), 6.0);
    state_ = State();
  }

  void TearDown() override { EXPECT_EQ(State(), state_); }

  TestServer server_;
  v1::FindPathResponse plain_;
  std::string state_;
};

void BlockColumn(v1::Overlay& overlay, int x) {
  v1::Rectangle& wall = *overlay.mutable_blocked()->add_rectangles();
  wall.set_x(x);
  wall.set_width(1);
  wall.set_height(3);
}

TEST_F(OverlayRpcTest, BlockedCellsAreInTheWay) {
  const v1::FindPathResponse round = Find(Query([](v1::Overlay& overlay) {
    *overlay.mutable_blocked()->add_cells() = CellAt(3, 0);
    *overlay.mutable_blocked()->add_cells() = CellAt(1, 1);
  }));
  EXPECT_EQ(round.outcome(), v1::OUTCOME_FOUND);
  EXPECT_THAT(Show(round.points()), ::testing::HasSubstr("(3, 2)"));
  EXPECT_EQ(round.revision(), plain_.revision());
  const v1::FindPathResponse none = Find(Query([](v1::Overlay& overlay) { BlockColumn(overlay, 5); }));
  EXPECT_EQ(none.outcome(), v1::OUTCOME_UNREACHABLE);
  EXPECT_EQ(none.reason(), v1::REASON_NO_ROUTE);
}

// One that sticks out of the map is clipped.
TEST_F(OverlayRpcTest, BlockedShapesOfAllKinds) {
  const v1::FindPathResponse found = Find(Query([](v1::Overlay& overlay) {
    v1::Disc& disc = *overlay.mutable_blocked()->add_discs();
    disc.mutable_center()->set_x(1.5);
    disc.mutable_center()->set_y(-1);
    disc.set_radius(2.1);
    v1::Line& line = *overlay.mutable_blocked()->add_lines();
    line.mutable_start()->set_x(5);
    line.mutable_start()->set_y(2);
    line.mutable_end()->set_x(5);
    line.mutable_end()->set_y(1);
    v1::Polygon& polygon = *overlay.mutable_blocked()->add_polygons();
    for (const auto& [x, y] : std::vector<std::pair<double, double>>{{2.5, -9}, {3.5, -9}, {3.5, 0.5}}) {
      v1::Point& vertex = *polygon.add_vertices();
      vertex.set_x(x);
      vertex.set_y(y);
    }
  }));
  EXPECT_EQ(found.outcome(), v1::OUTCOME_FOUND);
  for (const v1::Cell& point : found.points()) {
    EXPECT_FALSE((point.x() == 1 || point.x() == 2) && point.y() == 1) << "through the disc";
    EXPECT_FALSE(point.x() == 5 && point.y() > 0) << "through the line";
    EXPECT_FALSE(point.x() == 3 && point.y() == 0) << "through the polygon";
  }
}

TEST_F(OverlayRpcTest, IgnoredObstacleIsNotThere) {
  const v1::FindPathResponse straight =
      Find(Query([](v1::Overlay& overlay) { overlay.add_ignored_obstacles("guard"); }));
  EXPECT_EQ(straight.cost(), 6.0);
  EXPECT_EQ(straight.revision(), plain_.revision());
  // What the overlay blocks it blocks all the same.
  const v1::FindPathResponse round = Find(Query([](v1::Overlay& overlay) {
    overlay.add_ignored_obstacles("guard");
    *overlay.mutable_blocked()->add_cells() = CellAt(3, 1);
  }));
  EXPECT_EQ(Told(round), Told(plain_));
}

TEST_F(OverlayRpcTest, UnknownObstacleIsPassedOver) {
  for (const char* id : {"nobody", "Guard", "guard2"}) {
    const v1::FindPathResponse answer =
        Find(Query([&](v1::Overlay& overlay) { overlay.add_ignored_obstacles(id); }));
    EXPECT_EQ(Told(answer), Told(plain_)) << id;
  }
  const v1::FindPathResponse straight = Find(Query([](v1::Overlay& overlay) {
    overlay.add_ignored_obstacles("nobody");
    overlay.add_ignored_obstacles("guard");
    overlay.add_ignored_obstacles("guard");
  }));
  EXPECT_EQ(straight.cost(), 6.0);
}

TEST_F(OverlayRpcTest, StartAndGoalMayBeBlockedByIt) {
  const auto blocked = [&](v1::Cell cell) {
    return server_.client().FindPath(
        Query([&](v1::Overlay& overlay) { *overlay.mutable_blocked()->add_cells() = cell; }));
  };
  constexpr auto kFailed = absl::StatusCode::kFailedPrecondition;
  EXPECT_THAT(blocked(CellAt(0, 1)), IsRefused(kFailed, "START_BLOCKED", "start"));
  EXPECT_THAT(blocked(CellAt(6, 1)), IsRefused(kFailed, "GOAL_BLOCKED", "goal"));
  v1::FindPathRequest from_guard =
      Query([](v1::Overlay& overlay) { overlay.add_ignored_obstacles("guard"); });
  *from_guard.mutable_start() = CellAt(3, 1);
  EXPECT_EQ(Find(from_guard).cost(), 3.0);
}

TEST_F(OverlayRpcTest, TraceSeesWhatTheQuerySees) {
  const v1::FindPathRequest query = Query([](v1::Overlay& overlay) {
    overlay.add_ignored_obstacles("guard");
    *overlay.mutable_blocked()->add_cells() = CellAt(2, 1);
  });
  std::vector<v1::SearchEvent> events;
  const auto traced = Trace(query, &events);
  ASSERT_TRUE(traced.ok()) << traced.status();
  EXPECT_EQ(Told(traced->answer()), Told(Find(query)));
  bool saw_guard = false;
  for (const v1::SearchEvent& event : events) {
    saw_guard = saw_guard || (event.cell().x() == 3 && event.cell().y() == 1);
    EXPECT_FALSE(event.cell().x() == 2 && event.cell().y() == 1);
  }
  EXPECT_TRUE(saw_guard);
}

TEST_F(OverlayRpcTest, MalformedOverlayIsRefusedNamingTheField) {
  const auto expect = [&](const std::function<void(v1::Overlay&)>& lay, absl::StatusCode code,
                          const std::string& reason, const std::string& field) {
    const v1::FindPathRequest query = Query(lay);
    EXPECT_THAT(server_.client().FindPath(query), IsRefused(code, reason, field));
    EXPECT_THAT(Trace(query), IsRefused(code, reason, "query." + field));
  };
  expect([](v1::Overlay& overlay) { overlay.mutable_blocked()->add_discs()->set_radius(1); }, kInvalid,
         "MISSING_FIELD", "overlay.blocked.discs[0].center");
  expect(
      [](v1::Overlay& overlay) {
        *overlay.mutable_blocked()->add_cells() = CellAt(1, 1);
        overlay.mutable_blocked()->add_discs()->mutable_center()->set_x(1);
        v1::Disc& disc = *overlay.mutable_blocked()->add_discs();
        disc.mutable_center()->set_x(1);
        disc.set_radius(-1);
      },
      kInvalid, "BAD_DISC", "overlay.blocked.discs[1].radius");
  expect([](v1::Overlay& overlay) { overlay.mutable_blocked()->add_polygons()->add_vertices(); }, kInvalid,
         "BAD_POLYGON", "overlay.blocked.polygons[0].vertices");
  expect([](v1::Overlay& overlay) { overlay.mutable_blocked()->add_lines()->mutable_start(); }, kInvalid,
         "MISSING_FIELD", "overlay.blocked.lines[0].end");
  expect([](v1::Overlay& overlay) { overlay.mutable_blocked()->add_rectangles()->set_width(3); }, kInvalid,
         "BAD_RECTANGLE", "overlay.blocked.rectangles[0].height");
  expect([](v1::Overlay& overlay) { *overlay.mutable_blocked()->add_cells() = CellAt(7, 0); }, kOutOfRange,
         "OFF_MAP", "overlay.blocked");
  expect(
      [](v1::Overlay& overlay) {
        overlay.add_ignored_obstacles("guard");
        overlay.add_ignored_obstacles("the guard");
      },
      kInvalid, "BAD_OBSTACLE_ID", "overlay.ignored_obstacles[1]");
  expect(
      [](v1::Overlay& overlay) {
        for (int i = 0; i < 1001; ++i) {
          overlay.add_ignored_obstacles("guard");
        }
      },
      kInvalid, "BAD_VALUE", "overlay.ignored_obstacles");
}

}  // namespace
}  // namespace waystar
