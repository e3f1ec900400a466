#include "client/cli/mesh_field_text.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/by_cost.h"
#include "client/cli/cell_argument.h"
#include "client/cli/table.h"

namespace waystar::cli {
namespace {

template <typename Answer>
std::string CountText(const Answer& answer) {
  return absl::StrCat(answer.polygons_size(), answer.polygons_size() == 1 ? " polygon" : " polygons");
}
template <typename Answer>
std::string RevisionText(const Answer& answer) {
  return absl::StrCat(" (revision ", answer.version().revision(), ")\n");
}

}  // namespace

std::string ReachablePolygonsText(const v1::FindReachableResponse& answer, std::size_t width) {
  std::vector<TableRow> rows = {{"POLYGON", "COST", "NEAREST"}};
  for (const v1::ReachablePolygon* polygon : ByCost(answer.polygons())) {
    rows.push_back(
        {absl::StrCat(polygon->polygon()), CostText(polygon->cost()), FormatPosition(polygon->nearest())});
  }
  return absl::StrCat(FormatTable(rows, width), CountText(answer), " within reach", RevisionText(answer));
}

std::string PolygonStepsText(const v1::ComputeFlowFieldResponse& answer, std::size_t width) {
  std::vector<TableRow> rows = {{"POLYGON", "COST", "MIDDLE", "NEXT"}};
  for (const v1::PolygonStep* step : ByCost(answer.polygons())) {
    rows.push_back({absl::StrCat(step->polygon()), CostText(step->cost()), FormatPosition(step->middle()),
                    FormatPosition(step->next())});
  }
  return absl::StrCat(FormatTable(rows, width), "Ways to a goal from ", CountText(answer),
                      RevisionText(answer));
}

}  // namespace waystar::cli
