#include "server/core/import/geo_json.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "server/core/import/import_map.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::kInvalid;

std::string Feature(absl::string_view type, absl::string_view coordinates, absl::string_view properties = "",
                    absl::string_view id = "") {
  return absl::StrCat(R"({"type": "Feature", )", id.empty() ? "" : absl::StrCat(R"("id": )", id, ", "),
                      R"("geometry": {"type": ")", type, R"(", "coordinates": )", coordinates,
                      R"(}, "properties": {)", properties, "}}");
}

std::string Collection(const std::vector<std::string>& features) {
  return absl::StrCat(R"({"type": "FeatureCollection", "features": [)", "\n", absl::StrJoin(features, ",\n"),
                      "\n]}");
}

std::vector<std::string> EdgesOf(const WaypointGraph& graph) {
  std::vector<std::string> edges;
  for (NodeNumber node = 0; node < graph.number_limit(); ++node) {
    if (!graph.Exists(node)) {
      continue;
    }
    for (const Arc& arc : graph.ArcsOf(node)) {
      edges.push_back(absl::StrCat(graph.IdOf(node), ">", graph.IdOf(arc.to)));
    }
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

TEST(GeoJsonTest, PointsAreNodesAndLinesEdges) {
  const auto graph = ParseGeoJson(Collection(
      {Feature("Point", "[0, 0]", R"("name": "gate")"), Feature("Point", "[3, 4, 5]", "", "7"),
       Feature("Point", "[9, 9]"), Feature("LineString", "[[0, 0], [3, 0], [3, 4, 5]]", R"("oneway": true)"),
       Feature("MultiLineString", "[[[3.0000001, 0], [9, 9]], [[9, 9], [9, 10]]]")}));
  ASSERT_THAT(graph, IsOk());
  EXPECT_THAT(EdgesOf(*graph), ElementsAre("gate>line-3-0", "line-3-0>7", "line-3-0>point-2",
                                           "line-4-0>point-2", "point-2>line-3-0", "point-2>line-4-0"));
  EXPECT_EQ(graph->PositionOf(graph->FindNode("7")).z, 5.0);
}

TEST(GeoJsonTest, CostsAreSharedByLength) {
  const auto graph = ParseGeoJson(
      Collection({Feature("LineString", "[[0, 0], [1, 0], [4, 0]]", R"("cost": 8, "tags": ["road"])")}));
  ASSERT_THAT(graph, IsOk());
  const NodeNumber middle = graph->FindNode("line-0-1");
  EXPECT_EQ(graph->FindArc(graph->FindNode("line-0-0"), middle)->cost, CostFromDouble(2.0));
  const Arc* const last = graph->FindArc(middle, graph->FindNode("line-0-2"));
  EXPECT_EQ(last->cost, CostFromDouble(6.0));
  EXPECT_THAT(graph->NamesOf(graph->TagsOfArc(middle, *last)), ElementsAre("road"));
}

TEST(GeoJsonTest, NamesTheFeatureAtFault) {
  const std::string point = Feature("Point", "[0, 0]");
  for (const std::string& bad :
       {Feature("Polygon", "[[[0, 0], [1, 0], [1, 1]]]"), Feature("Point", "[0]"), Feature("Point", "\"x\""),
        Feature("Point", "[1e300, 0]"), Feature("Point", "[0, 1e-9]"), Feature("LineString", "[[0, 0]]"),
        Feature("LineString", "[[0, 0], [1]]"), Feature("LineString", "[[0, 0], [1, 1]]", R"("cost": -1)"),
        Feature("LineString", "[[0, 0], [1, 1], [0, 0]]"), Feature("Point", "[5, 5]", R"("id": "no id")"),
        Feature("Point", "[5, 5]", R"("id": "point-0")"), Feature("Point", "[5, 5]", R"("tags": [7, "a"])"),
        std::string(R"({"type": "Feature", "geometry": null, "properties": null})")}) {
    const auto graph = ParseGeoJson(Collection({point, bad}));
    EXPECT_EQ(graph.status().code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_THAT(std::string(graph.status().message()), HasSubstr("line 3: feature 1: ")) << bad;
  }
  EXPECT_THAT(ParseGeoJson(R"({"type": "Feature"})"), IsError(kInvalid, ErrorReason::kBadFormat, ""));
}

TEST(GeoJsonTest, FeaturesMayHaveNoProperties) {
  const auto graph = ParseGeoJson(Collection(
      {R"({"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}, "properties": null})"}));
  ASSERT_THAT(graph, IsOk());
  EXPECT_EQ(graph->node_count(), 1U);
}

}  // namespace
}  // namespace waystar::core
