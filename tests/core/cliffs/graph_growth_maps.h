// The waypoint graphs on which the growth tests count.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/elements/obstacle.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/map/waypoint_graph.h"

namespace waystar::core {

inline constexpr int kGraphRows = 20;

inline std::string NodeAt(int column, int row) { return absl::StrCat("n", column, "_", row); }

// A street map of so many columns and kGraphRows rows of nodes, ten units apart, each joined to its
// neighbours both ways. All edges are main roads but those of one row.
inline WaypointGraph MakeStreets(int columns) {
  WaypointSpec spec;
  for (int column = 0; column < columns; ++column) {
    for (int row = 0; row < kGraphRows; ++row) {
      spec.nodes.push_back({.id = NodeAt(column, row), .position = {10.0 * column, 10.0 * row}});
      std::vector<std::string> tags = {"main"};
      if (row > 0) {
        spec.edges.push_back(
            {.name = {.from = NodeAt(column, row - 1), .to = NodeAt(column, row)}, .tags = tags});
      }
      if (row == 5) {
        tags.clear();
      }
      if (column > 0) {
        spec.edges.push_back(
            {.name = {.from = NodeAt(column - 1, row), .to = NodeAt(column, row)}, .tags = std::move(tags)});
      }
    }
  }
  return WaypointGraph::Create(spec).value();
}

inline int NodesOfStreets(int columns) { return columns * kGraphRows; }

// A disc that blocks.
inline std::shared_ptr<const Obstacle> MakeDisc(std::string id, double x, double y, double radius = 1.0) {
  Obstacle obstacle{.id = std::move(id)};
  obstacle.shape.discs = {{.center = {x, y}, .radius = radius}};
  return std::make_shared<const Obstacle>(std::move(obstacle));
}

// The graph with a disc of radius 1 at each of the points.
inline WaypointGraph WithDiscs(const WaypointGraph& graph, const std::vector<Point>& points) {
  GraphEditor editor(graph);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const absl::Status status =
        editor.PutObstacle(MakeDisc(absl::StrCat("o", i), points[i].x, points[i].y), false);
    EXPECT_TRUE(status.ok()) << status;
  }
  return std::move(editor).Finish();
}

// One in the middle of each block of the first columns of a street map, where they are near every edge and
// touch none.
inline std::vector<Point> MiddlesOfBlocks(int columns) {
  std::vector<Point> points;
  for (int column = 0; column + 1 < columns; ++column) {
    for (int row = 0; row + 1 < kGraphRows; ++row) {
      points.push_back({10.0 * column + 5.0, 10.0 * row + 5.0});
    }
  }
  return points;
}

}  // namespace waystar::core
