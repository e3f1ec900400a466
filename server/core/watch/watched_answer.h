// The answer to a path query that somebody watches, and what it takes to make it out of date.
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

namespace waystar::core {

// How far cells of a change may concern paths: those that can be walked on now or cost something else, apart
// from those that are blocked now.
struct SplitChange {
  WordChange opened;
  WordChange closed;
};

// `change` is one of MapChanges::walkability, and `map` the map after it.
SplitChange Split(const WordChange& change, const GridMap& map);

// Immutable but for moves.
//
// An answer holds while its path can be walked at the same cost and no other is cheaper; an equally cheap
// other path does not end it. Where there is no path it holds while there is none. Paths of any angle are
// cheaper than what FindPath gives more often than it finds out: for them an answer may hold although
// FindPath on another map gives a dearer one.
class WatchedAnswer {
 public:
  enum class Kind : std::uint8_t {
    // To the goal.
    kPath,
    // To the cell that the unreachable policy chose.
    kPartial,
    // There is none, or start or goal are blocked.
    kNoPath,
    // What it depends on is not known: the search was cut short, say.
    kUncertain,
  };

  // `result` is the answer to `query` on `map`. `is_uncertain` if it depends on more than on what cells can
  // be walked on and what they cost; on a map with portals it always does. The path is copied.
  WatchedAnswer(const GridMap& map, const PathQuery& query, const absl::StatusOr<PortalPath>& result,
                bool is_uncertain = false);

  Kind kind() const { return kind_; }
  const PathQuery& query() const { return query_; }
  // Of kPath and kPartial; empty else. See DependentCells.
  const std::vector<WordChange>& cells() const { return cells_; }
  // Of kPath and kPartial.
  const CostBound& bound() const { return bound_; }

  // Whether the path depends on a cell of a word.
  bool DependsOn(const WordChange& change) const;

  // Whether a change of these cells may make a path cheaper.
  bool MayBeCheaperBy(const WordChange& change, const LeastCosts& least) const;

  // Whether cells can be reached that could not, or start and goal be stood on or no longer: of kPartial and
  // kNoPath, which no path tells of. `map` is the map after a change that opened cells if `has_opened`: only
  // then more can be reached. `buffer` and `nearest` are working memory.
  bool MayReachElse(const GridMap& map, bool has_opened, NearestConnectedBuffer& buffer,
                    std::vector<Cell>& nearest) const;

  // Whether the answer may not hold any more after a change. Never false if it does not; PathWatchIndex gives
  // the same answer for many at once. `map` is the map after the change.
  bool MayBeOutdatedBy(const MapChanges& changes, const GridMap& map) const;

  // Whether `result`, the answer to the same query on `map`, says that this one does not hold there.
  // `required_tags` are those of the query.
  bool IsOutdatedBy(const GridMap& map, const absl::StatusOr<PortalPath>& result,
                    absl::Span<const std::string> required_tags = {}) const;

 private:
  // Whether a lies nearer to the goal.
  bool IsNearer(const GridMap& map, Cell a, Cell b) const;
  void TakePath(const GridMap& map, const PortalPath& result);
  bool CanStillBeWalked(const GridMap& map, absl::Span<const std::string> required_tags) const;

  PathQuery query_;
  Kind kind_ = Kind::kUncertain;
  // Of an error, instead of the rest.
  absl::Status error_;
  Outcome outcome_ = Outcome::kUnreachable;
  double cost_ = 0.0;
  // Costs that differ by less are the same: what counting in fixed point leaves open.
  double tolerance_ = 0.0;
  Cell end_;
  // Of the path: its corners, or the ends of its lines.
  std::vector<Cell> points_;
  bool is_lines_ = false;
  // With any, the points are all that the answer gave.
  std::vector<CrossedPortal> crossings_;
  std::vector<WordChange> cells_;
  CostBound bound_;
  // Where start and goal could be stood on.
  bool start_is_free_ = false;
  bool goal_is_free_ = false;
};

}  // namespace waystar::core
