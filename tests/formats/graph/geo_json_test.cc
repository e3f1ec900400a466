#include "server/formats/graph/geo_json.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "tests/formats/files.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

absl::StatusOr<WaypointGraph> Parse(const std::string& bytes) {
  ImportNotes notes;
  return ParseGeoJson(bytes, notes);
}

// Reads a file that must be right.
WaypointGraph ReadGraph(const std::string& bytes) {
  absl::StatusOr<WaypointGraph> graph = Parse(bytes);
  EXPECT_THAT(graph, IsOk());
  return *std::move(graph);
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
  const WaypointGraph graph = ReadGraph(Collection(
      {Feature("Point", "[0, 0]", R"("name": "gate")"), Feature("Point", "[3, 4, 5]", "", "7"),
       Feature("Point", "[9, 9]"), Feature("LineString", "[[0, 0], [3, 0], [3, 4, 5]]", R"("oneway": true)"),
       Feature("MultiLineString", "[[[3.0000001, 0], [9, 9]], [[9, 9], [9, 10]]]")}));
  EXPECT_THAT(EdgesOf(graph), ElementsAre("gate>line-3-0", "line-3-0>7", "line-3-0>point-2",
                                          "line-4-0>point-2", "point-2>line-3-0", "point-2>line-4-0"));
  EXPECT_EQ(graph.PositionOf(graph.FindNode("7")).z, 5.0);
}

TEST(GeoJsonTest, CostsAreSharedByLength) {
  const WaypointGraph graph = ReadGraph(
      Collection({Feature("LineString", "[[0, 0], [1, 0], [4, 0]]", R"("cost": 8, "tags": ["road"])")}));
  const NodeNumber middle = graph.FindNode("line-0-1");
  EXPECT_EQ(graph.FindArc(graph.FindNode("line-0-0"), middle)->cost, CostFromDouble(2.0));
  const Arc* const last = graph.FindArc(middle, graph.FindNode("line-0-2"));
  EXPECT_EQ(last->cost, CostFromDouble(6.0));
  EXPECT_THAT(graph.NamesOf(graph.TagsOfArc(middle, *last)), ElementsAre("road"));
}

TEST(GeoJsonTest, NamesTheFeatureAtFault) {
  const std::string point = Feature("Point", "[0, 0]");
  for (const std::string& bad :
       {Feature("Polygon", "[[[0, 0], [1, 0], [1, 1]]]"),
        Feature("Point", "[0]"),
        Feature("Point", "\"x\""),
        Feature("Point", "[1e300, 0]"),
        Feature("Point", "[0, 1e-9]"),
        Feature("LineString", "[[0, 0]]"),
        Feature("LineString", "[[0, 0], [1]]"),
        Feature("LineString", "[[0, 0], [1, 1]]", R"("cost": -1)"),
        Feature("LineString", "[[0, 0], [1, 1], [0, 0]]"),

        Feature("Point", "[5, 5]", R"("tags": [7, "a"])"),
        Feature("Point", "[5, 5]", R"("id": 9007199254740993)"),
        Feature("LineString", "[[0, 0], [1, 1]]", R"("cost": 3, "Cost": 4)"),
        Feature("Point", "[5, 5]", R"("tags": "[dry")"),
        Feature("Point", "[5, 5]", R"("id": [1])"),
        Feature("LineString", "[[0, 0], [1, 1]]", R"("cost": "dear")"),
        Feature("LineString", "[[0, 0], [1, 1]]", R"("cost": [3])"),
        Feature("LineString", "[[0, 0], [1, 1]]", R"("oneway": "reversible")"),
        Feature("LineString", "[[0, 0], [1, 1]]", R"("oneway": 2)"),
        Feature("Point", "[5, 5]", R"("enabled": "perhaps")"),
        Feature("Point", "[5, 5]", R"("disabled": {})"),
        Feature("Point", "[5, 5]", R"("tags": 5)"),
        Feature("Point", "[5, 5]", R"("tags": "no tag!")"),
        std::string(R"({"type": "Feature", "geometry": 5, "properties": null})"),
        std::string(
            R"({"type": "Feature", "geometry": {"type": "Point", "coordinates": [5, 5]}, "properties": 5})"),
        std::string("[5]")}) {
    const auto graph = Parse(Collection({point, bad}));
    EXPECT_EQ(graph.status().code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_THAT(std::string(graph.status().message()), HasSubstr("line 3: feature 1: ")) << bad;
  }
  EXPECT_THAT(Parse(R"({"type": "Feature"})"), IsError(kInvalid, ErrorReason::kBadFormat, ""));
}

TEST(GeoJsonTest, ValuesAreReadAsToolsForMapsWriteThem) {
  const auto edges = [](const std::string& properties) {
    const auto graph =
        Parse(Collection({Feature("Point", "[0, 0]", "", R"("a")"), Feature("Point", "[3, 4]", "", R"("b")"),
                          Feature("LineString", "[[0, 0], [3, 4]]", properties)}));
    EXPECT_THAT(graph, IsOk()) << properties;
    return graph.ok() ? EdgesOf(*graph) : std::vector<std::string>();
  };
  for (const std::string oneway : {"true", "1", R"("yes")", R"("true")", R"("1")"}) {
    EXPECT_THAT(edges(R"("oneway": )" + oneway), ElementsAre("a>b")) << oneway;
  }
  EXPECT_THAT(edges(R"("oneway": "F")"), ElementsAre("a>b"));
  EXPECT_THAT(edges(R"("oneway": "B")"), ElementsAre("a>b", "b>a"));
  for (const std::string oneway : {"-1", R"("-1")", R"("reverse")", R"("T")"}) {
    EXPECT_THAT(edges(R"("oneway": )" + oneway), ElementsAre("b>a")) << oneway;
  }
  for (const std::string oneway : {"false", "0", R"("no")", "null", R"("")"}) {
    EXPECT_THAT(edges(R"("OneWay": )" + oneway), ElementsAre("a>b", "b>a")) << oneway;
  }

  const auto arc = [](const std::string& properties) {
    const auto graph = Parse(Collection({Feature("LineString", "[[0, 0], [3, 4]]", properties)}));
    EXPECT_THAT(graph, IsOk()) << properties;
    const Arc* const found = graph->FindArc(graph->FindNode("line-0-0"), graph->FindNode("line-0-1"));
    return std::pair(*found, graph->NamesOf(graph->TagsOfArc(graph->FindNode("line-0-0"), *found)));
  };
  EXPECT_EQ(arc(R"("cost": "12")").first.cost, CostFromDouble(12.0));
  EXPECT_EQ(arc(R"("cost": null)").first.cost, CostFromDouble(5.0));
  for (const std::string no : {R"("enabled": "false")", R"("enabled": 0)", R"("enabled": "no")",
                               R"("disabled": true)", R"("Disabled": "yes")"}) {
    EXPECT_EQ(arc(no).first.flags & Arc::kEnabled, 0) << no;
  }
  EXPECT_NE(arc(R"("disabled": false)").first.flags & Arc::kEnabled, 0);
  EXPECT_THAT(arc(R"("tags": "dry")").second, ElementsAre("dry"));
  EXPECT_THAT(arc(R"("tags": "dry; steep")").second, ElementsAre("dry", "steep"));
  EXPECT_THAT(arc(R"("tags": "[\"dry\", \"steep\"]")").second, ElementsAre("dry", "steep"));
}

TEST(GeoJsonTest, NumbersAsIdsKeepTheirDigits) {
  const WaypointGraph graph = ReadGraph(Collection({Feature("Point", "[0, 0]", "", "4005001001"),
                                                    Feature("Point", "[3, 4]", R"("id": 9007199254740991)"),
                                                    Feature("LineString", "[[0, 0], [3, 4]]")}));
  EXPECT_THAT(EdgesOf(graph), ElementsAre("4005001001>9007199254740991", "9007199254740991>4005001001"));
}

TEST(GeoJsonTest, IdsThatAreNotAllowedBecomeOnesLikeThem) {
  ImportNotes notes;
  const auto graph = ParseGeoJson(Collection({Feature("Point", "[0, 0]", "", R"("node/1")"),
                                              Feature("Point", "[1, 0]", R"("name": "node 1")"),
                                              Feature("Point", "[2, 0]", R"("name": "node-1-2")"),
                                              Feature("Point", "[3, 0]", R"("name": "\u00dcber")"),
                                              Feature("Point", "[4, 0]", R"("name": "\u6c34")"),
                                              Feature("Point", "[5, 0]", R"("name": "Church")"),
                                              Feature("Point", "[6, 0]", R"("name": "Church")")}),
                                  notes);
  ASSERT_THAT(graph, IsOk());
  for (const auto& [id, x] : std::vector<std::pair<std::string, double>>{{"node-1", 0.0},
                                                                         {"node-1-2-2", 2.0},
                                                                         {"node-1-2", 1.0},
                                                                         {"ber", 3.0},
                                                                         {"point-4", 4.0},
                                                                         {"Church", 5.0},
                                                                         {"Church-2", 6.0}}) {
    ASSERT_NE(graph->FindNode(id), kNoNodeNumber) << id;
    EXPECT_EQ(graph->PositionOf(graph->FindNode(id)).x, x) << id;
  }
  EXPECT_EQ(graph->LabelOf(graph->FindNode("node-1")), "node/1");
  EXPECT_EQ(graph->LabelOf(graph->FindNode("Church")), "");
  EXPECT_EQ(graph->LabelOf(graph->FindNode("Church-2")), "Church");
  ASSERT_EQ(notes.notes().size(), 1U);
  EXPECT_EQ(notes.notes().front().count, 6);
}

// In no time by the square of their number.
TEST(GeoJsonTest, ManyPointsMayHaveOneNameThatIsNotAllowed) {
  std::vector<std::string> points;
  for (int i = 0; i < 50'000; ++i) {
    points.push_back(Feature("Point", absl::StrCat("[", i, ", 0]"), R"("name": "a/")"));
  }
  const WaypointGraph graph = ReadGraph(Collection(points));
  EXPECT_NE(graph.FindNode("a-50000"), kNoNodeNumber);
}

TEST(GeoJsonTest, NotesWhatItPassesOver) {
  const std::vector<std::string> lines = NotesOf(
      R"({"type": "FeatureCollection", "colour": "red", "features": [
  {"type": "Feature", "geometry": null, "properties": null},
  {"type": "Feature", "geometry": {"type": "LineString", "coordinates": []},
   "properties": null},
  {"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]},
   "properties": {"highway": "path", "barrier": "gate", "FIXME": 1, "fixme": 2, "tags": {"foot": "yes"}}}]})");
  EXPECT_THAT(
      lines,
      ElementsAre(
          "the member \"colour\" of \"collection of features\" is not known: line 1",
          "features without a geometry are not read: feature 0 (line 2) and 1 more",
          "properties that have no meaning here are not read: \"highway\" of feature 2 (line 5) and 2 more",
          "properties that sound like walls are not read: "
          "\"barrier\" of feature 2 (line 5)",
          "tags that are keys and values are not read: they are a list: feature 2 (line 5)"));
}

TEST(GeoJsonTest, FeaturesMayHaveNoProperties) {
  const WaypointGraph graph = ReadGraph(Collection(
      {R"({"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}, "properties": null})"}));
  EXPECT_EQ(graph.node_count(), 1U);
}

}  // namespace
}  // namespace waystar::core
