// Answer to a subscribed path query on a grid, and the test whether a change invalidates it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/elements/map_changes.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/portal/portal_search.h"
#include "server/core/grid/portal/portal_validation.h"
#include "server/core/search/query.h"
#include "server/core/watch/cost_bound.h"
#include "server/core/watch/kept_answer.h"
#include "server/core/watch/shortcut_ends.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// A change, split into cells that were opened or changed their cost and cells that were blocked.
struct SplitChange {
  WordChange opened;
  WordChange closed;
};

// `change` is one of MapChanges::walkability, and `map` the map after it.
SplitChange Split(const WordChange& change, const GridMap& map);

// Returns the bounds of the changed cells in a word.
// REQUIRES: `flipped` is not 0.
Rectangle BoundsOf(const WordChange& change);

// Returns true if a change of these cells may make a path cheaper than the bound. `gap` is a lower bound on
// the distance to the nearest shortcut.
bool MayBeCheaperBy(const WordChange& change, const CostBound& bound, const LeastCosts& least, double gap);

// Changes as seen by agents with views of the map, prepared for comparison with many answers.
struct ViewChanges {
  // With more words than this, only their common bounds are checked.
  static constexpr std::size_t kMaxWords = 256;

  ViewChanges(const MapChanges& changes, const ShortcutEnds& ends);

  bool is_everything = false;
  // Whole words. Empty if there are too many.
  std::vector<WordChange> words;
  std::vector<double> gaps;
  // Bounds of all words; empty if nothing was touched.
  Rectangle bounds;
  double gap = kNoShortcut;
};

// Immutable, but movable.
//
// An answer holds while its path is passable at the same cost and no path is cheaper; an equally cheap
// alternative does not end it. An answer without a path holds while no path exists. FindPath may miss
// cheaper any-angle paths: for such queries an answer may hold although FindPath on another map returns a
// costlier one.
class WatchedAnswer final : public KeptAnswer {
 public:
  enum class Kind : std::uint8_t {
    // The path leads to the goal.
    kPath,
    // The path leads to the cell that the unreachable policy chose.
    kPartial,
    // No path exists, or the start or goal is blocked.
    kNoPath,
    // The answer's dependencies are unknown, for example because the search was cut short.
    kUncertain,
  };

  // Dependencies of an answer.
  enum class Basis : std::uint8_t {
    // Walkability, costs and portals of the map.
    kMap,
    // The same for a view of the map, with other accessible terrains or other costs.
    kView,
    // More than the above.
    kMore,
  };

  // `result` is the answer to `query` on `map`, the map as seen by the agent. The path is copied.
  WatchedAnswer(const GridMap& map, const PathQuery& query, const absl::StatusOr<PortalPath>& result,
                Basis basis = Basis::kMap);

  Kind kind() const { return kind_; }
  // Returns true if the answer depends on a view of the map.
  bool is_of_view() const { return basis_ == Basis::kView; }
  const PathQuery& query() const { return query_; }
  // Returns true if there is a path, to the goal or elsewhere.
  bool has_path() const { return error_.ok() && outcome_ != Outcome::kUnreachable; }
  Connectivity connectivity() const { return connectivity_; }
  // Returns the same answer for another map on which it holds too, as seen by the agent.
  // REQUIRES: has_path(); the map has the same connectivity.
  WatchedAnswer On(const GridMap& map, Basis basis) const;
  // Returns the cells that the path depends on (DependentCells). Empty unless kPath or kPartial.
  const std::vector<WordChange>& cells() const { return cells_; }
  // REQUIRES: kPath or kPartial.
  const CostBound& bound() const { return bound_; }

  // Returns true if the path depends on a changed cell of the word.
  bool DependsOn(const WordChange& change) const;

  // Returns the answer's bound on a map with these shortcuts.
  CostBound BoundWith(const ShortcutEnds& ends) const;

  // For kPartial and kNoPath: returns true if more cells may be reachable, or the start or goal was freed or
  // blocked. `map` is the map after the change. `has_opened` says that the change opened cells; only then can
  // more be reached. `buffer` and `nearest` are scratch space.
  bool MayReachElse(const GridMap& map, bool has_opened, NearestConnectedBuffer& buffer,
                    std::vector<Cell>& nearest) const;

  // Returns true if the answer may no longer hold after a change. Never false if it does not hold.
  // PathWatchIndex applies the same test to many answers at once. `map` is the map after the change, not a
  // view, and `ends` are its shortcuts.
  bool MayBeOutdatedBy(const MapChanges& changes, const GridMap& map, const ShortcutEnds& ends) const;

  bool MayEndBy(const MapChanges& changes, const MapSnapshot& snapshot) const override;

  // As MayBeOutdatedBy, for an answer of a view. `bound` includes the map's shortcuts.
  bool MayBeOutdatedInView(const ViewChanges& changes, const CostBound& bound) const;

  // Returns true if `result`, the answer to the same query on `map`, shows that this answer does not hold
  // there. `required_tags` are those of the query.
  bool IsOutdatedBy(const GridMap& map, const absl::StatusOr<PortalPath>& result,
                    absl::Span<const std::string> required_tags = {}) const;

 private:
  // Returns true if `a` is closer to the goal than `b`.
  bool IsNearer(const GridMap& map, Cell a, Cell b) const;
  void TakePath(const GridMap& map, const PortalPath& result);
  Kind KindOn(const GridMap& map) const;
  bool CanStillBeWalked(const GridMap& map, absl::Span<const std::string> required_tags) const;

  PathQuery query_;
  Connectivity connectivity_;
  Basis basis_;
  Kind kind_ = Kind::kUncertain;
  // If not OK, the answer is this error and the fields below are unset.
  absl::Status error_;
  Outcome outcome_ = Outcome::kUnreachable;
  double cost_ = 0.0;
  // Smaller cost differences are treated as rounding errors.
  double tolerance_ = 0.0;
  Cell end_;
  // Corners of the path, or ends of its lines.
  std::vector<Cell> points_;
  bool is_lines_ = false;
  // Portals taken. If there are any, points_ has all points of the answer.
  std::vector<CrossedPortal> crossings_;
  std::vector<WordChange> cells_;
  // Bounds of cells_.
  Rectangle cells_bounds_;
  CostBound bound_;
  // Least costs of the map as seen by the agent; used for views only.
  LeastCosts least_;
  // True if the agent fits at the start, or the goal.
  bool start_is_free_ = false;
  bool goal_is_free_ = false;
};

}  // namespace waystar::core
