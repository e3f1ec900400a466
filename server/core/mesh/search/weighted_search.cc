#include "server/core/mesh/search/weighted_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
// The number of stretches of an edge is 1 in the first round, and doubles in each.
constexpr int kMostRounds = 6;
// Exceeds the relative rounding errors of lower bounds, and what improvements of them are ignored.
constexpr double kSlack = 1e-6;
constexpr double kIgnored = 1e-9;

// A part of an edge, seen from above, and a value at each end. Between, the value is linear.
struct Stretch {
  Point a;
  Point b;
  double at_a = kInfinity;
  double at_b = kInfinity;
};

double Length(const Point& a, const Point& b) { return DistanceInPlan(a.x, a.y, b.x, b.y); }
Point Between(const Point& a, const Point& b, double share) {
  return {a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
}
Point InPlan(const WorldPoint& point) { return {point.x, point.y}; }

// The least sum of the value of a stretch at a point and a straight line from there.
struct LeastSum {
  double sum = kInfinity;
  Point from;
};

// Returns it for a line to `to` of which a unit costs `cost`.
LeastSum LeastOver(const Stretch& stretch, double cost, const Point& to) {
  const double length = Length(stretch.a, stretch.b);
  const double slope = length > 0.0 ? (stretch.at_b - stretch.at_a) / length : 0.0;
  double share = 0.0;
  if (length > 0.0 && slope < cost) {
    const double x = (stretch.b.x - stretch.a.x) / length;
    const double y = (stretch.b.y - stretch.a.y) / length;
    const double along = (to.x - stretch.a.x) * x + (to.y - stretch.a.y) * y;
    const double away = std::abs(x * (to.y - stretch.a.y) - y * (to.x - stretch.a.x));
    const double sine = slope / cost;
    share = sine <= -1.0
                ? 1.0
                : std::clamp((along - away * sine / std::sqrt(1.0 - sine * sine)) / length, 0.0, 1.0);
  }
  const Point from = Between(stretch.a, stretch.b, share);
  return {stretch.at_a + share * (stretch.at_b - stretch.at_a) + cost * Length(from, to), from};
}

// Sets the values of `to` to those of a tangent of the least sums over `from`. They are lower bounds of
// these, since the sums are convex. The tangent is that at the middle or, for a stretch near `from`, at the
// point where a path to the goal would cost least if all other ground cost `least_cost`.
void SetTangent(const Stretch& from, double cost, double least_cost, const Point& goal, Stretch& to) {
  const double length = Length(to.a, to.b);
  double share = 0.5;
  LeastSum least = LeastOver(from, cost, Between(to.a, to.b, share));
  if (Length(least.from, Between(to.a, to.b, share)) < length) {
    const auto whole = [&](double at) {
      const Point point = Between(to.a, to.b, at);
      return LeastOver(from, cost, point).sum + least_cost * Length(point, goal);
    };
    double low = 0.0;
    double high = 1.0;
    for (int i = 0; i < 16; ++i) {
      const double third = (high - low) / 3.0;
      if (whole(low + third) < whole(high - third)) {
        high -= third;
      } else {
        low += third;
      }
    }
    share = (low + high) / 2.0;
    least = LeastOver(from, cost, Between(to.a, to.b, share));
  }
  const Point at = Between(to.a, to.b, share);
  const double distance = Length(least.from, at);
  if (distance == 0.0 || length == 0.0) {
    to.at_a = to.at_b = least.sum - cost * length;
    return;
  }
  const double cosine =
      ((at.x - least.from.x) * (to.b.x - to.a.x) + (at.y - least.from.y) * (to.b.y - to.a.y)) /
      (distance * length);
  to.at_a = least.sum - cost * cosine * length * share;
  to.at_b = least.sum + cost * cosine * length * (1.0 - share);
}

// An edge through which a path enters a polygon. Its polygon lies to the left of the line from a to b.
struct Entrance {
  PolygonNumber polygon = kNoPolygon;
  std::uint32_t corner = 0;
  Point a;
  Point b;
};

struct FoundPath {
  double cost = kInfinity;
  std::vector<WorldPoint> corners;
  std::vector<PolygonNumber> corridor;
};

// Finds a path of little cost through a corridor. Not thread-safe.
class CorridorPath {
 public:
  CorridorPath(const NavMesh& mesh, const MeshSearchTask& task, std::vector<PolygonNumber> corridor,
               std::vector<Entrance> entrances)
      : mesh_(mesh), task_(task), entrances_(std::move(entrances)) {
    found_.corridor = std::move(corridor);
  }

  FoundPath Find() && {
    found_.cost = 0.0;
    found_.corners.push_back(task_.start.point);
    const std::vector<double> shares = BestShares();
    std::size_t first = 0;
    for (std::size_t i = 0; i < entrances_.size(); ++i) {
      if (CostAt(i) != CostAt(i + 1)) {
        const Entrance& at = entrances_[i];
        const Point point = Between(at.a, at.b, shares[i]);
        PullTaut(first, i, mesh_.NearestPointBy(at.polygon, at.corner, point.x, point.y));
        first = i + 1;
      }
    }
    PullTaut(first, entrances_.size(), task_.goal.point);
    return std::move(found_);
  }

 private:
  // Number of points of an edge that are compared at once, and how often: each time around the best of them.
  static constexpr int kPoints = 12;
  static constexpr int kTimes = 12;

  double CostAt(std::size_t i) const { return mesh_.costs()[mesh_.AreaOf(found_.corridor[i])]; }

  // Returns for each entrance the share of the edge where the path crosses it. The cost is a convex function
  // of them.
  std::vector<double> BestShares() const {
    const std::size_t count = entrances_.size();
    std::vector<double> best(count, 0.5);
    double width = 1.0;
    std::vector<std::array<std::uint8_t, kPoints>> before(count);
    for (int time = 0; time < kTimes && count > 0; ++time) {
      const auto share_of = [&](std::size_t i, int k) {
        const double low = std::clamp(best[i] - width / 2.0, 0.0, 1.0 - width);
        return low + width * k / (kPoints - 1);
      };
      std::array<double, kPoints> sums;
      std::array<Point, kPoints> points;
      for (std::size_t i = 0; i < count; ++i) {
        std::array<double, kPoints> next_sums;
        std::array<Point, kPoints> next_points;
        for (int k = 0; k < kPoints; ++k) {
          const Point to = Between(entrances_[i].a, entrances_[i].b, share_of(i, k));
          next_points[k] = to;
          next_sums[k] = i == 0 ? CostAt(0) * Length(InPlan(task_.start.point), to) : kInfinity;
          for (int from = 0; i > 0 && from < kPoints; ++from) {
            const double sum = sums[from] + CostAt(i) * Length(points[from], to);
            if (sum < next_sums[k]) {
              next_sums[k] = sum;
              before[i][k] = static_cast<std::uint8_t>(from);
            }
          }
        }
        sums = next_sums;
        points = next_points;
      }
      int last = 0;
      for (int k = 0; k < kPoints; ++k) {
        sums[k] += CostAt(count) * Length(points[k], InPlan(task_.goal.point));
        last = sums[k] < sums[last] ? k : last;
      }
      std::vector<double> shares(count);
      for (std::size_t i = count; i-- > 0;) {
        shares[i] = share_of(i, last);
        last = before[i][last];
      }
      best = std::move(shares);
      width *= 0.4;
    }
    return best;
  }

  // Appends the shortest path to `to` through these entrances, whose ground costs the same: Chazelle, "A
  // Theorem on Polygon Cutting with Applications" (1982).
  void PullTaut(std::size_t first, std::size_t end, const WorldPoint& to) {
    const double cost = CostAt(end);
    const auto add = [&](const WorldPoint& point) {
      found_.cost += cost * DistanceInPlan(found_.corners.back(), point);
      if (!(point.x == found_.corners.back().x && point.y == found_.corners.back().y)) {
        found_.corners.push_back(point);
      }
    };
    const auto vertex_at = [&](std::size_t i, bool is_left) -> const WorldPoint& {
      const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(entrances_[i].polygon);
      const std::size_t k = entrances_[i].corner + (is_left ? 0 : 1);
      return mesh_.VertexAt(corners[k < corners.size() ? k : 0]);
    };
    WorldPoint apex = found_.corners.back();
    std::size_t i = first;
    while (i < end) {
      WorldPoint left = vertex_at(i, true);
      WorldPoint right = vertex_at(i, false);
      std::size_t at_left = i;
      std::size_t at_right = i;
      std::size_t next = i + 1;
      std::optional<std::size_t> turn;
      for (; next <= end && !turn; ++next) {
        const WorldPoint& new_left = next < end ? vertex_at(next, true) : to;
        const WorldPoint& new_right = next < end ? vertex_at(next, false) : to;
        if (Side(apex, right, new_right) >= 0.0) {
          if (Side(apex, left, new_right) <= 0.0 || IsAt(apex, right)) {
            right = new_right;
            at_right = next;
          } else {
            add(left);
            turn = at_left;
            continue;
          }
        }
        if (Side(apex, left, new_left) <= 0.0) {
          if (Side(apex, right, new_left) >= 0.0 || IsAt(apex, left)) {
            left = new_left;
            at_left = next;
          } else {
            add(right);
            turn = at_right;
          }
        }
      }
      if (!turn) {
        break;
      }
      // The edges up to the turn are passed; those that start there too.
      apex = found_.corners.back();
      i = *turn + 1;
    }
    add(to);
  }

  static bool IsAt(const WorldPoint& a, const WorldPoint& b) { return a.x == b.x && a.y == b.y; }

  const NavMesh& mesh_;
  const MeshSearchTask& task_;
  const std::vector<Entrance> entrances_;
  FoundPath found_;
};

// Not thread-safe.
class WeightedSearch {
 public:
  WeightedSearch(const NavMesh& mesh, const MeshSearchTask& task, const Budget& budget, MeshScratch& scratch)
      : mesh_(mesh), task_(task), budget_(budget), scratch_(scratch), goal_(InPlan(task.goal.point)) {
    FindPolygonsOfAllFans(mesh, task.start, starts_);
    FindPolygonsOfAllFans(mesh, task.goal, goals_);
    std::ranges::sort(goals_);
    least_ = mesh.least_cost() * DistanceInPlan(task.start.point, task.goal.point) * (1.0 - kSlack);
  }

  MeshSearchReport Run() {
    const double allowed = std::max(kWeightedBound, 1.0 + task_.tolerance);
    const double max_cost = CostToDouble(budget_.max_cost);
    for (int round = 0; round < kMostRounds && best_.cost > allowed * least_; ++round) {
      const SearchEnd end = RunRound(1 << round);
      if (end != SearchEnd::kGoalReached && best_.cost == kInfinity) {
        report_.end = end;
        return report_;
      }
      if (end != SearchEnd::kGoalReached) {
        break;
      }
      if (least_ > max_cost) {
        report_.end = SearchEnd::kCostLimit;
        report_.least_length = least_;
        return report_;
      }
    }
    scratch_.corners() = std::move(best_.corners);
    scratch_.corridor() = std::move(best_.corridor);
    report_.end = SearchEnd::kGoalReached;
    report_.length = best_.cost;
    report_.bound = best_.cost > least_ ? best_.cost / least_ : 1.0;
    report_.corners = scratch_.corners();
    report_.corridor = scratch_.corridor();
    return report_;
  }

 private:
  struct Label {
    double at_a = kInfinity;
    double at_b = kInfinity;
    // Lower bound of the cost of a path to the goal that crosses here.
    double key = kInfinity;
    // The expansion that last improved it.
    std::uint32_t parent = kNone;
    bool is_open = false;
  };
  struct Expansion {
    std::uint32_t label = kNone;
    std::uint32_t parent = kNone;
  };
  using Open = std::tuple<double, std::uint32_t>;

  double CostOf(PolygonNumber polygon) const { return mesh_.costs()[mesh_.AreaOf(polygon)]; }

  // Searches with so many stretches on each edge. Returns kGoalReached if it raises the lower bound.
  SearchEnd RunRound(std::uint32_t stretches) {
    stretches_ = stretches;
    entrances_.clear();
    entrance_of_.clear();
    labels_.clear();
    expansions_.clear();
    open_ = {};
    double least = kInfinity;
    std::optional<std::uint32_t> last;
    for (const PolygonNumber polygon : starts_) {
      if (std::ranges::binary_search(goals_, polygon)) {
        least = std::min(least, CostOf(polygon) * DistanceInPlan(task_.start.point, task_.goal.point));
        TakeDirect(polygon);
      }
      const Point start = InPlan(task_.start.point);
      Leave(polygon, {start, start, 0.0, 0.0}, 0.0, kNone, kNone);
    }
    while (!open_.empty()) {
      const auto [key, number] = open_.top();
      if (key >= least || key > best_.cost) {
        break;
      }
      open_.pop();
      Label& label = labels_[number];
      if (!label.is_open || key != label.key) {
        continue;
      }
      if (const std::optional<SearchEnd> end = BudgetEnd(budget_, report_.statistics.expanded)) {
        return *end;
      }
      if (labels_.size() * (sizeof(Label) + 2 * sizeof(Open)) > scratch_.max_bytes()) {
        return SearchEnd::kScratchLimit;
      }
      ++report_.statistics.expanded;
      label.is_open = false;
      expansions_.push_back({number, label.parent});
      const auto expansion = static_cast<std::uint32_t>(expansions_.size() - 1);
      const Entrance entrance = entrances_[number / stretches_];
      const Stretch from = StretchOf(number);
      if (std::ranges::binary_search(goals_, entrance.polygon)) {
        const double sum = LeastOver(from, CostOf(entrance.polygon), goal_).sum;
        if (sum < least) {
          least = sum;
          last = expansion;
        }
      }
      Leave(entrance.polygon, from, key, expansion, number);
    }
    if (least == kInfinity && best_.cost == kInfinity) {
      return SearchEnd::kExhausted;
    }
    if (last) {
      Take(*last);
    }
    least_ = std::max(least_, std::min(least, best_.cost) * (1.0 - kSlack));
    return SearchEnd::kGoalReached;
  }

  Stretch StretchOf(std::uint32_t number) const {
    const Entrance& entrance = entrances_[number / stretches_];
    const std::uint32_t k = number % stretches_;
    const Label& label = labels_[number];
    return {Between(entrance.a, entrance.b, static_cast<double>(k) / stretches_),
            Between(entrance.a, entrance.b, static_cast<double>(k + 1) / stretches_), label.at_a, label.at_b};
  }

  // Improves the labels of all edges of a polygon by lines from the stretch. `key` is that of the stretch,
  // whose number is `own`.
  void Leave(PolygonNumber polygon, const Stretch& from, double key, std::uint32_t expansion,
             std::uint32_t own) {
    const double cost = CostOf(polygon);
    const std::size_t corners = mesh_.VerticesOf(polygon).size();
    for (std::uint32_t k = 0; k < corners; ++k) {
      const PolygonNumber next = mesh_.Across(polygon, k);
      if (next == kNoPolygon) {
        continue;
      }
      const bool is_own_edge = own != kNone && entrances_[own / stretches_].corner == k;
      // A path runs along an edge on the side that costs less.
      if (is_own_edge && cost >= CostOf(next)) {
        continue;
      }
      const std::uint32_t entrance = EntranceAt(polygon, k, next);
      for (std::uint32_t i = 0; i < stretches_; ++i) {
        const std::uint32_t number = entrance * stretches_ + i;
        Stretch to = StretchOf(number);
        // The edge runs the other way in the next polygon.
        if (is_own_edge && own % stretches_ == stretches_ - 1 - i) {
          const double most = std::min(from.at_a, from.at_b) + cost * Length(from.a, from.b);
          to.at_a = std::min(from.at_b, most);
          to.at_b = std::min(from.at_a, most);
        } else {
          SetTangent(from, cost, mesh_.least_cost(), goal_, to);
        }
        Improve(number, to, key, expansion);
      }
    }
  }

  // Returns the number of the entrance to `next` across edge k of the polygon.
  std::uint32_t EntranceAt(PolygonNumber polygon, std::uint32_t k, PolygonNumber next) {
    const auto [entry, is_new] = entrance_of_.try_emplace(std::uint64_t{polygon} << 8 | k,
                                                          static_cast<std::uint32_t>(entrances_.size()));
    if (is_new) {
      const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(polygon);
      const std::uint32_t left = corners[k + 1 < corners.size() ? k + 1 : 0];
      entrances_.push_back({next, static_cast<std::uint32_t>(mesh_.CornerAt(next, left)),
                            InPlan(mesh_.VertexAt(left)), InPlan(mesh_.VertexAt(corners[k]))});
      labels_.resize(labels_.size() + stretches_);
    }
    return entry->second;
  }

  // Takes the lower bounds of `to`, which hold for paths through the expanded stretch with this key.
  void Improve(std::uint32_t number, Stretch to, double key, std::uint32_t expansion) {
    const double unit = mesh_.least_cost();
    double own_key = LeastOver(to, unit, goal_).sum;
    if (own_key < key) {
      // No path through the stretch costs less than its key, so no point here costs less than that less the
      // way to the goal. That is concave, so its chord is a lower bound.
      Stretch chord = to;
      chord.at_a = key - unit * Length(to.a, goal_);
      chord.at_b = key - unit * Length(to.b, goal_);
      if (LeastOver(chord, unit, goal_).sum > own_key) {
        to = chord;
      }
      own_key = key;
    }
    if (own_key > best_.cost) {
      return;
    }
    Label& label = labels_[number];
    const double ignored = kIgnored * std::max(1.0, key);
    if (to.at_a >= label.at_a - ignored && to.at_b >= label.at_b - ignored) {
      return;
    }
    // Values between those of two lines at both ends are at most those of the lower line.
    label.at_a = std::min(label.at_a, to.at_a);
    label.at_b = std::min(label.at_b, to.at_b);
    label.key = label.is_open ? std::min(label.key, own_key) : own_key;
    label.is_open = true;
    label.parent = expansion;
    ++report_.statistics.generated;
    open_.push({label.key, number});
    report_.open_peak = std::max(report_.open_peak, open_.size());
  }

  void TakeDirect(PolygonNumber polygon) { Keep(CorridorPath(mesh_, task_, {polygon}, {}).Find()); }

  // Finds the path through the polygons that lead to an expansion.
  void Take(std::uint32_t last) {
    std::vector<Entrance> entrances;
    for (std::uint32_t i = last; i != kNone; i = expansions_[i].parent) {
      entrances.push_back(entrances_[expansions_[i].label / stretches_]);
    }
    std::ranges::reverse(entrances);
    std::vector<PolygonNumber> corridor;
    corridor.reserve(entrances.size() + 1);
    corridor.push_back(mesh_.Across(entrances.front().polygon, entrances.front().corner));
    for (const Entrance& entrance : entrances) {
      corridor.push_back(entrance.polygon);
    }
    Keep(CorridorPath(mesh_, task_, std::move(corridor), std::move(entrances)).Find());
  }

  void Keep(FoundPath found) {
    if (found.cost < best_.cost) {
      best_ = std::move(found);
    }
  }

  const NavMesh& mesh_;
  const MeshSearchTask& task_;
  const Budget& budget_;
  MeshScratch& scratch_;
  const Point goal_;
  std::vector<PolygonNumber> starts_;
  std::vector<PolygonNumber> goals_;
  // Lower bound of the cost, and the best path.
  double least_ = 0.0;
  FoundPath best_;
  MeshSearchReport report_;
  // Of the current round. Labels belong to entrances, `stretches_` to each.
  std::uint32_t stretches_ = 1;
  std::vector<Entrance> entrances_;
  absl::flat_hash_map<std::uint64_t, std::uint32_t> entrance_of_;
  std::vector<Label> labels_;
  std::vector<Expansion> expansions_;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
};

}  // namespace

MeshSearchReport SearchWeightedMesh(const NavMesh& mesh, const MeshSearchTask& task, const Budget& budget,
                                    MeshScratch& scratch) {
  if (!HaveSharedPart(FindPartsAround(mesh, task.start), FindPartsAround(mesh, task.goal))) {
    return {};
  }
  return WeightedSearch(mesh, task, budget, scratch).Run();
}

}  // namespace waystar::core
