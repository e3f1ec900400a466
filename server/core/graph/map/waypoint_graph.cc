#include "server/core/graph/map/waypoint_graph.h"

#include <bit>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/graph/map/graph_editor.h"

namespace waystar::core {

absl::StatusOr<WaypointGraph> WaypointGraph::Create(const WaypointSpec& spec, const StopCheck* stop) {
  GraphEditor editor(WaypointGraph(), stop);
  if (spec.auto_connect) {
    WAYSTAR_RETURN_IF_ERROR_AT("auto_connect.", editor.SetAutoConnect(*spec.auto_connect));
  }
  for (std::size_t i = 0; i < spec.obstacles.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    auto obstacle = std::make_shared<const Obstacle>(spec.obstacles[i]);
    WAYSTAR_RETURN_IF_ERROR_AT(absl::StrCat("obstacles[", i, "]"),
                               editor.PutObstacle(std::move(obstacle), false));
  }
  WAYSTAR_RETURN_IF_ERROR(editor.PutNodes(spec.nodes, false));
  if (!spec.edges.empty()) {
    WAYSTAR_RETURN_IF_ERROR(editor.PutEdges(spec.edges, false));
  }
  return std::move(editor).Finish();
}

std::vector<NodeNumber> WaypointGraph::FreeNumbers() const {
  std::vector<NodeNumber> numbers;
  for (NodeNumber free = first_free_; free != kNoNodeNumber; free = FreeAfter(free)) {
    numbers.push_back(free);
  }
  return numbers;
}

NodeNumber WaypointGraph::FindNode(absl::string_view id) const {
  return by_id_.Find(id, kNoNodeNumber,
                     [&](NodeNumber number) { return absl::string_view(IdOf(number)) == id; });
}

const Arc* WaypointGraph::FindArc(NodeNumber from, NodeNumber to) const {
  const absl::Span<const Arc> arcs = ArcsOf(from);
  const auto* const found = std::lower_bound(
      arcs.begin(), arcs.end(), to, [](const Arc& arc, NodeNumber wanted) { return arc.to < wanted; });
  return found != arcs.end() && found->to == to ? found : nullptr;
}

TagSet WaypointGraph::TagsOfArc(NodeNumber from, const Arc& arc) const {
  const TagSet* tags = ArcTagsOf(from);
  return tags == nullptr ? 0 : tags[&arc - ArcsOf(from).data()];
}

absl::Span<const NodeNumber> WaypointGraph::SourcesOf(NodeNumber node) const {
  const SourcePage& page = sources_[node / kPageNodes];
  const std::size_t first = page.first_source[PlaceOf(node)];
  return {page.sources.data() + first, page.first_source[PlaceOf(node) + 1] - first};
}

std::optional<TagSet> WaypointGraph::FindTags(absl::Span<const std::string> tags) const {
  TagSet set = 0;
  for (const std::string& tag : tags) {
    const auto found = std::find(tags_->begin(), tags_->end(), tag);
    if (found == tags_->end()) {
      return std::nullopt;
    }
    set |= TagSet{1} << (found - tags_->begin());
  }
  return (set & ~TagsInUse()) == 0 ? std::optional(set) : std::nullopt;
}

std::vector<std::string> WaypointGraph::NamesOf(TagSet tags) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tags_->size(); ++i) {
    if ((tags >> i & 1) != 0) {
      names.push_back((*tags_)[i]);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

NodeNumber WaypointGraph::NearestVisible(const WorldPoint& position, double radius,
                                         const StopCheck* stop) const {
  constexpr std::size_t kNodesPerPoll = 64;
  NodeNumber nearest = kNoNodeNumber;
  std::size_t seen = 0;
  double limit = radius * radius;
  places_.VisitNear(position.x, position.y, limit, [&](const PlacedNode& node) {
    if (++seen % kNodesPerPoll == 0 && !CheckStop(stop).ok()) {
      nearest = kNoNodeNumber;
      limit = -1.0;
    }
    const double distance = SquaredDistance(node.position, position);
    if (distance > limit || (distance == limit && node.number > nearest) || !IsEnabled(node.number) ||
        !sight_.IsClear(position, node.position)) {
      return;
    }
    limit = distance;
    nearest = node.number;
  });
  return nearest;
}

std::uint64_t WaypointGraph::DigestOfTags(TagSet tags) const {
  std::uint64_t sum = 0;
  for (; tags != 0; tags &= tags - 1) {
    sum += ElementHash::OfTag((*tags_)[static_cast<std::size_t>(std::countr_zero(tags))]);
  }
  return sum;
}

void WaypointGraph::AddUseOf(TagSet tags) {
  for (; tags != 0; tags &= tags - 1) {
    ++tag_uses_[static_cast<std::size_t>(std::countr_zero(tags))];
  }
}

void WaypointGraph::EndUseOf(TagSet tags) {
  for (; tags != 0; tags &= tags - 1) {
    --tag_uses_[static_cast<std::size_t>(std::countr_zero(tags))];
  }
}

TagSet WaypointGraph::TagsInUse() const {
  TagSet set = 0;
  for (std::size_t i = 0; i < tag_uses_.size(); ++i) {
    set |= TagSet{tag_uses_[i] != 0 ? 1U : 0U} << i;
  }
  return set;
}

std::uint64_t WaypointGraph::DigestOfNode(NodeNumber node) const {
  const WorldPoint& position = PositionOf(node);
  ElementHash hash(ElementKind::kNode);
  hash.AddText(IdOf(node));
  hash.AddDouble(position.x);
  hash.AddDouble(position.y);
  hash.AddDouble(position.z);
  hash.Add(IsEnabled(node) ? 1 : 0);
  hash.Add(DigestOfTags(TagsOf(node)));
  if (const absl::string_view label = LabelOf(node); !label.empty()) {
    hash.AddText(label);
  }
  return hash.value();
}

std::uint64_t WaypointGraph::DigestOfArc(NodeNumber from, const Arc& arc, TagSet tags) const {
  const bool is_length = (arc.flags & Arc::kCostIsLength) != 0;
  ElementHash hash(ElementKind::kEdge);
  hash.AddText(IdOf(from));
  hash.AddText(IdOf(arc.to));
  hash.Add((arc.flags & Arc::kEnabled) != 0 ? 1 : 0);
  hash.Add(is_length ? 1 : 0);
  hash.AddSigned(is_length ? 0 : arc.cost);
  hash.Add(DigestOfTags(tags));
  return hash.value();
}

std::size_t WaypointGraph::memory_bytes() const {
  return sizeof(*this) + pages_.BytesBeyond({}) + sources_.BytesBeyond({}) + ids_.BytesBeyond({}) +
         by_id_.BytesBeyond({}) + places_.BytesBeyond({}) + sight_.memory_bytes();
}

std::size_t WaypointGraph::BytesBeyond(const WaypointGraph& other) const {
  return sizeof(*this) + pages_.BytesBeyond(other.pages_) + sources_.BytesBeyond(other.sources_) +
         ids_.BytesBeyond(other.ids_) + by_id_.BytesBeyond(other.by_id_) +
         places_.BytesBeyond(other.places_) + sight_.BytesBeyond(other.sight_);
}

double WaypointGraph::least_cost_per_length() const {
  constexpr double kMargin = 1.0 - 1e-12;
  return bound_.least == std::numeric_limits<double>::infinity() ? 0.0 : bound_.least * kMargin;
}

}  // namespace waystar::core
