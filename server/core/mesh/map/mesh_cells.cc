#include "server/core/mesh/map/mesh_cells.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "server/base/error.h"
#include "server/core/mesh/map/cell_layer.h"
#include "server/core/mesh/map/plan.h"

namespace waystar::core {
namespace {

// A side is turned only if its two cells contain at most this many polygon means, since each must be checked.
constexpr std::uint32_t kMostSorted = 256;

// Sides are turned in passes, in several tries. The numbers of both are chosen so that this many polygons are
// visited in total, within limits.
constexpr std::size_t kTurnedPolygons = 64 * 1024;
constexpr std::size_t kFewestTurnPasses = 3;
constexpr std::size_t kMostTurnPasses = 8;
constexpr std::size_t kMostTurnTries = 8;
// In the first pass a side may become longer by up to this many times the mean length.
constexpr std::int64_t kFirstSlack = 4;

class CellMaker {
 public:
  CellMaker(const CellSources& sources, const StopCheck* stop)
      : sources_(sources),
        stop_(stop),
        cells_(sources.polygons.size()),
        next_(sources.polygons.size()),
        sums_(sources.polygons.size()) {
    points_.reserve(sources.vertices.size());
    for (const WorldPoint& vertex : sources.vertices) {
      points_.push_back(ToFixed(vertex));
    }
    for (PolygonNumber polygon = 0; polygon < cells_.size(); ++polygon) {
      const CellSource& source = sources.polygons[polygon];
      Cell& cell = cells_[polygon];
      for (std::uint32_t k = source.first_corner; k < source.first_corner + source.corner_count; ++k) {
        cell.loop.push_back({sources.corners[k], sources.neighbours[k]});
        const FixedPoint& point = points_[sources.corners[k]];
        sums_[polygon] = {sums_[polygon].x + point.x, sums_[polygon].y + point.y};
      }
      next_[polygon] = kNoPolygon;
      AddMean(polygon, cell);
    }
  }

  absl::StatusOr<MeshCells> Make() {
    Join();
    WAYSTAR_RETURN_IF_ERROR(stopped_);
    LeaveOut();
    NoteRooms();
    WAYSTAR_RETURN_IF_ERROR(TurnSides());
    return Numbered();
  }

 private:
  // A corner, and the cell across the side from it to the next corner.
  struct Corner {
    std::uint32_t vertex = 0;
    PolygonNumber beyond = kNoPolygon;
  };
  using Loop = std::vector<Corner>;

  // A cell. Cells that have been joined to others have no corners.
  struct Cell {
    Loop loop;
    // Linked list of the polygons whose means it contains; `next_` links them from first to last.
    PolygonNumber first = kNoPolygon;
    PolygonNumber last = kNoPolygon;
    std::uint32_t means = 0;
    // Number of changes to the cell.
    std::uint32_t version = 0;
  };

  struct Pair {
    // Squared length of the common side.
    double length = 0.0;
    PolygonNumber low = 0;
    PolygonNumber high = 0;
    std::uint32_t low_version = 0;
    std::uint32_t high_version = 0;

    bool operator<(const Pair& other) const {
      return std::tuple(length, other.low, other.high) < std::tuple(other.length, low, high);
    }
  };

  // Common sides of two cells: the range of sides in the loop of the first, and the same in the loop of the
  // other, whose sides run in the opposite direction.
  struct Seam {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t other_begin = 0;
    std::size_t other_end = 0;
  };

  static std::size_t After(const Loop& loop, std::size_t place) {
    return place + 1 < loop.size() ? place + 1 : 0;
  }
  static std::size_t Before(const Loop& loop, std::size_t place) {
    return place > 0 ? place - 1 : loop.size() - 1;
  }
  static std::size_t PlaceOf(const Loop& loop, std::uint32_t vertex) {
    std::size_t place = 0;
    while (place < loop.size() && loop[place].vertex != vertex) {
      ++place;
    }
    return place;
  }

  // Appends a list of polygons, of length `means`.
  void AddMeans(PolygonNumber first, PolygonNumber last, std::uint32_t means, Cell& cell) {
    if (first == kNoPolygon) {
      return;
    }
    (cell.first == kNoPolygon ? cell.first : next_[cell.last]) = first;
    cell.last = last;
    cell.means += means;
  }
  void AddMean(PolygonNumber polygon, Cell& cell) { AddMeans(polygon, polygon, 1, cell); }

  bool MayChange(PolygonNumber cell, PolygonNumber other) const {
    const CellSource& a = sources_.polygons[cell];
    const CellSource& b = sources_.polygons[other];
    return a.area == b.area && !a.is_dented && !b.is_dented &&
           (rooms_.empty() || rooms_[cell] == rooms_[other]);
  }

  // Returns true if the path over three vertices continues straight or turns left.
  bool IsConvex(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    const FixedPoint& from = points_[a];
    const FixedPoint& at = points_[b];
    const FixedPoint& to = points_[c];
    const Int128 side = SideOf(from, at, to);
    return side > 0 ||
           (side == 0 && Int128{at.x - from.x} * (to.x - at.x) + Int128{at.y - from.y} * (to.y - at.y) > 0);
  }
  bool IsConvexAt(const Loop& loop, std::size_t place) const {
    return IsConvex(loop[Before(loop, place)].vertex, loop[place].vertex, loop[After(loop, place)].vertex);
  }

  // Returns the seam if a cell with these corners and the other cell are convex together.
  std::optional<Seam> SeamOf(const Loop& a, PolygonNumber other) const {
    const Loop& b = cells_[other].loop;
    std::size_t count = 0;
    std::size_t begin = a.size();
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (a[k].beyond != other) {
        continue;
      }
      ++count;
      if (a[Before(a, k)].beyond != other) {
        // A wall may lie between two parts of a common side.
        if (begin != a.size()) {
          return std::nullopt;
        }
        begin = k;
      }
    }
    const std::size_t left = a.size() + b.size() - 2 * count;
    if (begin == a.size() || left < 3 || left > kMaxPolygonCorners) {
      return std::nullopt;
    }
    const std::size_t end = (begin + count) % a.size();
    const std::size_t other_end = PlaceOf(b, a[begin].vertex);
    const std::size_t other_begin = (other_end + b.size() - count) % b.size();
    if (!IsConvex(a[Before(a, begin)].vertex, a[begin].vertex, b[After(b, other_end)].vertex) ||
        !IsConvex(b[Before(b, other_begin)].vertex, a[end].vertex, a[After(a, end)].vertex)) {
      return std::nullopt;
    }
    return Seam{begin, end, other_begin, other_end};
  }

  void JoinAlong(const Seam& seam, PolygonNumber cell, PolygonNumber other) {
    const Loop& a = cells_[cell].loop;
    const Loop& b = cells_[other].loop;
    Loop joined;
    for (std::size_t k = seam.end; k != seam.begin; k = After(a, k)) {
      joined.push_back(a[k]);
    }
    for (std::size_t k = seam.other_end; k != seam.other_begin; k = After(b, k)) {
      joined.push_back(b[k]);
    }
    for (const Corner& corner : b) {
      if (corner.beyond != kNoPolygon && corner.beyond != cell) {
        for (Corner& across : cells_[corner.beyond].loop) {
          across.beyond = across.beyond == other ? cell : across.beyond;
        }
      }
    }
    AddMeans(cells_[other].first, cells_[other].last, cells_[other].means, cells_[cell]);
    cells_[cell].loop = std::move(joined);
    ++cells_[cell].version;
    cells_[other] = {.version = cells_[other].version + 1};
  }

  void Join() {
    std::priority_queue<Pair> pairs;
    const auto add = [&](PolygonNumber cell, PolygonNumber other) {
      const std::optional<Seam> seam =
          MayChange(cell, other) ? SeamOf(cells_[cell].loop, other) : std::nullopt;
      if (!seam) {
        return;
      }
      const Loop& loop = cells_[cell].loop;
      const WorldPoint& a = sources_.vertices[loop[seam->begin].vertex];
      const WorldPoint& b = sources_.vertices[loop[seam->end].vertex];
      const PolygonNumber low = std::min(cell, other);
      const PolygonNumber high = std::max(cell, other);
      pairs.push({SquaredPlanDistance(a, b), low, high, cells_[low].version, cells_[high].version});
    };
    for (PolygonNumber cell = 0; cell < cells_.size(); ++cell) {
      for (const Corner& corner : cells_[cell].loop) {
        if (corner.beyond != kNoPolygon && corner.beyond > cell) {
          add(cell, corner.beyond);
        }
      }
    }
    for (std::size_t i = 0; !pairs.empty(); ++i) {
      if (IsStoppedAt(i)) {
        return;
      }
      const Pair pair = pairs.top();
      pairs.pop();
      if (cells_[pair.low].version != pair.low_version || cells_[pair.high].version != pair.high_version) {
        continue;
      }
      JoinAlong(*SeamOf(cells_[pair.low].loop, pair.high), pair.low, pair.high);
      for (const Corner& corner : cells_[pair.low].loop) {
        if (corner.beyond != kNoPolygon) {
          add(pair.low, corner.beyond);
        }
      }
    }
  }

  // Removes corners that lie in the middle of a side of all cells that they touch.
  void LeaveOut() {
    std::vector<bool> is_needed(points_.size(), false);
    for (const Cell& cell : cells_) {
      for (std::size_t k = 0; k < cell.loop.size(); ++k) {
        const Corner& before = cell.loop[Before(cell.loop, k)];
        const Corner& at = cell.loop[k];
        const Corner& after = cell.loop[After(cell.loop, k)];
        if (before.beyond != at.beyond ||
            SideOf(points_[before.vertex], points_[at.vertex], points_[after.vertex]) != 0) {
          is_needed[at.vertex] = true;
        }
      }
    }
    for (Cell& cell : cells_) {
      std::erase_if(cell.loop, [&](const Corner& corner) { return !is_needed[corner.vertex]; });
    }
  }

  // Length in the units of points_, rounded down. Square roots are the same on every machine.
  std::int64_t LengthOf(std::uint32_t a, std::uint32_t b) const {
    const std::int64_t x = points_[b].x - points_[a].x;
    const std::int64_t y = points_[b].y - points_[a].y;
    return static_cast<std::int64_t>(std::sqrt(static_cast<double>(Int128{x} * x + Int128{y} * y)));
  }

  struct SideSum {
    Int128 length = 0;
    std::int64_t count = 0;
  };

  // Returns the sum of the sides between cells, each counted twice.
  SideSum SumOfSides() const {
    SideSum sum;
    for (const Cell& cell : cells_) {
      for (std::size_t k = 0; k < cell.loop.size(); ++k) {
        if (cell.loop[k].beyond != kNoPolygon) {
          sum.length += LengthOf(cell.loop[k].vertex, cell.loop[After(cell.loop, k)].vertex);
          ++sum.count;
        }
      }
    }
    return sum;
  }

  // Turns sides, and keeps the cells of the best of several tries.
  absl::Status TurnSides() {
    const SideSum joined = SumOfSides();
    if (joined.count == 0) {
      return absl::OkStatus();
    }
    const auto mean = static_cast<std::int64_t>(joined.length / joined.count);
    const std::size_t rounds = kTurnedPolygons / cells_.size();
    const std::size_t passes = std::clamp(rounds, kFewestTurnPasses, kMostTurnPasses);
    const std::size_t tries = std::clamp<std::size_t>(rounds / passes, 1, kMostTurnTries);
    const std::vector<Cell> cells = tries > 1 ? cells_ : std::vector<Cell>();
    const std::vector<PolygonNumber> next = tries > 1 ? next_ : std::vector<PolygonNumber>();
    std::vector<Cell> best_cells;
    std::vector<PolygonNumber> best_next;
    Int128 least = 0;
    for (std::size_t i = 0; i < tries; ++i) {
      if (i > 0) {
        cells_ = cells;
        next_ = next;
      }
      for (std::size_t left = passes; left > 0; --left) {
        TurnSides(kFirstSlack * mean / static_cast<std::int64_t>(passes) *
                  static_cast<std::int64_t>(left - 1));
        WAYSTAR_RETURN_IF_ERROR(stopped_);
        LeaveOut();
      }
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
      const SideSum turned = SumOfSides();
      const Int128 work = turned.length + Int128{mean} * turned.count;
      if (i == 0 || work < least) {
        least = work;
        best_cells.swap(cells_);
        best_next.swap(next_);
      }
    }
    cells_ = std::move(best_cells);
    next_ = std::move(best_next);
    return absl::OkStatus();
  }

  void TurnSides(std::int64_t slack) {
    std::vector<std::uint32_t> ends;
    for (PolygonNumber cell = 0; cell < cells_.size(); ++cell) {
      if (IsStoppedAt(cell)) {
        return;
      }
      ends.clear();
      for (const Corner& corner : cells_[cell].loop) {
        ends.push_back(corner.vertex);
      }
      for (const std::uint32_t end : ends) {
        TurnAbout(cell, end, slack);
      }
    }
  }

  // Determines the rooms. Sides between two rooms are not turned, because a search skips rooms that are not
  // on its path.
  void NoteRooms() {
    std::vector<PolygonNumber> beyond;
    std::vector<std::size_t> begin = {0};
    for (const Cell& cell : cells_) {
      for (const Corner& corner : cell.loop) {
        beyond.push_back(corner.beyond);
      }
      begin.push_back(beyond.size());
    }
    const auto neighbours_of = [&](PolygonNumber cell) {
      return absl::MakeConstSpan(beyond).subspan(begin[cell], begin[cell + 1] - begin[cell]);
    };
    rooms_ = FindMeshRooms(cells_.size(), neighbours_of, stop_).room_of;
  }

  // Turns a side of the cell that ends at `end`, if that makes another side unnecessary, shortens the side,
  // or lengthens it by less than a random number below `slack`.
  void TurnAbout(PolygonNumber cell, std::uint32_t end, std::int64_t slack) {
    const Loop& loop = cells_[cell].loop;
    const std::size_t place = PlaceOf(loop, end);
    if (place == loop.size()) {
      return;
    }
    for (const std::size_t side : {place, Before(loop, place)}) {
      const PolygonNumber beyond = loop[side].beyond;
      if (beyond == kNoPolygon || !MayChange(cell, beyond) ||
          cells_[cell].means + cells_[beyond].means > kMostSorted ||
          std::ranges::count(loop, beyond, &Corner::beyond) != 1) {
        continue;
      }
      if (IsFreeWithout(loop, side, end) && Turn(cell, beyond, side, end, slack)) {
        return;
      }
    }
  }

  // Returns true if the union of the two cells is convex at that end of the common side that is not `end`.
  bool IsFreeWithout(const Loop& a, std::size_t side, std::uint32_t end) const {
    const std::size_t after = After(a, side);
    const Loop& b = cells_[a[side].beyond].loop;
    if (a[side].vertex == end) {
      const std::size_t far = PlaceOf(b, a[after].vertex);
      return IsConvex(b[Before(b, far)].vertex, b[far].vertex, a[After(a, after)].vertex);
    }
    const std::size_t far = PlaceOf(b, a[side].vertex);
    return IsConvex(a[Before(a, side)].vertex, b[far].vertex, b[After(b, far)].vertex);
  }

  // Fills both_ with the corners of both cells, starting at the end of their common side that stays.
  void PutTogether(const Loop& a, const Loop& b, std::size_t side, std::uint32_t end) {
    const std::size_t after = After(a, side);
    both_.clear();
    for (std::size_t k = after; k != side; k = After(a, k)) {
      both_.push_back(a[k]);
    }
    for (std::size_t k = PlaceOf(b, a[side].vertex); b[k].vertex != a[after].vertex; k = After(b, k)) {
      both_.push_back(b[k]);
    }
    std::rotate(both_.begin(), both_.begin() + static_cast<std::ptrdiff_t>(PlaceOf(both_, end)), both_.end());
  }

  // Returns true if a side from the first corner of both_ to this one leaves two convex cells.
  bool IsSide(std::size_t to) const {
    const std::uint32_t end = both_.front().vertex;
    const std::uint32_t vertex = both_[to].vertex;
    return to + 1 <= kMaxPolygonCorners && both_.size() - to + 1 <= kMaxPolygonCorners &&
           IsConvex(both_[to - 1].vertex, vertex, end) && IsConvex(vertex, end, both_[1].vertex) &&
           IsConvex(end, vertex, both_[to + 1].vertex) && IsConvex(both_.back().vertex, end, vertex);
  }

  // Sets low_ and high_ to the corners of the two cells for a side from the first corner of both_ to this
  // one.
  void Part(PolygonNumber cell, PolygonNumber other, std::size_t to) {
    const auto middle = both_.begin() + static_cast<std::ptrdiff_t>(to);
    low_.assign(both_.begin(), middle);
    low_.push_back({middle->vertex, other});
    high_.assign(middle, both_.end());
    high_.push_back({both_.front().vertex, cell});
  }

  bool Turn(PolygonNumber cell, PolygonNumber other, std::size_t side, std::uint32_t end,
            std::int64_t slack) {
    const Loop& loop = cells_[cell].loop;
    const std::uint32_t far = loop[side].vertex == end ? loop[After(loop, side)].vertex : loop[side].vertex;
    PutTogether(loop, cells_[other].loop, side, end);
    std::int64_t least = LengthOf(end, far);
    std::size_t best = 0;
    for (std::size_t to = 2; to + 1 < both_.size(); ++to) {
      if (both_[to].vertex == far || !IsSide(to)) {
        continue;
      }
      Part(cell, other, to);
      // The cells have narrowed only at the ends of the new side, so only neighbours there can now be joined.
      const PolygonNumber with_cell = FindJoin(cell, low_, {both_.front().beyond, both_[to - 1].beyond});
      const PolygonNumber with_other = with_cell == kNoPolygon
                                           ? FindJoin(other, high_, {both_[to].beyond, both_.back().beyond})
                                           : kNoPolygon;
      if (with_cell != kNoPolygon || with_other != kNoPolygon) {
        SetTurned(cell, other, to);
        const PolygonNumber turned = with_cell != kNoPolygon ? cell : other;
        const PolygonNumber joined = with_cell != kNoPolygon ? with_cell : with_other;
        JoinAlong(*SeamOf(cells_[turned].loop, joined), turned, joined);
        return true;
      }
      const std::int64_t length = LengthOf(end, both_[to].vertex) - AnyNumber(slack);
      if (length < least) {
        least = length;
        best = to;
      }
    }
    if (best == 0) {
      return false;
    }
    SetTurned(cell, other, best);
    return true;
  }

  void SetTurned(PolygonNumber cell, PolygonNumber other, std::size_t to) {
    Part(cell, other, to);
    cells_[cell].loop = low_;
    cells_[other].loop = high_;
    TellNeighbours(cell);
    TellNeighbours(other);
    SortMeans(cell, other, both_[to].vertex, both_.front().vertex);
  }

  // Returns the first of these neighbours that is convex together with the cell, assuming these corners.
  PolygonNumber FindJoin(PolygonNumber cell, const Loop& loop,
                         std::initializer_list<PolygonNumber> neighbours) const {
    for (const PolygonNumber beyond : neighbours) {
      if (beyond != kNoPolygon && MayChange(cell, beyond) && SeamOf(loop, beyond)) {
        return beyond;
      }
    }
    return kNoPolygon;
  }

  // Returns a deterministic pseudo-random number below `limit` (a linear congruential generator); always 0 if
  // `limit` is below 2^14.
  std::int64_t AnyNumber(std::int64_t limit) {
    constexpr int kBits = 14;
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;
    return (limit >> kBits) * static_cast<std::int64_t>(random_ >> (64 - kBits));
  }

  // Updates the sides of the neighbours to refer to the cell.
  void TellNeighbours(PolygonNumber cell) {
    const Loop& loop = cells_[cell].loop;
    for (std::size_t k = 0; k < loop.size(); ++k) {
      if (loop[k].beyond != kNoPolygon) {
        Loop& across = cells_[loop[k].beyond].loop;
        across[PlaceOf(across, loop[After(loop, k)].vertex)].beyond = cell;
      }
    }
  }

  // Distributes the polygons to the two cells after the side between them has turned. The first cell is on
  // the left of that side.
  void SortMeans(PolygonNumber cell, PolygonNumber other, std::uint32_t from, std::uint32_t to) {
    const PolygonNumber lists[] = {cells_[cell].first, cells_[other].first};
    for (const PolygonNumber changed : {cell, other}) {
      cells_[changed].first = kNoPolygon;
      cells_[changed].last = kNoPolygon;
      cells_[changed].means = 0;
    }
    for (PolygonNumber polygon : lists) {
      while (polygon != kNoPolygon) {
        const PolygonNumber after = next_[polygon];
        next_[polygon] = kNoPolygon;
        // A mean on the line through the side may lie beyond its ends, in either cell.
        const Int128 side = SideOfMean(from, to, polygon);
        const bool is_left = side > 0 || (side == 0 && HasMean(cells_[cell], polygon));
        AddMean(polygon, cells_[is_left ? cell : other]);
        polygon = after;
      }
    }
  }

  // Returns true if the cell contains the mean of the polygon's corners, possibly on a side.
  bool HasMean(const Cell& cell, PolygonNumber polygon) const {
    for (std::size_t k = 0; k < cell.loop.size(); ++k) {
      if (SideOfMean(cell.loop[k].vertex, cell.loop[After(cell.loop, k)].vertex, polygon) < 0) {
        return false;
      }
    }
    return true;
  }

  // Returns a positive number if the mean of the polygon's corners is on the left of the line from a to b, 0
  // if it is on the line.
  Int128 SideOfMean(std::uint32_t a, std::uint32_t b, PolygonNumber polygon) const {
    const FixedPoint& from = points_[a];
    const FixedPoint& to = points_[b];
    const FixedPoint& sum = sums_[polygon];
    const std::int64_t count = sources_.polygons[polygon].corner_count;
    return Int128{to.x - from.x} * (sum.y - count * from.y) -
           Int128{to.y - from.y} * (sum.x - count * from.x);
  }

  MeshCells Numbered() const {
    MeshCells made;
    made.cell_of.resize(cells_.size());
    std::vector<PolygonNumber> numbers(cells_.size(), kNoPolygon);
    PolygonNumber count = 0;
    for (PolygonNumber cell = 0; cell < cells_.size(); ++cell) {
      if (!cells_[cell].loop.empty()) {
        numbers[cell] = count++;
      }
    }
    made.cells.reserve(count);
    for (PolygonNumber cell = 0; cell < cells_.size(); ++cell) {
      const Loop& loop = cells_[cell].loop;
      if (loop.empty()) {
        continue;
      }
      const CellSource& source = sources_.polygons[cell];
      made.cells.push_back({static_cast<std::uint32_t>(made.corners.size()),
                            static_cast<std::uint32_t>(loop.size()), source.area, source.is_dented});
      for (const Corner& corner : loop) {
        made.corners.push_back(corner.vertex);
        made.neighbours.push_back(corner.beyond == kNoPolygon ? kNoPolygon : numbers[corner.beyond]);
      }
      for (PolygonNumber polygon = cells_[cell].first; polygon != kNoPolygon; polygon = next_[polygon]) {
        made.cell_of[polygon] = numbers[cell];
      }
    }
    made.corners.shrink_to_fit();
    made.neighbours.shrink_to_fit();
    return made;
  }

  bool IsStoppedAt(std::size_t step) {
    constexpr std::size_t kStepsPerCheck = 4096;
    if (stopped_.ok() && step % kStepsPerCheck == kStepsPerCheck - 1) {
      stopped_ = CheckStop(stop_);
    }
    return !stopped_.ok();
  }

  const CellSources& sources_;
  const StopCheck* const stop_;
  absl::Status stopped_;
  std::vector<FixedPoint> points_;
  std::vector<Cell> cells_;
  // Room of each cell; empty until all cells are joined.
  std::vector<std::uint32_t> rooms_;
  // For each polygon, the next one with its mean in the same cell.
  std::vector<PolygonNumber> next_;
  // For each polygon, the sum of its corners.
  std::vector<FixedPoint> sums_;
  std::uint64_t random_ = 1;
  // Scratch loops for turning a side.
  Loop both_;
  Loop low_;
  Loop high_;
};

}  // namespace

absl::StatusOr<MeshCells> FindMeshCells(const CellSources& sources, const StopCheck* stop) {
  return CellMaker(sources, stop).Make();
}

}  // namespace waystar::core
