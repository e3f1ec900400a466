#include "client/cli/graph_field_text.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/by_cost.h"
#include "client/cli/cell_argument.h"
#include "client/cli/table.h"

namespace waystar::cli {
namespace {

std::string NodesText(int nodes) { return absl::StrCat(nodes, nodes == 1 ? " node" : " nodes"); }

// "by crane ", or nothing where what is in the way has no name and may be one of two things: a cell of the
// reference map, or the area that the question itself blocks.
std::string ByText(const v1::CastRayRequest& request, const v1::CastRayResponse& answer) {
  if (!answer.obstacle().empty()) {
    return absl::StrCat("by ", answer.obstacle(), " ");
  }
  return request.view().overlay().has_blocked() ? "" : "by a cell of the reference map ";
}

}  // namespace

bool IsOnGraph(const v1::FindReachableResponse& answer) { return !answer.has_bounds(); }
bool IsOnGraph(const v1::ComputeFlowFieldResponse& answer) { return !answer.has_region(); }
bool IsOnGraph(const v1::CastRayResponse& answer) { return !answer.has_cell(); }

std::string ReachableNodesText(const v1::FindReachableResponse& answer, std::size_t width) {
  std::vector<TableRow> rows;
  for (const v1::ReachableNode* node : ByCost(answer.nodes())) {
    rows.push_back(node->has_cost() ? TableRow{CostText(node->cost()), node->node()}
                                    : TableRow{node->node()});
  }
  return absl::StrCat(FormatTable(rows, width), NodesText(answer.nodes_size()), " within reach (revision ",
                      answer.version().revision(), ")\n");
}

std::string NodeStepsText(const v1::ComputeFlowFieldResponse& answer, std::size_t width) {
  std::vector<TableRow> rows;
  for (const v1::NodeStep* step : ByCost(answer.nodes())) {
    TableRow& row = rows.emplace_back();
    row.push_back(step->next().empty() ? absl::StrCat(step->node(), " (goal)")
                                       : absl::StrCat(step->node(), " -> ", step->next()));
    if (step->has_cost()) {
      row.push_back(CostText(step->cost()));
    }
  }
  return absl::StrCat(FormatTable(rows, width), "Ways to a goal from ", NodesText(answer.nodes_size()),
                      " (revision ", answer.version().revision(), ")\n");
}

std::string GraphRayText(const v1::CastRayRequest& request, const v1::CastRayResponse& answer) {
  return absl::StrFormat("Blocked %safter %.6g of the way, at %s (revision %d)\n", ByText(request, answer),
                         answer.fraction(), FormatPosition(answer.position()), answer.version().revision());
}

std::string EdgePointText(const v1::EdgePoint& point) {
  return absl::StrFormat("%s on %s -> %s, %.6g of it", FormatPosition(point.position()), point.edge().from(),
                         point.edge().to(), point.fraction());
}

std::string BlockedNodesText(const v1::ValidatePathRequest& request, const v1::ValidatePathResponse& answer) {
  const int index = answer.blocked_index();
  const std::string by = answer.blocked_by().empty() ? "" : absl::StrCat("by ", answer.blocked_by(), " ");
  const std::string end = index >= 0 && index < request.nodes_size()
                              ? absl::StrCat("node ", index, ", ", request.nodes(index))
                              : "the goal";
  return absl::StrFormat("Blocked %son the way to %s, after cost %.6g, at revision %d.\n", by, end,
                         answer.cost(), answer.version().revision());
}

}  // namespace waystar::cli
