#include "server/service/handlers/query/inline_map.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/edit/edit_memory.h"
#include "server/core/grid/cells/world_frame.h"
#include "server/core/query/readiness.h"
#include "server/core/search/interruption.h"
#include "server/geometry/world_point.h"
#include "server/service/convert/convert_graph.h"
#include "server/service/convert/convert_grid.h"

namespace waystar::rpc {
namespace {

// Cost, in cells examined, of making a cell, a node or an edge, and of testing a pair of nodes against an
// obstacle.
constexpr std::uint64_t kWorkOfCell = 64;
constexpr std::uint64_t kWorkOfNode = 4'096;
constexpr std::uint64_t kWorkOfPair = 16;
// Maximum ratio of the cells of a board's plane to the limit of cells.
constexpr std::uint64_t kMostOfPlane = 2;

absl::Status CheckMost(std::uint64_t count, std::uint64_t most, absl::string_view items, ErrorReason reason,
                       absl::string_view field) {
  return count <= most ? absl::OkStatus()
                       : MakeError(reason, field,
                                   absl::StrCat("an inline map may have at most ", most, " ", items, ", got ",
                                                count, ": create a map"));
}

std::uint64_t CellsOf(const v1::InlineMap& map) {
  if (map.has_bits()) {
    return static_cast<std::uint64_t>(std::max(map.bits().width(), 0)) *
           static_cast<std::uint64_t>(std::max(map.bits().height(), 0));
  }
  std::uint64_t cells = 0;
  for (const std::string& row : map.rows()) {
    cells += row.size();
  }
  return cells;
}

// Returns the number of cells of the plane of a board with these columns and rows.
absl::StatusOr<std::uint64_t> PlaneOf(const v1::InlineMap& map, std::int32_t columns, std::int32_t rows) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::GridSettings settings, ToGridSettings(map.grid()));
  const auto product = [](std::int64_t a, std::int64_t b) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(a, 0)) *
           static_cast<std::uint64_t>(std::max<std::int64_t>(b, 0));
  };
  if (!settings.frame.hexagons || !core::HasOffsets(settings.frame.hexagons->layout)) {
    return product(columns, rows);
  }
  core::HexBoard board = *settings.frame.hexagons;
  board.columns = columns;
  board.rows = rows;
  return product(board.plane_width(), board.plane_height());
}

absl::StatusOr<core::AnyMap> MakeGrid(const v1::InlineMap& map, const core::Budget& budget,
                                      const StopCheck& stop) {
  const absl::string_view field = map.has_bits() ? "bits" : "rows";
  WAYSTAR_RETURN_IF_ERROR(CheckMost(CellsOf(map), kMaxInlineCells, "cells", ErrorReason::kBadSize, field));
  const auto columns = map.has_bits()
                           ? map.bits().width()
                           : static_cast<std::int32_t>(map.rows().empty() ? 0 : map.rows(0).size());
  const auto rows = map.has_bits() ? map.bits().height() : map.rows_size();
  WAYSTAR_ASSIGN_OR_RETURN(const std::uint64_t plane, PlaneOf(map, columns, rows));
  if (plane > kMostOfPlane * kMaxInlineCells) {
    return MakeError(ErrorReason::kBadSize, field,
                     absl::StrCat("the plane of axial coordinates that such a board lies on has ", plane,
                                  " cells: create a map"));
  }
  WAYSTAR_RETURN_IF_ERROR(core::BeginUpkeep(budget, plane * kWorkOfCell));
  WAYSTAR_ASSIGN_OR_RETURN(
      core::GridMap grid,
      WithProfiles(map.has_bits() ? GridFromBits(map.bits(), map.grid(), core::kMaxMapSide, &stop)
                                  : GridFromRows(map.rows(), map.grid(), core::kMaxMapSide, &stop),
                   map.grid()));
  return grid;
}

// Pairs of nodes near enough for an automatic edge count as edges.
absl::Status CheckPairs(const core::WaypointSpec& spec, std::uint64_t edges) {
  if (!spec.auto_connect.has_value()) {
    return absl::OkStatus();
  }
  const double reach = spec.auto_connect->max_distance;
  for (std::size_t i = 0; i < spec.nodes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      edges += core::SquaredDistance(spec.nodes[i].position, spec.nodes[j].position) <= reach * reach ? 2 : 0;
    }
    if (edges > kMaxInlineEdges) {
      return MakeError(ErrorReason::kTooManyEdges, "graph.auto_connect",
                       absl::StrCat("sight may make more than the ", kMaxInlineEdges,
                                    " edges that an inline map has at most: create a map"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<core::AnyMap> MakeGraph(const v1::InlineMap& map, const core::Budget& budget,
                                       const StopCheck& stop) {
  const v1::WaypointGraph& graph = map.graph();
  if (map.has_grid()) {
    return MakeError(ErrorReason::kBadSource, "grid", "a waypoint graph has no options of a grid");
  }
  if (!graph.auto_connect().reference_map().empty()) {
    return MakeError(ErrorReason::kBadValue, "graph.auto_connect.reference_map",
                     "an inline map has no reference map");
  }
  const auto nodes = static_cast<std::uint64_t>(graph.nodes_size());
  WAYSTAR_RETURN_IF_ERROR(
      CheckMost(nodes, kMaxInlineNodes, "nodes", ErrorReason::kTooManyNodes, "graph.nodes"));
  std::uint64_t edges = 0;
  for (const v1::WaypointEdge& edge : graph.edges()) {
    edges += edge.edge().one_way() ? 1 : 2;
  }
  WAYSTAR_RETURN_IF_ERROR(
      CheckMost(edges, kMaxInlineEdges, "edges", ErrorReason::kTooManyEdges, "graph.edges"));
  const auto obstacles = static_cast<std::uint64_t>(graph.obstacles_size());
  WAYSTAR_RETURN_IF_ERROR(CheckMost(obstacles, kMaxInlineObstacles, "obstacles",
                                    ErrorReason::kTooManyObstacles, "graph.obstacles"));
  // There may be as many automatic edges as edges are allowed, and each may be tested against each obstacle.
  const std::uint64_t arcs = graph.has_auto_connect() ? kMaxInlineEdges : edges;
  WAYSTAR_RETURN_IF_ERROR(core::BeginUpkeep(
      budget, (nodes + edges) * kWorkOfNode + nodes * nodes + arcs * (1 + obstacles) * kWorkOfPair));
  const absl::StatusOr<core::WaypointSpec> spec = ToWaypointSpec(graph, nullptr);
  WAYSTAR_RETURN_IF_ERROR(WithFieldPrefix(spec.status(), "graph."));
  WAYSTAR_RETURN_IF_ERROR(CheckPairs(*spec, edges));
  absl::StatusOr<core::WaypointGraph> made = core::WaypointGraph::Create(*spec, &stop);
  if (!made.ok()) {
    WAYSTAR_RETURN_IF_ERROR(stop.Check());
    return WithFieldPrefix(made.status(), ErrorFieldOf(made.status()).empty() ? "graph" : "graph.");
  }
  return *std::move(made);
}

absl::StatusOr<core::AnyMap> MakeMap(const v1::InlineMap& map, const core::Budget& budget) {
  const int sources = (map.rows().empty() ? 0 : 1) + (map.has_bits() ? 1 : 0) + (map.has_graph() ? 1 : 0);
  if (sources != 1) {
    return MakeError(ErrorReason::kBadSource, "", "give exactly one of rows, bits and graph");
  }
  const core::BudgetStop stop(budget);
  return map.has_graph() ? MakeGraph(map, budget, stop) : MakeGrid(map, budget, stop);
}

}  // namespace

absl::StatusOr<std::unique_ptr<InlineSnapshot>> MakeInlineMap(const v1::InlineMap& map,
                                                              MemoryAccount& account,
                                                              const core::Budget& budget) {
  absl::StatusOr<core::AnyMap> made = MakeMap(map, budget);
  if (!made.ok()) {
    const bool has_field = !ErrorFieldOf(made.status()).empty();
    const bool is_about_map = absl::IsInvalidArgument(made.status());
    return has_field || is_about_map
               ? WithFieldPrefix(made.status(), has_field ? "inline_map." : "inline_map")
               : made.status();
  }
  auto result =
      std::make_unique<InlineSnapshot>(InlineSnapshot{.snapshot = {.revision = 0, .map = *std::move(made)}});
  if (!account.Reserve(result->snapshot.memory_bytes(), result->memory)) {
    return core::MapsMemoryFull(account, "inline_map");
  }
  return result;
}

}  // namespace waystar::rpc
