// Index of the watched answers of a map that finds those which a change concerns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "server/core/components/nearest_connected.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/map_changes.h"
#include "server/core/watch/cost_bound.h"
#include "server/core/watch/tile_lists.h"
#include "server/core/watch/watched_answer.h"

namespace waystar::core {

// The answers that are watched on one map, listed by the tiles of it where a change may concern them: once
// where their paths lie, for cells that are blocked, and once where a cheaper path could pass, for cells that
// are opened or change their cost. A path that is as cheap as on open ground is only in the first list. A
// change that concerns nobody costs a look at the lists of its tiles, whatever else is watched; answers
// without a path, and those of views, cost a look each.
//
// Thread safety: none.
class PathWatchIndex {
 public:
  // The id that the caller gives a subscription.
  using Id = std::uint64_t;

  // Makes an index for maps of this size, which all revisions of a map have.
  PathWatchIndex(int width, int height);

  // Adds an answer that holds on `map`, which may be older than others that were seen. REQUIRES: the id is
  // not there.
  void Add(Id id, std::shared_ptr<const WatchedAnswer> answer, const GridMap& map,
           std::uint64_t revision = 0);
  // Does nothing if the id is not there.
  void Remove(Id id);
  std::size_t size() const { return slots_by_id_.size(); }
  // Returns what answers are held against: the shortcuts of the map, and some that it had.
  const ShortcutEnds& shortcuts() const { return ends_; }

  // Appends the ids whose answer may not hold any more: those with MayBeOutdatedBy for shortcuts(), and all
  // if those are of a later revision. `map` is the new map.
  void FindAffected(const MapChanges& changes, const GridMap& map, std::vector<Id>& ids,
                    std::uint64_t revision = 0);

 private:
  // Where one path depends on cells of a tile.
  struct PathInTile {
    // The range of the answer's cells() that lie in the tile.
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    // The rows that they lie in, and all their bits together.
    std::int32_t first_row = 0;
    std::int32_t last_row = 0;
    Word bits = 0;
  };

  struct Slot {
    Id id = 0;
    // Null while the slot is free.
    std::shared_ptr<const WatchedAnswer> answer;
    std::vector<TileEntry> paths;
    std::vector<TileEntry> regions;
    // The place in `others_`, of an answer that is listed there.
    std::size_t other = 0;
  };

  void List(std::uint32_t slot);
  void ListPath(std::uint32_t slot);
  void ListRegion(std::uint32_t slot);
  void ListRegionsAgain(const LeastCosts& least);
  // Lists all regions again if the map has other shortcuts than were known, and is not older.
  void TakeShortcuts(const GridMap& map, std::uint64_t revision);
  // Returns whether the answer is among the others: those without a path to the goal, uncertain ones, and
  // those of views.
  static bool IsOther(const WatchedAnswer& answer) {
    return answer.kind() != WatchedAnswer::Kind::kPath || answer.is_of_view();
  }
  // Returns whether it has a path that is listed.
  static bool HasListedPath(const WatchedAnswer& answer) {
    return !answer.is_of_view() &&
           (answer.kind() == WatchedAnswer::Kind::kPath || answer.kind() == WatchedAnswer::Kind::kPartial);
  }
  void CheckClosed(absl::Span<const WordChange> closed);
  void CheckOpened(absl::Span<const WordChange> opened, const LeastCosts& least);
  // Checks answers without a path, if cells were opened, uncertain ones and those of views.
  void CheckOthers(bool has_opened, const MapChanges& changes, const GridMap& map);
  void Mark(std::uint32_t slot);
  bool IsMarked(std::uint32_t slot) const { return marks_[slot] == mark_; }

  std::size_t PathTileOf(const WordChange& word) const;
  std::size_t RegionTileOf(const WordChange& word) const;
  Rectangle RegionTile(int column, int row) const;

  const int width_;
  const int height_;
  const int path_columns_;
  // The side of a region tile in words, and in rows.
  const int region_words_;
  const int region_rows_;
  const int region_columns_;

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  absl::flat_hash_map<Id, std::uint32_t> slots_by_id_;
  // The bounds of all slots, kept together for speed.
  std::vector<CostBound> bounds_;
  TileLists<PathInTile> paths_;
  struct Nothing {};
  TileLists<Nothing> regions_;
  std::vector<std::uint32_t> others_;
  // The least costs that the regions are listed by: at most those of any map since.
  LeastCosts least_;
  // The shortcuts that they are listed by: the portals of the map, its cheap places and some former ones.
  ShortcutEnds ends_;
  ShortcutEnds portals_;
  CostFloor floor_;
  std::uint64_t ends_revision_ = 0;
  std::vector<double> region_gaps_;

  // For one call of FindAffected: which slots are found already.
  std::vector<std::uint32_t> marks_;
  std::uint32_t mark_ = 0;
  std::vector<std::uint32_t> found_;
  std::vector<WordChange> opened_;
  std::vector<WordChange> closed_;
  std::vector<double> word_gaps_;
  NearestConnectedBuffer buffer_;
  std::vector<Cell> nearest_;
};

}  // namespace waystar::core
