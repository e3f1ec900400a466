#include "server/core/graph/map/waypoint_graph.h"

#include <pthread.h>

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/elements/tags.h"
#include "server/core/graph/map/graph_editor.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/graph_model.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<std::string> OpenArcs(const WaypointGraph& graph) {
  std::vector<std::string> names;
  for (const auto& [name, arc] : ArcsOf(graph)) {
    if (arc.is_open) {
      names.push_back(absl::StrCat(name.first, ">", name.second));
    }
  }
  return names;
}

// After each of many edits the graph is what its parts say, and earlier states are what they were.
TEST(WaypointGraphTest, AgreesWithTheModelThroughEdits) {
  const GridMap map = DrawMap({"............", "....##......", "....##......", "............", ".........#..",
                               "............", "..#.........", "............", "............", "............",
                               "............", "............"});
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    GraphGenerator generator(seed, 12);
    GraphModel model;
    WaypointSpec spec;
    if (seed % 3 != 0) {
      model.max_distance = 5.0;
      spec.auto_connect = AutoConnect{.max_distance = 5.0};
    }
    if (seed % 3 == 1) {
      model.grid = &map;
      spec.auto_connect->grid = std::make_shared<GridSight>(map.walk().rows());
    }
    WaypointGraph graph = GraphOf(spec);
    for (int i = 0; i < 60; ++i) {
      const WaypointGraph before = graph;
      const std::map<ArcName, ModelArc> arcs_before = ArcsOf(before);
      GraphEditor editor(graph);
      for (int k = generator.random().Between(1, 3); k > 0; --k) {
        ASSERT_NO_FATAL_FAILURE(generator.Edit(model, editor)) << seed << " " << i;
      }
      graph = std::move(editor).Finish();
      const std::map<ArcName, ModelArc> arcs = ArcsOf(graph);
      ASSERT_EQ(arcs, model.Arcs()) << seed << " " << i;
      ASSERT_EQ(ArcsOf(before), arcs_before) << seed << " " << i;
      ASSERT_EQ(graph.node_count(), model.nodes.size());
      ASSERT_EQ(graph.arc_count(), arcs.size());
      for (const auto& [id, node] : model.nodes) {
        const NodeNumber number = graph.FindNode(id);
        ASSERT_NE(number, kNoNodeNumber);
        ASSERT_EQ(graph.PositionOf(number), node.position);
        ASSERT_EQ(graph.IsEnabled(number), node.enabled);
        ASSERT_EQ(graph.LabelOf(number), node.label);
        std::vector<std::string> sources;
        for (const NodeNumber source : graph.SourcesOf(number)) {
          sources.push_back(graph.IdOf(source));
        }
        std::vector<std::string> expected;
        for (const auto& [name, arc] : arcs) {
          if (name.second == id) {
            expected.push_back(name.first);
          }
        }
        ASSERT_THAT(sources, ::testing::UnorderedElementsAreArray(expected));
      }
    }
  }
}

TEST(WaypointGraphTest, LeastCostPerLengthFollowsEdits) {
  GraphEditor editor(GraphOf({.nodes = {{"a", {0, 0}}, {"b", {10, 0}}, {"c", {0, 10}}},
                              .edges = {{.name = {"a", "b"}, .cost = 5}, {.name = {"a", "c"}, .cost = 20}}}));
  const auto ratio = [&] {
    const WaypointGraph& graph = editor.graph();
    const double least =
        graph.cheap_arcs().empty() ? graph.least_cost_per_length() : graph.cheap_arcs()[0].ratio;
    return least / static_cast<double>(kCostScale);
  };
  EXPECT_NEAR(ratio(), 0.5, 1e-9);
  ASSERT_EQ(editor.RemoveEdges({{"a", "b"}}), absl::OkStatus());
  EXPECT_NEAR(ratio(), 2.0, 1e-9);
  ASSERT_EQ(editor.PutNodes({{"c", {0, 40}}}, true), absl::OkStatus());
  EXPECT_NEAR(ratio(), 0.5, 1e-9);
  ASSERT_EQ(editor.RemoveNodes({"c"}), absl::OkStatus());
  EXPECT_EQ(ratio(), 0.0);
}

TEST(WaypointGraphTest, FewCheapArcsAreKnownOneByOne) {
  WaypointSpec spec;
  for (int i = 0; i < 100; ++i) {
    spec.nodes.push_back({absl::StrCat("n", i), {i * 1.0, 0.0}});
  }
  spec.auto_connect = AutoConnect{.max_distance = 1.5};
  GraphEditor editor(GraphOf(spec));
  const auto put = [&](int i, double cost, bool enabled) {
    ASSERT_EQ(editor.PutEdges({{.name = {absl::StrCat("n", i), absl::StrCat("n", i + 20), true},
                                .cost = cost,
                                .enabled = enabled}},
                              true),
              absl::OkStatus());
  };
  const auto least = [&] { return editor.graph().least_cost_per_length() / static_cast<double>(kCostScale); };
  put(0, 0.0, false);
  EXPECT_THAT(editor.graph().cheap_arcs(), ::testing::IsEmpty()) << "nobody can take it";
  for (int i = 0; i < 8; ++i) {
    put(i, i + 1.0, true);
  }
  EXPECT_EQ(editor.graph().cheap_arcs().size(), 8U);
  EXPECT_NEAR(least(), 1.0, 1e-9);
  put(8, 10.0, true);
  EXPECT_NEAR(least(), 0.5, 1e-9) << "one more than are worth a look at each node";
  put(8, 19.0, true);
  EXPECT_NEAR(least(), 0.95, 1e-9) << "it is not far cheaper";
  EXPECT_EQ(editor.graph().cheap_arcs().size(), 8U);
}

// The nodes of an edge that is put last have a page of their own.
TEST(WaypointGraphTest, WhatIsCheapDoesNotDependOnPages) {
  WaypointSpec field;
  for (int i = 0; i < 4 * static_cast<int>(kPageNodes); ++i) {
    field.nodes.push_back({absl::StrCat("n", i), {i % 16 * 1.0, i / 16 * 1.0}});
  }
  field.auto_connect = AutoConnect{.max_distance = 1.5};
  const std::vector<WaypointNode> ends = {{"x", {30, 0}}, {"y", {30, 10}}};
  const WaypointEdge cheap = {.name = {"x", "y"}, .cost = 1};
  for (const bool has_ordinary : {false, true}) {
    std::vector<WaypointEdge> edges = {cheap};
    if (has_ordinary) {
      edges.push_back({.name = {"x", "n0"}});
      edges.push_back({.name = {"y", "n15"}, .cost = 50});
    }
    WaypointSpec whole = field;
    whole.nodes.insert(whole.nodes.end(), ends.begin(), ends.end());
    whole.edges = edges;
    const WaypointGraph shared = GraphOf(whole);
    GraphEditor editor(GraphOf(field));
    ASSERT_EQ(editor.PutNodes(ends, false), absl::OkStatus());
    ASSERT_EQ(editor.PutEdges(edges, false), absl::OkStatus());
    EXPECT_THAT(editor.graph().cheap_arcs(), SizeIs(2));
    EXPECT_EQ(editor.graph().cheap_arcs(), shared.cheap_arcs());
    EXPECT_EQ(editor.graph().least_cost_per_length(), shared.least_cost_per_length());
    ASSERT_EQ(editor.RemoveEdges({cheap.name}), absl::OkStatus());
    EXPECT_THAT(editor.graph().cheap_arcs(), ::testing::IsEmpty());
  }
}

TEST(WaypointGraphTest, WhatIsCheapDoesNotDependOnEditsWhereArcsCostTheSame) {
  WaypointSpec spec;
  for (int i = 0; i < 20; ++i) {
    spec.nodes.push_back({absl::StrCat("n", i), {i * 1.0, 0}});
    if (i > 0) {
      spec.edges.push_back({.name = {absl::StrCat("n", i - 1), absl::StrCat("n", i)}});
    }
  }
  // Ten arcs, of which a bound keeps eight.
  for (int i = 0; i < 5; ++i) {
    spec.edges[static_cast<std::size_t>(2 * i)].cost = 0;
  }
  GraphEditor editor(GraphOf(spec));
  for (const double cost : {1.0, 0.0, 1.0}) {
    spec.edges[4].cost = cost;
    ASSERT_EQ(editor.PutEdges({spec.edges[4]}, true), absl::OkStatus());
    const WaypointGraph made = GraphOf(spec);
    EXPECT_EQ(editor.graph().cheap_arcs(), made.cheap_arcs());
    EXPECT_EQ(editor.graph().least_cost_per_length(), made.least_cost_per_length());
  }
}

TEST(WaypointGraphTest, NumbersFollowACurve) {
  const WaypointGraph graph =
      GraphOf({.nodes = {{"far", {9, 9}}, {"b", {1, 0}}, {"c", {0, 1}}, {"a", {0, 0}}, {"d", {1, 1}}}});
  const std::vector<std::string> expected{"a", "b", "c", "d", "far"};
  for (NodeNumber i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(graph.IdOf(i), expected[i]);
  }
}

TEST(WaypointGraphTest, NumbersComeBackLastGivenUpFirst) {
  GraphEditor editor(GraphOf({.nodes = {{"a", {}}, {"b", {}}, {"c", {}}}}));
  ASSERT_EQ(editor.RemoveNodes({"a", "b"}), absl::OkStatus());
  EXPECT_FALSE(editor.graph().Exists(0));
  ASSERT_EQ(editor.PutNodes({{"d", {}}, {"e", {}}, {"f", {}}}, false), absl::OkStatus());
  EXPECT_EQ(editor.graph().FindNode("d"), 1u);
  EXPECT_EQ(editor.graph().FindNode("e"), 0u);
  EXPECT_EQ(editor.graph().FindNode("f"), 3u);
  EXPECT_EQ(editor.graph().FindNode("a"), kNoNodeNumber);
}

// A destructor that called itself once for each of them would run out of this stack.
TEST(WaypointGraphTest, ManyFreeNumbersGoOnASmallStack) {
  constexpr std::size_t kCount = std::size_t{1} << 14;
  constexpr std::size_t kStackBytes = std::size_t{1} << 18;
  std::vector<WaypointNode> nodes;
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < kCount; ++i) {
    nodes.push_back({absl::StrCat(i), {static_cast<double>(i % 128), static_cast<double>(i / 128)}});
    ids.push_back(nodes.back().id);
  }
  GraphEditor editor(GraphOf({.nodes = nodes}));
  ASSERT_EQ(editor.RemoveNodes(ids), absl::OkStatus());
  EXPECT_THAT(editor.graph().FreeNumbers(), SizeIs(kCount));
  EXPECT_EQ(editor.graph().number_limit(), kCount);

  auto last = std::make_unique<WaypointGraph>(std::move(editor).Finish());
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, kStackBytes), 0);
  pthread_t thread;
  const auto let_go = [](void* graph) -> void* {
    static_cast<std::unique_ptr<WaypointGraph>*>(graph)->reset();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, let_go, &last), 0);
  EXPECT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
}

std::string Tag(std::size_t i) { return absl::StrCat("t", i); }

// Two nodes with an edge, and one that carries each of so many tags.
WaypointSpec NodesOfTags(std::size_t count) {
  WaypointSpec spec{.nodes = {{"a", {0, 0}}, {"b", {1, 0}}}, .edges = {{.name = {"a", "b"}}}};
  for (std::size_t i = 0; i < count; ++i) {
    spec.nodes.push_back({absl::StrCat("n", i), {2.0 + static_cast<double>(i), 0}, true, {Tag(i)}});
  }
  return spec;
}

TEST(WaypointGraphTest, ATagThatNothingCarriesMakesRoomForAnother) {
  for (const std::size_t in_use : {std::size_t{0}, kMaxTagsOfMap - 1}) {
    GraphEditor editor(GraphOf(NodesOfTags(in_use)));
    for (std::size_t i = 0; i < 3 * kMaxTagsOfMap; ++i) {
      const std::string tag = Tag(100 + i);
      switch (i % 3) {
        case 0:
          ASSERT_EQ(editor.PutNodes({{"c", {0, 9}, true, {tag}}}, true), absl::OkStatus()) << i;
          ASSERT_EQ(editor.RemoveNodes({"c"}), absl::OkStatus());
          break;
        case 1:
          ASSERT_EQ(editor.PutEdges({{.name = {"a", "b"}, .tags = {tag}}}, true), absl::OkStatus()) << i;
          EXPECT_THAT(editor.graph().tags(), ::testing::Contains(tag));
          ASSERT_EQ(editor.RemoveEdges({{"a", "b"}}), absl::OkStatus());
          break;
        default:
          ASSERT_EQ(editor.PutEdges({{.name = {"a", "b"}, .tags = {tag}}}, true), absl::OkStatus()) << i;
          ASSERT_EQ(editor.PutEdges({{.name = {"a", "b"}}}, true), absl::OkStatus()) << i;
      }
    }
    EXPECT_THAT(editor.graph().tags(), SizeIs(in_use));
    EXPECT_EQ(editor.graph().digest(), GraphOf(NodesOfTags(in_use)).digest());
  }
}

// All that a map may have are in use here.
TEST(WaypointGraphTest, ATagGivesWayToTheOneThatReplacesIt) {
  WaypointSpec spec = NodesOfTags(kMaxTagsOfMap - 2);
  spec.edges[0].tags = {"wet", "dry"};
  GraphEditor editor(GraphOf(spec));
  for (int i = 0; i < 3; ++i) {
    spec.edges[0].tags = {absl::StrCat("wet", i), absl::StrCat("dry", i)};
    ASSERT_EQ(editor.PutEdges(spec.edges, true), absl::OkStatus());
    spec.nodes[2].tags = {absl::StrCat("high", i)};
    spec.nodes[3].tags = {absl::StrCat("low", i)};
    ASSERT_EQ(editor.PutNodes({spec.nodes[3], spec.nodes[2]}, true), absl::OkStatus());
    EXPECT_EQ(editor.graph().digest(), GraphOf(spec).digest());
    EXPECT_THAT(editor.graph().tags(), SizeIs(kMaxTagsOfMap));
  }
  EXPECT_EQ(ErrorReasonOf(editor.PutNodes({{"c", {}, true, {"more"}}}, false)), "TOO_MANY_TAGS");
}

// After each edit the graph is that of a fresh editor, whatever bits the tags have.
TEST(WaypointGraphTest, TagsStayWhatTheyAreWhereOthersComeAndGo) {
  waystar::Random random(5);
  GraphEditor editor(GraphOf(NodesOfTags(0)));
  WaypointSpec spec = NodesOfTags(0);
  for (int i = 0; i < 12; ++i) {
    spec.nodes.push_back({absl::StrCat("n", i), {i * 1.0, 5}});
    spec.edges.push_back({.name = {absl::StrCat("n", i), "a"}});
  }
  ASSERT_EQ(editor.PutNodes(spec.nodes, true), absl::OkStatus());
  ASSERT_EQ(editor.PutEdges(spec.edges, true), absl::OkStatus());
  for (int i = 0; i < 400; ++i) {
    std::vector<std::string> tags = {Tag(static_cast<std::size_t>(random.Between(0, 999)))};
    if (random.Between(0, 1) == 0) {
      tags.push_back(absl::StrCat("u", random.Between(0, 999)));
    }
    if (random.Between(0, 1) == 0) {
      WaypointNode& node = spec.nodes[static_cast<std::size_t>(random.Between(0, 13))];
      node.tags = tags;
      ASSERT_EQ(editor.PutNodes({node}, true), absl::OkStatus()) << i;
    } else {
      WaypointEdge& edge = spec.edges[static_cast<std::size_t>(random.Between(0, 12))];
      edge.tags = tags;
      ASSERT_EQ(editor.PutEdges({edge}, true), absl::OkStatus()) << i;
    }
    const WaypointGraph fresh = GraphOf(spec);
    ASSERT_EQ(editor.graph().digest(), fresh.digest()) << i;
    ASSERT_EQ(editor.graph().tags(), fresh.tags()) << i;
  }
}

// The next node has the number of the one that goes, and not its label.
TEST(WaypointGraphTest, LabelsGoWithTheirNodes) {
  const WaypointGraph graph = GraphOf({.nodes = {{.id = "koln-hbf", .label = "Köln/Hbf"}}});
  GraphEditor editor(graph);
  ASSERT_EQ(editor.RemoveNodes({"koln-hbf"}), absl::OkStatus());
  ASSERT_EQ(editor.PutNodes({{.id = "c"}}, false), absl::OkStatus());
  const NodeNumber station = graph.FindNode("koln-hbf");
  ASSERT_EQ(editor.graph().FindNode("c"), station);
  EXPECT_EQ(editor.graph().LabelOf(station), "");
  EXPECT_EQ(graph.LabelOf(station), "Köln/Hbf");
}

TEST(WaypointGraphTest, CountsTheBytesOfLabels) {
  WaypointSpec spec;
  for (int i = 0; i < 1000; ++i) {
    spec.nodes.push_back({.id = absl::StrCat("n", i)});
  }
  const WaypointGraph plain = GraphOf(spec);
  for (WaypointNode& node : spec.nodes) {
    node.label = std::string(kMaxLabelBytes, 'x');
  }
  EXPECT_GE(GraphOf(spec).memory_bytes(), plain.memory_bytes() + 1000 * kMaxLabelBytes);
}

TEST(WaypointGraphTest, LabelsAreTextWithoutControlCharacters) {
  using std::string_literals::operator""s;
  for (const std::string& good : {""s, " "s, "Köln/Hbf \"1\""s, "\xC2\xA0"s, "\xE0\xA0\x80"s, "\xED\x9F\xBF"s,
                                  "\xEE\x80\x80"s, "\xF0\x90\x80\x80"s, "\xF4\x8F\xBF\xBF"s}) {
    EXPECT_EQ(CheckNodeLabel(good), absl::OkStatus()) << absl::CHexEscape(good);
  }
  EXPECT_EQ(CheckNodeLabel(std::string(kMaxLabelBytes, 'x')), absl::OkStatus());
  for (const std::string& bad :
       {"\0"s, "a\n"s, "\x1B[2J"s, "\x7F"s, "\xC2\x80"s, "\xC2\x9F"s,
        // Bytes that begin no character or do not end one, and characters in more bytes than they take.
        "\x80"s, "\xC3"s, "\xC3("s, "\xC0\xAF"s, "\xC1\xBF"s, "\xE0\x9F\xBF"s, "\xE2\x82"s,
        "\xF0\x8F\xBF\xBF"s, "\xF0\x90\x80"s, "\xED\xA0\x80"s, "\xED\xBF\xBF"s, "\xF4\x90\x80\x80"s,
        "\xF8\x88\x80\x80\x80"s, "\xFF"s}) {
    EXPECT_EQ(Told(CheckNodeLabel(bad)), "BAD_VALUE ") << absl::CHexEscape(bad);
  }
  EXPECT_EQ(ErrorReasonOf(CheckNodeLabel(std::string(kMaxLabelBytes + 1, 'x'))), "BAD_VALUE");
}

TEST(WaypointGraphTest, FindsTheNearestVisibleNode) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    GraphGenerator generator(seed, 12);
    GraphModel model;
    GraphEditor editor(GraphOf({}));
    for (int i = 0; i < 40; ++i) {
      ASSERT_NO_FATAL_FAILURE(generator.Edit(model, editor));
      const WaypointGraph& graph = editor.graph();
      const WorldPoint from = generator.Position();
      const double radius = generator.random().Between(0, 40) / 4.0;
      NodeNumber expected = kNoNodeNumber;
      double nearest = radius * radius;
      for (NodeNumber node = 0; node < graph.number_limit(); ++node) {
        if (graph.Exists(node) && graph.IsEnabled(node) && model.IsClear(from, graph.PositionOf(node))) {
          const double distance = SquaredDistance(from, graph.PositionOf(node));
          if (distance < nearest || (distance == nearest && node < expected)) {
            expected = node;
            nearest = distance;
          }
        }
      }
      ASSERT_EQ(graph.NearestVisible(from, radius), expected) << seed << " " << i;
    }
  }
}

TEST(WaypointGraphTest, AnEditSharesWhatItDoesNotChange) {
  WaypointSpec spec;
  for (int i = 0; i < 20'000; ++i) {
    spec.nodes.push_back({absl::StrCat("n", i), {i % 150 * 1.0, i / 150 * 1.0}});
  }
  spec.auto_connect = AutoConnect{.max_distance = 1.5};
  const WaypointGraph graph = GraphOf(spec);
  GraphEditor editor(graph);
  ASSERT_EQ(editor.SetEdgesEnabled({{"n0", "n1"}}, false), absl::OkStatus());
  ASSERT_EQ(editor.PutNodes({{"n777", {5.2, 5.2}}}, true), absl::OkStatus());
  const WaypointGraph next = std::move(editor).Finish();
  EXPECT_LT(next.BytesBeyond(graph), graph.memory_bytes() / 50);
  EXPECT_LT(graph.BytesBeyond(next), graph.memory_bytes() / 50);
}

TEST(WaypointGraphTest, RefusesWhatMakesNoSense) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<WaypointNode> two{{"a", {0, 0}}, {"b", {1, 0}}};
  std::vector<std::string> many_tags;
  for (std::size_t i = 0; i <= kMaxTags; ++i) {
    many_tags.push_back(absl::StrCat("t", i));
  }
  std::vector<WaypointNode> of_many_tags;
  for (std::size_t i = 0; i <= kMaxTagsOfMap; ++i) {
    of_many_tags.push_back({absl::StrCat("n", i), {}, true, {absl::StrCat("t", i)}});
  }
  const std::vector<std::pair<WaypointSpec, std::string>> bad = {
      {{.nodes = {{"a", {}}, {"a", {}}}}, "DUPLICATE_NODE nodes[1].id"},
      {{.nodes = {{"", {}}}}, "BAD_NODE_ID nodes[0].id"},
      {{.nodes = {{std::string(64, 'x'), {}}}}, "BAD_NODE_ID nodes[0].id"},
      {{.nodes = {{"a", {kNan, 0}}}}, "BAD_VALUE nodes[0].position.x"},
      {{.nodes = {{"a", {0, kInfinity}}}}, "BAD_VALUE nodes[0].position.y"},
      {{.nodes = {{"a", {0, 0, -2e6}}}}, "BAD_VALUE nodes[0].position.z"},
      {{.nodes = {{"a", {}}, {"b", {}, true, {}, "a\tb"}}}, "BAD_VALUE nodes[1].label"},
      {{.nodes = {{"a", {}, true, {"no way"}}}}, "BAD_TAG nodes[0].tags[0]"},
      {{.nodes = {{"a", {}, true, {"dry", "dry"}}}}, "BAD_TAG nodes[0].tags[1]"},
      {{.nodes = {{"a", {}, true, many_tags}}}, "BAD_TAG nodes[0].tags"},
      {{.nodes = two, .edges = {{.name = {"a", "b"}, .tags = {""}}}}, "BAD_TAG edges[0].tags[0]"},
      {{.nodes = of_many_tags}, absl::StrCat("TOO_MANY_TAGS nodes[", kMaxTagsOfMap, "].tags[0]")},
      {{.nodes = two, .edges = {{.name = {"a", "c"}}}}, "NODE_NOT_FOUND edges[0].edge.to"},
      {{.nodes = two, .edges = {{.name = {"x", "b"}}}}, "NODE_NOT_FOUND edges[0].edge.from"},
      {{.nodes = two, .edges = {{.name = {"a", "a"}}}}, "BAD_EDGE edges[0].edge.to"},
      {{.nodes = two, .edges = {{.name = {"a", "b"}, .cost = -3}}}, "BAD_EDGE edges[0].cost"},
      {{.nodes = two, .edges = {{.name = {"a", "b"}, .cost = kNan}}}, "BAD_VALUE edges[0].cost"},
      {{.nodes = two, .edges = {{.name = {"a", "b"}, .cost = kInfinity}}}, "BAD_EDGE edges[0].cost"},
      {{.nodes = two, .edges = {{.name = {"a", "b"}}, {.name = {"b", "a", true}}}},
       "DUPLICATE_EDGE edges[1].edge"},
      {{.nodes = {{"a", {}}, {"b", {1e6, 0}}}, .edges = {{.name = {"a", "b"}}}}, "BAD_EDGE edges[0]"},
      {{.nodes = two, .auto_connect = AutoConnect{0.0}}, "BAD_VALUE auto_connect.max_distance"},
      {{.nodes = two, .auto_connect = AutoConnect{kNan}}, "BAD_VALUE auto_connect.max_distance"},
      {{.nodes = two, .auto_connect = AutoConnect{1e9}}, "BAD_VALUE auto_connect.max_distance"},
      {{.obstacles = {{.id = "o", .shape = {.discs = {{{kNan, 0}, 1}}}}}},
       "BAD_VALUE obstacles[0].shape.discs[0].center.x"},
      {{.obstacles = {{.id = "o"}}}, "EMPTY_SHAPE obstacles[0].shape"},
      {{.obstacles = {{.id = "o",
                       .shape = {.cells = {{0, 0}}},
                       .effect = {.kind = ObstacleEffect::Kind::kAddCost, .amount = 1}}}},
       "BAD_EFFECT obstacles[0].cost_addition"},
  };
  for (const auto& [spec, told] : bad) {
    EXPECT_EQ(Told(WaypointGraph::Create(spec).status()), told);
  }
}

TEST(WaypointGraphTest, RefusesEditsOfWhatIsNotThere) {
  const WaypointGraph graph = GraphOf(
      {.nodes = {{"a", {0, 0}}, {"b", {1, 0}}, {"c", {2, 0}}}, .edges = {{.name = {"a", "b", true}}}});
  const auto reason_of = [&](auto edit) {
    GraphEditor editor(graph);
    return Told(edit(editor));
  };
  EXPECT_EQ(reason_of([](auto& e) { return e.PutNodes({{"a", {}}}, false); }), "NODE_EXISTS nodes[0].id");
  EXPECT_EQ(reason_of([](auto& e) { return e.RemoveNodes({"a", "x"}); }), "NODE_NOT_FOUND nodes[1]");
  EXPECT_EQ(reason_of([](auto& e) { return e.RemoveNodes({"a", "a"}); }), "DUPLICATE_NODE nodes[1]");
  EXPECT_EQ(reason_of([](auto& e) { return e.RemoveEdges({{"a", "b"}}); }), "EDGE_NOT_FOUND edges[0]");
  EXPECT_EQ(reason_of([](auto& e) { return e.RemoveEdges({{"b", "c", true}}); }), "EDGE_NOT_FOUND edges[0]");
  EXPECT_EQ(reason_of([](auto& e) {
              return e.PutEdges({{.name = {"a", "b", true}}}, false);
            }),
            "EDGE_EXISTS edges[0]");
  EXPECT_EQ(reason_of([](auto& e) {
              return e.SetEdgesEnabled({{"b", "a", true}}, true);
            }),
            "EDGE_NOT_FOUND edges[0]");
  EXPECT_EQ(reason_of([](auto& e) { return e.SetNodesEnabled({"x"}, true); }), "NODE_NOT_FOUND nodes[0]");
  EXPECT_EQ(reason_of([](auto& e) { return e.MoveObstacle("o", 1, 1); }), "OBSTACLE_NOT_FOUND .id");
  EXPECT_THAT(OpenArcs(graph), ElementsAre("a>b"));
}

TEST(WaypointGraphTest, RefusesTooManyPairs) {
  WaypointSpec spec{.auto_connect = AutoConnect{.max_distance = 100}};
  for (int i = 0; i < 2100; ++i) {
    spec.nodes.push_back({absl::StrCat("n", i), {}});
  }
  EXPECT_EQ(ErrorReasonOf(WaypointGraph::Create(spec).status()), "BATCH_TOO_LARGE");
}

}  // namespace
}  // namespace waystar::core
