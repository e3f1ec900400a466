#include "server/core/graph/search/graph_samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/elements/element_hash.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"
#include "server/core/search/random_draws.h"

namespace waystar::core {
namespace {

constexpr double kLengthUnits = 1 << 16;

using Among = std::optional<absl::Span<const NodeNumber>>;

absl::Status CheckSampleCount(std::int64_t count, absl::string_view what) {
  if (count < 1) {
    return MakeError(ErrorReason::kBadValue, "count",
                     absl::StrCat("count must be at least 1 ", what, ", got ", count));
  }
  return CheckCount("count", static_cast<std::size_t>(count), kMaxSampledNodes);
}

// Nodes of a graph as intervals on a line, each as long as its weight, ordered by the hashes of their ids.
// Hashes are found much faster than the order of the ids in a graph of a million nodes. Only the buckets from
// which something is drawn are sorted.
//
// `weight_of(node)` is 0 for a node that is not a candidate, and must be the same at each call.
template <typename WeightOf>
class NodeLine {
 public:
  NodeLine(const WaypointGraph& graph, const Among& among, const Budget& budget, WeightOf weight_of)
      : graph_(graph), among_(among), budget_(budget), weight_of_(std::move(weight_of)) {}

  SearchEnd Measure() {
    const SearchEnd end = ForEachNode([&](NodeNumber node) {
      if (const std::int64_t weight = weight_of_(node); weight > 0) {
        through_[BucketOf(HashOf(node))] += weight;
      }
    });
    std::partial_sum(through_.begin(), through_.end(), through_.begin());
    return end;
  }

  std::int64_t length() const { return through_.back(); }

  // Calls visit(i, node, rest) for each number, in no particular order: numbers[i] lies `rest` behind the
  // start of the node's interval.
  // REQUIRES: Measure completed; the numbers are less than length().
  template <typename Visitor>
  SearchEnd Find(const std::vector<std::int64_t>& numbers, Visitor visit) const {
    std::vector<std::size_t> order(numbers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
    std::array<bool, kBuckets> is_wanted{};
    for (const std::int64_t number : numbers) {
      is_wanted[BucketAt(number)] = true;
    }
    std::vector<Stretch> line;
    const SearchEnd end = ForEachNode([&](NodeNumber node) {
      const std::uint64_t hash = HashOf(node);
      if (is_wanted[BucketOf(hash)]) {
        if (const std::int64_t weight = weight_of_(node); weight > 0) {
          line.push_back({.hash = hash, .weight = weight, .node = node});
        }
      }
    });
    if (end != SearchEnd::kExhausted) {
      return end;
    }
    std::sort(line.begin(), line.end(), [&](const Stretch& a, const Stretch& b) {
      return a.hash != b.hash ? a.hash < b.hash : graph_.IdOf(a.node) < graph_.IdOf(b.node);
    });
    std::size_t next = 0;
    std::size_t bucket = kBuckets;
    std::int64_t begin = 0;
    for (const Stretch& stretch : line) {
      if (BucketOf(stretch.hash) != bucket) {
        bucket = BucketOf(stretch.hash);
        begin = bucket == 0 ? 0 : through_[bucket - 1];
      }
      for (; next < order.size() && numbers[order[next]] < begin + stretch.weight; ++next) {
        visit(order[next], stretch.node, numbers[order[next]] - begin);
      }
      begin += stretch.weight;
    }
    return SearchEnd::kExhausted;
  }

 private:
  static constexpr int kBucketBits = 10;
  static constexpr std::size_t kBuckets = std::size_t{1} << kBucketBits;

  struct Stretch {
    std::uint64_t hash = 0;
    std::int64_t weight = 0;
    NodeNumber node = 0;
  };

  std::uint64_t HashOf(NodeNumber node) const {
    ElementHash hash(ElementKind::kNode);
    hash.AddText(graph_.IdOf(node));
    return hash.value();
  }
  static std::size_t BucketOf(std::uint64_t hash) { return hash >> (64 - kBucketBits); }
  std::size_t BucketAt(std::int64_t number) const {
    return static_cast<std::size_t>(std::upper_bound(through_.begin(), through_.end(), number) -
                                    through_.begin());
  }

  template <typename Visitor>
  SearchEnd ForEachNode(Visitor visit) const {
    const std::size_t count = among_ ? among_->size() : graph_.number_limit();
    for (std::size_t i = 0; i < count; ++i) {
      if (i % Budget::kPollInterval == 0) {
        if (const std::optional<SearchEnd> end = Interruption(budget_)) {
          return *end;
        }
      }
      const NodeNumber node = among_ ? (*among_)[i] : static_cast<NodeNumber>(i);
      if (graph_.Exists(node) && graph_.IsEnabled(node)) {
        visit(node);
      }
    }
    return SearchEnd::kExhausted;
  }

  const WaypointGraph& graph_;
  const Among among_;
  const Budget& budget_;
  const WeightOf weight_of_;
  // Weight of all nodes up to and including each bucket.
  std::array<std::int64_t, kBuckets> through_{};
};

// Edges from which places are drawn, by the node where they start.
class SampledEdges {
 public:
  SampledEdges(const WaypointGraph& graph, const EdgeSampleQuery& query)
      : graph_(graph), among_(query.among), required_tags_(query.required_tags) {}

  // Returns the total length of the node's edges, and counts those of nonzero length.
  std::int64_t LengthAt(NodeNumber from) {
    std::int64_t all = 0;
    ForEachEdge(from, [&](NodeNumber to) {
      const std::int64_t length = LengthOf(from, to);
      counted_ += length > 0 ? 1 : 0;
      all += length;
    });
    return all;
  }
  std::int64_t counted() const { return counted_; }

  // REQUIRES: 0 <= rest < LengthAt(from). Consecutive calls for the same node sort its edges once.
  PlaceOnEdge PlaceAt(NodeNumber from, std::int64_t rest) {
    if (from != from_) {
      Sort(from);
    }
    const auto edge = std::upper_bound(sorted_.begin(), sorted_.end(), rest,
                                       [](std::int64_t place, const Edge& e) { return place < e.through; });
    const auto length = static_cast<double>(LengthOf(from, edge->to));
    const double fraction = 1.0 - (static_cast<double>(edge->through - rest) - 0.5) / length;
    const WorldPoint& a = graph_.PositionOf(from);
    const WorldPoint& b = graph_.PositionOf(edge->to);
    return {.from = from,
            .to = edge->to,
            .fraction = fraction,
            .position = Rounded(WorldPoint{a.x + fraction * (b.x - a.x), a.y + fraction * (b.y - a.y),
                                           a.z + fraction * (b.z - a.z)})};
  }

 private:
  struct Edge {
    NodeNumber to = 0;
    // Sum of the lengths of the edges up to and including this one.
    std::int64_t through = 0;
  };

  // Sorts the edges of a node by the ids of their ends.
  void Sort(NodeNumber from) {
    from_ = from;
    sorted_.clear();
    ForEachEdge(from, [&](NodeNumber to) { sorted_.push_back({.to = to}); });
    std::sort(sorted_.begin(), sorted_.end(),
              [&](const Edge& a, const Edge& b) { return graph_.IdOf(a.to) < graph_.IdOf(b.to); });
    std::int64_t length = 0;
    for (Edge& edge : sorted_) {
      length += LengthOf(from, edge.to);
      edge.through = length;
    }
  }

  std::int64_t LengthOf(NodeNumber from, NodeNumber to) const {
    const double length = Distance(graph_.PositionOf(from), graph_.PositionOf(to));
    return length == 0.0 ? 0 : std::max<std::int64_t>(std::llrint(length * kLengthUnits), 1);
  }

  bool MayUse(NodeNumber from, const Arc& arc) const {
    return arc.is_open() &&
           (required_tags_ == 0 || (graph_.TagsOfArc(from, arc) & required_tags_) == required_tags_);
  }

  template <typename Visitor>
  void ForEachEdge(NodeNumber from, Visitor visit) const {
    for (const Arc& arc : graph_.ArcsOf(from)) {
      if (!MayUse(from, arc) || !graph_.IsEnabled(arc.to) ||
          (among_ && !std::binary_search(among_->begin(), among_->end(), arc.to))) {
        continue;
      }
      const Arc* back = graph_.FindArc(arc.to, from);
      if (back == nullptr || !MayUse(arc.to, *back) || graph_.IdOf(from) < graph_.IdOf(arc.to)) {
        visit(arc.to);
      }
    }
  }

  const WaypointGraph& graph_;
  const Among among_;
  const TagSet required_tags_;
  std::int64_t counted_ = 0;
  // Node whose edges are sorted.
  NodeNumber from_ = kNoNodeNumber;
  std::vector<Edge> sorted_;
};

}  // namespace

absl::StatusOr<SampledNodes> SampleNodes(const WaypointGraph& graph, const NodeSampleQuery& query,
                                         const Budget& budget) {
  WAYSTAR_RETURN_IF_ERROR(CheckSampleCount(query.count, "node"));
  NodeLine line(graph, query.among, budget, [&](NodeNumber node) -> std::int64_t {
    const WorldPoint& at = graph.PositionOf(node);
    return !query.region || query.region->Overlaps(Box::Around(at.x, at.y, 0.0)) ? 1 : 0;
  });
  WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(line.Measure(), 0));
  SampledNodes sampled{.candidates = line.length()};
  if (sampled.candidates == 0) {
    return sampled;
  }
  SplitMix random(query.seed);
  const std::vector<std::int64_t> numbers = query.distinct
                                                ? DrawDistinct(query.count, sampled.candidates, random)
                                                : Draw(query.count, sampled.candidates, random);
  sampled.nodes.resize(numbers.size());
  const SearchEnd end = line.Find(
      numbers, [&](std::size_t i, NodeNumber node, std::int64_t /*rest*/) { sampled.nodes[i] = node; });
  WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(end, 0));
  return sampled;
}

absl::StatusOr<SampledPlaces> SamplePlacesOnEdges(const WaypointGraph& graph, const EdgeSampleQuery& query,
                                                  const Budget& budget) {
  WAYSTAR_RETURN_IF_ERROR(CheckSampleCount(query.count, "place"));
  SampledEdges edges(graph, query);
  NodeLine line(graph, query.among, budget, [&](NodeNumber node) { return edges.LengthAt(node); });
  WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(line.Measure(), 0));
  SampledPlaces sampled{.candidates = edges.counted(),
                        .length = static_cast<double>(line.length()) / kLengthUnits};
  if (line.length() == 0) {
    return sampled;
  }
  SplitMix random(query.seed);
  const std::vector<std::int64_t> numbers = Draw(query.count, line.length(), random);
  sampled.places.resize(numbers.size());
  const SearchEnd end = line.Find(numbers, [&](std::size_t i, NodeNumber node, std::int64_t rest) {
    sampled.places[i] = edges.PlaceAt(node, rest);
  });
  WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(end, 0));
  return sampled;
}

}  // namespace waystar::core
