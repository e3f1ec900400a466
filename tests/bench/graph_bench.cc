// Times waypoint graphs: A* beside that of Boost.Graph, on the same graph with the same heuristic; snapping;
// connecting by sight; edits.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "boost/graph/astar_search.hpp"
#include "boost/graph/compressed_sparse_row_graph.hpp"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/graph_search.h"
#include "tests/bench/bench.h"

ABSL_FLAG(int, nodes, 100'000, "Nodes of the graph that is searched, at random places.");
ABSL_FLAG(int, edges_per_node, 10, "One-way edges from each node, to the nearest others.");
ABSL_FLAG(int, queries, 300, "Between nodes taken at random.");
ABSL_FLAG(int, passes, 3, "Over all queries; of each query the least time counts.");
ABSL_FLAG(int, connected_nodes, 5000, "Nodes of the graph that is connected by sight.");

namespace waystar::bench {
namespace {

using core::NodeNumber;
using core::WaypointGraph;
using core::WorldPoint;

constexpr double kSide = 10'000.0;

WorldPoint PlaceIn(Random& random, double side) {
  constexpr int kSteps = 1 << 24;
  return core::Rounded(
      WorldPoint{random.Between(0, kSteps) * side / kSteps, random.Between(0, kSteps) * side / kSteps});
}

// Nodes at random places, each with edges to those nearest to it.
WaypointGraph NearestNeighbours(int nodes, int edges_per_node) {
  Random random(1);
  core::WaypointSpec spec;
  for (int i = 0; i < nodes; ++i) {
    spec.nodes.push_back({absl::StrCat("n", i), PlaceIn(random, kSide)});
  }
  const WaypointGraph places = OrDie(WaypointGraph::Create(spec));
  const double radius = kSide * std::sqrt(static_cast<double>(edges_per_node) / nodes) * 1.3;
  std::vector<std::pair<double, NodeNumber>> near;
  for (NodeNumber node = 0; node < static_cast<NodeNumber>(nodes); ++node) {
    for (double reach = radius; near.size() <= static_cast<std::size_t>(edges_per_node); reach *= 2) {
      near.clear();
      places.VisitNodesWithin(places.PositionOf(node), reach, [&](NodeNumber other) {
        near.emplace_back(SquaredDistance(places.PositionOf(node), places.PositionOf(other)), other);
      });
    }
    std::sort(near.begin(), near.end());
    for (int i = 1; i <= edges_per_node; ++i) {
      const NodeNumber other = near[static_cast<std::size_t>(i)].second;
      spec.edges.push_back({.name = {places.IdOf(node), places.IdOf(other), true}});
    }
    near.clear();
  }
  return OrDie(WaypointGraph::Create(spec));
}

// What Boost.Graph's astar_search is given: the same arcs, costs and places, in its own fastest form.
class BoostSearch {
 public:
  // Its nodes are those of `order`, in that order.
  BoostSearch(const WaypointGraph& graph, const std::vector<NodeNumber>& order)
      : per_length_(graph.least_cost_per_length()), place_of_(order.size()) {
    for (std::uint32_t place = 0; place < order.size(); ++place) {
      place_of_[order[place]] = place;
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
    for (const NodeNumber node : order) {
      places_.push_back(graph.PositionOf(node));
      for (const core::Arc& arc : graph.ArcsOf(node)) {
        ends.emplace_back(place_of_[node], place_of_[arc.to]);
        costs_.push_back(arc.cost);
      }
    }
    graph_ = Graph(boost::edges_are_sorted, ends.begin(), ends.end(),
                   static_cast<std::uint32_t>(graph.node_count()));
    parents_.resize(places_.size());
    distances_.resize(places_.size());
    totals_.resize(places_.size());
    colors_.resize(places_.size());
  }

  // -1 if there is no way.
  core::Cost Find(NodeNumber from, NodeNumber to) {
    const std::uint32_t start = place_of_[from];
    const std::uint32_t goal = place_of_[to];
    const auto index = boost::get(boost::vertex_index, graph_);
    const auto weights =
        boost::make_iterator_property_map(costs_.begin(), boost::get(boost::edge_index, graph_));
    const auto map = [&](auto& values) { return boost::make_iterator_property_map(values.begin(), index); };
    try {
      boost::astar_search(graph_, start, Estimate{{}, this, places_[goal]},
                          boost::predecessor_map(map(parents_))
                              .distance_map(map(distances_))
                              .rank_map(map(totals_))
                              .color_map(map(colors_))
                              .weight_map(weights)
                              .visitor(Visitor{{}, goal}));
    } catch (const Reached&) {
      return distances_[goal];
    }
    return -1;
  }

 private:
  using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                                   boost::no_property, std::uint32_t, std::uint32_t>;
  struct Reached {};
  struct Visitor : boost::default_astar_visitor {
    void examine_vertex(std::uint32_t node, const Graph& /*graph*/) const {
      if (node == goal) {
        throw Reached();
      }
    }
    NodeNumber goal = 0;
  };
  struct Estimate : boost::astar_heuristic<Graph, core::Cost> {
    core::Cost operator()(std::uint32_t node) const {
      return static_cast<core::Cost>(Distance(search->places_[node], goal) * search->per_length_);
    }
    const BoostSearch* search = nullptr;
    WorldPoint goal;
  };

  double per_length_;
  std::vector<std::uint32_t> place_of_;
  std::vector<WorldPoint> places_;
  std::vector<core::Cost> costs_;
  Graph graph_;
  std::vector<std::uint32_t> parents_;
  std::vector<core::Cost> distances_;
  std::vector<core::Cost> totals_;
  std::vector<boost::default_color_type> colors_;
};

void TimeSearches(const WaypointGraph& graph) {
  Random random(2);
  // As they were put: NearestNeighbours names them so. And as our pages have them, each near to its
  // neighbours.
  std::vector<NodeNumber> as_given(graph.node_count());
  std::vector<NodeNumber> as_numbered(graph.node_count());
  for (NodeNumber i = 0; i < graph.node_count(); ++i) {
    as_given[i] = graph.FindNode(absl::StrCat("n", i));
    as_numbered[i] = i;
  }
  BoostSearch boost_given(graph, as_given);
  BoostSearch boost_numbered(graph, as_numbered);
  core::GraphScratch scratch(std::size_t{256} << 20);
  const auto any = [&] {
    return static_cast<NodeNumber>(random.Between(0, static_cast<int>(graph.node_count()) - 1));
  };
  enum Search { kOurs, kGiven, kNumbered, kDijkstra, kSearches };
  struct Query {
    NodeNumber start;
    NodeNumber goal;
    double micros[kSearches] = {1e18, 1e18, 1e18, 1e18};
    double expanded[kSearches] = {};
  };
  std::vector<Query> queries;
  for (int i = 0; i < absl::GetFlag(FLAGS_queries); ++i) {
    queries.push_back({.start = any(), .goal = any()});
  }
  for (int pass = 0; pass < absl::GetFlag(FLAGS_passes); ++pass) {
    for (Query& query : queries) {
      core::Cost cost = -1;
      const auto time = [&](Search search, auto find) {
        query.micros[search] = std::min(query.micros[search], MicrosOf(find));
      };
      time(kGiven, [&] { cost = boost_given.Find(query.start, query.goal); });
      time(kNumbered, [&] { cost = boost_numbered.Find(query.start, query.goal); });
      core::GraphQuery asked{.start = graph.IdOf(query.start), .goals = {graph.IdOf(query.goal)}};
      for (const Search search : {kOurs, kDijkstra}) {
        asked.algorithm = search == kOurs ? core::Algorithm::kAStar : core::Algorithm::kDijkstra;
        core::GraphPathResult result;
        time(search, [&] { result = OrDie(core::FindGraphPath(graph, asked, {}, scratch)); });
        query.expanded[search] = static_cast<double>(result.statistics.expanded);
        const core::Cost own =
            result.outcome == core::Outcome::kFound ? core::CostFromDouble(result.cost) : -1;
        if (own != cost) {
          Die(absl::StrCat("costs differ: ", own, " and Boost's ", cost));
        }
      }
      query.expanded[kGiven] = query.expanded[kNumbered] = query.expanded[kOurs];
    }
  }
  std::cout << absl::StreamFormat("%-30s %10s %10s %10s %10s\n", "search", "mean us", "median us", "p99 us",
                                  "expanded");
  constexpr const char* kNames[] = {"A*", "Boost.Graph, nodes as given", "Boost.Graph, numbered as ours",
                                    "Dijkstra"};
  Sample micros[kSearches];
  Sample times[kSearches];
  for (int search = 0; search < kSearches; ++search) {
    Sample expanded;
    for (const Query& query : queries) {
      micros[search].Add(query.micros[search]);
      times[search].Add(query.micros[search] / query.micros[kOurs]);
      expanded.Add(query.expanded[search]);
    }
    std::cout << absl::StreamFormat("%-30s %10.1f %10.1f %10.1f %10.0f\n", kNames[search],
                                    micros[search].Mean(), micros[search].Median(),
                                    micros[search].Percentile(0.99), expanded.Mean());
  }
  std::cout << absl::StreamFormat(
      "Boost.Graph takes %.2f times as long in the mean, %.2f in the median query; numbered as ours %.2f, "
      "%.2f\n",
      micros[kGiven].Mean() / micros[kOurs].Mean(), times[kGiven].Median(),
      micros[kNumbered].Mean() / micros[kOurs].Mean(), times[kNumbered].Median());
}

void TimeSnapping(const WaypointGraph& graph) {
  Random random(3);
  constexpr int kCount = 100'000;
  std::vector<WorldPoint> places;
  for (int i = 0; i < kCount; ++i) {
    places.push_back(PlaceIn(random, kSide));
  }
  std::uint64_t sum = 0;
  const double micros = MicrosOf([&] {
    for (const WorldPoint& place : places) {
      sum += graph.NearestVisible(place, kSide);
    }
  });
  std::cout << absl::StreamFormat("snapping a position: %.3f us (check %d)\n", micros / kCount, sum % 1000);
}

void TimeEdits(const WaypointGraph& graph, const char* name) {
  Random random(4);
  Sample edges;
  Sample nodes;
  Sample obstacles;
  WaypointGraph current = graph;
  const auto edit = [&](auto change) {
    return MicrosOf([&] {
      core::GraphEditor editor(current);
      OrDie(change(editor));
      current = std::move(editor).Finish();
    });
  };
  for (int i = 0; i < 500; ++i) {
    NodeNumber node = 0;
    do {
      node = static_cast<NodeNumber>(random.Between(0, static_cast<int>(graph.node_count()) - 1));
    } while (current.ArcsOf(node).empty());
    const std::string from = current.IdOf(node);
    const std::string to = current.IdOf(current.ArcsOf(node)[0].to);
    edges.Add(edit([&](auto& editor) { return editor.SetEdgesEnabled({{from, to, true}}, i % 2 == 0); }));
    WorldPoint place = current.PositionOf(node);
    place.x += 0.25;
    nodes.Add(edit([&](auto& editor) { return editor.PutNodes({{from, place}}, true); }));
    const auto obstacle = std::make_shared<core::Obstacle>(
        core::Obstacle{.id = absl::StrCat("o", i % 50), .shape = {.discs = {{{place.x, place.y}, 20.0}}}});
    obstacles.Add(edit([&](auto& editor) { return editor.PutObstacle(obstacle, true); }));
  }
  std::cout << absl::StreamFormat(
      "edits of %s, median and p99 us: an edge on or off %.1f %.1f, a node moved %.1f %.1f, an obstacle put "
      "%.1f %.1f\n",
      name, edges.Median(), edges.Percentile(0.99), nodes.Median(), nodes.Percentile(0.99),
      obstacles.Median(), obstacles.Percentile(0.99));
}

// Nodes between discs and boxes, a seventh of the ground covered.
void TimeConnecting() {
  Random random(5);
  core::WaypointSpec spec{.auto_connect = core::AutoConnect{.max_distance = 300.0}};
  for (int i = 0; i < absl::GetFlag(FLAGS_connected_nodes); ++i) {
    spec.nodes.push_back({absl::StrCat("n", i), PlaceIn(random, kSide)});
  }
  for (int i = 0; i < 1000; ++i) {
    const WorldPoint at = PlaceIn(random, kSide);
    core::Obstacle obstacle{.id = absl::StrCat("o", i)};
    if (i % 2 == 0) {
      obstacle.shape.discs.push_back({{at.x, at.y}, 60.0});
    } else {
      obstacle.shape.polygons.push_back(
          {{{at.x, at.y}, {at.x + 150, at.y}, {at.x + 150, at.y + 80}, {at.x, at.y + 80}}});
    }
    spec.obstacles.push_back(std::move(obstacle));
  }
  double least = 1e18;
  WaypointGraph graph = OrDie(WaypointGraph::Create({}));
  for (int pass = 0; pass < absl::GetFlag(FLAGS_passes); ++pass) {
    least = std::min(least, MicrosOf([&] { graph = OrDie(WaypointGraph::Create(spec)); }));
  }
  std::cout << absl::StreamFormat(
      "connecting %d nodes by sight among %d obstacles: %.1f ms, %d one-way edges\n", graph.node_count(),
      spec.obstacles.size(), least / 1000, graph.arc_count());
  TimeEdits(graph, "that graph");
}

void Run() {
  WaypointGraph graph = OrDie(WaypointGraph::Create({}));
  const double micros = MicrosOf(
      [&] { graph = NearestNeighbours(absl::GetFlag(FLAGS_nodes), absl::GetFlag(FLAGS_edges_per_node)); });
  std::cout << absl::StreamFormat("%d nodes, %d one-way edges: made in %.0f ms, %.1f MiB\n",
                                  graph.node_count(), graph.arc_count(), micros / 1000,
                                  static_cast<double>(graph.memory_bytes()) / (1 << 20));
  TimeSearches(graph);
  TimeSnapping(graph);
  TimeEdits(graph, "this graph");
  TimeConnecting();
}

}  // namespace
}  // namespace waystar::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  waystar::bench::Run();
  return 0;
}
