#include "server/core/graph/map/arc_writer.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <utility>

#include "server/geometry/world_point.h"

namespace waystar::core {
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
