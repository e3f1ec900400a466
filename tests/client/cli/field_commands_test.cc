#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/client/cli/cells.h"
#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;
using ::waystar::testing::At;

class FieldCommandsTest : public ::waystar::testing::CommandTest {
 protected:
  FieldCommandsTest() {
    v1::MapInfo info;
    info.mutable_version()->set_revision(3);
    server_.ServeMap(info, {"..#..",  //
                            "..#..",  //
                            "....."});
  }
};

TEST_F(FieldCommandsTest, ReachDrawsTheRange) {
  v1::FindReachableRequest asked;
  server_.find_reachable = [&](auto&, const v1::FindReachableRequest& request,
                               v1::FindReachableResponse& response) {
    asked = request;
    response.mutable_bounds()->set_width(2);
    response.mutable_bounds()->set_height(2);
    response.set_cells(std::string("\x03\x01", 2));
    response.set_count(3);
    response.mutable_version()->set_revision(3);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"reach", "arena", "0,0", "--max-cost", "1.2", "--footprint", "2", "--region", "0,0..3,2",
                 "--towards"}),
            ExitCode::kOk);
  EXPECT_EQ(out_,
            "  0\n"
            "0 S+#..\n"
            "  +.#..\n"
            "  .....\n"
            "S start  + within reach  # obstacle\n"
            "3 cells within reach, x 0 to 1 and y 0 to 1 (revision 3)\n");
  EXPECT_EQ(asked.map(), "arena");
  EXPECT_EQ(asked.max_cost(), 1.2);
  EXPECT_EQ(asked.agent().footprint(), 2);
  EXPECT_EQ(asked.region().width(), 4);
  EXPECT_TRUE(asked.towards_start());
}

TEST_F(FieldCommandsTest, FlowDrawsArrows) {
  server_.compute_flow_field = [&](auto&, const v1::ComputeFlowFieldRequest& request,
                                   v1::ComputeFlowFieldResponse& response) {
    EXPECT_EQ(request.goals_size(), 2);
    response.mutable_region()->set_width(5);
    response.mutable_region()->set_height(3);
    response.set_directions(std::string("\x09\x07\x00\x03\x09\x01\x08\x00\x02\x01\x01\x08\x07\x02\x01", 15));
    response.mutable_version()->set_revision(3);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"flow", "arena", "0,0", "4,0"}), ExitCode::kOk);
  EXPECT_EQ(out_,
            "  0\n"
            "0 G<#>G\n"
            "  ^\\#/^\n"
            "  ^\\</^\n"
            "G goal  ^ / > \\ v < ways to a goal  # obstacle\n"
            "Ways to a goal from 11 cells of 5 x 3 (revision 3)\n");
}

TEST_F(FieldCommandsTest, FlowNamesPortals) {
  server_.compute_flow_field = [](auto&, const v1::ComputeFlowFieldRequest& /*request*/,
                                  v1::ComputeFlowFieldResponse& response) {
    response.mutable_region()->set_width(5);
    response.mutable_region()->set_height(1);
    response.set_directions(std::string("\x03\x0A\x00\x09\x07", 5));
    v1::PortalStep& step = *response.add_portals();
    *step.mutable_cell() = At(1, 0);
    step.set_portal("stairs");
    *step.mutable_arrival() = At(3, 0);
    response.mutable_version()->set_revision(3);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"flow", "arena", "3,0"}), ExitCode::kOk);
  EXPECT_EQ(out_,
            "  0\n"
            "0 >@#G<\n"
            "  ..#..\n"
            "  .....\n"
            "G goal  ^ / > \\ v < ways to a goal  @ portal  # obstacle\n"
            "Ways to a goal from 3 cells of 5 x 1 (revision 3)\n"
            "Portals: 1,0 -stairs-> 3,0\n");
}

TEST_F(FieldCommandsTest, MatrixIsATable) {
  server_.compute_cost_matrix = [&](auto&, const v1::ComputeCostMatrixRequest& request,
                                    v1::ComputeCostMatrixResponse& response) {
    EXPECT_EQ(request.starts_size(), 2);
    for (const double cost : {1.0, -1.0, 2.5, 0.0}) {
      response.add_costs(cost);
    }
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"matrix", "arena", "--from", "0,0", "1,1", "--to", "1,0", "3,3"}), ExitCode::kOk);
  EXPECT_EQ(out_,
            "FROM  1,0  3,3\n"
            "0,0   1    -\n"
            "1,1   2.5  0\n");
}

TEST_F(FieldCommandsTest, RayTellsWhatIsInTheWay) {
  bool is_blocked = true;
  v1::CastRayRequest asked;
  server_.cast_ray = [&](auto&, const v1::CastRayRequest& request, v1::CastRayResponse& response) {
    asked = request;
    response.set_blocked(is_blocked);
    *response.mutable_cell() = At(2, 0);
    response.mutable_position()->set_x(1.5);
    response.mutable_version()->set_revision(3);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"ray", "arena", "1,0", "4,0"}), ExitCode::kNoPath);
  EXPECT_EQ(asked.from().cell().x(), 1);
  EXPECT_EQ(asked.to().cell().x(), 4);
  EXPECT_EQ(out_, "Blocked by 2,0, at 1.5,0 (revision 3)\n");
  is_blocked = false;
  EXPECT_EQ(Run({"ray", "arena", "1,0", "1,1"}), ExitCode::kOk);
  EXPECT_EQ(out_, "Free (revision 3)\n");
  EXPECT_EQ(Run({"ray", "arena", "0.25", "1,0"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("is not a cell"));
}

TEST_F(FieldCommandsTest, RayGoesBetweenPositions) {
  v1::CastRayRequest asked;
  server_.cast_ray = [&](auto&, const v1::CastRayRequest& request, v1::CastRayResponse&) {
    asked = request;
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"ray", "arena", "--from-position", "0.25,0", "--to-position=-4,1.5"}), ExitCode::kOk);
  EXPECT_EQ(asked.from().position().x(), 0.25);
  EXPECT_EQ(asked.to().position().y(), 1.5);
  EXPECT_EQ(Run({"ray", "arena", "4,0", "--from-position", "0.25,0"}), ExitCode::kOk);
  EXPECT_EQ(asked.from().position().x(), 0.25);
  EXPECT_EQ(asked.to().cell().x(), 4);
  EXPECT_EQ(Run({"ray", "arena", "4,0"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("TO is required"));
  EXPECT_EQ(Run({"ray", "arena", "4,0", "5,0", "--from-position", "0.25,0"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("TO is given twice"));
}

TEST_F(FieldCommandsTest, PlacesMayBePositionsThatSnap) {
  v1::FindReachableRequest reach;
  server_.find_reachable = [&](auto&, const v1::FindReachableRequest& request, auto&) {
    reach = request;
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"reach", "arena", "--start-position", "1.5,-2", "--snap", "3"}), ExitCode::kOk);
  EXPECT_EQ(reach.start().position().y(), -2);
  EXPECT_EQ(reach.snap().radius(), 3);
  EXPECT_EQ(Run({"reach", "arena"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("START is required"));
  EXPECT_EQ(Run({"reach", "arena", "1,1", "--start-position", "1.5,-2"}), ExitCode::kUsage);

  v1::ComputeCostMatrixRequest matrix;
  server_.compute_cost_matrix = [&](auto&, const v1::ComputeCostMatrixRequest& request,
                                    v1::ComputeCostMatrixResponse& response) {
    matrix = request;
    response.add_costs(1);
    response.add_costs(2);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"matrix", "arena", "--from-position", "0.5,1", "--from", "0,0", "--to", "3,3"}),
            ExitCode::kOk);
  ASSERT_EQ(matrix.starts_size(), 2);
  EXPECT_TRUE(matrix.starts(1).has_position());
  EXPECT_FALSE(matrix.has_snap() || matrix.has_agent() || matrix.has_view());
  EXPECT_EQ(out_,
            "FROM   3,3\n"
            "0,0    1\n"
            "0.5,1  2\n");
  EXPECT_EQ(Run({"matrix", "arena", "--from", "0,0"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("--to is required"));
}

TEST_F(FieldCommandsTest, SampleListsCells) {
  server_.sample_cells = [&](auto&, const v1::SampleCellsRequest& request,
                             v1::SampleCellsResponse& response) {
    EXPECT_EQ(request.count(), 2);
    EXPECT_EQ(request.seed(), 9U);
    EXPECT_TRUE(request.distinct());
    *response.add_cells() = At(1, 2);
    *response.add_cells() = At(3, 0);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"sample", "arena", "--count", "2", "--seed", "9", "--distinct"}), ExitCode::kOk);
  EXPECT_EQ(out_, "1,2\n3,0\n");
}

TEST_F(FieldCommandsTest, ProbeTellsOfTheSurface) {
  v1::ProbeSurfaceRequest asked;
  v1::SurfaceResult result;
  server_.probe_surface = [&](auto&, const v1::ProbeSurfaceRequest& request,
                              v1::ProbeSurfaceResponse& response) {
    asked = request;
    response.mutable_version()->set_revision(2);
    *response.add_results() = result;
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"probe", "keep", "-1,2,3"}), ExitCode::kNoPath);
  EXPECT_EQ(out_, "No surface of the mesh is there, or near enough (revision 2)\n");
  EXPECT_EQ(asked.map(), "keep");
  EXPECT_EQ(asked.probes(0).position().x(), -1);
  EXPECT_EQ(asked.probes(0).position().z(), 3);
  EXPECT_EQ(asked.probes(0).question_case(), v1::SurfaceProbe::QUESTION_NOT_SET);

  result.set_found(true);
  result.mutable_end()->set_x(4.5);
  result.mutable_end()->set_y(2);
  result.set_polygon(7);
  EXPECT_EQ(Run({"probe", "keep", "4,2"}), ExitCode::kOk);
  EXPECT_EQ(out_, "On the mesh at 4.5,2 in polygon 7 (revision 2)\n");
  EXPECT_EQ(Run({"probe", "keep", "4,2", "--move-to", "5,2", "--snap", "1"}), ExitCode::kOk);
  EXPECT_EQ(out_, "Comes to 4.5,2 in polygon 7 (revision 2)\n");
  EXPECT_EQ(asked.probes(0).move_to().x(), 5);
  EXPECT_EQ(asked.snap().radius(), 1);
  EXPECT_EQ(Run({"probe", "keep", "4,2", "--ray-to", "5,2"}), ExitCode::kOk);
  EXPECT_EQ(out_, "Free, to 4.5,2 in polygon 7 (revision 2)\n");
  EXPECT_EQ(Run({"probe", "keep", "4,2", "--wall-within", "0.25"}), ExitCode::kOk);
  EXPECT_EQ(out_, "No wall is so near (revision 2)\n");
  EXPECT_EQ(asked.probes(0).wall_within(), 0.25);

  result.set_blocked(true);
  result.set_distance(0.5);
  result.mutable_wall_normal()->set_x(-1);
  EXPECT_EQ(Run({"probe", "keep", "4,2", "--move-to", "5,2"}), ExitCode::kOk);
  EXPECT_EQ(out_, "Comes to 4.5,2 in polygon 7, stopped by a wall that faces -1,0 (revision 2)\n");
  EXPECT_EQ(Run({"probe", "keep", "4,2", "--ray-to", "5,2"}), ExitCode::kOk);
  EXPECT_EQ(out_, "Blocked after 0.5, at 4.5,2 in polygon 7, by a wall that faces -1,0 (revision 2)\n");
  EXPECT_EQ(Run({"probe", "keep", "4,2", "--wall-within", "1"}), ExitCode::kOk);
  EXPECT_EQ(out_, "0.5 to a wall that faces -1,0, at 4.5,2 in polygon 7 (revision 2)\n");
  EXPECT_EQ(Run({"probe", "keep", "4,2", "--wall-within", "1", "--ray-to", "5,2"}), ExitCode::kUsage);
  EXPECT_EQ(Run({"probe", "keep"}), ExitCode::kUsage);
}

TEST_F(FieldCommandsTest, FindTakesSeveralGoals) {
  v1::FindPathRequest asked;
  server_.find_path = [&](auto&, const v1::FindPathRequest& request, v1::FindPathResponse& response) {
    asked = request;
    response.set_outcome(v1::OUTCOME_FOUND);
    response.mutable_version()->set_revision(3);
    *response.mutable_end() = At(1, 0);
    *response.add_points() = At(0, 0);
    *response.add_points() = At(1, 0);
    response.set_goal_index(1);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"find", "arena", "0,0", "4,0", "1,0", "4,2"}), ExitCode::kOk);
  ASSERT_EQ(asked.goals_size(), 3);
  EXPECT_EQ(asked.goals(0).cell().x(), 4);
  EXPECT_EQ(asked.goals(2).cell().y(), 2);
  EXPECT_THAT(out_, HasSubstr("0 SG#.G\n"));
}

class GraphFieldCommandsTest : public ::waystar::testing::CommandTest {};

TEST_F(GraphFieldCommandsTest, ReachListsNodesByCost) {
  v1::FindReachableRequest asked;
  server_.find_reachable = [&](auto&, const v1::FindReachableRequest& request,
                               v1::FindReachableResponse& response) {
    asked = request;
    for (const auto& [node, cost] : {std::pair("lighthouse", 12.5), {"harbour", 0.0}, {"ford", 6.0}}) {
      v1::ReachableNode& reached = *response.add_nodes();
      reached.set_node(node);
      if (request.with_costs()) {
        reached.set_cost(cost);
      }
    }
    response.set_count(3);
    response.mutable_version()->set_revision(3);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"reach", "islands", "harbour", "--max-cost", "15", "--require-tag", "dry"}), ExitCode::kOk)
      << err_;
  EXPECT_EQ(out_,
            "0     harbour\n"
            "6     ford\n"
            "12.5  lighthouse\n"
            "3 nodes within reach (revision 3)\n");
  EXPECT_EQ(err_, "");
  EXPECT_EQ(asked.start().node(), "harbour");
  EXPECT_EQ(asked.agent().profile().required_tags(0), "dry");
  EXPECT_TRUE(asked.with_costs());
  EXPECT_EQ(Run({"reach", "islands", "--start-position", "0,0,2"}), ExitCode::kOk) << err_;
  EXPECT_FALSE(asked.with_costs()) << "it may be a grid, whose costs may be too many";
  EXPECT_EQ(Run({"reach", "arena", "0,0"}), ExitCode::kOk) << err_;
  EXPECT_FALSE(asked.with_costs()) << "pictures of grids show none";
}

TEST_F(GraphFieldCommandsTest, ReachMayFindNoNode) {
  server_.find_reachable = [&](auto&, const auto&, v1::FindReachableResponse& response) {
    response.mutable_version()->set_revision(3);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"reach", "islands", "--start-position", "1,0", "--snap", "2", "--max-cost", "0.5"}),
            ExitCode::kOk);
  EXPECT_EQ(out_, "0 nodes within reach (revision 3)\n");
}

TEST_F(GraphFieldCommandsTest, FlowListsNextNodes) {
  server_.compute_flow_field = [&](auto&, const v1::ComputeFlowFieldRequest& request,
                                   v1::ComputeFlowFieldResponse& response) {
    EXPECT_EQ(request.goals(0).node(), "lighthouse");
    EXPECT_TRUE(request.with_costs());
    v1::NodeStep& ford = *response.add_nodes();
    ford.set_node("ford");
    ford.set_next("lighthouse");
    ford.set_cost(6.25);
    v1::NodeStep& lighthouse = *response.add_nodes();
    lighthouse.set_node("lighthouse");
    lighthouse.set_cost(0);
    response.mutable_version()->set_revision(3);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"flow", "islands", "lighthouse"}), ExitCode::kOk) << err_;
  EXPECT_EQ(out_,
            "lighthouse (goal)   0\n"
            "ford -> lighthouse  6.25\n"
            "Ways to a goal from 2 nodes (revision 3)\n");
  EXPECT_EQ(err_, "");
}

TEST_F(GraphFieldCommandsTest, MatrixIsHeadedByTheNamesThatWereGiven) {
  server_.compute_cost_matrix = [&](auto&, const auto&, v1::ComputeCostMatrixResponse& response) {
    response.add_costs(6.5);
    response.add_costs(-1);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"matrix", "islands", "--from", "harbour", "--to", "ford", "--to-position", "3,4"}),
            ExitCode::kOk);
  EXPECT_EQ(out_,
            "FROM     ford  3,4\n"
            "harbour  6.5   -\n");
}

TEST_F(GraphFieldCommandsTest, RayNamesTheObstacle) {
  v1::CastRayResponse answer;
  answer.set_blocked(true);
  answer.mutable_position()->set_x(3);
  answer.mutable_position()->set_z(1.5);
  answer.set_fraction(0.25);
  answer.mutable_version()->set_revision(3);
  answer.set_obstacle("crane");
  server_.cast_ray = [&](auto&, const auto&, v1::CastRayResponse& response) {
    response = answer;
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"ray", "islands", "pier", "market"}), ExitCode::kNoPath);
  EXPECT_EQ(out_, "Blocked by crane after 0.25 of the way, at 3,0,1.5 (revision 3)\n");
  answer.clear_obstacle();
  EXPECT_EQ(Run({"ray", "islands", "pier", "market"}), ExitCode::kNoPath);
  EXPECT_THAT(out_, HasSubstr("Blocked by a cell of the reference map after 0.25 of the way"));
  EXPECT_EQ(Run({"ray", "islands", "pier", "market", "--block", "disc:3,0,1"}), ExitCode::kNoPath);
  EXPECT_THAT(out_, HasSubstr("Blocked after 0.25 of the way"));
  answer.set_blocked(false);
  EXPECT_EQ(Run({"ray", "islands", "pier", "market"}), ExitCode::kOk);
  EXPECT_EQ(out_, "Free (revision 3)\n");
}

TEST_F(GraphFieldCommandsTest, SampleListsNodesOrPointsOfEdges) {
  server_.sample_cells = [&](auto&, const v1::SampleCellsRequest& request,
                             v1::SampleCellsResponse& response) {
    if (!request.along_edges()) {
      response.add_nodes("pier");
      response.add_nodes("market");
      return grpc::Status::OK;
    }
    v1::EdgePoint& point = *response.add_points();
    point.mutable_edge()->set_from("pier");
    point.mutable_edge()->set_to("market");
    point.set_fraction(0.25);
    point.mutable_position()->set_x(4.5);
    point.mutable_position()->set_z(-2);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"sample", "islands", "--count", "2"}), ExitCode::kOk);
  EXPECT_EQ(out_, "pier\nmarket\n");
  EXPECT_EQ(Run({"sample", "islands", "--along-edges"}), ExitCode::kOk);
  EXPECT_EQ(out_, "4.5,0,-2 on pier -> market, 0.25 of it\n");
  EXPECT_EQ(Run({"sample", "islands", "--along-edges", "--distinct"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("--distinct"));
}

TEST_F(GraphFieldCommandsTest, EveryQuestionTakesAnOverlayOfNodesAndEdges) {
  v1::Overlay reach;
  server_.find_reachable = [&](auto&, const v1::FindReachableRequest& request, auto&) {
    reach = request.view().overlay();
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"reach", "islands", "--block-node", "ford", "--block-edge", "harbour,bridge", "--block-edge",
                 "bridge>lighthouse", "--block-node", "pier", "harbour"}),
            ExitCode::kOk)
      << err_;
  ASSERT_EQ(reach.blocked_nodes_size(), 2);
  EXPECT_EQ(reach.blocked_nodes(1), "pier");
  ASSERT_EQ(reach.blocked_edges_size(), 2);
  EXPECT_EQ(reach.blocked_edges(0).to(), "bridge");
  EXPECT_FALSE(reach.blocked_edges(0).one_way());
  EXPECT_EQ(reach.blocked_edges(1).from(), "bridge");
  EXPECT_TRUE(reach.blocked_edges(1).one_way());
  EXPECT_EQ(Run({"reach", "islands", "harbour", "--block-edge", "ford"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("'ford' is not an edge"));

  v1::Overlay find;
  server_.find_path = [&](auto&, const v1::FindPathRequest& request, auto&) {
    find = request.view().overlay();
    return grpc::Status::OK;
  };
  Run({"find", "islands", "harbour", "lighthouse", "--block-node", "ford"});
  EXPECT_EQ(find.blocked_nodes_size(), 1);
}

class MeshFieldCommandsTest : public ::waystar::testing::CommandTest {
 protected:
  MeshFieldCommandsTest() {
    server_.get_map = [](auto&, const auto&, v1::GetMapResponse& response) {
      response.mutable_info()->set_kind(v1::MAP_KIND_MESH);
      response.mutable_info()->mutable_mesh()->set_polygons(3);
      return grpc::Status::OK;
    };
  }

  static void Fill(double x, double y, double z, v1::Position& position) {
    position.set_x(x);
    position.set_y(y);
    position.set_z(z);
  }
};

TEST_F(MeshFieldCommandsTest, ReachListsPolygonsByCost) {
  server_.find_reachable = [](auto&, const v1::FindReachableRequest& request,
                              v1::FindReachableResponse& response) {
    EXPECT_TRUE(request.with_costs());
    EXPECT_EQ(request.start().position().y(), 2.5);
    for (const auto& [polygon, cost] : {std::pair(3U, 4.25), {16U, 0.0}}) {
      v1::ReachablePolygon& reached = *response.add_polygons();
      reached.set_polygon(polygon);
      reached.set_cost(cost);
      Fill(polygon, 2.5, cost, *reached.mutable_nearest());
    }
    response.set_count(2);
    response.mutable_version()->set_revision(3);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"reach", "keep", "16,2.5,0", "--max-cost", "5"}), ExitCode::kOk) << err_;
  EXPECT_EQ(out_,
            "POLYGON  COST  NEAREST\n"
            "16       0     16,2.5\n"
            "3        4.25  3,2.5,4.25\n"
            "2 polygons within reach (revision 3)\n");
  EXPECT_EQ(err_, "");
}

TEST_F(MeshFieldCommandsTest, FlowListsWhereToGoFromEachMiddle) {
  server_.compute_flow_field = [](auto&, const v1::ComputeFlowFieldRequest& request,
                                  v1::ComputeFlowFieldResponse& response) {
    EXPECT_TRUE(request.with_costs());
    if (request.has_max_cost()) {
      return grpc::Status::OK;
    }
    v1::PolygonStep& step = *response.add_polygons();
    step.set_polygon(7);
    step.set_cost(6.5);
    Fill(1, 2, 0, *step.mutable_middle());
    Fill(3, 2, 1, *step.mutable_next());
    response.mutable_version()->set_revision(3);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"flow", "keep", "2,3,4"}), ExitCode::kOk) << err_;
  EXPECT_EQ(out_,
            "POLYGON  COST  MIDDLE  NEXT\n"
            "7        6.5   1,2     3,2,1\n"
            "Ways to a goal from 1 polygon (revision 3)\n");
  EXPECT_EQ(Run({"flow", "keep", "2,3,4", "--max-cost", "0"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, ::testing::HasSubstr("Ways to a goal from 0 polygons"));
}

}  // namespace
}  // namespace waystar::cli
