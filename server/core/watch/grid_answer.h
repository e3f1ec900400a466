// Answer to a subscribed path query on a grid, and the test whether a change invalidates it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/elements/map_changes.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/path/validate_path.h"
#include "server/core/grid/portal/portal_search.h"
#include "server/core/search/query.h"
#include "server/core/watch/cost_bound.h"
#include "server/core/watch/course.h"
#include "server/core/watch/kept_answer.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Returns the bounds of the changed cells in a word.
// REQUIRES: `flipped` is not 0.
Rectangle BoundsOf(const WordChange& change);

// A change of a grid, prepared for comparison with many answers.
class GridChange {
 public:
  // Where a change may end an answer of the map's own agents.
  struct Reach {
    // Bounds of the cells that the path depends on.
    Rectangle path;
    CostBound cheaper;
    // True if changes elsewhere may end the answer too.
    bool is_unlimited = false;
  };

  // Both arguments must outlive this. `map` is the map after the change.
  GridChange(const MapChanges& changes, const GridMap& map);

  // Returns true if the change may end every answer.
  bool ends_all() const { return may_end_all_; }
  // Returns true if the change may end an answer with this reach.
  bool MayEnd(const Reach& reach) const {
    return may_end_all_ || reach.is_unlimited || MayBlock(blocked_, reach.path) ||
           MayOpen(opened_, reach.cheaper, least_);
  }

 private:
  friend class GridAnswer;
  friend class GridTiles;

  // Changed cells of a word, their bounds, and the distance of these from the nearest shortcut end.
  struct ChangedWord {
    WordChange cells;
    Rectangle bounds;
    double gap = ShortcutEnds::kNone;
  };
  // Changed cells with their bounds.
  struct Words {
    // Beyond this many words, only their bounds decide whether a path may be cheaper.
    static constexpr std::size_t kMost = 1024;

    std::vector<ChangedWord> words;
    Rectangle bounds;
    double gap = ShortcutEnds::kNone;
  };

  static void Add(const WordChange& cells, Words& words);
  static bool MayBlock(const Words& words, const Rectangle& path) {
    return !Intersect(words.bounds, path).empty();
  }
  // Returns true if the cells may make a path cheaper, judged by their common bounds.
  bool MayOpen(const Words& words, const CostBound& bound, const LeastCosts& least) const {
    return !words.bounds.empty() && bound.MayBeCheaperBy(words.bounds, {least, shortcuts_}, words.gap);
  }
  // Returns the same, judged cell by cell.
  bool MayBeCheaper(const Words& words, const CostBound& bound, const LeastCosts& least) const;

  const MapChanges& changes_;
  const GridMap& map_;
  const LeastCosts least_;
  const ShortcutEnds shortcuts_;
  const bool may_end_all_;
  // Cells that were blocked or changed their cost, and cells that were opened or changed their cost.
  Words blocked_;
  Words opened_;
  // Whole words that may have changed for agents with a view of the map.
  Words seen_;
};

// An answer holds while its path is passable at the same cost and no path is cheaper; an equally cheap
// alternative does not end it. An answer without a path holds while no path exists. FindPath may miss
// cheaper any-angle paths: for such queries an answer may hold although FindPath on another map returns a
// costlier one.
//
// Thread safety: immutable.
class GridAnswer final : public KeptAnswer {
 public:
  using Change = GridChange;

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
  GridAnswer(const GridMap& map, const PathQuery& query, const absl::StatusOr<PortalPath>& result,
             Basis basis = Basis::kMap);

  const PathQuery& query() const { return query_; }
  // Returns true if there is a path, to the goal or elsewhere.
  bool has_path() const { return error_.ok() && outcome_ != Outcome::kUnreachable; }
  Connectivity connectivity() const { return connectivity_; }
  const GridChange::Reach& reach() const { return reach_; }
  // Returns the cells that the path depends on, as the bits of `flipped`. Words are unique.
  const std::vector<WordChange>& cells() const { return cells_; }
  // Returns the same answer for another map on which it holds too, as seen by the agent.
  // REQUIRES: has_path(); the map has the same connectivity.
  GridAnswer On(const GridMap& map, Basis basis) const;

  // Returns true if the answer may no longer hold after a change. Never false if it does not hold.
  ChangeEffect EffectOf(const GridChange& change) const;
  ChangeEffect EffectOf(const MapChanges& changes, const MapSnapshot& snapshot) const override;
  std::size_t bytes() const override {
    return sizeof(*this) + kIndexBytes + points_.size() * (sizeof(Cell) + sizeof(WorldPoint)) +
           cells_.size() * sizeof(WordChange);
  }
  Course CourseOn(const MapSnapshot& snapshot) const override;
  // Known for paths to the goal by the map's own costs, without portals. RestOn also is for other answers
  // with a path, on the map as seen by the agent.
  std::shared_ptr<const KeptAnswer> Rest(const Course::Place& place,
                                         const MapSnapshot& snapshot) const override;

  // Maps that portals of the path lead to, and sorted tags that its portals must have.
  struct Ways {
    World& world;
    absl::Span<const std::string> required_tags = {};
  };
  std::shared_ptr<GridAnswer> RestOn(const GridMap& map, const Course::Place& place, const Ways& ways) const;

  // Returns true if `result`, the answer to the same query on `map`, shows that this answer does not hold
  // there.
  bool IsOutdatedBy(const GridMap& map, const absl::StatusOr<PortalPath>& result, const Ways& ways) const;

 private:
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

  // Sets the fields that depend on the map and the basis.
  void Place(const GridMap& map, Basis basis);
  Kind KindOn(const GridMap& map) const;
  void TakePath(const GridMap& map, const PortalPath& result);
  // Sets the fields that depend on the points and the cost.
  void TakeReach(const GridMap& map);
  // Returns the validity of the path on another map.
  absl::StatusOr<Validation> Validate(const GridMap& map, const Ways& ways) const;
  // Returns true if the path depends on a changed cell.
  bool DependsOn(const GridChange::Words& words) const;
  // For kPartial and kNoPath: returns true if more cells may be reachable, or the start or goal was freed or
  // blocked. `has_opened` says that the change opened cells; only then can more be reached.
  bool MayReachElse(const GridMap& map, bool has_opened) const;
  // Returns true if `a` is closer to the goal than `b`.
  bool IsNearer(const GridMap& map, Cell a, Cell b) const;
  bool CanStillBeWalked(const GridMap& map, const Ways& ways) const;

  PathQuery query_;
  Connectivity connectivity_;
  Basis basis_ = Basis::kMore;
  Kind kind_ = Kind::kUncertain;
  // If not OK, the answer is this error and the path is unset.
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
  // Number of points before the path leaves the map.
  std::size_t points_on_map_ = 0;
  // Cells that the path depends on, as the bits of `flipped`. Words are unique and sorted by word index, then
  // row.
  std::vector<WordChange> cells_;
  GridChange::Reach reach_;
  // Least costs of the map as seen by the agent; used for views only.
  LeastCosts least_;
  // True if the agent fits at the start, or the goal.
  bool start_is_free_ = false;
  bool goal_is_free_ = false;
};

// Index of answers by the tiles of a map. Each tile lists, by their place in a vector, the answers whose path
// passes it, and those for which a cheaper path may pass it. Memory: at most 550 bytes for each answer.
//
// Thread safety: none.
class GridTiles {
 public:
  using AnswerAt = absl::FunctionRef<const GridAnswer&(std::size_t place)>;

  // Makes an empty index. All revisions have the size of `map`.
  explicit GridTiles(const GridMap& map);

  void Add(std::size_t place, const GridAnswer& answer) { Mark(place, answer, true); }
  void Remove(std::size_t place, const GridAnswer& answer) { Mark(place, answer, false); }

  // Returns the places of answers that the change may end, as bits, or null if it may be any of the `count`
  // answers. Valid until the next call.
  const std::vector<Word>* Find(const GridChange& change, std::size_t count, AnswerAt answer_at);

 private:
  using Bits = std::vector<Word>;
  // A list of answers for each square tile of the map.
  struct Layer {
    Layer(const Rectangle& map, int min_side, int max_tiles_per_side);

    // Side of a tile in cells, and tiles in a row.
    int side;
    int columns;
    std::vector<Bits> tiles;
  };

  static void Set(Bits& bits, std::size_t place, bool value);
  void Mark(std::size_t place, const GridAnswer& answer, bool value);
  void MarkRegion(std::size_t place, const GridAnswer& answer, bool value);
  // Adds the answers of the tiles that the cells touch to found_.
  void Take(const Rectangle& cells, Layer& layer);
  // Calls visit(list of the tile, cells of the tile) for each tile that the cells touch.
  template <typename Visitor>
  void VisitTiles(const Rectangle& cells, Layer& layer, Visitor visit);

  const Rectangle map_;
  // Answers whose path passes a tile, and answers of which a cheaper path may pass it.
  Layer paths_;
  Layer regions_;
  // Answers that a change anywhere may end.
  Bits everywhere_;
  // Lower bound of the costs of all maps seen; the regions are based on it.
  LeastCosts least_;
  Bits found_;
};

}  // namespace waystar::core
