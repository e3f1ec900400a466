#include "server/core/watch/path_watch_index.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_row.h"

namespace waystar::core {
namespace {

// A path tile is one word wide.
constexpr int kPathTileRows = 32;
// Upper limit of region tiles per side, approximately.
constexpr int kRegionsPerSide = 16;
// Cheap areas kept, current and former, before the former ones are dropped.
constexpr std::size_t kMostPlaces = 64;

int CeilDiv(int a, int b) { return (a + b - 1) / b; }

int WordsAcross(int width) { return CeilDiv(width + 1, kWordBits); }

}  // namespace

PathWatchIndex::PathWatchIndex(int width, int height)
    : width_(width),
      height_(height),
      path_columns_(WordsAcross(width)),
      region_words_(std::max(1, CeilDiv(WordsAcross(width), kRegionsPerSide))),
      region_rows_(std::max(kWordBits, CeilDiv(height, kRegionsPerSide))),
      region_columns_(CeilDiv(path_columns_, region_words_)),
      paths_(static_cast<std::size_t>(path_columns_) *
             static_cast<std::size_t>(CeilDiv(height, kPathTileRows))),
      regions_(static_cast<std::size_t>(region_columns_) *
               static_cast<std::size_t>(CeilDiv(height, region_rows_))),
      region_gaps_(
          static_cast<std::size_t>(region_columns_) * static_cast<std::size_t>(CeilDiv(height, region_rows_)),
          kNoShortcut) {}

std::size_t PathWatchIndex::PathTileOf(const WordChange& word) const {
  return static_cast<std::size_t>(word.y / kPathTileRows) * static_cast<std::size_t>(path_columns_) +
         static_cast<std::size_t>(word.index);
}

std::size_t PathWatchIndex::RegionTileOf(const WordChange& word) const {
  return static_cast<std::size_t>(word.y / region_rows_) * static_cast<std::size_t>(region_columns_) +
         static_cast<std::size_t>(word.index / region_words_);
}

Rectangle PathWatchIndex::RegionTile(int column, int row) const {
  const int words = region_words_ * kWordBits;
  return {column * words - 1, row * region_rows_, words, region_rows_};
}

void PathWatchIndex::Add(Id id, std::shared_ptr<const WatchedAnswer> answer, const GridMap& map,
                         std::uint64_t revision) {
  const LeastCosts least = LeastCosts::BetweenCheapPlaces(map);
  if (size() == 0) {
    least_ = least;
  } else if (least.IsBelow(least_)) {
    ListRegionsAgain(least);
  }
  TakeShortcuts(map, revision);
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
    bounds_.emplace_back();
    marks_.push_back(mark_);
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  slots_by_id_.emplace(id, slot);
  slots_[slot].id = id;
  slots_[slot].answer = std::move(answer);
  bounds_[slot] = slots_[slot].answer->BoundWith(ends_);
  List(slot);
}

void PathWatchIndex::Remove(Id id) {
  const auto it = slots_by_id_.find(id);
  if (it == slots_by_id_.end()) {
    return;
  }
  const std::uint32_t index = it->second;
  slots_by_id_.erase(it);
  Slot& slot = slots_[index];
  if (IsOther(*slot.answer)) {
    slots_[others_.back()].other = slot.other;
    others_[slot.other] = others_.back();
    others_.pop_back();
  }
  paths_.Remove(
      slot.paths, [this](std::uint32_t other) -> auto& { return slots_[other].paths; });
  regions_.Remove(
      slot.regions, [this](std::uint32_t other) -> auto& { return slots_[other].regions; });
  slot.answer.reset();
  free_slots_.push_back(index);
}

void PathWatchIndex::List(std::uint32_t slot) {
  const WatchedAnswer& answer = *slots_[slot].answer;
  if (IsOther(answer)) {
    slots_[slot].other = others_.size();
    others_.push_back(slot);
  }
  if (HasListedPath(answer)) {
    ListPath(slot);
    ListRegion(slot);
  }
}

void PathWatchIndex::ListPath(std::uint32_t slot) {
  const std::vector<WordChange>& cells = slots_[slot].answer->cells();
  for (std::size_t begin = 0; begin < cells.size();) {
    const std::size_t tile = PathTileOf(cells[begin]);
    PathInTile part{.begin = static_cast<std::uint32_t>(begin), .first_row = cells[begin].y};
    std::size_t end = begin;
    for (; end < cells.size() && PathTileOf(cells[end]) == tile; ++end) {
      part.last_row = cells[end].y;
      part.bits |= cells[end].flipped;
    }
    part.end = static_cast<std::uint32_t>(end);
    paths_.Add(tile, slot, slots_[slot].paths, part);
    begin = end;
  }
}

void PathWatchIndex::ListRegion(std::uint32_t slot) {
  const CostBound& bound = bounds_[slot];
  if (bound.IsTight(least_)) {
    return;
  }
  // A path's cost limits its extent, unless it takes a shortcut.
  const double furthest =
      ends_.empty() ? bound.limit / bound.UnitOf(least_) + bound.footprint + 1 : std::max(width_, height_);
  const auto clamp = [](double value, int last) {
    return static_cast<int>(std::clamp(value, 0.0, static_cast<double>(last)));
  };
  const Cell start = bound.start;
  const int first_column = (clamp(start.x - furthest, width_ - 1) + 1) / (region_words_ * kWordBits);
  const int last_column = (clamp(start.x + furthest, width_ - 1) + 1) / (region_words_ * kWordBits);
  const int first_row = clamp(start.y - furthest, height_ - 1) / region_rows_;
  const int last_row = clamp(start.y + furthest, height_ - 1) / region_rows_;
  for (int row = first_row; row <= last_row; ++row) {
    for (int column = first_column; column <= last_column; ++column) {
      const std::size_t tile = static_cast<std::size_t>(row) * static_cast<std::size_t>(region_columns_) +
                               static_cast<std::size_t>(column);
      if (bound.MayBeCheaperBy(RegionTile(column, row), least_, region_gaps_[tile])) {
        regions_.Add(tile, slot, slots_[slot].regions, {});
      }
    }
  }
}

void PathWatchIndex::ListRegionsAgain(const LeastCosts& least) {
  least_.Lower(least);
  for (const auto& [id, slot] : slots_by_id_) {
    regions_.Remove(
        slots_[slot].regions, [this](std::uint32_t other) -> auto& { return slots_[other].regions; });
    if (HasListedPath(*slots_[slot].answer)) {
      ListRegion(slot);
    }
  }
}

void PathWatchIndex::TakeShortcuts(const GridMap& map, std::uint64_t revision) {
  if (revision < ends_revision_) {
    return;
  }
  ends_revision_ = revision;
  floor_ = map.cost_floor();
  ShortcutEnds portals = ShortcutEnds::OfPortals(map);
  if (portals == portals_ && ends_.size() <= portals_.size() + kMostPlaces) {
    if (!ends_.AddPlaces(floor_)) {
      return;
    }
  } else {
    portals_ = std::move(portals);
    ends_ = portals_;
    ends_.AddPlaces(floor_);
  }
  for (std::size_t tile = 0; tile < region_gaps_.size(); ++tile) {
    const auto column = static_cast<int>(tile % static_cast<std::size_t>(region_columns_));
    const auto row = static_cast<int>(tile / static_cast<std::size_t>(region_columns_));
    region_gaps_[tile] = ends_.GapTo(RegionTile(column, row));
  }
  for (const auto& [id, slot] : slots_by_id_) {
    bounds_[slot] = slots_[slot].answer->BoundWith(ends_);
  }
  ListRegionsAgain(least_);
}

void PathWatchIndex::FindAffected(const MapChanges& changes, const GridMap& map, std::vector<Id>& ids,
                                  std::uint64_t revision) {
  if (slots_by_id_.empty()) {
    // The next Add takes the shortcuts of its map.
    return;
  }
  const bool has_other_floor = !(map.cost_floor() == floor_);
  if (changes.portals || has_other_floor) {
    TakeShortcuts(map, revision);
  }
  // The stored shortcuts may be of a later revision.
  if (changes.is_everything || changes.portals || (has_other_floor && revision < ends_revision_)) {
    for (const auto& [id, slot] : slots_by_id_) {
      ids.push_back(id);
    }
    return;
  }
  const LeastCosts least = LeastCosts::BetweenCheapPlaces(map);
  if (least.IsBelow(least_)) {
    ListRegionsAgain(least);
  }
  opened_.clear();
  closed_.clear();
  for (const WordChange& change : changes.walkability) {
    const SplitChange split = Split(change, map);
    if (split.opened.flipped != 0) {
      opened_.push_back(split.opened);
    }
    if (split.closed.flipped != 0) {
      closed_.push_back(split.closed);
    }
  }
  const bool has_opened = !opened_.empty();
  opened_.insert(opened_.end(), changes.cost.begin(), changes.cost.end());
  closed_.insert(closed_.end(), changes.cost.begin(), changes.cost.end());
  ++mark_;
  found_.clear();
  CheckClosed(closed_);
  CheckOpened(opened_, least);
  CheckOthers(has_opened, changes, map);
  for (const std::uint32_t slot : found_) {
    ids.push_back(slots_[slot].id);
  }
}

void PathWatchIndex::Mark(std::uint32_t slot) {
  marks_[slot] = mark_;
  found_.push_back(slot);
}

void PathWatchIndex::CheckClosed(absl::Span<const WordChange> closed) {
  for (const WordChange& change : closed) {
    for (const auto& listed : paths_.At(PathTileOf(change))) {
      const PathInTile& part = listed.value;
      if ((part.bits & change.flipped) == 0 || change.y < part.first_row || change.y > part.last_row ||
          IsMarked(listed.slot)) {
        continue;
      }
      const auto cells =
          absl::MakeConstSpan(slots_[listed.slot].answer->cells()).subspan(part.begin, part.end - part.begin);
      const auto it = std::lower_bound(cells.begin(), cells.end(), change.y,
                                       [](const WordChange& word, std::int32_t row) { return word.y < row; });
      if (it != cells.end() && it->y == change.y && (it->flipped & change.flipped) != 0) {
        Mark(listed.slot);
      }
    }
  }
}

void PathWatchIndex::CheckOpened(absl::Span<const WordChange> opened, const LeastCosts& least) {
  if (opened.empty()) {
    return;
  }
  std::sort(opened_.begin(), opened_.end(),
            [this](const WordChange& a, const WordChange& b) { return RegionTileOf(a) < RegionTileOf(b); });
  for (std::size_t begin = 0; begin < opened.size();) {
    const std::size_t tile = RegionTileOf(opened[begin]);
    Rectangle bounds;
    std::size_t end = begin;
    for (; end < opened.size() && RegionTileOf(opened[end]) == tile; ++end) {
      const WordChange& change = opened[end];
      const int first = change.index * kWordBits - 1;
      bounds = Extend(Extend(bounds, {first + std::countr_zero(change.flipped), change.y}),
                      {first + kWordBits - 1 - std::countl_zero(change.flipped), change.y});
    }
    const double gap = ends_.GapTo(bounds);
    const auto words = opened.subspan(begin, end - begin);
    word_gaps_.clear();
    for (const auto& listed : regions_.At(tile)) {
      const CostBound& bound = bounds_[listed.slot];
      if (!bound.MayBeCheaperBy(bounds, least, gap) || IsMarked(listed.slot)) {
        continue;
      }
      if (word_gaps_.empty()) {
        for (const WordChange& change : words) {
          word_gaps_.push_back(ends_.GapTo(BoundsOf(change)));
        }
      }
      for (std::size_t i = 0; i < words.size() && !IsMarked(listed.slot); ++i) {
        if (MayBeCheaperBy(words[i], bound, least, word_gaps_[i])) {
          Mark(listed.slot);
        }
      }
    }
    begin = end;
  }
}

void PathWatchIndex::CheckOthers(bool has_opened, const MapChanges& changes, const GridMap& map) {
  std::optional<ViewChanges> in_views;
  for (const std::uint32_t slot : others_) {
    const WatchedAnswer& answer = *slots_[slot].answer;
    if (IsMarked(slot)) {
      continue;
    }
    if (!in_views && answer.is_of_view()) {
      in_views.emplace(changes, ends_);
    }
    if (answer.kind() == WatchedAnswer::Kind::kUncertain ||
        (answer.is_of_view()
             ? answer.MayBeOutdatedInView(*in_views, bounds_[slot])
             : !changes.walkability.empty() && answer.MayReachElse(map, has_opened, buffer_, nearest_))) {
      Mark(slot);
    }
  }
}

}  // namespace waystar::core
