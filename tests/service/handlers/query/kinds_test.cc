// Each question about paths on each kind of map, through the public API, and the table of docs/kinds.md.

#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/batch.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "tests/service/about_map.h"
#include "tests/service/test_server.h"
#include "tests/testing/folders.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/picture_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar {
namespace {

using Told = absl::StatusOr<std::string>;

// A map of one kind, on which a path leads from a start to a goal.
struct Kind {
  // As in docs/kinds.md.
  std::string name;
  std::string map;
  v1::Location start;
  v1::Location goal;
  // Lies behind the goal, or is dearer to reach.
  v1::Location far;
  // Parts start and goal.
  v1::Overlay wall;
  // Parts them, or leads from one to the other.
  v1::Edit edit;
};

std::string Number(double value) { return absl::StrFormat("%.6g", value); }

class KindsTest : public ::testing::Test {
 protected:
  KindsTest() : paths_(v1::PathService::NewStub(server_.NewChannel())) {
    kinds_.push_back(Grid("squares, 8 neighbours", "eight", ""));
    kinds_.push_back(Grid("squares, 4 neighbours", "four", "squares { connectivity: CONNECTIVITY_FOUR }"));
    kinds_.push_back(Grid("hexagons", "hexes", "hexagons { layout: HEX_LAYOUT_AXIAL_POINTY }"));
    kinds_.push_back(Graph());
    kinds_.push_back(Mesh());
  }

  static v1::Location At(const std::string& place) { return Parsed<v1::Location>(place); }

  Kind Grid(const std::string& name, const std::string& map, const std::string& options) {
    server_.Create(map,
                   {".....",  //
                    ".##..",  //
                    "....."},
                   Parsed<v1::GridOptions>(options));
    const auto wall = Parsed<v1::Shape>("cells { y: 1 } cells { x: 3 y: 1 } cells { x: 4 y: 1 }");
    Kind kind{.name = name,
              .map = map,
              .start = At("cell {}"),
              .goal = At("cell { x: 4 y: 2 }"),
              .far = At("cell { y: 2 }")};
    *kind.wall.mutable_blocked() = wall;
    *kind.edit.mutable_block() = wall;
    return kind;
  }

  // a - b - c, a longer way round by d, and e behind c.
  Kind Graph() {
    const auto request = Parsed<v1::CreateMapRequest>(R"(
      map: "paths"
      graph {
        nodes { id: "a" position {} } nodes { id: "b" position { x: 4 } } nodes { id: "c" position { x: 8 } }
        nodes { id: "d" position { x: 4 y: 3 } } nodes { id: "e" position { x: 8 y: 7 } }
        edges { edge { from: "a" to: "b" } } edges { edge { from: "b" to: "c" } }
        edges { edge { from: "a" to: "d" } tags: "dry" } edges { edge { from: "d" to: "c" } tags: "dry" }
        edges { edge { from: "c" to: "e" } }
      })");
    EXPECT_TRUE(server_.client().CreateMap(request).ok());
    return {.name = "waypoint graphs",
            .map = "paths",
            .start = At("node: 'a'"),
            .goal = At("node: 'c'"),
            .far = At("node: 'e'"),
            // Across both edges that lead to c.
            .wall = Parsed<v1::Overlay>("blocked { rectangles { x: 6 y: -1 width: 1 height: 5 } }"),
            .edit = Parsed<v1::Edit>(
                "set_enabled { edges { from: 'b' to: 'c' } edges { from: 'd' to: 'c' } enabled: false }")};
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
    // No edit parts a mesh, but a portal shortens the way.
    return {.name = "navigation meshes",
            .map = "floor",
            .start = At("position { x: 1 y: 4 }"),
            .goal = At("position { x: 7 y: 4 }"),
            .far = At("position { x: 1 y: 2 }"),
            .wall = Parsed<v1::Overlay>("blocked { lines { start { x: 3 y: -1 } end { x: 3 y: 100 } } }"),
            .edit = Parsed<v1::Edit>(
                "add_portal { id: 'jump' from_position { x: 1 y: 5 } to_position { x: 7 y: 5 } }")};
  }

  // The query, with further fields in protobuf's text format.
  static v1::FindPathRequest QueryOn(const Kind& kind, const std::string& more = "") {
    auto query = Parsed<v1::FindPathRequest>(more);
    query.set_map(kind.map);
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
    std::ifstream file(SourceFolder() / "docs" / "kinds.md");
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
  ExpectTold("`FindPath` with `unreachable_policy`", {"4", "4", "4", "4", "1.99902"},
             [&](const Kind& kind) -> Told {
               v1::FindPathRequest query =
                   QueryOn(kind, "unreachable_policy: UNREACHABLE_POLICY_NEAREST_BY_DISTANCE");
               *query.mutable_view()->mutable_overlay() = kind.wall;
               WAYSTAR_ASSIGN_OR_RETURN(const v1::FindPathResponse answer, client.FindPath(query));
               return Number(answer.cost());
             });
  ExpectTold("`FindPath` with `with_summary`", {"5.41421, 2", "6, 1", "6, 1", "8, 0", "6, 0"},
             [&](const Kind& kind) -> Told {
               WAYSTAR_ASSIGN_OR_RETURN(const v1::FindPathResponse answer,
                                        client.FindPath(QueryOn(kind, "with_summary: true")));
               return absl::StrCat(Number(answer.summary().length()), ", ", answer.summary().turns());
             });
  ExpectTold("`FindPath` with `tolerance`", {"5.41421 / 1.12132", "6 / 1", "6 / 1", "8 / 1", "6 / 1"},
             [&](const Kind& kind) -> Told {
               WAYSTAR_ASSIGN_OR_RETURN(const v1::FindPathResponse answer,
                                        client.FindPath(QueryOn(kind, "tolerance: 0.5")));
               return absl::StrCat(Number(answer.cost()), " / ", Number(answer.info().bound()));
             });
  ExpectTold("`FindPath` with `max_cost`", {"5", "5", "5", "5", "5"}, [&](const Kind& kind) -> Told {
    WAYSTAR_ASSIGN_OR_RETURN(const v1::FindPathResponse answer,
                             client.FindPath(QueryOn(kind, "max_cost: 1")));
    return absl::StrCat(static_cast<int>(answer.outcome()));
  });
  ExpectTold(
      "`FindPath` with `clip_cost` and `turn_budget`",
      {"4.41421 / 1 / 3 turns", "5 / 1 / 4 turns", "5 / 1 / 4 turns", "4 / 4 / 0 turns", "5 / 1 / 4 turns"},
      [&](const Kind& kind) -> Told {
        WAYSTAR_ASSIGN_OR_RETURN(const v1::FindPathResponse answer,
                                 client.FindPath(QueryOn(kind, "clip_cost: 5 turn_budget: 1")));
        return absl::StrCat(Number(answer.cost()), " / ", Number(answer.rest().cost()), " / ",
                            answer.turn_ends_size(), " turns");
      });
  const auto cost_behind_wall = [&](const Kind& kind, const std::string& more) {
    v1::FindPathRequest query = QueryOn(kind, more);
    *query.mutable_view()->mutable_overlay() = kind.wall;
    return CostOf(query);
  };
  ExpectTold("`view.overlay`", {"no way", "no way", "no way", "no way", "no way"},
             [&](const Kind& kind) { return cost_behind_wall(kind, ""); });
  ExpectTold("`agent.profile.required_tags`", {"5.41421", "6", "6", "10", "6"}, [&](const Kind& kind) {
    return CostOf(QueryOn(kind, "agent { profile { required_tags: 'dry' } }"));
  });
  const std::string unknown = "UNKNOWN_TERRAIN agent.profile.forbidden_terrains[0]";
  ExpectTold("`agent.profile.forbidden_terrains`",
             {unknown, unknown, unknown, "WRONG_MAP_KIND agent.profile.forbidden_terrains", unknown},
             [&](const Kind& kind) {
               return CostOf(QueryOn(kind, "agent { profile { forbidden_terrains: 'lava' } }"));
             });
  ExpectTold("`agent.profile.terrain_costs`",
             {"10.8284", "12", "12", "WRONG_MAP_KIND agent.profile.terrain_costs", "12"},
             [&](const Kind& kind) {
               const std::string terrain = kind.map == "floor" ? "ground" : ".";
               return CostOf(QueryOn(
                   kind, "agent { profile { terrain_costs { terrain: '" + terrain + "' cost: 2 } } }"));
             });
  ExpectTold("`agent.profile_name`",
             {"PROFILE_NOT_FOUND agent.profile_name", "PROFILE_NOT_FOUND agent.profile_name",
              "PROFILE_NOT_FOUND agent.profile_name", "WRONG_MAP_KIND agent.profile_name",
              "PROFILE_NOT_FOUND agent.profile_name"},
             [&](const Kind& kind) { return CostOf(QueryOn(kind, "agent { profile_name: 'tank' }")); });
  ExpectTold(
      "`agent.footprint`",
      {"no way", "no way", "no way", "WRONG_MAP_KIND agent.footprint", "WRONG_MAP_KIND agent.footprint"},
      [&](const Kind& kind) { return cost_behind_wall(kind, "agent { footprint: 1 }"); });
  ExpectTold("`path_form`",
             {"4 points", "3 points", "3 points", "WRONG_MAP_KIND path_form", "WRONG_MAP_KIND path_form"},
             [&](const Kind& kind) -> Told {
               WAYSTAR_ASSIGN_OR_RETURN(const v1::FindPathResponse answer,
                                        client.FindPath(QueryOn(kind, "path_form: PATH_FORM_CORNERS")));
               return absl::StrCat(answer.path().points_size(), " points");
             });
  ExpectTold("`goal_map`, portals",
             {"MAP_NOT_FOUND goal_map", "MAP_NOT_FOUND goal_map", "MAP_NOT_FOUND goal_map",
              "WRONG_MAP_KIND goal_map", "MAP_NOT_FOUND goal_map"},
             [&](const Kind& kind) { return CostOf(QueryOn(kind, "goal_map: 'nowhere'")); });
  ExpectTold("`FindPaths`", {"5.41421, 2", "6, 2", "6, 2", "8, 15", "6, 2"}, [&](const Kind& kind) -> Told {
    auto request = About<v1::FindPathsRequest>(kind.map);
    client::AddEnds(QueryOn(kind), request);
    client::AddEnds(QueryOn(kind), request);
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
               return absl::StrCat(expanded == answer.info().statistics().expanded() ? "all" : "some", ", ",
                                   Number(answer.cost()));
             });
  ExpectTold(
      "`ValidatePaths`", {"walkable, 5.41421", "walkable, 6", "walkable, 6", "walkable, 8", "walkable, 6"},
      [&](const Kind& kind) -> Told {
        WAYSTAR_ASSIGN_OR_RETURN(const v1::FindPathResponse found, client.FindPath(QueryOn(kind)));
        auto request = About<v1::ValidatePathsRequest>(kind.map);
        *request.add_paths() = found.path();
        WAYSTAR_ASSIGN_OR_RETURN(const v1::ValidatePathsResponse answer, client.ValidatePaths(request));
        const v1::PathValidity& validity = answer.results(0);
        return absl::StrCat(validity.walkable() ? "walkable, " : "blocked, ", Number(validity.cost()));
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
  ExpectTold("`CheckMoves`, `StreamCheckMoves`", {"2 1", "2 1", "2 1", "2 1", "2 1"},
             [&](const Kind& kind) -> Told {
               auto request = About<v1::CheckMovesRequest>(kind.map);
               request.set_speed(1);
               for (const int seconds : {4, 9}) {
                 v1::MoveToCheck& move = *request.add_moves();
                 *move.mutable_from() = kind.start;
                 *move.mutable_to() = kind.goal;
                 move.mutable_elapsed()->set_seconds(seconds);
               }
               WAYSTAR_ASSIGN_OR_RETURN(const v1::CheckMovesResponse answer, client.CheckMoves(request));
               return absl::StrCat(answer.results(0).verdict(), " ", answer.results(1).verdict());
             });
  ExpectTold("`ExplainPath`", {"5.41421 and 1000", "6 and 1000", "6 and 1000", "8 and 1000", "6 and 1000"},
             [&](const Kind& kind) -> Told {
               auto request = About<v1::ExplainPathRequest>(kind.map);
               *request.mutable_start() = kind.start;
               *request.mutable_goal() = kind.goal;
               *request.mutable_view()->mutable_overlay() = kind.wall;
               WAYSTAR_ASSIGN_OR_RETURN(const v1::ExplainPathResponse answer, client.ExplainPath(request));
               return absl::StrCat(Number(answer.cost()), " and ", Number(answer.price()));
             });
  ExpectTold("`SamplePlaces`", {"4 of 13", "4 of 13", "4 of 13", "4 of 5", "4 of 4"},
             [&](const Kind& kind) -> Told {
               auto request = About<v1::SamplePlacesRequest>(kind.map);
               request.set_count(4);
               WAYSTAR_ASSIGN_OR_RETURN(const v1::SamplePlacesResponse answer, client.SamplePlaces(request));
               return absl::StrCat(answer.cells_size() + answer.nodes_size() + answer.positions_size(),
                                   " of ", answer.candidates());
             });
  ExpectTold("`SamplePlaces` with `along_edges`",
             {"WRONG_MAP_KIND along_edges", "WRONG_MAP_KIND along_edges", "WRONG_MAP_KIND along_edges",
              "4 of 5", "WRONG_MAP_KIND along_edges"},
             [&](const Kind& kind) -> Told {
               auto request = About<v1::SamplePlacesRequest>(kind.map);
               request.set_count(4);
               request.set_along_edges(true);
               WAYSTAR_ASSIGN_OR_RETURN(const v1::SamplePlacesResponse answer, client.SamplePlaces(request));
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
  ExpectTold("`ListAgents`",
             {"from 0.5 0.5, 5.41421", "from 0.5 0.5, 6", "from 0 0, 6", "from 0 0, 8", "from 1 4, 6"},
             [&](const Kind& kind) -> Told {
               BoundedContext context;
               const auto stream = paths_->FollowAgents(&context);
               v1::FollowAgentsRequest request;
               *request.add_changes()->mutable_put() = QueryOn(kind);
               stream->Write(request);
               v1::FollowAgentsResponse response;
               while (response.progress().empty() && stream->Read(&response)) {
               }
               WAYSTAR_ASSIGN_OR_RETURN(const v1::ListAgentsResponse listed,
                                        client.ListAgents(About<v1::ListAgentsRequest>(kind.map)));
               const v1::FollowedAgent& agent = listed.agents(0);
               EXPECT_EQ(TextOf(agent.at()), TextOf(kind.start));
               EXPECT_EQ(TextOf(agent.goal()), TextOf(kind.goal));
               double length = 0.0;
               for (int i = 1; i < agent.path_size(); ++i) {
                 length += std::hypot(agent.path(i).x() - agent.path(i - 1).x(),
                                      agent.path(i).y() - agent.path(i - 1).y());
               }
               return absl::StrCat("from ", Number(agent.path(0).x()), " ", Number(agent.path(0).y()), ", ",
                                   Number(length));
             });
  // Last, as it changes the maps.
  ExpectTold("`FollowAgents`", {"5.41421, no way", "6, no way", "6, no way", "8, no way", "6, a way"},
             [&](const Kind& kind) -> Told {
               BoundedContext context;
               const auto stream = paths_->FollowAgents(&context);
               v1::FollowAgentsRequest request;
               *request.add_changes()->mutable_put() = QueryOn(kind);
               stream->Write(request);
               const auto next = [&]() -> absl::StatusOr<v1::FindPathResponse> {
                 v1::FollowAgentsResponse response;
                 while (stream->Read(&response)) {
                   if (response.states_size() > 0) {
                     return response.states(0).answer();
                   }
                 }
                 return client::FromGrpc(stream->Finish());
               };
               WAYSTAR_ASSIGN_OR_RETURN(const v1::FindPathResponse first, next());
               auto update = About<v1::UpdateMapRequest>(kind.map);
               *update.add_edits() = kind.edit;
               WAYSTAR_RETURN_IF_ERROR(client.UpdateMap(update).status());
               WAYSTAR_ASSIGN_OR_RETURN(const v1::FindPathResponse second, next());
               return absl::StrCat(Number(first.cost()), ", ",
                                   second.outcome() == v1::OUTCOME_UNREACHABLE ? "no way" : "a way");
             });
  ExpectDocumented();
}

}  // namespace
}  // namespace waystar
