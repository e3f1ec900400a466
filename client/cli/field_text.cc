#include "client/cli/field_text.h"

#include <google/protobuf/repeated_ptr_field.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/cell_argument.h"
#include "client/cli/table.h"

namespace waystar::cli {
namespace {

std::string CostText(double cost) { return absl::StrFormat("%.10g", cost); }

// Returns the parts by rising cost; those of equal cost keep their order.
template <typename Part>
std::vector<const Part*> ByCost(const google::protobuf::RepeatedPtrField<Part>& parts) {
  std::vector<const Part*> sorted(parts.pointer_begin(), parts.pointer_end());
  std::ranges::stable_sort(sorted, {}, [](const Part* part) { return part->cost(); });
  return sorted;
}

// "2 nodes", or "1 polygon".
template <typename Answer>
std::string CountText(const Answer& answer, bool is_on_mesh) {
  const int count = is_on_mesh ? answer.polygons_size() : answer.nodes_size();
  return absl::StrCat(count, is_on_mesh ? " polygon" : " node", count == 1 ? "" : "s");
}

// "by crane ", or nothing where what is in the way has no name and may be one of two things: a cell of the
// reference map, or the area that the question itself blocks.
std::string ByText(const v1::CastRayRequest& request, const v1::CastRayResponse& answer) {
  if (!answer.obstacle().empty()) {
    return absl::StrCat("by ", answer.obstacle(), " ");
  }
  return request.view().overlay().has_blocked() ? "" : "by a cell of the reference map ";
}

// "-1,0.5".
std::string DirectionText(const v1::Position& direction) {
  return absl::StrFormat("%.6g,%.6g", direction.x(), direction.y());
}

}  // namespace

bool IsOnGraph(const v1::FindReachableResponse& answer) { return !answer.has_bounds(); }
bool IsOnGraph(const v1::ComputeFlowFieldResponse& answer) { return !answer.has_region(); }
bool IsOnGraph(const v1::CastRayResponse& answer) { return !answer.has_cell(); }

std::string ReachText(const v1::FindReachableResponse& answer, bool is_on_mesh, std::size_t width) {
  std::vector<TableRow> rows;
  for (const v1::ReachableNode* node : ByCost(answer.nodes())) {
    rows.push_back(node->has_cost() ? TableRow{CostText(node->cost()), node->node()}
                                    : TableRow{node->node()});
  }
  if (is_on_mesh) {
    rows.push_back({"POLYGON", "COST", "NEAREST"});
  }
  for (const v1::ReachablePolygon* polygon : ByCost(answer.polygons())) {
    rows.push_back(
        {absl::StrCat(polygon->polygon()), CostText(polygon->cost()), FormatPosition(polygon->nearest())});
  }
  return absl::StrCat(FormatTable(rows, width), CountText(answer, is_on_mesh), " within reach (revision ",
                      answer.version().revision(), ")\n");
}

std::string FlowText(const v1::ComputeFlowFieldResponse& answer, bool is_on_mesh, std::size_t width) {
  std::vector<TableRow> rows;
  for (const v1::NodeStep* step : ByCost(answer.nodes())) {
    TableRow& row = rows.emplace_back();
    row.push_back(step->next().empty() ? absl::StrCat(step->node(), " (goal)")
                                       : absl::StrCat(step->node(), " -> ", step->next()));
    if (step->has_cost()) {
      row.push_back(CostText(step->cost()));
    }
  }
  if (is_on_mesh) {
    rows.push_back({"POLYGON", "COST", "MIDDLE", "NEXT"});
  }
  for (const v1::PolygonStep* step : ByCost(answer.polygons())) {
    rows.push_back({absl::StrCat(step->polygon()), CostText(step->cost()), FormatPosition(step->middle()),
                    FormatPosition(step->next())});
  }
  return absl::StrCat(FormatTable(rows, width), "Ways to a goal from ", CountText(answer, is_on_mesh),
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

std::string SurfaceText(const v1::SurfaceProbe& probe, const v1::SurfaceResult& result) {
  if (!result.found()) {
    return "No surface of the mesh is there, or near enough";
  }
  const std::string end = absl::StrCat(FormatPosition(result.end()), " in polygon ", result.polygon());
  const std::string wall = absl::StrCat(" a wall that faces ", DirectionText(result.wall_normal()));
  switch (probe.question_case()) {
    case v1::SurfaceProbe::kMoveTo:
      return absl::StrCat("Comes to ", end, result.blocked() ? absl::StrCat(", stopped by", wall) : "");
    case v1::SurfaceProbe::kRayTo:
      return result.blocked() ? absl::StrCat("Blocked after ", absl::StrFormat("%.6g", result.distance()),
                                             ", at ", end, ", by", wall)
                              : absl::StrCat("Free, to ", end);
    case v1::SurfaceProbe::kWallWithin:
      return result.blocked()
                 ? absl::StrCat(absl::StrFormat("%.6g", result.distance()), " to", wall, ", at ", end)
                 : std::string("No wall is so near");
    case v1::SurfaceProbe::QUESTION_NOT_SET:
      break;
  }
  return absl::StrCat("On the mesh at ", end);
}

}  // namespace waystar::cli
