#include "tests/core/graph/search/random_graphs.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/graph/map/graph_editor.h"

namespace waystar {
namespace {

constexpr int kNodes = 24;
constexpr int kSide = 12;

core::WorldPoint AnyPosition(Random& random) {
  return {random.Between(0, 4 * kSide) / 4.0, random.Between(0, 4 * kSide) / 4.0};
}

std::string AnyId(Random& random) { return absl::StrCat("n", random.Between(0, kNodes - 1)); }

std::vector<std::string> AnyTags(Random& random) {
  std::vector<std::string> tags;
  for (const char* tag : {"wide", "dry"}) {
    if (random.Chance(0.7)) {
      tags.emplace_back(tag);
    }
  }
  return tags;
}

}  // namespace

std::vector<std::string> IdsOf(const core::WaypointGraph& graph, absl::Span<const core::NodeNumber> nodes) {
  std::vector<std::string> ids;
  for (const core::NodeNumber node : nodes) {
    ids.push_back(graph.IdOf(node));
  }
  return ids;
}

EditedGraph::EditedGraph(std::uint64_t seed) : generator(seed, 10), graph(GraphOf({})) {
  core::WaypointSpec spec;
  if (seed % 2 == 0) {
    model.max_distance = 4.0;
    spec.auto_connect = core::AutoConnect{.max_distance = 4.0};
  }
  core::GraphEditor editor(GraphOf(spec));
  for (int i = 0; i < 40 && !::testing::Test::HasFailure(); ++i) {
    generator.Edit(model, editor);
  }
  graph = std::move(editor).Finish();
}

core::WaypointGraph SampleGraph(Random& random) {
  core::WaypointSpec spec;
  for (int i = 0; i < kNodes; ++i) {
    spec.nodes.push_back({.id = absl::StrCat("n", i),
                          .position = AnyPosition(random),
                          .enabled = random.Chance(0.85),
                          .tags = AnyTags(random)});
  }
  std::set<std::pair<std::string, std::string>> named;
  for (int i = random.Between(10, 50); i > 0; --i) {
    core::WaypointEdge edge{.name = {AnyId(random), AnyId(random), random.Chance(0.5)},
                            .enabled = random.Chance(0.9),
                            .tags = AnyTags(random)};
    if (edge.name.from == edge.name.to || named.contains({edge.name.from, edge.name.to}) ||
        named.contains({edge.name.to, edge.name.from})) {
      continue;
    }
    named.insert({edge.name.from, edge.name.to});
    if (random.Chance(0.7)) {
      // Often zero, and often equal.
      edge.cost = std::max(0, random.Between(-2, 4));
    }
    spec.edges.push_back(edge);
  }
  for (int i = 0; i < 3; ++i) {
    const core::WorldPoint corner = AnyPosition(random);
    const core::Point begin{corner.x, corner.y};
    spec.obstacles.push_back(
        {.id = absl::StrCat("wall", i),
         .shape = {.lines = {{begin, {begin.x + random.Between(-3, 3), begin.y + random.Between(-3, 3)}}}}});
  }
  if (random.Chance(0.5)) {
    spec.auto_connect = core::AutoConnect{.max_distance = 3.0};
  }
  return GraphOf(spec);
}

core::GraphPlace SamplePlace(const core::WaypointGraph& graph, Random& random) {
  if (random.Chance(0.6)) {
    return AnyId(random);
  }
  for (;;) {
    const core::WorldPoint position = AnyPosition(random);
    if (graph.NearestVisible(position, kSampleSnap) != core::kNoNodeNumber) {
      return position;
    }
  }
}

std::vector<core::GraphPlace> SamplePlaces(const core::WaypointGraph& graph, Random& random, int count) {
  std::vector<core::GraphPlace> places;
  for (int i = 0; i < count; ++i) {
    places.push_back(SamplePlace(graph, random));
  }
  return places;
}

std::vector<std::string> SampleTags(Random& random) {
  switch (random.Between(0, 5)) {
    case 0:
      return {"wide"};
    case 1:
      return {"dry", "wide"};
    case 2:
      return {"unheard-of"};
    default:
      return {};
  }
}

std::optional<core::Box> SampleRegion(Random& random) {
  return random.Chance(0.5) ? std::optional(core::Box{1, 1, kSide - 1.0, kSide - 1.0}) : std::nullopt;
}

core::GraphSeat SeatOf(const core::WaypointGraph& graph, const core::GraphPlace& place) {
  const absl::StatusOr<core::GraphSeat> seat = FindSeat(graph, place, kSampleSnap, "place");
  EXPECT_EQ(seat.status(), absl::OkStatus());
  return *seat;
}

std::map<core::NodeNumber, core::Cost> NaiveCosts(const core::WaypointGraph& graph,
                                                  const std::vector<core::GraphSeed>& seeds,
                                                  core::GraphSense sense,
                                                  const std::vector<std::string>& tags,
                                                  const std::optional<core::Box>& region) {
  const auto is_usable = [&](core::NodeNumber node) {
    const core::WorldPoint& at = graph.PositionOf(node);
    return graph.IsEnabled(node) && (!region || (region->x_low <= at.x && at.x <= region->x_high &&
                                                 region->y_low <= at.y && at.y <= region->y_high));
  };
  std::map<core::NodeNumber, core::Cost> costs;
  const auto lower = [&](core::NodeNumber node, core::Cost cost) {
    const auto [found, is_new] = costs.emplace(node, cost);
    return is_new || cost < std::exchange(found->second, std::min(cost, found->second));
  };
  for (const core::GraphSeed& seed : seeds) {
    if (is_usable(seed.node)) {
      lower(seed.node, seed.cost);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (core::NodeNumber node = 0; node < graph.number_limit(); ++node) {
      if (!graph.Exists(node)) {
        continue;
      }
      for (const core::Arc& arc : graph.ArcsOf(node)) {
        const std::vector<std::string> carried = graph.NamesOf(graph.TagsOfArc(node, arc));
        const bool carries_all = std::all_of(tags.begin(), tags.end(), [&](const std::string& tag) {
          return std::find(carried.begin(), carried.end(), tag) != carried.end();
        });
        const bool is_along = sense == core::GraphSense::kFromSeeds;
        const auto from = costs.find(is_along ? node : arc.to);
        if (arc.is_open() && carries_all && from != costs.end() && is_usable(is_along ? arc.to : node)) {
          changed |= lower(is_along ? arc.to : node, from->second + arc.cost);
        }
      }
    }
  }
  return costs;
}

}  // namespace waystar
