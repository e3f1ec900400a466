#include "server/core/mesh/map/mesh_seams.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/map/polygon_tree.h"

namespace waystar::core {
namespace {

// Tree over some of the vertices of a mesh. Thread safety: const methods may run concurrently.
class VertexTree {
 public:
  // Stores the chosen ones of `vertices`, which must outlive this.
  VertexTree(const std::vector<WorldPoint>& vertices, std::vector<std::uint32_t> chosen)
      : vertices_(vertices), chosen_(std::move(chosen)) {
    std::vector<MeshBounds> boxes(chosen_.size());
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      boxes[i].Add(vertices_[chosen_[i]]);
    }
    tree_ = PolygonTree(boxes);
  }

  // Appends the vertices strictly between the ends of the edge that are at most `plan` away seen from above,
  // and at most `height` above or below, in no particular order. `steps` counts the boxes looked at and
  // determines when `stop` is checked, whose error is returned.
  absl::Status FindOnEdge(std::uint32_t from, std::uint32_t to, double plan, double height,
                          const StopCheck* stop, std::size_t& steps, std::vector<VertexOnEdge>& found) const {
    const WorldPoint& a = vertices_[from];
    const WorldPoint& b = vertices_[to];
    const double dx = b.x - a.x;
    const double dy = b.y - a.y;
    const double squared = dx * dx + dy * dy;
    const double length = std::sqrt(squared);
    MeshBounds around;
    around.Add(WorldPoint{std::min(a.x, b.x) - plan, std::min(a.y, b.y) - plan, std::min(a.z, b.z) - height});
    around.Add(WorldPoint{std::max(a.x, b.x) + plan, std::max(a.y, b.y) + plan, std::max(a.z, b.z) + height});
    // Returns true if a part of the box may be near the edge: neither the box around the edge nor the line
    // through it separates them.
    const auto is_near = [&](const MeshBounds& box) {
      if (!box.Overlaps(around)) {
        return false;
      }
      const double x = (box.low.x + box.high.x) / 2.0;
      const double y = (box.low.y + box.high.y) / 2.0;
      const double side = dx * (y - a.y) - dy * (x - a.x);
      const double reach =
          std::abs(dx) * (box.high.y - box.low.y) / 2.0 + std::abs(dy) * (box.high.x - box.low.x) / 2.0;
      // Twice the tolerance, to allow for rounding.
      return std::abs(side) <= reach + 2.0 * plan * length;
    };
    const auto add = [&](std::uint32_t vertex) {
      const WorldPoint& p = vertices_[vertex];
      const double share = ((p.x - a.x) * dx + (p.y - a.y) * dy) / squared;
      const double side = dx * (p.y - a.y) - dy * (p.x - a.x);
      if (vertex != from && vertex != to && share > 0.0 && share < 1.0 && std::abs(side) <= plan * length &&
          std::abs(a.z + share * (b.z - a.z) - p.z) <= height) {
        found.push_back({share, vertex});
      }
    };
    absl::Status status;
    const auto may_touch = [&](const MeshBounds& box) {
      if (status.ok()) {
        status = CheckStopAt(stop, ++steps);
      }
      return status.ok() && is_near(box);
    };
    if (squared > 0.0) {
      tree_.VisitTouching(may_touch, [&](std::uint32_t i) { add(chosen_[i]); });
    }
    return status;
  }

 private:
  const std::vector<WorldPoint>& vertices_;
  std::vector<std::uint32_t> chosen_;
  PolygonTree tree_;
};

// Splits the edges of one soup. Not thread-safe.
class SeamSplitter {
 public:
  SeamSplitter(std::vector<WorldPoint>& vertices, const std::vector<SeamEdge>& edges,
               const WeldTolerance& tolerance, bool has_seams, const StopCheck* stop)
      : vertices_(vertices), edges_(edges), tolerance_(tolerance), has_seams_(has_seams), stop_(stop) {
    splits_.vertices.resize(edges.size());
  }

  absl::StatusOr<SeamSplits> Run() {
    WAYSTAR_RETURN_IF_ERROR(FindVertices());
    if (has_seams_) {
      WAYSTAR_RETURN_IF_ERROR(FindStretches());
      WAYSTAR_RETURN_IF_ERROR(ShareVertices());
    }
    std::sort(splits_.overlaps.begin(), splits_.overlaps.end());
    splits_.overlaps.erase(std::unique(splits_.overlaps.begin(), splits_.overlaps.end()),
                           splits_.overlaps.end());
    return std::move(splits_);
  }

 private:
  // Two open edges whose heights agree between two shares of the first.
  struct Stretch {
    std::uint32_t edge = 0;
    std::uint32_t other = 0;
    double begin = 0.0;
    double end = 0.0;
  };

  static constexpr std::size_t kWays = 8;
  // Edges of one direction, and a tree to find the near ones.
  struct Way {
    std::vector<std::uint32_t> edges;
    std::vector<MeshBounds> boxes;
    PolygonTree tree;
  };

  // A segment seen from above, with shares from 0 to 1 along it, and its heights.
  struct Line {
    WorldPoint low;
    WorldPoint high;
    double length = 0.0;

    double ShareOf(const WorldPoint& point) const {
      return ((point.x - low.x) * (high.x - low.x) + (point.y - low.y) * (high.y - low.y)) /
             (length * length);
    }
    // Positive on the left.
    double DistanceTo(const WorldPoint& point) const {
      return ((high.x - low.x) * (point.y - low.y) - (high.y - low.y) * (point.x - low.x)) / length;
    }
    WorldPoint At(double share) const {
      return {low.x + share * (high.x - low.x), low.y + share * (high.y - low.y),
              low.z + share * (high.z - low.z)};
    }
  };

  Line LineBetween(std::uint32_t low, std::uint32_t high) const {
    const WorldPoint& a = vertices_[low];
    const WorldPoint& b = vertices_[high];
    return {a, b, DistanceInPlan(a, b)};
  }
  Line PlaceOf(const SeamEdge& edge) const { return LineBetween(edge.low_place, edge.high_place); }

  // Checks for a stop every 256 steps.
  absl::Status Take(std::size_t steps) {
    for (steps_ += steps; steps_ >= 256; steps_ -= 256) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
    }
    return absl::OkStatus();
  }

  // Finds the ends of open edges that lie on other open edges.
  absl::Status FindVertices() {
    std::vector<std::uint32_t> ends;
    for (const SeamEdge& edge : edges_) {
      if (edge.is_open) {
        ends.push_back(edge.low);
        ends.push_back(edge.high);
      }
    }
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    const VertexTree tree(vertices_, std::move(ends));
    std::size_t steps = 0;
    for (std::uint32_t i = 0; i < edges_.size(); ++i) {
      if (!edges_[i].is_open) {
        continue;
      }
      std::vector<VertexOnEdge>& found = splits_.vertices[i];
      WAYSTAR_RETURN_IF_ERROR(tree.FindOnEdge(edges_[i].low, edges_[i].high, tolerance_.plan,
                                              tolerance_.height, stop_, steps, found));
      if (found.size() > kMaxWeldCorners) {
        return TooManyWeldCorners();
      }
      for (const VertexOnEdge& on_edge : found) {
        known_.insert({i, on_edge.vertex});
      }
    }
    return absl::OkStatus();
  }

  absl::Status FindStretches() {
    const auto box_of = [&](const SeamEdge& edge, const WeldTolerance& room) {
      MeshBounds box;
      for (const std::uint32_t place : {edge.low_place, edge.high_place}) {
        const WorldPoint& point = vertices_[place];
        box.Add(WorldPoint{point.x - room.plan, point.y - room.plan, point.z - room.height});
        box.Add(WorldPoint{point.x + room.plan, point.y + room.plan, point.z + room.height});
      }
      return box;
    };
    std::array<Way, kWays> ways;
    for (std::uint32_t i = 0; i < edges_.size(); ++i) {
      Way& way = ways[WayOf(edges_[i])];
      way.edges.push_back(i);
      way.boxes.push_back(box_of(edges_[i], {}));
    }
    for (Way& way : ways) {
      way.tree = PolygonTree(way.boxes, stop_);
    }
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
    std::vector<std::uint32_t> near;
    for (std::uint32_t i = 0; i < edges_.size(); ++i) {
      const MeshBounds around = box_of(
          edges_[i], {.plan = 2.0 * tolerance_.plan, .height = kNearHeights * tolerance_.height + kRoom});
      absl::Status status;
      near.clear();
      for (const std::size_t turn : {3U, 4U, 5U}) {
        const Way& way = ways[(WayOf(edges_[i]) + turn) % kWays];
        way.tree.VisitTouching([&](const MeshBounds& box) { return status.ok() && box.Overlaps(around); },
                               [&](std::uint32_t found) {
                                 status = Take(1);
                                 if (way.edges[found] > i) {
                                   near.push_back(way.edges[found]);
                                 }
                               });
        WAYSTAR_RETURN_IF_ERROR(status);
      }
      std::sort(near.begin(), near.end());
      for (const std::uint32_t other : near) {
        WAYSTAR_RETURN_IF_ERROR(
            Take(kPairSteps + splits_.vertices[i].size() + splits_.vertices[other].size()));
        Compare(i, other);
      }
      if (splits_.vertices[i].size() > kMaxWeldCorners || stretches_.size() > kMaxMeshCorners) {
        return TooManyWeldCorners();
      }
    }
    return absl::OkStatus();
  }

  // Returns the eighth of a turn in which the loop of the edge leads, seen from above. Edges that run along
  // each other in opposite directions are three to five eighths apart.
  std::size_t WayOf(const SeamEdge& edge) const {
    const Line line = PlaceOf(edge);
    const double sign = edge.is_back ? -1.0 : 1.0;
    const double x = sign * (line.high.x - line.low.x);
    const double y = sign * (line.high.y - line.low.y);
    const bool is_up = y > 0.0 || (y == 0.0 && x > 0.0);
    const std::size_t quarter = is_up ? (x > 0.0 ? 0 : 1) : (x < 0.0 ? 2 : 3);
    const bool is_late = quarter % 2 == 0 ? std::abs(y) > std::abs(x) : std::abs(x) > std::abs(y);
    return 2 * quarter + (is_late ? 1 : 0);
  }

  // Records where the edges run along each other, and splits them where their heights begin or cease to
  // agree.
  void Compare(std::uint32_t i, std::uint32_t j) {
    const SeamEdge& edge = edges_[i];
    const SeamEdge& other = edges_[j];
    const Line line = PlaceOf(edge);
    const Line other_line = PlaceOf(other);
    if (edge.polygon == other.polygon || line.length == 0.0 || other_line.length == 0.0) {
      return;
    }
    const double first = line.ShareOf(other_line.low);
    const double second = line.ShareOf(other_line.high);
    const bool is_opposite = (first > second) == (edge.is_back == other.is_back);
    const double low = std::max(0.0, std::min(first, second));
    const double high = std::min(1.0, std::max(first, second));
    if (!is_opposite || !(low < high)) {
      return;
    }
    const auto other_share = [&](double share) { return (share - first) / (second - first); };
    const auto rise_at = [&](double share) { return other_line.At(other_share(share)).z - line.At(share).z; };
    for (const double share : {low, high}) {
      if (std::abs(line.DistanceTo(other_line.At(other_share(share)))) > tolerance_.plan) {
        return;
      }
    }
    const double step = tolerance_.plan / line.length;
    NoteOverlap(edge, other, low + step, high - step, rise_at);
    if (!edge.is_open || !other.is_open) {
      return;
    }
    double begin = low;
    double end = high;
    const double rise = rise_at(low);
    const double change = rise_at(high) - rise;
    if (change == 0.0) {
      begin = std::abs(rise) <= tolerance_.height ? low : high;
    } else {
      // Shares at which the height difference equals the tolerance.
      const double down = low + (-tolerance_.height - rise) / change * (high - low);
      const double up = low + (tolerance_.height - rise) / change * (high - low);
      begin = std::max(low, std::min(down, up));
      end = std::min(high, std::max(down, up));
    }
    const bool is_cut_first = begin > low || !HaveCommonEnd(edge, other, low, step, first, second);
    const bool is_cut_last = end < high || !HaveCommonEnd(edge, other, high, step, first, second);
    begin = is_cut_first ? std::max(begin, low + step) : begin;
    end = is_cut_last ? std::min(end, high - step) : end;
    if (begin > end - (is_cut_first || is_cut_last ? step : 0.0)) {
      return;
    }
    for (const auto& [is_cut, share] : {std::pair(is_cut_first, begin), std::pair(is_cut_last, end)}) {
      if (is_cut) {
        WorldPoint point = line.At(share);
        point.z += rise_at(share) / 2.0;
        const std::uint32_t vertex = VertexAt(point, i, j);
        Split(i, vertex);
        Split(j, vertex);
      }
    }
    stretches_.push_back({i, j, begin, end});
  }

  // Returns the vertex of one of the edges at that position that is nearest in height, or a new one.
  std::uint32_t VertexAt(const WorldPoint& point, std::uint32_t i, std::uint32_t j) {
    auto nearest = static_cast<std::uint32_t>(vertices_.size());
    // The point is half way between the edges, whose distance is within the tolerance.
    double least = tolerance_.height / 2.0;
    for (const std::uint32_t edge : {i, j}) {
      for (const VertexOnEdge& on_edge : splits_.vertices[edge]) {
        const WorldPoint& vertex = vertices_[on_edge.vertex];
        const double rise = std::abs(vertex.z - point.z);
        if (SquaredPlanDistance(vertex, point) <= tolerance_.plan * tolerance_.plan && rise <= least) {
          least = rise;
          nearest = on_edge.vertex;
        }
      }
    }
    if (nearest == vertices_.size()) {
      vertices_.push_back(Rounded(point));
    }
    return nearest;
  }

  // Records an overlap of the polygons if the edges are near between these shares of the first.
  template <typename RiseAt>
  void NoteOverlap(const SeamEdge& edge, const SeamEdge& other, double begin, double end,
                   const RiseAt& rise_at) {
    if (begin > end) {
      return;
    }
    const double first = rise_at(begin);
    const double last = rise_at(end);
    if ((first < 0.0) != (last < 0.0) ||
        std::min(std::abs(first), std::abs(last)) <= kNearHeights * tolerance_.height + kRoom) {
      splits_.overlaps.emplace_back(std::min(edge.polygon, other.polygon),
                                    std::max(edge.polygon, other.polygon));
    }
  }

  // Returns true if both edges have the same vertex at an end of their overlap, or only one ends there and
  // splits the other. `first` and `second` are the shares of the other edge's ends.
  static bool HaveCommonEnd(const SeamEdge& edge, const SeamEdge& other, double share, double step,
                            double first, double second) {
    const auto end_at = [&](const SeamEdge& of, double low, double high) -> std::optional<std::uint32_t> {
      if (std::abs(share - low) <= step) {
        return of.low;
      }
      return std::abs(share - high) <= step ? std::optional(of.high) : std::nullopt;
    };
    const std::optional<std::uint32_t> own = end_at(edge, 0.0, 1.0);
    const std::optional<std::uint32_t> others = end_at(other, first, second);
    return !own || !others || own == others;
  }

  // Splits the edge at the vertex. Returns false if the vertex is not between its ends or splits it already.
  bool Split(std::uint32_t edge, std::uint32_t vertex) {
    const Line line = LineBetween(edges_[edge].low, edges_[edge].high);
    const double share = line.ShareOf(vertices_[vertex]);
    if (vertex == edges_[edge].low || vertex == edges_[edge].high || !(share > 0.0 && share < 1.0) ||
        !known_.insert({edge, vertex}).second) {
      return false;
    }
    splits_.vertices[edge].push_back({share, vertex});
    return true;
  }

  // Splits edges at the vertices of the edges with which they agree.
  absl::Status ShareVertices() {
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (const Stretch& stretch : stretches_) {
        WAYSTAR_RETURN_IF_ERROR(
            Take(1 + splits_.vertices[stretch.edge].size() + splits_.vertices[stretch.other].size()));
        has_changed |= ShareAlong(stretch, stretch.edge, stretch.other);
        has_changed |= ShareAlong(stretch, stretch.other, stretch.edge);
        if (std::max(splits_.vertices[stretch.edge].size(), splits_.vertices[stretch.other].size()) >
            kMaxWeldCorners) {
          return TooManyWeldCorners();
        }
      }
    }
    return absl::OkStatus();
  }

  bool ShareAlong(const Stretch& stretch, std::uint32_t from, std::uint32_t to) {
    const Line line = PlaceOf(edges_[stretch.edge]);
    const Line target = LineBetween(edges_[to].low, edges_[to].high);
    const double step = tolerance_.plan / line.length;
    bool has_changed = false;
    const auto share = [&](std::uint32_t vertex) {
      const double along = line.ShareOf(vertices_[vertex]);
      const double on_target = target.ShareOf(vertices_[vertex]);
      const double room = tolerance_.plan / target.length;
      if (along >= stretch.begin - step && along <= stretch.end + step && on_target > room &&
          on_target < 1.0 - room) {
        has_changed |= Split(to, vertex);
      }
    };
    share(edges_[from].low);
    share(edges_[from].high);
    for (const VertexOnEdge& on_edge : splits_.vertices[from]) {
      share(on_edge.vertex);
    }
    return has_changed;
  }

  // Cost of comparing two edges, in steps through a tree.
  static constexpr std::size_t kPairSteps = 16;
  static constexpr double kNearHeights = 2.0;
  // Maximum displacement of a vertex by rounding to 2^-20.
  static constexpr double kRoom = 2.0 / kFixedScale;

  std::vector<WorldPoint>& vertices_;
  const std::vector<SeamEdge>& edges_;
  const WeldTolerance tolerance_;
  const bool has_seams_;
  const StopCheck* const stop_;
  std::size_t steps_ = 0;
  SeamSplits splits_;
  std::vector<Stretch> stretches_;
  // Edges and the vertices at which they are split.
  absl::flat_hash_set<std::pair<std::uint32_t, std::uint32_t>> known_;
};

}  // namespace

absl::StatusOr<SeamSplits> SplitSeams(std::vector<WorldPoint>& vertices, const std::vector<SeamEdge>& edges,
                                      const WeldTolerance& tolerance, bool has_seams, const StopCheck* stop) {
  return SeamSplitter(vertices, edges, tolerance, has_seams, stop).Run();
}

absl::Status TooManyWeldCorners() {
  return MakeError(ErrorReason::kBadSize, "",
                   absl::StrCat("a polygon has more than ", kMaxWeldCorners,
                                " corners, vertices of others on its edges included"));
}

}  // namespace waystar::core
