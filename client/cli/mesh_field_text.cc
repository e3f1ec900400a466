#include "client/cli/mesh_field_text.h"

#include <google/protobuf/repeated_ptr_field.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/cell_argument.h"
#include "client/cli/table.h"

namespace waystar::cli {
namespace {

std::string PolygonCostText(double cost) { return absl::StrFormat("%.10g", cost); }

template <typename Polygon>
std::vector<const Polygon*> PolygonsByCost(const google::protobuf::RepeatedPtrField<Polygon>& polygons) {
  std::vector<const Polygon*> sorted(polygons.pointer_begin(), polygons.pointer_end());
  std::ranges::stable_sort(sorted, {}, [](const Polygon* polygon) { return polygon->cost(); });
  return sorted;
}

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
  for (const v1::ReachablePolygon* polygon : PolygonsByCost(answer.polygons())) {
    rows.push_back({absl::StrCat(polygon->polygon()), PolygonCostText(polygon->cost()),
                    FormatPosition(polygon->nearest())});
  }
  return absl::StrCat(FormatTable(rows, width), CountText(answer), " within reach", RevisionText(answer));
}

std::string PolygonStepsText(const v1::ComputeFlowFieldResponse& answer, std::size_t width) {
  std::vector<TableRow> rows = {{"POLYGON", "COST", "MIDDLE", "NEXT"}};
  for (const v1::PolygonStep* step : PolygonsByCost(answer.polygons())) {
    rows.push_back({absl::StrCat(step->polygon()), PolygonCostText(step->cost()),
                    FormatPosition(step->middle()), FormatPosition(step->next())});
  }
  return absl::StrCat(FormatTable(rows, width), "Ways to a goal from ", CountText(answer),
                      RevisionText(answer));
}

}  // namespace waystar::cli
