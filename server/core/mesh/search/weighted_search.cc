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
#include "server/core/mesh/search/interval_expansion.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
// Each round but the first, in which an edge is one stretch, has about twice as many as the one before.
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

// Returns `to` with the values of the tangent, at this share of it, of the least sums over `from`. They are
// lower bounds of the sums, since these are convex.
Stretch TangentAt(double share, const Stretch& from, double cost, const Stretch& to) {
  const Point at = Between(to.a, to.b, share);
  const LeastSum least = LeastOver(from, cost, at);
  const double x = to.b.x - to.a.x;
  const double y = to.b.y - to.a.y;
  const double distance = Length(least.from, at);
  // A line so short has no certain direction.
  const double short_length =
      1e-5 * (Length(from.a, from.b) + std::sqrt(x * x + y * y)) + 1e-9 * (std::abs(at.x) + std::abs(at.y));
  if (distance <= short_length) {
    const double low = least.sum - cost * std::sqrt(x * x + y * y);
    return {to.a, to.b, low, low};
  }
  const double rise = cost * ((at.x - least.from.x) * x + (at.y - least.from.y) * y) / distance;
  return {to.a, to.b, least.sum - share * rise, least.sum + (1.0 - share) * rise};
}

// Returns `to` with the values of TangentAt its middle or, where `from` is near, at the point nearest to it
// or on the line to the goal, if that promises more. It is meant for paths to the goal over ground that costs
// `least_cost`.
Stretch BestTangent(const Stretch& from, double cost, double least_cost, const Point& goal,
                    const Stretch& to) {
  Stretch best = TangentAt(0.5, from, cost, to);
  const double x = to.b.x - to.a.x;
  const double y = to.b.y - to.a.y;
  const double squared = x * x + y * y;
  const Point source = Between(from.a, from.b, 0.5);
  const Point middle = Between(to.a, to.b, 0.5);
  const double reach = Length(from.a, from.b) / 2.0;
  if (std::max(0.0, Length(source, middle) - reach) > std::sqrt(squared) || squared == 0.0) {
    return best;
  }
  const double foot = ((source.x - to.a.x) * x + (source.y - to.a.y) * y) / squared;
  const double before = x * (source.y - to.a.y) - y * (source.x - to.a.x);
  const double beyond = x * (goal.y - to.a.y) - y * (goal.x - to.a.x);
  const double crossing = before * beyond < 0.0
                              ? foot + before / (before - beyond) *
                                           (((goal.x - source.x) * x + (goal.y - source.y) * y) / squared)
                              : foot;
  double key = LeastOver(best, least_cost, goal).sum;
  for (const double share : {foot, crossing}) {
    const Stretch other = TangentAt(std::clamp(share, 0.0, 1.0), from, cost, to);
    if (const double other_key = LeastOver(other, least_cost, goal).sum; other_key > key) {
      key = other_key;
      best = other;
    }
  }
  return best;
}

// An edge through which a path enters a polygon. Its polygon lies to the left of the line from a to b.
struct Entrance {
  PolygonNumber polygon = kNoPolygon;
  std::uint32_t corner = 0;
  Point a;
  Point b;
  // Lower bound of what the rest of a path costs, linear from a to b.
  double known_a = 0.0;
  double known_b = 0.0;
  // Its labels, one for each stretch.
  std::uint32_t first_label = 0;
  std::uint32_t stretches = 1;
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
  static constexpr int kPoints = 6;
  static constexpr int kTimes = 16;

  double CostAt(std::size_t i) const { return mesh_.CostOf(found_.corridor[i]); }

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
      width *= 0.5;
    }
    return best;
  }

  // Appends the shortest path to `to` through these entrances, whose ground costs the same: Chazelle, "A
  // Theorem on Polygon Cutting with Applications" (1982).
  void PullTaut(std::size_t first, std::size_t end, const WorldPoint& to) {
    const double cost = CostAt(end);
    const auto add = [&](const WorldPoint& point) {
      found_.cost += cost * DistanceInPlan(found_.corners.back(), point);
      if (!IsSamePlace(point, found_.corners.back())) {
        found_.corners.push_back(point);
      }
    };
    const auto ends_of = [&](std::size_t i) {
      return i < end ? mesh_.EndsOf({entrances_[i].polygon, entrances_[i].corner}) : EdgeEnds{to, to};
    };
    WorldPoint apex = found_.corners.back();
    std::size_t i = first;
    while (i < end) {
      WorldPoint left = ends_of(i).from;
      WorldPoint right = ends_of(i).to;
      std::size_t at_left = i;
      std::size_t at_right = i;
      std::size_t next = i + 1;
      std::optional<std::size_t> turn;
      for (; next <= end && !turn; ++next) {
        const WorldPoint& new_left = ends_of(next).from;
        const WorldPoint& new_right = ends_of(next).to;
        if (Side(apex, right, new_right) >= 0.0) {
          if (Side(apex, left, new_right) <= 0.0 || IsSamePlace(apex, right)) {
            right = new_right;
            at_right = next;
          } else {
            add(left);
            turn = at_left;
            continue;
          }
        }
        if (Side(apex, left, new_left) <= 0.0) {
          if (Side(apex, right, new_left) >= 0.0 || IsSamePlace(apex, left)) {
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

  const NavMesh& mesh_;
  const MeshSearchTask& task_;
  const std::vector<Entrance> entrances_;
  FoundPath found_;
};

// Not thread-safe.
class WeightedSearch {
 public:
  WeightedSearch(const NavMesh& mesh, const MeshSearchTask& task, const Budget& budget, MeshScratch& scratch)
      : mesh_(mesh),
        task_(task),
        budget_(budget),
        scratch_(scratch),
        start_(mesh, task.start),
        goal_(mesh, task.goal),
        allowed_(std::max(kWeightedBound, 1.0 + task.tolerance)),
        max_cost_(CostToDouble(budget.max_cost)),
        least_(mesh.least_cost() * DistanceInPlan(task.start.point, task.goal.point) * (1.0 - kSlack)) {}

  MeshSearchReport Run() {
    for (int round = 0; round < kMostRounds && !IsProved(); ++round) {
      const std::optional<SearchEnd> end = RunRound(round);
      if (end && best_.cost == kInfinity) {
        report_.end = *end;
        return report_;
      }
      if (end) {
        break;
      }
    }
    if (least_ > max_cost_ || best_.cost > max_cost_) {
      report_.end = least_ > max_cost_ ? SearchEnd::kCostLimit : SearchEnd::kExpansionLimit;
      report_.least_length = least_;
      return report_;
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
  struct Terminal {
    Terminal(const NavMesh& mesh, const MeshPlace& place) : point(InPlan(place.point)) {
      FindPolygonsOfAllFans(mesh, place, polygons);
      std::ranges::sort(polygons);
    }
    bool IsIn(PolygonNumber polygon) const { return std::ranges::binary_search(polygons, polygon); }

    Point point;
    std::vector<PolygonNumber> polygons;
  };
  struct Label {
    double at_a = kInfinity;
    double at_b = kInfinity;
    // Lower bounds of the cost of a path that crosses here: `floor` from the straight line to the end alone.
    double floor = kInfinity;
    double key = kInfinity;
    // The cost of a path to the middle, and the expansion that it comes from.
    double reached = kInfinity;
    std::uint32_t parent = kNone;
    std::uint32_t entrance = 0;
    bool is_open = false;
  };
  // A label when it was expanded.
  struct Expansion {
    std::uint32_t label = kNone;
    std::uint32_t parent = kNone;
    double reached = 0.0;
  };
  using Open = std::pair<double, std::uint32_t>;

  // Returns the lower bound that would prove enough of the best path.
  double Needed() const {
    const double enough = best_.cost / allowed_ * (1.0 + 2.0 * kSlack);
    return best_.cost > max_cost_ ? std::min(best_.cost, std::max(enough, max_cost_ * (1.0 + 4.0 * kSlack)))
                                  : enough;
  }
  // Returns true if the best path is known to be good enough, or that there is none within max_cost.
  bool IsProved() const {
    return best_.cost > max_cost_ ? least_ > max_cost_ : best_.cost <= allowed_ * least_;
  }
  std::size_t memory_bytes() const {
    constexpr std::size_t kBytesOfEntry = 64;
    return labels_.capacity() * sizeof(Label) + entrances_.capacity() * (sizeof(Entrance) + kBytesOfEntry) +
           known_.size() * kBytesOfEntry + expansions_.capacity() * sizeof(Expansion) +
           2 * open_.size() * sizeof(Open);
  }
  double Straight(const Point& a, const Point& b) const { return mesh_.least_cost() * Length(a, b); }

  // The first round searches from the start, with one stretch to an edge. The others search from the goal,
  // with what it has found as lower bounds. Returns why a round ended early.
  std::optional<SearchEnd> RunRound(int round) {
    round_ = round;
    const bool is_first = round == 0;
    from_ = is_first ? &start_ : &goal_;
    to_ = is_first ? &goal_ : &start_;
    entrances_.clear();
    entrance_of_.clear();
    labels_.clear();
    expansions_.clear();
    open_ = {};
    double least = kInfinity;
    double reached = kInfinity;
    std::uint32_t last = kNone;
    for (const PolygonNumber polygon : from_->polygons) {
      if (to_->IsIn(polygon)) {
        least = std::min(least, mesh_.CostOf(polygon) * Length(from_->point, to_->point));
        Keep(CorridorPath(mesh_, task_, {polygon}, {}).Find());
      }
      Leave(polygon, {from_->point, from_->point, 0.0, 0.0}, 0.0, kNone, kNone);
    }
    while (!open_.empty()) {
      const auto [key, number] = open_.top();
      if (key >= std::min(least, Needed())) {
        break;
      }
      open_.pop();
      Label& label = labels_[number];
      if (!label.is_open || key != label.key) {
        continue;
      }
      if (const std::optional<SearchEnd> end = BudgetEnd(budget_, report_.statistics.expanded)) {
        return end;
      }
      if (memory_bytes() > scratch_.max_bytes()) {
        return SearchEnd::kScratchLimit;
      }
      ++report_.statistics.expanded;
      label.is_open = false;
      const double floor = label.floor;
      const Stretch from = StretchOf(number);
      const PolygonNumber polygon = entrances_[labels_[number].entrance].polygon;
      expansions_.push_back({number, label.parent, label.reached});
      const auto expansion = static_cast<std::uint32_t>(expansions_.size() - 1);
      if (to_->IsIn(polygon)) {
        least = std::min(least, LeastOver(from, mesh_.CostOf(polygon), to_->point).sum);
        const double whole = expansions_.back().reached +
                             mesh_.CostOf(polygon) * Length(Between(from.a, from.b, 0.5), to_->point);
        if (whole < reached) {
          reached = whole;
          last = expansion;
        }
      }
      Leave(polygon, from, floor, expansion, number);
    }
    if (least == kInfinity && best_.cost == kInfinity) {
      return SearchEnd::kExhausted;
    }
    if (last != kNone) {
      Take(last);
    }
    const double proved = std::min(least, Needed());
    if (is_first) {
      NoteKnown(proved);
    }
    least_ = std::max(least_, proved * (1.0 - kSlack));
    return std::nullopt;
  }

  Stretch StretchOf(std::uint32_t number) const {
    const Entrance& entrance = entrances_[labels_[number].entrance];
    const std::uint32_t k = number - entrance.first_label;
    const double count = entrance.stretches;
    const Label& label = labels_[number];
    return {Between(entrance.a, entrance.b, k / count), Between(entrance.a, entrance.b, (k + 1) / count),
            label.at_a, label.at_b};
  }

  // Improves the labels of all edges of a polygon by lines from the stretch. `floor` is that of the stretch,
  // whose number is `own`.
  void Leave(PolygonNumber polygon, const Stretch& from, double floor, std::uint32_t expansion,
             std::uint32_t own) {
    const double cost = mesh_.CostOf(polygon);
    const std::size_t corners = mesh_.VerticesOf(polygon).size();
    for (std::uint32_t k = 0; k < corners; ++k) {
      const PolygonNumber next = mesh_.Across(polygon, k);
      if (next == kNoPolygon) {
        continue;
      }
      const bool is_own_edge = own != kNone && entrances_[labels_[own].entrance].corner == k;
      // A path runs along an edge on the side that costs less.
      if (is_own_edge && cost >= mesh_.CostOf(next)) {
        continue;
      }
      const std::uint32_t entrance = EntranceAt(polygon, k, next);
      const std::uint32_t count = entrances_[entrance].stretches;
      for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t number = entrances_[entrance].first_label + i;
        Stretch to = StretchOf(number);
        // The edge runs the other way in the next polygon.
        if (is_own_edge && own - entrances_[labels_[own].entrance].first_label == count - 1 - i) {
          const double most = std::min(from.at_a, from.at_b) + cost * Length(from.a, from.b);
          to.at_a = std::min(from.at_b, most);
          to.at_b = std::min(from.at_a, most);
        } else {
          to = BestTangent(from, cost, mesh_.least_cost(), to_->point, to);
        }
        Improve(number, to, floor);
        Label& label = labels_[number];
        const double reached = (expansion == kNone ? 0.0 : expansions_[expansion].reached) +
                               cost * Length(Between(from.a, from.b, 0.5), Between(to.a, to.b, 0.5));
        if (reached < label.reached) {
          label.reached = reached;
          label.parent = expansion;
        }
      }
    }
  }

  // Returns the number of stretches of an edge of this length.
  std::uint32_t StretchesOf(double length) const {
    if (round_ == 0) {
      return 1;
    }
    const int least = round_ < 3 ? round_ : 1 << (round_ - 1);
    const double most_length = Length(start_.point, goal_.point) / (16 << round_);
    return static_cast<std::uint32_t>(
        std::clamp<double>(std::ceil(length / most_length), least, 8.0 * least));
  }

  // Returns lower bounds of the rest of a path from both ends of a stretch.
  std::pair<double, double> KnownOf(std::uint32_t number) const {
    const Entrance& entrance = entrances_[labels_[number].entrance];
    const auto at = [&](std::uint32_t k) {
      return entrance.known_a + (entrance.known_b - entrance.known_a) * k / entrance.stretches;
    };
    return {at(number - entrance.first_label), at(number - entrance.first_label + 1)};
  }

  static std::uint64_t SideOf(PolygonNumber polygon, std::uint32_t corner) {
    return std::uint64_t{polygon} << 8 | corner;
  }

  // Returns the number of the entrance to `next` across edge k of the polygon.
  std::uint32_t EntranceAt(PolygonNumber polygon, std::uint32_t k, PolygonNumber next) {
    const auto [entry, is_new] =
        entrance_of_.try_emplace(SideOf(polygon, k), static_cast<std::uint32_t>(entrances_.size()));
    if (is_new) {
      const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(polygon);
      const std::uint32_t left = corners[k + 1 < corners.size() ? k + 1 : 0];
      Entrance entrance{next, static_cast<std::uint32_t>(mesh_.CornerAt(next, left)),
                        InPlan(mesh_.VertexAt(left)), InPlan(mesh_.VertexAt(corners[k]))};
      if (from_ == &goal_) {
        // Whatever the first round did not expand is on no path that costs less than it proved. That less the
        // rest of the way is concave, so its chord is a lower bound.
        entrance.known_a = first_proved_ - Straight(entrance.a, goal_.point);
        entrance.known_b = first_proved_ - Straight(entrance.b, goal_.point);
        for (const auto& [side, is_turned] :
             {std::pair(SideOf(polygon, k), false), std::pair(SideOf(next, entrance.corner), true)}) {
          if (const auto known = known_.find(side); known != known_.end()) {
            const auto [at_a, at_b] = known->second;
            entrance.known_a = std::min(entrance.known_a, is_turned ? at_b : at_a);
            entrance.known_b = std::min(entrance.known_b, is_turned ? at_a : at_b);
          }
        }
      }
      entrance.first_label = static_cast<std::uint32_t>(labels_.size());
      entrance.stretches = StretchesOf(Length(entrance.a, entrance.b));
      Label label;
      label.entrance = static_cast<std::uint32_t>(entrances_.size());
      labels_.resize(labels_.size() + entrance.stretches, label);
      entrances_.push_back(entrance);
    }
    return entry->second;
  }

  // Keeps the labels of the first round. No path costs less than `proved`.
  void NoteKnown(double proved) {
    first_proved_ = proved;
    for (const auto& [side, entrance] : entrance_of_) {
      const Label& label = labels_[entrances_[entrance].first_label];
      known_.emplace(side, std::pair(label.at_a, label.at_b));
    }
  }

  // Takes the lower bounds of `to`, which hold for paths through the expanded stretch with this floor.
  void Improve(std::uint32_t number, Stretch to, double floor) {
    double own_floor = LeastOver(to, mesh_.least_cost(), to_->point).sum;
    if (own_floor < floor) {
      // No path through the expanded stretch costs less than its floor, so no point here costs less than that
      // less the straight line to the end. The chord of it is a lower bound.
      Stretch chord = to;
      chord.at_a = floor - Straight(to.a, to_->point);
      chord.at_b = floor - Straight(to.b, to_->point);
      if (LeastOver(chord, mesh_.least_cost(), to_->point).sum > own_floor) {
        to = chord;
      }
      own_floor = floor;
    }
    const auto [known_a, known_b] = KnownOf(number);
    const double key = std::max(own_floor, std::min(to.at_a + known_a, to.at_b + known_b));
    if (key >= Needed()) {
      return;
    }
    Label& label = labels_[number];
    const double ignored = kIgnored * std::max(1.0, key);
    if (to.at_a >= label.at_a - ignored && to.at_b >= label.at_b - ignored &&
        own_floor >= label.floor - ignored && key >= label.key - ignored) {
      return;
    }
    // Values between those of two lines at both ends are at most those of the lower line.
    label.at_a = std::min(label.at_a, to.at_a);
    label.at_b = std::min(label.at_b, to.at_b);
    label.floor = std::min(label.floor, own_floor);
    label.key = std::min(label.key, key);
    label.is_open = true;
    ++report_.statistics.generated;
    open_.push({label.key, number});
    report_.open_peak = std::max(report_.open_peak, open_.size());
  }

  // Finds a path through the polygons that lead to an expansion.
  void Take(std::uint32_t last) {
    std::vector<Entrance> entrances;
    for (std::uint32_t i = last; i != kNone; i = expansions_[i].parent) {
      entrances.push_back(entrances_[labels_[expansions_[i].label].entrance]);
    }
    if (from_ == &start_) {
      std::ranges::reverse(entrances);
    } else {
      for (Entrance& entrance : entrances) {
        entrance = Turned(entrance);
      }
    }
    std::vector<PolygonNumber> corridor;
    corridor.reserve(entrances.size() + 1);
    corridor.push_back(mesh_.Across(entrances.front().polygon, entrances.front().corner));
    for (const Entrance& entrance : entrances) {
      corridor.push_back(entrance.polygon);
    }
    Keep(CorridorPath(mesh_, task_, std::move(corridor), std::move(entrances)).Find());
  }

  // Returns the entrance from the other side.
  Entrance Turned(const Entrance& entrance) const {
    const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(entrance.polygon);
    const std::uint32_t end = corners[entrance.corner + 1 < corners.size() ? entrance.corner + 1 : 0];
    const PolygonNumber polygon = mesh_.Across(entrance.polygon, entrance.corner);
    return {polygon, static_cast<std::uint32_t>(mesh_.CornerAt(polygon, end)), entrance.b, entrance.a};
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
  const Terminal start_;
  const Terminal goal_;
  const double allowed_;
  const double max_cost_;
  // Lower bound of the cost, and the best path.
  double least_;
  FoundPath best_;
  MeshSearchReport report_;
  // Bound that the first round has proved, and its labels by the edges through which they leave a polygon.
  double first_proved_ = 0.0;
  absl::flat_hash_map<std::uint64_t, std::pair<double, double>> known_;
  // The current round.
  const Terminal* from_ = nullptr;
  const Terminal* to_ = nullptr;
  int round_ = 0;
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
