#include "server/core/graph/map/graph_editor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/elements/tags.h"
#include "server/geometry/world_point.h"

namespace waystar::core {
namespace {

std::string At(absl::string_view list, std::size_t index, absl::string_view field) {
  return absl::StrCat(list, "[", index, "]", field);
}

absl::Status TooLong() {
  return MakeError(ErrorReason::kBadEdge, "",
                   absl::StrCat("an edge is at most ", kMaxEdgeCost, " long: use a larger unit"));
}

std::uint64_t DigestOf(const AutoConnect& rule) {
  ElementHash hash(ElementKind::kRule);
  hash.AddDouble(rule.max_distance);
  hash.Add(rule.grid == nullptr ? 0 : 1);
  if (rule.grid != nullptr) {
    const BitPlane& walkable = rule.grid->walkable();
    hash.AddDouble(rule.grid->origin().x);
    hash.AddDouble(rule.grid->origin().y);
    hash.AddDouble(rule.grid->cell_size());
    hash.AddSigned(walkable.width());
    hash.AddSigned(walkable.height());
    for (int y = 0; y < walkable.height(); ++y) {
      for (std::size_t i = 0; i <= WordOf(walkable.width() - 1); ++i) {
        hash.Add(walkable.word(y, i));
      }
    }
  }
  return hash.value();
}

}  // namespace

absl::Status GraphEditor::SetAutoConnect(const AutoConnect& rule) {
  if (!(rule.max_distance > 0.0 && rule.max_distance <= kMaxEdgeCost)) {
    return BadNumber(ErrorReason::kBadValue, "max_distance", rule.max_distance,
                     absl::StrCat("more than 0, and at most ", kMaxEdgeCost));
  }
  graph_.max_distance_ = rule.max_distance;
  graph_.sight_ = SightMap(rule.grid);
  graph_.digest_ = ElementHash(ElementKind::kGraph).value() + DigestOf(rule);
  return absl::OkStatus();
}

absl::StatusOr<NodeNumber> GraphEditor::FindNode(absl::string_view id, absl::string_view field) const {
  const NodeNumber node = graph_.FindNode(id);
  if (node != kNoNodeNumber) {
    return node;
  }
  WAYSTAR_RETURN_IF_ERROR_AT(field, CheckNodeId(id));
  return MakeError(ErrorReason::kNodeNotFound, field, absl::StrCat("the map has no node \"", id, "\""));
}

absl::StatusOr<std::vector<NodeNumber>> GraphEditor::FindNodes(absl::Span<const std::string> ids) const {
  std::vector<NodeNumber> nodes;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    WAYSTAR_ASSIGN_OR_RETURN(const NodeNumber node, FindNode(ids[i], At("nodes", i, "")));
    nodes.push_back(node);
  }
  return nodes;
}

absl::StatusOr<TagSet> GraphEditor::InternTags(const std::vector<std::string>& tags, TagSet kept) {
  WAYSTAR_RETURN_IF_ERROR_AT(".tags", CheckTags(tags, ErrorReason::kBadTag));
  TagSet set = 0;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    std::size_t number = static_cast<std::size_t>(
        std::find(graph_.tags_->begin(), graph_.tags_->end(), tags[i]) - graph_.tags_->begin());
    if (number == graph_.tags_->size()) {
      auto names = std::make_shared<std::vector<std::string>>(*graph_.tags_);
      if (number < kMaxTagsOfMap) {
        names->emplace_back();
      } else {
        number = static_cast<std::size_t>(std::countr_one(graph_.TagsInUse() | kept | set));
      }
      if (number == kMaxTagsOfMap) {
        return MakeError(ErrorReason::kTooManyTags, At(".tags", i, ""),
                         absl::StrCat("a map has at most ", kMaxTagsOfMap, " different tags"));
      }
      (*names)[number] = tags[i];
      graph_.tags_ = std::move(names);
    }
    set |= TagSet{1} << number;
  }
  return set;
}

NodeNumber GraphEditor::TakeNumber() {
  if (graph_.first_free_ != kNoNodeNumber) {
    return std::exchange(graph_.first_free_, graph_.FreeAfter(graph_.first_free_));
  }
  const NodeNumber number = graph_.next_number_;
  ++graph_.next_number_;
  if (number % kPageNodes == 0) {
    graph_.pages_.Append(owner_);
    graph_.sources_.Append(owner_);
    graph_.ids_.Append(owner_);
  }
  return number;
}

void GraphEditor::TakeNodeOut(NodeNumber number) {
  NoteNode(number, false);
  graph_.digest_ -= graph_.DigestOfNode(number);
  graph_.EndUseOf(graph_.TagsOf(number));
  graph_.places_.Remove({.position = graph_.PositionOf(number), .number = number}, owner_);
}

absl::Status GraphEditor::WriteNode(const WaypointNode& node, NodeNumber number, bool is_new) {
  WAYSTAR_ASSIGN_OR_RETURN(const TagSet tags, InternTags(node.tags, 0));
  const std::size_t place = number % kPageNodes;
  const std::uint64_t bit = std::uint64_t{1} << place;
  NodePage& page = graph_.pages_.Write(number / kPageNodes, owner_);
  page.heads[place].position = Rounded(node.position);
  page.heads[place].is_enabled = node.enabled ? 1 : 0;
  page.exists |= bit;
  page.tags[place] = tags;
  const WorldPoint& at = page.heads[place].position;
  graph_.places_.Put({.position = at, .number = number, .reach = Box::Around(at.x, at.y, 0.0)}, owner_);
  if (is_new) {
    graph_.ids_.Write(number / kPageNodes, owner_).ids[place] = node.id;
    graph_.by_id_.Put(node.id, number, owner_);
    ++graph_.node_count_;
  }
  if (node.label != graph_.LabelOf(number)) {
    graph_.ids_.Write(number / kPageNodes, owner_).SetLabel(place, node.label);
  }
  graph_.digest_ += graph_.DigestOfNode(number);
  graph_.AddUseOf(tags);
  changes_.nodes += 1;
  NoteNode(number, node.enabled);
  return absl::OkStatus();
}

absl::Status GraphEditor::PutNodes(absl::Span<const WaypointNode> nodes, bool replace) {
  absl::flat_hash_set<absl::string_view> ids;
  // New nodes are numbered in the order of their positions on the curve.
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, i));
    const WaypointNode& node = nodes[i];
    WAYSTAR_RETURN_IF_ERROR_AT(At("nodes", i, ".id"), CheckNodeId(node.id));
    if (!ids.insert(node.id).second) {
      return MakeError(ErrorReason::kDuplicateNode, At("nodes", i, ".id"),
                       absl::StrCat("the list has a node \"", node.id, "\" already"));
    }
    WAYSTAR_RETURN_IF_ERROR_AT(At("nodes", i, ".label"), CheckNodeLabel(node.label));
    WAYSTAR_RETURN_IF_ERROR_AT(At("nodes", i, ".position"), CheckPosition(node.position));
    if (!replace && graph_.FindNode(node.id) != kNoNodeNumber) {
      return MakeError(ErrorReason::kNodeExists, At("nodes", i, ".id"),
                       absl::StrCat("the map has a node \"", node.id, "\" already"));
    }
    order.emplace_back(PlaceOnCurve(ToFixed(node.position)), i);
  }
  std::sort(order.begin(), order.end());
  // Remove all nodes first, so that tags that only they carry can be replaced.
  for (std::size_t i = 0; replace && i < nodes.size(); ++i) {
    if (const NodeNumber number = graph_.FindNode(nodes[i].id); number != kNoNodeNumber) {
      TakeNodeOut(number);
    }
  }
  std::vector<NodeNumber> numbers;
  std::vector<NodeNumber> kept;
  std::vector<std::size_t> indexes;
  for (const auto& [place, i] : order) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, kept.size()));
    NodeNumber number = graph_.FindNode(nodes[i].id);
    const bool is_new = number == kNoNodeNumber;
    if (is_new && graph_.node_count_ >= kMaxNodes) {
      return MakeError(ErrorReason::kTooManyNodes, "nodes",
                       absl::StrCat("a map has at most ", kMaxNodes, " nodes"));
    }
    number = is_new ? TakeNumber() : number;
    WAYSTAR_RETURN_IF_ERROR_AT(At("nodes", i, ""), WriteNode(nodes[i], number, is_new));
    numbers.push_back(number);
    if (!is_new) {
      kept.push_back(number);
      indexes.push_back(i);
    }
  }
  std::vector<ArcChange> changes;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR_AT(At("nodes", indexes[i], ".position"), RefreshOwnArcs(kept[i], changes));
  }
  WAYSTAR_RETURN_IF_ERROR(Reconnect(numbers, changes));
  return Write(std::move(changes));
}

absl::Status GraphEditor::RefreshOwnArcs(NodeNumber node, std::vector<ArcChange>& changes) const {
  const auto refresh = [&](NodeNumber from, const Arc& arc) {
    const WorldPoint& a = graph_.PositionOf(from);
    const WorldPoint& b = graph_.PositionOf(arc.to);
    ArcChange change{.from = from, .arc = arc, .tags = graph_.TagsOfArc(from, arc)};
    if ((arc.flags & Arc::kCostIsLength) != 0) {
      const double length = Distance(a, b);
      if (length > kMaxEdgeCost) {
        return TooLong();
      }
      change.arc.cost = CostFromDouble(length);
    }
    change.arc.flags &= ~std::uint32_t{Arc::kBlocked};
    change.arc.flags |= graph_.sight_.IsClearOfObstacles(a, b) ? 0 : std::uint32_t{Arc::kBlocked};
    changes.push_back(change);
    return absl::OkStatus();
  };
  for (const Arc& arc : graph_.ArcsOf(node)) {
    if (!arc.is_auto()) {
      WAYSTAR_RETURN_IF_ERROR(refresh(node, arc));
    }
  }
  for (const NodeNumber source : graph_.SourcesOf(node)) {
    if (const Arc& arc = *graph_.FindArc(source, node); !arc.is_auto()) {
      WAYSTAR_RETURN_IF_ERROR(refresh(source, arc));
    }
  }
  return absl::OkStatus();
}

bool GraphEditor::IsOwnArc(NodeNumber from, NodeNumber to) const {
  const Arc* arc = graph_.FindArc(from, to);
  return arc != nullptr && !arc->is_auto();
}

bool GraphEditor::AreConnected(NodeNumber a, NodeNumber b) const {
  if (!graph_.max_distance_) {
    return false;
  }
  const WorldPoint& from = graph_.PositionOf(a);
  const WorldPoint& to = graph_.PositionOf(b);
  const double limit = *graph_.max_distance_;
  return SquaredDistance(from, to) <= limit * limit && graph_.sight_.IsClear(from, to);
}

void GraphEditor::ConnectPair(Pair pair, bool connected, std::vector<ArcChange>& changes) const {
  const auto [low, high] = pair;
  const Cost cost = CostFromDouble(Distance(graph_.PositionOf(low), graph_.PositionOf(high)));
  const TagSet tags = graph_.TagsOf(low) & graph_.TagsOf(high);
  for (const auto& [from, to] : {std::pair(low, high), std::pair(high, low)}) {
    const Arc* before = graph_.FindArc(from, to);
    if ((before == nullptr && connected) || (before != nullptr && before->is_auto())) {
      changes.push_back(
          {.from = from,
           .arc = {.cost = cost, .to = to, .flags = Arc::kEnabled | Arc::kAuto | Arc::kCostIsLength},
           .tags = tags,
           .is_there = connected});
    }
  }
}

absl::Status GraphEditor::CountPairs(std::size_t count) {
  pairs_ += count;
  if (pairs_ <= kMaxPairs) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kBatchTooLarge, "",
                   absl::StrCat("more than ", kMaxPairs,
                                " pairs of nodes would have to be looked at: choose a shorter max_distance"));
}

absl::Status GraphEditor::Reconnect(absl::Span<const NodeNumber> nodes, std::vector<ArcChange>& changes) {
  if (!graph_.max_distance_) {
    return absl::OkStatus();
  }
  const absl::flat_hash_set<NodeNumber> all(nodes.begin(), nodes.end());
  // Existing arcs are removed unless they are made again: the later of two changes of an arc counts.
  for (const NodeNumber node : nodes) {
    for (const Arc& arc : graph_.ArcsOf(node)) {
      ConnectPair({node, arc.to}, false, changes);
    }
    for (const NodeNumber source : graph_.SourcesOf(node)) {
      ConnectPair({source, node}, false, changes);
    }
  }
  std::vector<NodeNumber> near;
  for (const NodeNumber node : nodes) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
    near.clear();
    graph_.VisitNodesWithin(graph_.PositionOf(node), *graph_.max_distance_,
                            [&](NodeNumber other) { near.push_back(other); });
    WAYSTAR_RETURN_IF_ERROR(CountPairs(near.size()));
    for (const NodeNumber other : near) {
      const bool is_others = other < node && all.contains(other);
      if (other != node && !is_others && AreConnected(node, other)) {
        ConnectPair({node, other}, true, changes);
      }
    }
  }
  return absl::OkStatus();
}

void GraphEditor::NoteNode(NodeNumber node, bool is_opened) {
  const WorldPoint& at = graph_.PositionOf(node);
  const Box box = Box::Around(at.x, at.y, 0.0);
  changes_.areas.Add(UnitsAround(box));
  changes_.places.changed.Add(box);
  if (is_opened) {
    changes_.places.opened.Add(box);
  }
}

void GraphEditor::NoteArc(const ArcChange& change) {
  const WorldPoint& from = graph_.PositionOf(change.from);
  const WorldPoint& to = graph_.PositionOf(change.arc.to);
  const Box beginning = Box::Around(from.x, from.y, 0.0);
  const Box around = beginning.And(Box::Around(to.x, to.y, 0.0));
  changes_.areas.Add(UnitsAround(around));
  changes_.places.changed.Add(around);
  if (change.is_better) {
    changes_.places.opened.Add(beginning);
  }
}

absl::Status GraphEditor::Write(std::vector<ArcChange> changes) {
  const std::vector<ArcChange> changed = writer_.Write(std::move(changes));
  if (graph_.arc_count() > kMaxArcs) {
    return MakeError(ErrorReason::kTooManyEdges, "",
                     absl::StrCat("a map has at most ", kMaxArcs, " edges, one both ways counting as two"));
  }
  changes_.arcs += static_cast<std::int64_t>(changed.size());
  for (const ArcChange& change : changed) {
    NoteArc(change);
  }
  return absl::OkStatus();
}

absl::Status GraphEditor::RemoveNodes(absl::Span<const std::string> ids) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<NodeNumber> nodes, FindNodes(ids));
  absl::flat_hash_set<NodeNumber> seen;
  std::vector<ArcChange> changes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeNumber node = nodes[i];
    if (!seen.insert(node).second) {
      return MakeError(ErrorReason::kDuplicateNode, At("nodes", i, ""),
                       absl::StrCat("the list has the node \"", ids[i], "\" already"));
    }
    for (const Arc& arc : graph_.ArcsOf(node)) {
      changes.push_back({.from = node, .arc = arc, .is_there = false});
    }
    for (const NodeNumber source : graph_.SourcesOf(node)) {
      changes.push_back({.from = source, .arc = *graph_.FindArc(source, node), .is_there = false});
    }
  }
  WAYSTAR_RETURN_IF_ERROR(Write(std::move(changes)));
  for (const NodeNumber node : nodes) {
    DropNode(node);
  }
  return absl::OkStatus();
}

void GraphEditor::DropNode(NodeNumber number) {
  TakeNodeOut(number);
  ++changes_.nodes;
  const std::size_t place = number % kPageNodes;
  graph_.by_id_.Remove(graph_.IdOf(number), number, owner_);
  IdPage& ids = graph_.ids_.Write(number / kPageNodes, owner_);
  ids.ids[place] = std::string();
  ids.SetLabel(place, "");
  NodePage& page = graph_.pages_.Write(number / kPageNodes, owner_);
  page.exists &= ~(std::uint64_t{1} << place);
  page.heads[place].is_enabled = 0;
  page.tags[place] = std::exchange(graph_.first_free_, number);
  --graph_.node_count_;
}

absl::StatusOr<std::vector<GraphEditor::EdgeEnds>> GraphEditor::EndsOf(const EdgeName& name,
                                                                       PairSet& seen) const {
  WAYSTAR_ASSIGN_OR_RETURN(const NodeNumber from, FindNode(name.from, ".from"));
  WAYSTAR_ASSIGN_OR_RETURN(const NodeNumber to, FindNode(name.to, ".to"));
  if (from == to) {
    return MakeError(ErrorReason::kBadEdge, ".to", "an edge leads to another node than it comes from");
  }
  std::vector<EdgeEnds> ends{{from, to}};
  if (!name.one_way) {
    ends.push_back({to, from});
  }
  for (const EdgeEnds& end : ends) {
    if (!seen.insert({end.from, end.to}).second) {
      return MakeError(ErrorReason::kDuplicateEdge, "",
                       absl::StrCat("the list has an edge from \"", graph_.IdOf(end.from), "\" to \"",
                                    graph_.IdOf(end.to), "\" already"));
    }
  }
  return ends;
}

void GraphEditor::StripTags(absl::Span<const WaypointEdge> edges) {
  std::vector<ArcChange> changes;
  for (const WaypointEdge& edge : edges) {
    const NodeNumber a = graph_.FindNode(edge.name.from);
    const NodeNumber b = graph_.FindNode(edge.name.to);
    if (edge.tags.empty() || a == kNoNodeNumber || b == kNoNodeNumber) {
      continue;
    }
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
      if (IsOwnArc(from, to) && (from == a || !edge.name.one_way)) {
        changes.push_back({.from = from, .arc = *graph_.FindArc(from, to)});
      }
    }
  }
  writer_.Write(std::move(changes));
}

absl::Status GraphEditor::PutEdges(absl::Span<const WaypointEdge> edges, bool replace) {
  std::vector<ArcChange> changes;
  PairSet seen;
  TagSet kept = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, i));
    const WaypointEdge& edge = edges[i];
    const absl::StatusOr<std::vector<EdgeEnds>> ends = EndsOf(edge.name, seen);
    WAYSTAR_RETURN_IF_ERROR_AT(At("edges", i, ".edge"), ends.status());
    absl::StatusOr<TagSet> tags = InternTags(edge.tags, kept);
    if (!tags.ok() && replace) {
      StripTags(edges);
      tags = InternTags(edge.tags, kept);
    }
    WAYSTAR_RETURN_IF_ERROR_AT(At("edges", i, ""), tags.status());
    kept |= *tags;
    const WorldPoint& a = graph_.PositionOf(ends->front().from);
    const WorldPoint& b = graph_.PositionOf(ends->front().to);
    const bool is_length = edge.cost == WaypointEdge::kCostIsLength;
    const double cost = is_length ? Distance(a, b) : edge.cost;
    if (std::isnan(cost)) {
      return BadNumber(ErrorReason::kBadValue, At("edges", i, ".cost"), cost,
                       absl::StrCat("0 to ", kMaxEdgeCost));
    }
    if (is_length && cost > kMaxEdgeCost) {
      return WithFieldPrefix(TooLong(), At("edges", i, ""));
    }
    if (!(cost >= 0.0 && cost <= kMaxEdgeCost)) {
      return BadNumber(ErrorReason::kBadEdge, At("edges", i, ".cost"), cost,
                       absl::StrCat("0 to ", kMaxEdgeCost));
    }
    const std::uint32_t flags = (edge.enabled ? Arc::kEnabled : 0U) | (is_length ? Arc::kCostIsLength : 0U) |
                                (graph_.sight_.IsClearOfObstacles(a, b) ? 0U : Arc::kBlocked);
    for (const EdgeEnds& end : *ends) {
      if (!replace && IsOwnArc(end.from, end.to)) {
        return MakeError(ErrorReason::kEdgeExists, At("edges", i, ""),
                         absl::StrCat("the map has an edge from \"", graph_.IdOf(end.from), "\" to \"",
                                      graph_.IdOf(end.to), "\" already"));
      }
      changes.push_back({.from = end.from,
                         .arc = {.cost = CostFromDouble(cost), .to = end.to, .flags = flags},
                         .tags = *tags});
    }
  }
  return Write(std::move(changes));
}

absl::Status GraphEditor::RemoveEdges(absl::Span<const EdgeName> edges) {
  std::vector<ArcChange> changes;
  PairSet seen;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const absl::StatusOr<std::vector<EdgeEnds>> ends = EndsOf(edges[i], seen);
    WAYSTAR_RETURN_IF_ERROR_AT(At("edges", i, ""), ends.status());
    const bool connected = AreConnected(ends->front().from, ends->front().to);
    for (const auto& [from, to] : *ends) {
      if (!IsOwnArc(from, to)) {
        return MakeError(ErrorReason::kEdgeNotFound, At("edges", i, ""),
                         absl::StrCat("nobody has put an edge from \"", graph_.IdOf(from), "\" to \"",
                                      graph_.IdOf(to), "\""));
      }
      const Cost cost = CostFromDouble(Distance(graph_.PositionOf(from), graph_.PositionOf(to)));
      changes.push_back({.from = from,
                         .arc = {.cost = cost, .to = to, .flags = Arc::kEnabled | Arc::kCostIsLength},
                         .tags = graph_.TagsOf(from) & graph_.TagsOf(to),
                         .is_there = connected});
      // Set last, so that an arc that is removed for good is recorded as an explicit one.
      changes.back().arc.flags |= connected ? std::uint32_t{Arc::kAuto} : 0U;
    }
  }
  return Write(std::move(changes));
}

absl::Status GraphEditor::SetNodesEnabled(absl::Span<const std::string> ids, bool enabled) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<NodeNumber> nodes, FindNodes(ids));
  for (const NodeNumber node : nodes) {
    if (graph_.IsEnabled(node) != enabled) {
      graph_.digest_ -= graph_.DigestOfNode(node);
      NodePage& page = graph_.pages_.Write(node / kPageNodes, owner_);
      page.heads[node % kPageNodes].is_enabled = enabled ? 1 : 0;
      graph_.digest_ += graph_.DigestOfNode(node);
      ++changes_.nodes;
      NoteNode(node, enabled);
    }
  }
  return absl::OkStatus();
}

absl::Status GraphEditor::SetEdgesEnabled(absl::Span<const EdgeName> edges, bool enabled) {
  std::vector<ArcChange> changes;
  PairSet seen;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const absl::StatusOr<std::vector<EdgeEnds>> ends = EndsOf(edges[i], seen);
    WAYSTAR_RETURN_IF_ERROR_AT(At("edges", i, ""), ends.status());
    for (const auto& [from, to] : *ends) {
      const Arc* arc = graph_.FindArc(from, to);
      if (arc == nullptr) {
        return MakeError(ErrorReason::kEdgeNotFound, At("edges", i, ""),
                         absl::StrCat("the map has no edge from \"", graph_.IdOf(from), "\" to \"",
                                      graph_.IdOf(to), "\""));
      }
      if (((arc->flags & Arc::kEnabled) != 0) != enabled) {
        ArcChange change{.from = from, .arc = *arc, .tags = graph_.TagsOfArc(from, *arc)};
        change.arc.flags ^= Arc::kEnabled;
        change.arc.flags &= ~std::uint32_t{Arc::kAuto};
        changes.push_back(change);
      }
    }
  }
  return Write(std::move(changes));
}

namespace {

// Calls visit(page, changes of the page) for sorted changes.
template <typename Change, typename NodeOf, typename Visitor>
void ForEachPage(const std::vector<Change>& changes, NodeOf node_of, Visitor visit) {
  for (std::size_t begin = 0; begin < changes.size();) {
    const std::size_t page = node_of(changes[begin]) / kPageNodes;
    std::size_t end = begin + 1;
    while (end < changes.size() && node_of(changes[end]) / kPageNodes == page) {
      ++end;
    }
    visit(page, absl::MakeConstSpan(changes).subspan(begin, end - begin));
    begin = end;
  }
}

}  // namespace

std::vector<ArcChange> ArcWriter::Write(std::vector<ArcChange> changes) {
  std::stable_sort(changes.begin(), changes.end());
  // Keeps only the last change of each arc.
  const auto last = std::unique(changes.rbegin(), changes.rend(), std::mem_fn(&ArcChange::IsSameArc));
  changes.erase(changes.begin(), last.base());

  std::vector<ArcChange> changed;
  bool rescan = false;
  sources_.clear();
  ForEachPage(
      changes, [](const ArcChange& change) { return change.from; },
      [&](std::size_t page, absl::Span<const ArcChange> of_page) {
        const ArcCostBound before = graph_.pages_[page].bound;
        WritePage(page, of_page, changed);
        rescan = rescan || graph_.bound_.DependsOnChange(before, graph_.pages_[page].bound);
      });
  if (rescan) {
    graph_.bound_ = {};
    std::vector<CheapArc> cheap;
    for (std::size_t page = 0; page < graph_.pages_.size(); ++page) {
      const ArcCostBound& bound = graph_.pages_[page].bound;
      graph_.bound_.least = std::min(graph_.bound_.least, bound.least);
      cheap.insert(cheap.end(), bound.cheap.begin(), bound.cheap.end());
    }
    graph_.bound_.Add(std::move(cheap));
    graph_.bound_.Close();
  }

  std::sort(sources_.begin(), sources_.end(), [](const SourceChange& a, const SourceChange& b) {
    return a.to != b.to ? a.to < b.to : a.from < b.from;
  });
  ForEachPage(
      sources_, [](const SourceChange& change) { return change.to; },
      [&](std::size_t page, absl::Span<const SourceChange> of_page) { WriteSources(page, of_page); });

  NodeNumber updated = kNoNodeNumber;
  for (const ArcChange& change : changes) {
    if (!change.arc.is_auto() && change.from != updated && graph_.Exists(change.from)) {
      UpdateReach(change.from);
      updated = change.from;
    }
  }
  return changed;
}

void ArcWriter::WritePage(std::size_t number, absl::Span<const ArcChange> changes,
                          std::vector<ArcChange>& changed) {
  const NodePage& old = graph_.pages_[number];
  std::vector<Arc> arcs;
  std::vector<TagSet> tags;
  arcs.reserve(old.arcs.size() + changes.size());
  tags.reserve(arcs.capacity());
  std::array<std::uint32_t, kPageNodes + 1> first_arc{};
  TagSet any_tags = 0;
  const auto keep = [&](const Arc& arc, TagSet set) {
    arcs.push_back(arc);
    tags.push_back(set);
    any_tags |= set;
  };
  const ArcChange* change = changes.begin();
  for (std::size_t place = 0; place < kPageNodes; ++place) {
    const auto node = static_cast<NodeNumber>(number * kPageNodes + place);
    first_arc[place] = static_cast<std::uint32_t>(arcs.size());
    std::uint32_t next = old.heads[place].first_arc;
    const std::uint32_t end = next + old.heads[place].arc_count;
    const auto old_tags = [&](std::uint32_t i) { return old.arc_tags.empty() ? TagSet{0} : old.arc_tags[i]; };
    while (next < end || (change != changes.end() && change->from == node)) {
      const bool has_change = change != changes.end() && change->from == node;
      if (!has_change || (next < end && old.arcs[next].to < change->arc.to)) {
        keep(old.arcs[next], old_tags(next));
        ++next;
        continue;
      }
      const bool was_there = next < end && old.arcs[next].to == change->arc.to;
      const bool is_same =
          was_there && change->is_there && old.arcs[next] == change->arc && old_tags(next) == change->tags;
      if (was_there != change->is_there) {
        sources_.push_back({.to = change->arc.to, .from = node, .is_there = change->is_there});
        graph_.arc_count_ = change->is_there ? graph_.arc_count_ + 1 : graph_.arc_count_ - 1;
      }
      if (!is_same && was_there && !old.arcs[next].is_auto()) {
        graph_.digest_ -= graph_.DigestOfArc(node, old.arcs[next], old_tags(next));
        graph_.EndUseOf(old_tags(next));
      }
      if (!is_same && change->is_there && !change->arc.is_auto()) {
        graph_.digest_ += graph_.DigestOfArc(node, change->arc, change->tags);
        graph_.AddUseOf(change->tags);
      }
      if (!is_same && (was_there || change->is_there)) {
        changed.push_back(*change);
        changed.back().is_better =
            change->is_there && change->arc.is_open() &&
            (!was_there || !old.arcs[next].is_open() || change->arc.cost < old.arcs[next].cost ||
             (change->tags & ~old_tags(next)) != 0);
      }
      if (change->is_there) {
        keep(change->arc, change->tags);
      }
      next += was_there ? 1 : 0;
      ++change;
    }
  }
  first_arc[kPageNodes] = static_cast<std::uint32_t>(arcs.size());
  arcs.shrink_to_fit();
  if (any_tags == 0) {
    tags = {};
  }
  NodePage& page = graph_.pages_.Write(number, owner_);
  for (std::size_t place = 0; place < kPageNodes; ++place) {
    page.heads[place].first_arc = first_arc[place];
    page.heads[place].arc_count = (first_arc[place + 1] - first_arc[place]) & ~(1U << 31);
  }
  page.packed = {arcs.begin(), arcs.end()};
  page.arcs = std::move(arcs);
  page.arc_tags = std::move(tags);
  page.bound = BoundOf(number);
}

ArcCostBound ArcWriter::BoundOf(std::size_t number) const {
  const NodePage& page = graph_.pages_[number];
  // The cheapest arcs so far, as a heap with the most expensive of them first.
  std::vector<CheapArc> cheapest;
  const auto is_cheaper = [](const CheapArc& a, const CheapArc& b) { return a.ratio < b.ratio; };
  for (std::size_t place = 0; place < kPageNodes; ++place) {
    const NodeHead& head = page.heads[place];
    for (std::uint32_t i = head.first_arc; i < head.first_arc + head.arc_count; ++i) {
      const Arc& arc = page.arcs[i];
      const WorldPoint& to = graph_.PositionOf(arc.to);
      const double length = Distance(head.position, to);
      const double ratio = static_cast<double>(arc.cost) / length;
      const bool is_full = cheapest.size() > ArcCostBound::kMostCheap;
      if (length == 0.0 || !arc.is_open() || (is_full && ratio >= cheapest.front().ratio)) {
        continue;
      }
      if (is_full) {
        std::pop_heap(cheapest.begin(), cheapest.end(), is_cheaper);
        cheapest.pop_back();
      }
      cheapest.push_back({.from = head.position, .to = to, .cost = arc.cost, .ratio = ratio});
      std::push_heap(cheapest.begin(), cheapest.end(), is_cheaper);
    }
  }
  ArcCostBound bound;
  bound.Add(std::move(cheapest));
  return bound;
}

void ArcWriter::WriteSources(std::size_t number, absl::Span<const SourceChange> changes) {
  SourcePage& page = graph_.sources_.Write(number, owner_);
  std::vector<NodeNumber> sources;
  sources.reserve(page.sources.size() + changes.size());
  std::array<std::uint32_t, kPageNodes + 1> first_source{};
  const SourceChange* change = changes.begin();
  for (std::size_t place = 0; place < kPageNodes; ++place) {
    const auto node = static_cast<NodeNumber>(number * kPageNodes + place);
    first_source[place] = static_cast<std::uint32_t>(sources.size());
    std::uint32_t next = page.first_source[place];
    const std::uint32_t end = page.first_source[place + 1];
    while (next < end || (change != changes.end() && change->to == node)) {
      const bool has_change = change != changes.end() && change->to == node;
      if (!has_change || (next < end && page.sources[next] < change->from)) {
        sources.push_back(page.sources[next]);
        ++next;
        continue;
      }
      if (change->is_there) {
        sources.push_back(change->from);
      } else {
        ++next;
      }
      ++change;
    }
  }
  first_source[kPageNodes] = static_cast<std::uint32_t>(sources.size());
  sources.shrink_to_fit();
  page.first_source = first_source;
  page.sources = std::move(sources);
}

void ArcWriter::UpdateReach(NodeNumber node) {
  const WorldPoint& position = graph_.PositionOf(node);
  PlacedNode placed{.position = position, .number = node, .reach = Box::Around(position.x, position.y, 0.0)};
  for (const Arc& arc : graph_.ArcsOf(node)) {
    if (!arc.is_auto()) {
      const WorldPoint& end = graph_.PositionOf(arc.to);
      placed.reach = placed.reach.And(Box::Around(end.x, end.y, 0.0));
    }
  }
  graph_.places_.Remove(placed, owner_);
  graph_.places_.Put(placed, owner_);
}

}  // namespace waystar::core
