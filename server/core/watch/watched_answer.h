// A watched answer to a path query on a grid, and the test whether a change makes it out of date.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/components/nearest_connected.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/map_changes.h"
#include "server/core/portal/portal_search.h"
#include "server/core/portal/portal_validation.h"
#include "server/core/search/query.h"
#include "server/core/watch/cost_bound.h"
#include "server/core/watch/kept_answer.h"
#include "server/core/watch/shortcut_ends.h"

namespace waystar::core {

// A change split into cells that were opened or change their cost, and cells that were blocked.
struct SplitChange {
  WordChange opened;
  WordChange closed;
};

// `change` is one of MapChanges::walkability, and `map` the map after it.
SplitChange Split(const WordChange& change, const GridMap& map);

// Returns the cells from the first changed one of a word to the last. REQUIRES: one has changed.
Rectangle BoundsOf(const WordChange& change);

// Returns whether a change of these cells may make a path cheaper than the bound. `gap` is that to the
// nearest shortcut, or less.
bool MayBeCheaperBy(const WordChange& change, const CostBound& bound, const LeastCosts& least, double gap);

// What a change may mean for agents that see other terrains, held against many answers.
struct ViewChanges {
  // With so many words, where a path may be concerned by their bounds is all that is asked.
  static constexpr std::size_t kMaxWords = 256;

  ViewChanges(const MapChanges& changes, const ShortcutEnds& ends);

  bool is_everything = false;
  // Each with all its cells. No words if they are too many.
  std::vector<WordChange> words;
  std::vector<double> gaps;
  // Around all words; empty if nothing was touched.
  Rectangle bounds;
  double gap = kNoShortcut;
};

// Immutable, but movable.
//
// An answer holds while its path can be walked at the same cost and no other is cheaper; an equally cheap
// other path does not end it. Where there is no path it holds while there is none. An any-angle path cheaper
// than FindPath's often exists without FindPath finding it: for such queries an answer may hold although
// FindPath on another map returns a dearer one.
class WatchedAnswer final : public KeptAnswer {
 public:
  enum class Kind : std::uint8_t {
    // The path leads to the goal.
    kPath,
    // The path leads to the cell that the unreachable policy chose.
    kPartial,
    // There is no path, or start or goal is blocked.
    kNoPath,
    // What the answer depends on is unknown, for example because the search was cut short.
    kUncertain,
  };

  // What an answer depends on.
  enum class Basis : std::uint8_t {
    // Which cells of the map can be walked on, what they cost, and portals.
    kMap,
    // The same of a view of the map, in which other terrains can be entered, or cost something else.
    kView,
    // More than that.
    kMore,
  };

  // `result` is the answer to `query` on `map`, which is what its agent sees. The path is copied.
  WatchedAnswer(const GridMap& map, const PathQuery& query, const absl::StatusOr<PortalPath>& result,
                Basis basis = Basis::kMap);

  Kind kind() const { return kind_; }
  // Returns whether it depends on a view of the map.
  bool is_of_view() const { return basis_ == Basis::kView; }
  const PathQuery& query() const { return query_; }
  // Returns whether there is a path, to the goal or elsewhere.
  bool has_path() const { return error_.ok() && outcome_ != Outcome::kUnreachable; }
  Connectivity connectivity() const { return connectivity_; }
  // Returns the same answer, which holds on another map too. `map` is what its agent sees. REQUIRES:
  // has_path(); the map has the same connectivity.
  WatchedAnswer On(const GridMap& map, Basis basis) const;
  // Returns the cells of kPath and kPartial, else nothing. See DependentCells.
  const std::vector<WordChange>& cells() const { return cells_; }
  // REQUIRES: kPath or kPartial.
  const CostBound& bound() const { return bound_; }

  // Returns whether the path depends on a cell of a word.
  bool DependsOn(const WordChange& change) const;

  // Returns the bound of the answer on a map with these shortcuts.
  CostBound BoundWith(const ShortcutEnds& ends) const;

  // Returns, for kPartial and kNoPath, whether cells may have become reachable, or start or goal free or
  // blocked, which no path tells. `map` is the map after a change that opened cells if `has_opened`: only
  // then more can be reached. `buffer` and `nearest` are working memory.
  bool MayReachElse(const GridMap& map, bool has_opened, NearestConnectedBuffer& buffer,
                    std::vector<Cell>& nearest) const;

  // Returns whether the answer may not hold any more after a change. It is never false if it does not hold;
  // PathWatchIndex finds the same answers among many at once. `map` is the map after the change, not a view,
  // and `ends` are its shortcuts.
  bool MayBeOutdatedBy(const MapChanges& changes, const GridMap& map, const ShortcutEnds& ends) const;

  bool MayEndBy(const MapChanges& changes, const MapSnapshot& snapshot) const override;

  // The same for an answer that depends on a view. `bound` is that with the shortcuts of the map.
  bool MayBeOutdatedInView(const ViewChanges& changes, const CostBound& bound) const;

  // Returns whether `result`, the answer to the same query on `map`, says that this one does not hold there.
  // `required_tags` are those of the query.
  bool IsOutdatedBy(const GridMap& map, const absl::StatusOr<PortalPath>& result,
                    absl::Span<const std::string> required_tags = {}) const;

 private:
  // Returns whether a lies nearer to the goal.
  bool IsNearer(const GridMap& map, Cell a, Cell b) const;
  void TakePath(const GridMap& map, const PortalPath& result);
  Kind KindOn(const GridMap& map) const;
  bool CanStillBeWalked(const GridMap& map, absl::Span<const std::string> required_tags) const;

  PathQuery query_;
  Connectivity connectivity_;
  Basis basis_;
  Kind kind_ = Kind::kUncertain;
  // Set, instead of the rest, if the answer is an error.
  absl::Status error_;
  Outcome outcome_ = Outcome::kUnreachable;
  double cost_ = 0.0;
  // Costs that differ by less are equal: the difference may come from fixed-point rounding.
  double tolerance_ = 0.0;
  Cell end_;
  // The corners of the path, or the ends of its lines.
  std::vector<Cell> points_;
  bool is_lines_ = false;
  // If there are crossings, the points are all that the answer gave.
  std::vector<CrossedPortal> crossings_;
  std::vector<WordChange> cells_;
  // Around them.
  Rectangle cells_bounds_;
  CostBound bound_;
  // Those of the map that the agent sees; only views need them later.
  LeastCosts least_;
  // True if the agent could stand there.
  bool start_is_free_ = false;
  bool goal_is_free_ = false;
};

}  // namespace waystar::core
