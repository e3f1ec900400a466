// Each question about paths on each kind of map, through the public API, and the table of docs/kinds.md.

#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "server/base/status_macros.h"
#include "tests/service/about_map.h"
#include "tests/service/bounded_context.h"
#include "tests/service/test_server.h"
#include "tests/testing/folders.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar {
namespace {

using ::waystar::testing::About;
using ::waystar::testing::BoundedContext;
using ::waystar::testing::CellAt;
using ::waystar::testing::TestServer;

using Told = absl::StatusOr<std::string>;

// A map of one kind, on which a path leads from a start to a goal, and two places to block that part them.
struct Kind {
  // As in docs/kinds.md.
  std::string name;
  std::string map;
  v1::Location start;
  v1::Location goal;
  // Lies behind the goal, or is dearer to reach.
  v1::Location far;
  std::vector<v1::Edit> edits_that_part;
};

std::string Number(double value) { return absl::StrFormat("%.6g", value); }

class KindsTest : public ::testing::Test {
 protected:
  KindsTest() : paths_(v1::PathService::NewStub(server_.NewChannel())) {
    v1::GridOptions squares;
    kinds_.push_back(Grid("squares, 8 neighbours", "eight", squares));
    squares.mutable_squares()->set_connectivity(v1::CONNECTIVITY_FOUR);
    kinds_.push_back(Grid("squares, 4 neighbours", "four", squares));
    v1::GridOptions hexagons;
    hexagons.mutable_hexagons()->set_layout(v1::HEX_LAYOUT_AXIAL_POINTY);
    kinds_.push_back(Grid("hexagons", "hexes", hexagons));
    kinds_.push_back(Graph());
    kinds_.push_back(Mesh());
  }

  static v1::Location Cell(int x, int y) {
    v1::Location location;
    *location.mutable_cell() = CellAt(x, y);
    return location;
  }
  static v1::Location Position(double x, double y) {
    v1::Location location;
    location.mutable_position()->set_x(x);
    location.mutable_position()->set_y(y);
    return location;
  }
  static v1::Location Node(const std::string& id) {
    v1::Location location;
    location.set_node(id);
    return location;
  }

  Kind Grid(const std::string& name, const std::string& map, const v1::GridOptions& options) {
    server_.Create(map,
                   {".....",  //
                    ".##..",  //
                    "....."},
                   options);
    v1::Edit wall;
    for (const int x : {0, 3, 4}) {
      *wall.mutable_block()->add_cells() = CellAt(x, 1);
    }
    return {.name = name,
            .map = map,
            .start = Cell(0, 0),
            .goal = Cell(4, 2),
            .far = Cell(0, 2),
            .edits_that_part = {wall}};
  }

  // a - b - c, a longer way round by d, and e behind c.
  Kind Graph() {
    auto request = About<v1::CreateMapRequest>("paths");
    v1::WaypointGraph& graph = *request.mutable_graph();
    const auto add_node = [&](const std::string& id, double x, double y) {
      v1::WaypointNode& node = *graph.add_nodes();
      node.set_id(id);
      node.mutable_position()->set_x(x);
      node.mutable_position()->set_y(y);
    };
    add_node("a", 0, 0);
    add_node("b", 4, 0);
    add_node("c", 8, 0);
    add_node("d", 4, 3);
    add_node("e", 8, 7);
    v1::Edit closed;
    closed.mutable_set_enabled()->set_enabled(false);
    for (const auto& [from, to] : {std::pair("a", "b"), {"b", "c"}, {"a", "d"}, {"d", "c"}, {"c", "e"}}) {
      v1::WaypointEdge& edge = *graph.add_edges();
      edge.mutable_edge()->set_from(from);
      edge.mutable_edge()->set_to(to);
      if (absl::StrContains(absl::StrCat(from, to), "d")) {
        edge.add_tags("dry");
      }
      if (to == std::string("c")) {
        *closed.mutable_set_enabled()->add_edges() = edge.edge();
      }
    }
    EXPECT_TRUE(server_.client().CreateMap(request).ok());
    return {.name = "waypoint graphs",
            .map = "paths",
            .start = Node("a"),
            .goal = Node("c"),
            .far = Node("e"),
            .edits_that_part = {closed}};
  }

  // Three squares around a corner of a wall, and an island.
  Kind Mesh() {
    auto request = About<v1::CreateMapRequest>("floor");
    request.set_data(
        "mesh 2 12 4\n"
        "0 0 1 0\n 4 0 1 0\n 4 4 3 0 1 2\n 0 4 2 0 1\n 0 8 1 1\n 4 8 2 1 2\n 8 8 1 2\n 8 4 1 2\n"
        "20 0 1 3\n 24 0 1 3\n 24 4 1 3\n 20 4 1 3\n"
        "4 0 1 2 3 -1 -1 -1 1\n"
        "4 3 2 5 4 -1 0 2 -1\n"
        "4 2 7 6 5 1 -1 -1 -1\n"
        "4 8 9 10 11 -1 -1 -1 -1\n");
    EXPECT_TRUE(server_.client().CreateMap(request).ok());
    // Nothing parts a mesh, but a portal shortens the way.
    v1::Edit shortcut;
    v1::Portal& portal = *shortcut.mutable_put_portal()->mutable_portal();
    portal.set_id("jump");
    *portal.mutable_from_position() = Position(1, 5).position();
    *portal.mutable_to_position() = Position(7, 5).position();
    return {.name = "navigation meshes",
            .map = "floor",
            .start = Position(1, 4),
            .goal = Position(7, 4),
            .far = Position(1, 2),
            .edits_that_part = {shortcut}};
  }

  static v1::FindPathRequest QueryOn(const Kind& kind) {
    auto query = About<v1::FindPathRequest>(kind.map);
    *query.mutable_start() = kind.start;
    *query.add_goals() = kind.goal;
    return query;
  }

  Told CostOf(const v1::FindPathRequest& query) {
    WAYSTAR_ASSIGN_OR_RETURN(const v1::FindPathResponse answer, server_.client().FindPath(query));
    return answer.outcome() == v1::OUTCOME_FOUND ? Number(answer.cost()) : "no way";
  }

  // What a question tells on each kind: what was expected, or "REASON field".
  void ExpectTold(const std::string& question, const std::vector<std::string>& expected,
                  const std::function<Told(const Kind&)>& ask) {
    ASSERT_EQ(expected.size(), kinds_.size());
    std::string row = absl::StrCat("| ", question, " |");
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      const Told told = ask(kinds_[i]);
      const std::string text =
          told.ok() ? *told
                    : absl::StrCat(client::ReasonOf(told.status()), " ", client::FieldOf(told.status()));
      EXPECT_EQ(text, expected[i]) << question << " on " << kinds_[i].name;
      absl::StrAppend(&row, absl::StartsWith(text, "WRONG_MAP_KIND") ? " no" : " yes", " |");
    }
    rows_.push_back(row);
  }

  // docs/kinds.md has these rows, each followed by a reason where a kind is left out.
  void ExpectDocumented() const {
    std::ifstream file(testing::SourceFolder() / "docs" / "kinds.md");
    std::stringstream text;
    text << file.rdbuf();
    for (const std::string& row : rows_) {
      EXPECT_NE(text.str().find(row), std::string::npos) << "docs/kinds.md lacks: " << row;
    }
  }

  TestServer server_;
  std::unique_ptr<v1::PathService::Stub> paths_;
  std::vector<Kind> kinds_;
  std::vector<std::string> rows_;
};

TEST_F(KindsTest, EveryQuestionIsAnsweredOrRefusedWithAReason) {
  const client::Client& client = server_.client();

  ExpectTold("`FindPath`", {"5.41421", "6", "6", "8", "6"},
             [&](const Kind& kind) { return CostOf(QueryOn(kind)); });
  ExpectTold("`FindPath` to several goals", {"2, goal 1", "2, goal 1", "2, goal 1", "8, goal 1", "2, goal 1"},
             [&](const Kind& kind) -> Told {
               v1::FindPathRequest query = QueryOn(kind);
               // The nearer of the two comes second.
               *query.mutable_goals(0) = kind.map == "paths" ? kind.far : kind.goal;
               *query.add_goals() = kind.map == "paths" ? kind.goal : kind.far;
               WAYSTAR_ASSIGN_OR_RETURN(const v1::FindPathResponse answer, client.FindPath(query));
               return absl::StrCat(Number(answer.cost()), ", goal ", answer.goal_index());
             });
  ExpectTold("`FindPath` with `unreachable_policy`", {"2", "2", "3", "4", "7"},
             [&](const Kind& kind) -> Told {
               v1::FindPathRequest query = QueryOn(kind);
               query.set_unreachable_policy(v1::UNREACHABLE_POLICY_NEAREST_BY_DISTANCE);
               if (kind.map == "floor") {
                 // On the island.
                 *query.mutable_goals(0) = Position(21, 4);
                 WAYSTAR_ASSIGN_OR_RETURN(const v1::FindPathResponse answer, client.FindPath(query));
                 return Number(answer.cost());
               }
               v1::Overlay& overlay = *query.mutable_view()->mutable_overlay();
               if (kind.map == "paths") {
                 for (const auto& edge : kind.edits_that_part.front().set_enabled().edges()) {
                   *overlay.add_blocked_edges() = edge;
                 }
               } else {
                 *overlay.mutable_blocked() = kind.edits_that_part.front().block();
                 *query.mutable_goals(0) = Cell(2, 2);
               }
               WAYSTAR_ASSIGN_OR_RETURN(const v1::FindPathResponse answer, client.FindPath(query));
               return Number(answer.cost());
             });
  ExpectTold("`FindPath` with `with_summary`", {"5.41421, 2", "6, 1", "6, 1", "8, 0", "6, 0"},
             [&](const Kind& kind) -> Told {
               v1::FindPathRequest query = QueryOn(kind);
               query.set_with_summary(true);
               WAYSTAR_ASSIGN_OR_RETURN(const v1::FindPathResponse answer, client.FindPath(query));
               return absl::StrCat(Number(answer.summary().length()), ", ", answer.summary().turns());
             });
  ExpectTold("`view.overlay`", {"no way", "no way", "no way", "no way", "no way"}, [&](const Kind& kind) {
    v1::FindPathRequest query = QueryOn(kind);
    v1::Overlay& overlay = *query.mutable_view()->mutable_overlay();
    if (kind.map == "paths") {
      // Across both edges that lead to c.
      v1::Rectangle& wall = *overlay.mutable_blocked()->add_rectangles();
      wall.set_x(6);
      wall.set_y(-1);
      wall.set_width(1);
      wall.set_height(5);
    } else if (kind.map == "floor") {
      // Across the floor, between start and goal.
      v1::Line& wall = *overlay.mutable_blocked()->add_lines();
      wall.mutable_start()->set_x(3);
      wall.mutable_start()->set_y(-1);
      wall.mutable_end()->set_x(3);
      wall.mutable_end()->set_y(100);
    } else {
      *overlay.mutable_blocked() = kind.edits_that_part.front().block();
    }
    return CostOf(query);
  });
  ExpectTold("`agent.profile.required_tags`", {"5.41421", "6", "6", "10", "6"}, [&](const Kind& kind) {
    v1::FindPathRequest query = QueryOn(kind);
    query.mutable_agent()->mutable_profile()->add_required_tags("dry");
    return CostOf(query);
  });
  ExpectTold("`agent.profile_name`",
             {"PROFILE_NOT_FOUND agent.profile_name", "PROFILE_NOT_FOUND agent.profile_name",
              "PROFILE_NOT_FOUND agent.profile_name", "WRONG_MAP_KIND agent.profile_name",
              "WRONG_MAP_KIND agent.profile_name"},
             [&](const Kind& kind) {
               v1::FindPathRequest query = QueryOn(kind);
               query.mutable_agent()->set_profile_name("tank");
               return CostOf(query);
             });
  ExpectTold(
      "`agent.footprint`",
      {"no way", "no way", "no way", "WRONG_MAP_KIND agent.footprint", "WRONG_MAP_KIND agent.footprint"},
      [&](const Kind& kind) {
        v1::FindPathRequest query = QueryOn(kind);
        query.mutable_agent()->set_footprint(1);
        v1::Overlay& overlay = *query.mutable_view()->mutable_overlay();
        if (kind.map != "floor" && kind.map != "paths") {
          *overlay.mutable_blocked() = kind.edits_that_part.front().block();
        }
        return CostOf(query);
      });
  ExpectTold("`path_form`",
             {"4 points", "3 points", "3 points", "WRONG_MAP_KIND path_form", "WRONG_MAP_KIND path_form"},
             [&](const Kind& kind) -> Told {
               v1::FindPathRequest query = QueryOn(kind);
               query.set_path_form(v1::PATH_FORM_CORNERS);
               WAYSTAR_ASSIGN_OR_RETURN(const v1::FindPathResponse answer, client.FindPath(query));
               return absl::StrCat(answer.points_size(), " points");
             });
  ExpectTold("`goal_map`, portals",
             {"MAP_NOT_FOUND goal_map", "MAP_NOT_FOUND goal_map", "MAP_NOT_FOUND goal_map",
              "WRONG_MAP_KIND goal_map", "MAP_NOT_FOUND goal_map"},
             [&](const Kind& kind) {
               v1::FindPathRequest query = QueryOn(kind);
               query.set_goal_map("nowhere");
               return CostOf(query);
             });
  ExpectTold("`FindPaths`", {"5.41421, 2", "6, 2", "6, 2", "8, 15", "6, 2"}, [&](const Kind& kind) -> Told {
    auto request = About<v1::FindPathsRequest>(kind.map);
    *request.add_queries() = QueryOn(kind);
    *request.add_queries() = QueryOn(kind);
    *request.mutable_queries(1)->mutable_goals(0) = kind.far;
    WAYSTAR_ASSIGN_OR_RETURN(const v1::FindPathsResponse answers, client.FindPaths(request));
    return absl::StrCat(Number(answers.results(0).answer().cost()), ", ",
                        Number(answers.results(1).answer().cost()));
  });
  ExpectTold("`StreamFindPath`", {"5.41421", "6", "6", "8", "6"}, [&](const Kind& kind) -> Told {
    BoundedContext context;
    const auto stream = paths_->StreamFindPath(&context);
    v1::StreamFindPathRequest request;
    *request.add_queries()->mutable_query() = QueryOn(kind);
    stream->Write(request);
    stream->WritesDone();
    v1::StreamFindPathResponse response;
    if (!stream->Read(&response)) {
      return absl::InternalError(stream->Finish().error_message());
    }
    return Number(response.answers(0).answer().cost());
  });
  ExpectTold("`TraceSearch`", {"all, 5.41421", "all, 6", "all, 6", "all, 8", "all, 6"},
             [&](const Kind& kind) -> Told {
               v1::TraceSearchRequest request;
               *request.mutable_query() = QueryOn(kind);
               if (kind.map != "floor") {
                 request.mutable_query()->set_algorithm(v1::ALGORITHM_ASTAR);
               }
               std::uint64_t expanded = 0;
               WAYSTAR_ASSIGN_OR_RETURN(const v1::TraceSearchResult result,
                                        client.TraceSearch(request, [&](const v1::SearchEvent& event) {
                                          expanded += event.kind() == v1::SearchEvent::KIND_EXPANDED ? 1 : 0;
                                        }));
               const v1::FindPathResponse& answer = result.answer();
               return absl::StrCat(expanded == answer.statistics().expanded() ? "all" : "some", ", ",
                                   Number(answer.cost()));
             });
  ExpectTold("`ValidatePath`",
             {"walkable, 5.41421", "walkable, 6", "walkable, 6", "walkable, 8", "walkable, 6"},
             [&](const Kind& kind) -> Told {
               WAYSTAR_ASSIGN_OR_RETURN(const v1::FindPathResponse found, client.FindPath(QueryOn(kind)));
               auto request = About<v1::ValidatePathRequest>(kind.map);
               *request.mutable_points() = found.points();
               *request.mutable_nodes() = found.nodes();
               if (kind.map == "floor") {
                 *request.mutable_positions() = found.positions();
               }
               WAYSTAR_ASSIGN_OR_RETURN(const v1::ValidatePathResponse answer, client.ValidatePath(request));
               return absl::StrCat(answer.walkable() ? "walkable, " : "blocked, ", Number(answer.cost()));
             });
  ExpectTold("`ComputeCostMatrix`", {"5.41421 2 0 4", "6 2 0 4", "6 2 0 4", "8 15 0 7", "6 2 0 6.60555"},
             [&](const Kind& kind) -> Told {
               auto request = About<v1::ComputeCostMatrixRequest>(kind.map);
               *request.add_starts() = kind.start;
               *request.add_starts() = kind.goal;
               *request.add_goals() = kind.goal;
               *request.add_goals() = kind.far;
               WAYSTAR_ASSIGN_OR_RETURN(const v1::ComputeCostMatrixResponse answer,
                                        client.ComputeCostMatrix(request));
               std::vector<std::string> costs;
               for (const double cost : answer.costs()) {
                 costs.push_back(Number(cost));
               }
               return absl::StrJoin(costs, " ");
             });
  ExpectTold("`FindReachable`", {"5 within 2", "5 within 2", "5 within 2", "3 within 5", "2 within 2"},
             [&](const Kind& kind) -> Told {
               auto request = About<v1::FindReachableRequest>(kind.map);
               *request.mutable_start() = kind.start;
               request.set_max_cost(kind.map == "paths" ? 5 : 2);
               WAYSTAR_ASSIGN_OR_RETURN(const v1::FindReachableResponse answer,
                                        client.FindReachable(request));
               return absl::StrCat(answer.count(), " within ", request.max_cost());
             });
  ExpectTold("`ComputeFlowField`", {"13 ways", "13 ways", "13 ways", "5 ways", "3 ways"},
             [&](const Kind& kind) -> Told {
               auto request = About<v1::ComputeFlowFieldRequest>(kind.map);
               *request.add_goals() = kind.goal;
               WAYSTAR_ASSIGN_OR_RETURN(const v1::ComputeFlowFieldResponse answer,
                                        client.ComputeFlowField(request));
               std::int64_t ways = answer.nodes_size() + answer.polygons_size();
               for (const char direction : answer.directions()) {
                 ways += direction != 0 ? 1 : 0;
               }
               return absl::StrCat(ways, " ways");
             });
  ExpectTold("`CheckReachability`", {"yes", "yes", "yes", "yes", "yes"}, [&](const Kind& kind) -> Told {
    auto request = About<v1::CheckReachabilityRequest>(kind.map);
    *request.add_pairs()->mutable_start() = kind.start;
    *request.mutable_pairs(0)->mutable_goal() = kind.goal;
    WAYSTAR_ASSIGN_OR_RETURN(const v1::CheckReachabilityResponse answer, client.CheckReachability(request));
    return answer.reachable(0) ? "yes" : "no";
  });
  ExpectTold("`CastRay`", {"blocked", "blocked", "blocked", "free", "free"}, [&](const Kind& kind) -> Told {
    auto request = About<v1::CastRayRequest>(kind.map);
    *request.mutable_from() = kind.start;
    *request.mutable_to() = kind.goal;
    WAYSTAR_ASSIGN_OR_RETURN(const v1::CastRayResponse answer, client.CastRay(request));
    return answer.blocked() ? "blocked" : "free";
  });
  ExpectTold("`SampleCells`", {"4 of 13", "4 of 13", "4 of 13", "4 of 5", "4 of 4"},
             [&](const Kind& kind) -> Told {
               auto request = About<v1::SampleCellsRequest>(kind.map);
               request.set_count(4);
               WAYSTAR_ASSIGN_OR_RETURN(const v1::SampleCellsResponse answer, client.SampleCells(request));
               return absl::StrCat(answer.cells_size() + answer.nodes_size() + answer.positions_size(),
                                   " of ", answer.candidates());
             });
  ExpectTold("`SampleCells` with `along_edges`",
             {"WRONG_MAP_KIND along_edges", "WRONG_MAP_KIND along_edges", "WRONG_MAP_KIND along_edges",
              "4 of 5", "WRONG_MAP_KIND along_edges"},
             [&](const Kind& kind) -> Told {
               auto request = About<v1::SampleCellsRequest>(kind.map);
               request.set_count(4);
               request.set_along_edges(true);
               WAYSTAR_ASSIGN_OR_RETURN(const v1::SampleCellsResponse answer, client.SampleCells(request));
               return absl::StrCat(answer.points_size(), " of ", answer.candidates());
             });
  ExpectTold(
      "`ProbeSurface`",
      {"WRONG_MAP_KIND map", "WRONG_MAP_KIND map", "WRONG_MAP_KIND map", "WRONG_MAP_KIND map", "found"},
      [&](const Kind& kind) -> Told {
        auto request = About<v1::ProbeSurfaceRequest>(kind.map);
        *request.add_probes()->mutable_position() = kind.start.position();
        WAYSTAR_ASSIGN_OR_RETURN(const v1::ProbeSurfaceResponse answer, client.ProbeSurface(request));
        return answer.results(0).found() ? "found" : "not found";
      });
  ExpectTold("`RenderMap` with a search", {"S and G", "S and G", "S and G", "S and G", "S and G"},
             [&](const Kind& kind) -> Told {
               auto request = About<v1::RenderMapRequest>(kind.map);
               request.set_format(v1::PICTURE_FORMAT_TEXT);
               *request.mutable_query() = QueryOn(kind);
               request.set_with_search(true);
               WAYSTAR_ASSIGN_OR_RETURN(const v1::RenderMapResponse answer, client.RenderMap(request));
               const bool has_both = absl::StrContains(answer.image(), "S") &&
                                     absl::StrContains(answer.image(), "G") &&
                                     absl::StrContains(answer.image(), "expanded at cost");
               return has_both ? "S and G" : answer.image();
             });
  ExpectTold("`RenderMap` with `heights` or `oblique`",
             {"WRONG_MAP_KIND heights", "WRONG_MAP_KIND heights", "WRONG_MAP_KIND heights",
              "WRONG_MAP_KIND heights", "drawn"},
             [&](const Kind& kind) -> Told {
               auto request = About<v1::RenderMapRequest>(kind.map);
               request.mutable_heights()->set_low(0);
               request.set_oblique(true);
               WAYSTAR_ASSIGN_OR_RETURN(const v1::RenderMapResponse answer, client.RenderMap(request));
               return answer.placement().has_z_step() ? "drawn" : "flat";
             });
  ExpectTold("`ExportMap` and `ImportMap` of an image",
             {"same digest", "same digest", "same digest", "same digest", "same digest"},
             [&](const Kind& kind) -> Told {
               auto request = About<v1::ExportMapRequest>(kind.map);
               request.set_format(v1::MAP_FORMAT_WAYSTAR);
               WAYSTAR_ASSIGN_OR_RETURN(const client::ExportedMap exported, client.ExportMap(request));
               auto again = About<v1::CreateMapRequest>(absl::StrCat(kind.map, "-again"));
               again.set_data(exported.bytes);
               WAYSTAR_ASSIGN_OR_RETURN(const v1::CreateMapResponse created, client.CreateMap(again));
               return created.info().digest() == exported.header.info().digest() ? "same digest"
                                                                                 : "another digest";
             });
  // Last, as it changes the maps.
  ExpectTold("`WatchPath`", {"5.41421, no way", "6, no way", "6, no way", "8, no way", "6, a way"},
             [&](const Kind& kind) -> Told {
               BoundedContext context;
               v1::WatchPathRequest request;
               *request.mutable_query() = QueryOn(kind);
               const auto stream = paths_->WatchPath(&context, request);
               v1::WatchPathResponse first;
               v1::WatchPathResponse second;
               if (!stream->Read(&first)) {
                 return client::FromGrpc(stream->Finish());
               }
               auto update = About<v1::UpdateObstaclesRequest>(kind.map);
               update.mutable_edits()->Assign(kind.edits_that_part.begin(), kind.edits_that_part.end());
               WAYSTAR_RETURN_IF_ERROR(client.UpdateObstacles(update).status());
               if (!stream->Read(&second)) {
                 return client::FromGrpc(stream->Finish());
               }
               return absl::StrCat(Number(first.answer().cost()), ", ",
                                   second.answer().outcome() == v1::OUTCOME_UNREACHABLE ? "no way" : "a way");
             });
  ExpectDocumented();
}

}  // namespace
}  // namespace waystar
