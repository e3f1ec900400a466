// Pages in which a waypoint graph stores its nodes and their outgoing arcs, and a bound on the costs of arcs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/core/elements/waypoint.h"
#include "server/core/graph/map/box_tree.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

struct CheapArc {
  WorldPoint from;
  WorldPoint to;
  Cost cost = 0;
  // Cost per unit of length.
  double ratio = 0.0;

  friend bool operator==(const CheapArc&, const CheapArc&) = default;
};

// Lower bound of arc costs for heuristics. The cheapest arcs are listed individually, so that a single cheap
// arc does not weaken the bound on the cost per length everywhere else.
struct ArcCostBound {
  // Maximum number of cheap arcs; a heuristic checks each of them for every node.
  static constexpr std::size_t kMostCheap = 8;
  // An arc is listed only if its ratio is below this fraction of the least ratio of the others.
  static constexpr double kWorthwhile = 0.8;

  // Cheap arcs, at most kMostCheap, cheapest first.
  std::vector<CheapArc> cheap;
  // Minimum cost of all other arcs per unit of length; infinity if there are none.
  double least = std::numeric_limits<double>::infinity();

  friend bool operator==(const ArcCostBound&, const ArcCostBound&) = default;

  // Adds arcs. Arcs that are too many or not worth listing count as others. While there are no others to
  // compare with, all are listed, because later arcs may cost more. The result does not depend on the order
  // of arcs.
  void Add(std::vector<CheapArc> arcs);
  // Completes the bound of a graph: if there are no other arcs, the most expensive listed one becomes one.
  void Close();

  // Returns true if this bound, to which that of a part was added, may change when the part's bound does.
  bool DependsOnChange(const ArcCostBound& before, const ArcCostBound& after) const;

 private:
  void TakeDearestAsOther();
  void TakeOthers();

  // Minimum of the others before arcs not worth listing joined them; infinity if there were none. Arcs with a
  // higher ratio do not matter.
  double least_before_trim_ = std::numeric_limits<double>::infinity();
};

// Number of a node. Nodes that are put together are numbered along a space-filling curve (PlaceOnCurve), so
// that nodes that a search visits are close in memory; nodes at the same point are numbered in the order
// given. A new node takes the number that was freed last, if any.
using NodeNumber = std::uint32_t;
inline constexpr NodeNumber kNoNodeNumber = ~NodeNumber{0};

// One bit per tag of a graph.
using TagSet = std::uint64_t;

// An edge in one direction.
struct Arc {
  enum Flag : std::uint32_t {
    kEnabled = 1,
    // Blocked by a named obstacle.
    kBlocked = 2,
    // Made by AutoConnect.
    kAuto = 4,
    // The cost is the distance between the nodes.
    kCostIsLength = 8,
  };

  Cost cost = 0;
  NodeNumber to = 0;
  std::uint32_t flags = 0;

  bool is_open() const { return (flags & (kEnabled | kBlocked)) == kEnabled; }
  bool is_auto() const { return (flags & kAuto) != 0; }

  friend bool operator==(const Arc&, const Arc&) = default;
};

// The fields of an arc that searches read, in one word: cost, target and openness.
class PackedArc {
 public:
  static constexpr int kNodeBits = 20;
  static constexpr int kCostBits = 43;

  PackedArc() = default;
  explicit PackedArc(const Arc& arc)
      : word_(static_cast<std::uint64_t>(arc.cost) << (kNodeBits + 1) | std::uint64_t{arc.to} << 1 |
              (arc.is_open() ? 1U : 0U)) {}

  bool is_open() const { return (word_ & 1) != 0; }
  NodeNumber to() const { return static_cast<NodeNumber>(word_ >> 1) & ((NodeNumber{1} << kNodeBits) - 1); }
  Cost cost() const { return static_cast<Cost>(word_ >> (kNodeBits + 1)); }

 private:
  std::uint64_t word_ = 0;
};
static_assert(kMaxNodes <= std::size_t{1} << PackedArc::kNodeBits);
static_assert(kMaxEdgeCost * kCostScale < static_cast<double>(std::uint64_t{1} << PackedArc::kCostBits));

// The fields of a node that searches read, in half a cache line.
struct alignas(32) NodeHead {
  WorldPoint position;
  std::uint32_t first_arc = 0;
  std::uint32_t arc_count : 31 = 0;
  std::uint32_t is_enabled : 1 = 0;
};

inline constexpr std::size_t kPageNodes = 64;

// The part of a page that searches read.
struct NodePage {
  std::array<NodeHead, kPageNodes> heads;
  std::uint64_t exists = 0;
  // Tags of each node. For a removed node: the number that new nodes take after this one.
  std::array<TagSet, kPageNodes> tags{};
  // Arcs, grouped by node and sorted by target. `packed` is a copy for searches.
  std::vector<Arc> arcs;
  std::vector<PackedArc> packed;
  // Tags of the same arcs; empty if none has any.
  std::vector<TagSet> arc_tags;
  // Bound of the costs of the open arcs of nonzero length. Not closed, as it is a part of the graph's bound.
  ArcCostBound bound;

  std::size_t memory_bytes() const {
    return arcs.capacity() * sizeof(Arc) + packed.capacity() * sizeof(PackedArc) +
           arc_tags.capacity() * sizeof(TagSet) + bound.cheap.capacity() * sizeof(CheapArc);
  }
};

// Sources of the arcs that lead to each node.
struct SourcePage {
  std::array<std::uint32_t, kPageNodes + 1> first_source{};
  std::vector<NodeNumber> sources;

  std::size_t memory_bytes() const { return sources.capacity() * sizeof(NodeNumber); }
};

// Label of one node of a page.
struct PlacedLabel {
  std::size_t place = 0;
  std::string label;
};

struct IdPage {
  std::array<std::string, kPageNodes> ids;
  // Non-empty labels, sorted by place.
  std::vector<PlacedLabel> labels;

  // Returns the label at a place, or an empty string. Costs O(log labels of the page).
  absl::string_view LabelAt(std::size_t place) const {
    const auto found = std::ranges::lower_bound(labels, place, {}, &PlacedLabel::place);
    return found != labels.end() && found->place == place ? absl::string_view(found->label)
                                                          : absl::string_view();
  }
  void SetLabel(std::size_t place, absl::string_view label) {
    const auto found = std::ranges::lower_bound(labels, place, {}, &PlacedLabel::place);
    const bool is_there = found != labels.end() && found->place == place;
    if (is_there && label.empty()) {
      labels.erase(found);
    } else if (is_there) {
      found->label = std::string(label);
    } else if (!label.empty()) {
      labels.insert(found, {.place = place, .label = std::string(label)});
    }
  }

  std::size_t memory_bytes() const {
    std::size_t bytes = labels.capacity() * sizeof(PlacedLabel);
    for (const std::string& id : ids) {
      bytes += BytesBeside(id);
    }
    for (const PlacedLabel& placed : labels) {
      bytes += BytesBeside(placed.label);
    }
    return bytes;
  }

 private:
  // Returns the bytes that a string holds on the heap.
  static std::size_t BytesBeside(const std::string& text) {
    return text.capacity() > sizeof(std::string) / 2 - 1 ? text.capacity() + 1 : 0;
  }
};

// Node in the spatial index.
struct PlacedNode {
  WorldPoint position;
  NodeNumber number = 0;
  // Box around the node and the ends of its explicit arcs.
  Box reach;

  double x() const { return position.x; }
  double y() const { return position.y; }
  const Box& box() const { return reach; }
  bool IsSame(const PlacedNode& other) const { return number == other.number; }
};

}  // namespace waystar::core
