// Index of the subscribed answers of a grid; finds those that a change affects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "server/core/elements/map_changes.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/watch/cost_bound.h"
#include "server/core/watch/tile_lists.h"
#include "server/core/watch/watched_answer.h"

namespace waystar::core {

// Lists answers by the map tiles in which a change may affect them. The path lists hold the tiles that an
// answer's path passes, for blocked cells. The region lists hold the tiles where a cheaper path could pass,
// for cells that are opened or change their cost. A path as cheap as open ground is in no region list. A
// change that affects no answer costs a scan of the lists of its tiles; answers without a path, and answers
// of views, cost one check each.
//
// Thread safety: none.
class PathWatchIndex {
 public:
  // Caller-assigned id of a subscription.
  using Id = std::uint64_t;

  // Creates an index for maps of this size, which is the same for all revisions of a map.
  PathWatchIndex(int width, int height);

  // Adds an answer that holds on `map`, which may be older than maps seen before.
  // REQUIRES: the id is not present.
  void Add(Id id, std::shared_ptr<const WatchedAnswer> answer, const GridMap& map,
           std::uint64_t revision = 0);
  // Does nothing if the id is not present.
  void Remove(Id id);
  std::size_t size() const { return slots_by_id_.size(); }
  // Returns the shortcuts that answers are checked against: those of the map and some former ones.
  const ShortcutEnds& shortcuts() const { return ends_; }

  // Appends the ids of the answers that may no longer hold: MayBeOutdatedBy with shortcuts(), or all answers
  // if shortcuts() is of a later revision. `map` is the map after the changes.
  void FindAffected(const MapChanges& changes, const GridMap& map, std::vector<Id>& ids,
                    std::uint64_t revision = 0);

 private:
  // The cells of one tile that a path depends on.
  struct PathInTile {
    // Range in the answer's cells().
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    // Rows of these cells, and the union of their bits.
    std::int32_t first_row = 0;
    std::int32_t last_row = 0;
    Word bits = 0;
  };

  struct Slot {
    Id id = 0;
    // Null if the slot is free.
    std::shared_ptr<const WatchedAnswer> answer;
    std::vector<TileEntry> paths;
    std::vector<TileEntry> regions;
    // Index in others_, if the answer is listed there.
    std::size_t other = 0;
  };

  void List(std::uint32_t slot);
  void ListPath(std::uint32_t slot);
  void ListRegion(std::uint32_t slot);
  void ListRegionsAgain(const LeastCosts& least);
  // Updates the shortcuts and relists all regions if the map's shortcuts are new; ignores older maps.
  void TakeShortcuts(const GridMap& map, std::uint64_t revision);
  // Returns true if the answer belongs to others_: no path to the goal, uncertain, or of a view.
  static bool IsOther(const WatchedAnswer& answer) {
    return answer.kind() != WatchedAnswer::Kind::kPath || answer.is_of_view();
  }
  // Returns true if the answer's path is in the path lists.
  static bool HasListedPath(const WatchedAnswer& answer) {
    return !answer.is_of_view() &&
           (answer.kind() == WatchedAnswer::Kind::kPath || answer.kind() == WatchedAnswer::Kind::kPartial);
  }
  void CheckClosed(absl::Span<const WordChange> closed);
  void CheckOpened(absl::Span<const WordChange> opened, const LeastCosts& least);
  // Checks the answers of others_.
  void CheckOthers(bool has_opened, const MapChanges& changes, const GridMap& map);
  void Mark(std::uint32_t slot);
  bool IsMarked(std::uint32_t slot) const { return marks_[slot] == mark_; }

  std::size_t PathTileOf(const WordChange& word) const;
  std::size_t RegionTileOf(const WordChange& word) const;
  Rectangle RegionTile(int column, int row) const;

  const int width_;
  const int height_;
  const int path_columns_;
  // Size of a region tile in words and in rows.
  const int region_words_;
  const int region_rows_;
  const int region_columns_;

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  absl::flat_hash_map<Id, std::uint32_t> slots_by_id_;
  // Bounds of all slots, stored contiguously for speed.
  std::vector<CostBound> bounds_;
  TileLists<PathInTile> paths_;
  struct Nothing {};
  TileLists<Nothing> regions_;
  std::vector<std::uint32_t> others_;
  // Lower bounds of the costs of all maps seen; the region lists are based on them.
  LeastCosts least_;
  // Shortcuts that the region lists are based on: the map's portals, its cheap areas and some former ones.
  ShortcutEnds ends_;
  ShortcutEnds portals_;
  CostFloor floor_;
  std::uint64_t ends_revision_ = 0;
  std::vector<double> region_gaps_;

  // State of one FindAffected call: slots already found are marked.
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
