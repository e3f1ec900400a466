#include "server/core/mesh/mesh_cells.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <queue>
#include <tuple>

#include "absl/status/status.h"
#include "server/base/status_macros.h"
#include "server/core/mesh/mesh_rooms.h"
#include "server/core/mesh/plan.h"

namespace waystar::core {
namespace {

// A side of a cell with the means of more polygons is not turned, since each of them would have to be looked
// at.
constexpr std::uint32_t kMostSorted = 256;

class CellMaker {
 public:
  CellMaker(const CellSources& sources, const StopCheck* stop)
      : sources_(sources), stop_(stop), cells_(sources.polygons.size()), next_(sources.polygons.size()) {
    points_.reserve(sources.vertices.size());
    for (const WorldPoint& vertex : sources.vertices) {
      points_.push_back(ToFixed(vertex));
    }
    for (PolygonNumber polygon = 0; polygon < cells_.size(); ++polygon) {
      const CellSource& source = sources.polygons[polygon];
      Cell& cell = cells_[polygon];
      for (std::uint32_t k = source.first_corner; k < source.first_corner + source.corner_count; ++k) {
        cell.loop.push_back({sources.corners[k], sources.neighbours[k]});
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
    TurnSides();
    WAYSTAR_RETURN_IF_ERROR(stopped_);
    LeaveOut();
    return Numbered();
  }

 private:
  // A corner, and the cell across the side from it to the next.
  struct Corner {
    std::uint32_t vertex = 0;
    PolygonNumber beyond = kNoPolygon;
  };
  using Loop = std::vector<Corner>;

  // The cells of polygons that have been joined to others have no corners.
  struct Cell {
    Loop loop;
    // The polygons whose means it has: `next_` leads from the first to the last.
    PolygonNumber first = kNoPolygon;
    PolygonNumber last = kNoPolygon;
    std::uint32_t means = 0;
    // How often it has changed.
    std::uint32_t version = 0;
  };

  struct Pair {
    // The square of the length of the common side.
    double length = 0.0;
    PolygonNumber low = 0;
    PolygonNumber high = 0;
    std::uint32_t low_version = 0;
    std::uint32_t high_version = 0;

    bool operator<(const Pair& other) const {
      return std::tuple(length, other.low, other.high) < std::tuple(other.length, low, high);
    }
  };

  // The sides that two cells have in common: `count` of them from this place in the loop of the one, and
  // their other end there; and the same in the loop of the other, whose sides run the other way.
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

  // Adds the polygon, and those that it leads to, of which there are `means`.
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

  // Returns true if the way over three vertices goes straight on or to the left.
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

  // Returns the seam if the cells are convex together.
  std::optional<Seam> SeamOf(PolygonNumber cell, PolygonNumber other) const {
    const Loop& a = cells_[cell].loop;
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
      const std::optional<Seam> seam = MayChange(cell, other) ? SeamOf(cell, other) : std::nullopt;
      if (!seam) {
        return;
      }
      const Loop& loop = cells_[cell].loop;
      const WorldPoint& a = sources_.vertices[loop[seam->begin].vertex];
      const WorldPoint& b = sources_.vertices[loop[seam->end].vertex];
      const PolygonNumber low = std::min(cell, other);
      const PolygonNumber high = std::max(cell, other);
      pairs.push({(b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y), low, high, cells_[low].version,
                  cells_[high].version});
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
      JoinAlong(*SeamOf(pair.low, pair.high), pair.low, pair.high);
      for (const Corner& corner : cells_[pair.low].loop) {
        if (corner.beyond != kNoPolygon) {
          add(pair.low, corner.beyond);
        }
      }
    }
  }

  // Leaves out the corners that lie in the middle of sides on both sides of these.
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

  void TurnSides() {
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
        TurnAbout(cell, end);
      }
    }
  }

  // A side between two rooms stays: a search leaves rooms out that do not lie on its way.
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

  // Turns a side of the cell that has this end, if that pays.
  void TurnAbout(PolygonNumber cell, std::uint32_t end) {
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
      if (Turn(cell, beyond, side, end)) {
        return;
      }
    }
  }

  bool Turn(PolygonNumber cell, PolygonNumber other, std::size_t side, std::uint32_t end) {
    const Loop a = cells_[cell].loop;
    const Loop b = cells_[other].loop;
    const std::size_t after = After(a, side);
    const std::uint32_t far = a[side].vertex == end ? a[after].vertex : a[side].vertex;
    // Both together, from the end that stays.
    Loop both;
    for (std::size_t k = after; k != side; k = After(a, k)) {
      both.push_back(a[k]);
    }
    for (std::size_t k = PlaceOf(b, a[side].vertex); b[k].vertex != a[after].vertex; k = After(b, k)) {
      both.push_back(b[k]);
    }
    std::rotate(both.begin(), both.begin() + static_cast<std::ptrdiff_t>(PlaceOf(both, end)), both.end());
    if (!IsConvexAt(both, PlaceOf(both, far))) {
      return false;
    }
    for (std::size_t to = 2; to + 1 < both.size(); ++to) {
      const std::uint32_t vertex = both[to].vertex;
      if (vertex == far || !IsConvex(both[to - 1].vertex, vertex, end) ||
          !IsConvex(vertex, end, both[1].vertex) ||
          !IsConvex(end, vertex, both[to + 1 < both.size() ? to + 1 : 0].vertex) ||
          !IsConvex(both.back().vertex, end, vertex) || !IsConvexAt(both, to)) {
        continue;
      }
      const auto middle = both.begin() + static_cast<std::ptrdiff_t>(to);
      Loop& low = cells_[cell].loop;
      Loop& high = cells_[other].loop;
      low.assign(both.begin(), middle);
      low.push_back({vertex, other});
      high.assign(middle, both.end());
      high.push_back({end, cell});
      if (low.size() <= kMaxPolygonCorners && high.size() <= kMaxPolygonCorners) {
        TellNeighbours(cell);
        TellNeighbours(other);
        const PolygonNumber with_cell = FindJoin(cell, other);
        const PolygonNumber with_other = with_cell == kNoPolygon ? FindJoin(other, cell) : kNoPolygon;
        if (with_cell != kNoPolygon || with_other != kNoPolygon) {
          SortMeans(cell, other);
          const PolygonNumber turned = with_cell != kNoPolygon ? cell : other;
          const PolygonNumber joined = with_cell != kNoPolygon ? with_cell : with_other;
          JoinAlong(*SeamOf(turned, joined), turned, joined);
          return true;
        }
      }
      low = a;
      high = b;
      TellNeighbours(cell);
      TellNeighbours(other);
    }
    return false;
  }

  // Returns a cell that is convex together with this one, but not this other one.
  PolygonNumber FindJoin(PolygonNumber cell, PolygonNumber except) const {
    for (const Corner& corner : cells_[cell].loop) {
      if (corner.beyond != kNoPolygon && corner.beyond != except && MayChange(cell, corner.beyond) &&
          SeamOf(cell, corner.beyond)) {
        return corner.beyond;
      }
    }
    return kNoPolygon;
  }

  // Makes the sides across those of the cell name it.
  void TellNeighbours(PolygonNumber cell) {
    const Loop& loop = cells_[cell].loop;
    for (std::size_t k = 0; k < loop.size(); ++k) {
      if (loop[k].beyond != kNoPolygon) {
        Loop& across = cells_[loop[k].beyond].loop;
        across[PlaceOf(across, loop[After(loop, k)].vertex)].beyond = cell;
      }
    }
  }

  // Gives each of two cells its polygons, now that the side between them has turned.
  void SortMeans(PolygonNumber cell, PolygonNumber other) {
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
        AddMean(polygon, cells_[HasMean(cells_[cell], polygon) ? cell : other]);
        polygon = after;
      }
    }
  }

  // Returns whether the cell has the mean of the polygon's corners, be it on a side.
  bool HasMean(const Cell& cell, PolygonNumber polygon) const {
    const CellSource& source = sources_.polygons[polygon];
    const std::int64_t count = source.corner_count;
    FixedPoint sum;
    for (const std::uint32_t vertex : sources_.corners.subspan(source.first_corner, source.corner_count)) {
      sum = {sum.x + points_[vertex].x, sum.y + points_[vertex].y};
    }
    for (std::size_t k = 0; k < cell.loop.size(); ++k) {
      const FixedPoint& a = points_[cell.loop[k].vertex];
      const FixedPoint& b = points_[cell.loop[After(cell.loop, k)].vertex];
      if (Int128{b.x - a.x} * (sum.y - count * a.y) < Int128{b.y - a.y} * (sum.x - count * a.x)) {
        return false;
      }
    }
    return true;
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
  // The room of each cell, once sides are turned.
  std::vector<std::uint32_t> rooms_;
  // For each polygon the next one with its mean in the same cell.
  std::vector<PolygonNumber> next_;
};

}  // namespace

absl::StatusOr<MeshCells> FindMeshCells(const CellSources& sources, const StopCheck* stop) {
  return CellMaker(sources, stop).Make();
}

}  // namespace waystar::core
