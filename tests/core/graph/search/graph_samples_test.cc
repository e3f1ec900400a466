#include "server/core/graph/search/graph_samples.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/graph/map/graph_editor.h"
#include "tests/core/graph/search/random_graphs.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A row of nodes, one unit from each to the next, joined by edges.
WaypointSpec Row(int count) {
  WaypointSpec spec;
  for (int i = 0; i < count; ++i) {
    spec.nodes.push_back({absl::StrCat("n", i), {1.0 * i, 0}});
  }
  for (int i = 1; i < count; ++i) {
    spec.edges.push_back({.name = {absl::StrCat("n", i - 1), absl::StrCat("n", i)}});
  }
  return spec;
}

SampledNodes SampleOf(const WaypointGraph& graph, const NodeSampleQuery& query) {
  absl::StatusOr<SampledNodes> sampled = SampleNodes(graph, query, {});
  EXPECT_EQ(sampled.status(), absl::OkStatus());
  return sampled.ok() ? *std::move(sampled) : SampledNodes();
}

SampledPlaces Places(const WaypointGraph& graph, const EdgeSampleQuery& query) {
  absl::StatusOr<SampledPlaces> sampled = SamplePlacesOnEdges(graph, query, {});
  EXPECT_EQ(sampled.status(), absl::OkStatus());
  return sampled.ok() ? *std::move(sampled) : SampledPlaces();
}

// The places as text, without the numbers of nodes.
std::vector<std::string> SampledNames(const WaypointGraph& graph, const SampledPlaces& sampled) {
  std::vector<std::string> told;
  for (const PlaceOnEdge& place : sampled.places) {
    told.push_back(absl::StrCat(graph.IdOf(place.from), ">", graph.IdOf(place.to), " ", place.fraction));
  }
  return told;
}

TEST(SampleNodesTest, DrawsEachWithEqualChance) {
  const WaypointGraph graph = GraphOf(Row(20));
  const SampledNodes sampled = SampleOf(graph, {.count = 40'000, .seed = 7});
  EXPECT_EQ(sampled.candidates, 20);
  std::map<NodeNumber, int> counts;
  for (const NodeNumber node : sampled.nodes) {
    ++counts[node];
  }
  ASSERT_EQ(counts.size(), 20U);
  for (const auto& [node, count] : counts) {
    EXPECT_GT(count, 1800);
    EXPECT_LT(count, 2200);
  }
}

TEST(SampleNodesTest, DistinctNodesAreAllOfThemInRandomOrder) {
  const WaypointGraph graph = GraphOf(Row(100));
  const SampledNodes sampled = SampleOf(graph, {.count = 1000, .seed = 3, .distinct = true});
  EXPECT_EQ(std::set<NodeNumber>(sampled.nodes.begin(), sampled.nodes.end()).size(), 100U);
  EXPECT_EQ(sampled.nodes.size(), 100U);
  EXPECT_FALSE(std::is_sorted(sampled.nodes.begin(), sampled.nodes.end()));
  EXPECT_NE(sampled.nodes, SampleOf(graph, {.count = 1000, .seed = 4, .distinct = true}).nodes);
  // Fewer are the first of these.
  const SampledNodes fewer = SampleOf(graph, {.count = 10, .seed = 3, .distinct = true});
  EXPECT_EQ(fewer.nodes, std::vector<NodeNumber>(sampled.nodes.begin(), sampled.nodes.begin() + 10));
}

// The sample is part of the contract: a seed means the same nodes for good.
TEST(SampleNodesTest, ASeedGivesTheSameNodesOnEveryMachine) {
  const WaypointGraph graph = GraphOf(Row(10));
  EXPECT_THAT(IdsOf(graph, SampleOf(graph, {.count = 5, .seed = 1}).nodes),
              ElementsAre("n8", "n2", "n9", "n8", "n5"));
}

TEST(SampleNodesTest, TheGraphsHistoryDoesNotMatter) {
  WaypointSpec spec = Row(50);
  const WaypointGraph graph = GraphOf(spec);
  GraphEditor editor(GraphOf({}));
  std::reverse(spec.nodes.begin(), spec.nodes.end());
  for (const WaypointNode& node : spec.nodes) {
    ASSERT_EQ(editor.PutNodes({{"gone", {0, 0}}}, false), absl::OkStatus());
    ASSERT_EQ(editor.PutNodes({node}, false), absl::OkStatus());
    ASSERT_EQ(editor.RemoveNodes({"gone"}), absl::OkStatus());
  }
  std::reverse(spec.edges.begin(), spec.edges.end());
  ASSERT_EQ(editor.PutEdges(spec.edges, false), absl::OkStatus());
  const WaypointGraph other = std::move(editor).Finish();
  ASSERT_EQ(graph.digest(), other.digest());
  ASSERT_NE(graph.FindNode("n7"), other.FindNode("n7"));
  for (const bool distinct : {false, true}) {
    const NodeSampleQuery query{.count = 30, .seed = 11, .distinct = distinct};
    EXPECT_EQ(IdsOf(graph, SampleOf(graph, query).nodes), IdsOf(other, SampleOf(other, query).nodes));
  }
  EXPECT_EQ(SampledNames(graph, Places(graph, {.count = 30, .seed = 5})),
            SampledNames(other, Places(other, {.count = 30, .seed = 5})));
}

TEST(SampleNodesTest, DrawsFromEnabledNodesInTheRegionAmongTheGiven) {
  GraphEditor editor(GraphOf(Row(20)));
  ASSERT_EQ(editor.SetNodesEnabled({"n5"}, false), absl::OkStatus());
  ASSERT_EQ(editor.RemoveNodes({"n6"}), absl::OkStatus());
  const WaypointGraph& graph = editor.graph();
  std::vector<NodeNumber> among;
  for (const char* id : {"n1", "n3", "n4", "n5", "n8", "n9"}) {
    among.push_back(graph.FindNode(id));
  }
  std::sort(among.begin(), among.end());
  const auto ids = [&](NodeSampleQuery query) {
    query.count = 100;
    query.distinct = true;
    const std::vector<std::string> drawn = IdsOf(graph, SampleOf(graph, query).nodes);
    return std::set<std::string>(drawn.begin(), drawn.end());
  };
  EXPECT_EQ(ids({}).size(), 18U);
  EXPECT_THAT(ids({.region = Box{3, -1, 8, 1}}), ElementsAre("n3", "n4", "n7", "n8"));
  EXPECT_THAT(ids({.region = Box{3, -1, 8, 1}, .among = among}), ElementsAre("n3", "n4", "n8"));
  EXPECT_THAT(ids({.region = Box{3, 1, 8, 2}}), IsEmpty());
  EXPECT_THAT(ids({.region = Box{}}), IsEmpty());
  EXPECT_THAT(ids({.among = absl::Span<const NodeNumber>()}), IsEmpty());
}

TEST(SampleNodesTest, RefusesBadCountsAndStops) {
  const WaypointGraph graph = GraphOf(Row(3));
  const auto error = [&](std::int64_t count, const Budget& budget = {}) {
    const absl::Status status = SampleNodes(graph, {.count = count}, budget).status();
    const absl::Status other = SamplePlacesOnEdges(graph, {.count = count}, budget).status();
    EXPECT_EQ(ErrorReasonOf(status), ErrorReasonOf(other));
    EXPECT_EQ(ErrorFieldOf(status), ErrorFieldOf(other));
    return waystar::Told(status);
  };
  EXPECT_EQ(error(0), "BAD_VALUE count");
  EXPECT_EQ(error(100'001), "TOO_MANY_ITEMS count");
  EXPECT_EQ(error(1, {.deadline = {}}), "DEADLINE_EXCEEDED ");
  std::atomic<bool> yes = true;
  EXPECT_EQ(error(1, {.cancelled = &yes}), "CANCELLED ");
}

TEST(SamplePlacesOnEdgesTest, DrawsEvenlyByLength) {
  // Edges of length 1 (both ways), 3 (one way, against the order of ids) and 0; and two that are closed.
  WaypointSpec spec{
      .nodes = {{"a", {0, 0}}, {"b", {1, 0}}, {"c", {1, 3}}, {"d", {1, 3}}, {"off", {9, 9}, false}},
      .edges = {{.name = {"b", "a"}, .cost = 50},
                {.name = {"c", "b", true}},
                {.name = {"c", "d"}},
                {.name = {"a", "c"}, .enabled = false},
                {.name = {"a", "off"}}}};
  const WaypointGraph graph = GraphOf(spec);
  const SampledPlaces sampled = Places(graph, {.count = 40'000, .seed = 9});
  EXPECT_EQ(sampled.length, 4.0);
  // The number of places on each quarter of the whole length.
  std::map<std::pair<std::string, int>, int> counts;
  for (const PlaceOnEdge& place : sampled.places) {
    const WorldPoint& a = graph.PositionOf(place.from);
    const WorldPoint& b = graph.PositionOf(place.to);
    ASSERT_GT(place.fraction, 0);
    ASSERT_LT(place.fraction, 1);
    ASSERT_EQ(place.position,
              Rounded(WorldPoint{a.x + place.fraction * (b.x - a.x), a.y + place.fraction * (b.y - a.y), 0}));
    ++counts[{graph.IdOf(place.from) + graph.IdOf(place.to),
              static_cast<int>(place.fraction * Distance(a, b))}];
  }
  ASSERT_EQ(counts.size(), 4U);
  for (const auto& [quarter, count] : counts) {
    EXPECT_THAT(quarter.first, ::testing::AnyOf("ab", "cb"));
    EXPECT_GT(count, 9600);
    EXPECT_LT(count, 10'400);
  }
}

TEST(SamplePlacesOnEdgesTest, EdgesAreAmongTheGivenNodes) {
  const WaypointGraph graph = GraphOf(Row(10));
  std::vector<NodeNumber> among = {graph.FindNode("n3"), graph.FindNode("n4"), graph.FindNode("n8")};
  std::sort(among.begin(), among.end());
  const SampledPlaces sampled = Places(graph, {.count = 50, .among = among});
  EXPECT_EQ(sampled.length, 1.0);
  ASSERT_EQ(sampled.places.size(), 50U);
  for (const PlaceOnEdge& place : sampled.places) {
    EXPECT_EQ(graph.IdOf(place.from), "n3");
    EXPECT_EQ(graph.IdOf(place.to), "n4");
  }
}

TEST(SamplePlacesOnEdgesTest, WithoutLengthThereIsNone) {
  const SampledPlaces sampled = Places(
      GraphOf({.nodes = {{"a", {0, 0}}, {"b", {0, 0}}}, .edges = {{.name = {"a", "b"}}}}), {.count = 5});
  EXPECT_THAT(sampled.places, IsEmpty());
  EXPECT_EQ(sampled.length, 0.0);
}

}  // namespace
}  // namespace waystar::core
