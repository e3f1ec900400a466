#include "server/core/mesh/portal/lazy_legs.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include "server/base/error.h"
#include "server/core/mesh/map/mesh_portals.h"
#include "server/core/mesh/map/plan.h"

namespace waystar::core {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Maximum number of straight lines by which bounds are found, which takes some ten milliseconds.
constexpr std::size_t kMostLines = std::size_t{1} << 22;

class LegSearch {
 public:
  LegSearch(const LegEnd& start, const LegEnd& goal, absl::Span<const Jump> jumps, LegCost cost_of_leg,
            const StopCheck& stop)
      : start_(start),
        goal_(goal),
        jumps_(jumps),
        cost_of_leg_(cost_of_leg),
        stop_(stop),
        rests_(jumps.size()),
        nodes_(jumps.size() + 2) {
    FindRests();
  }

  absl::StatusOr<std::optional<std::vector<std::uint32_t>>> Run() {
    Settle(Start(), Start(), 0.0);
    while (!open_.empty()) {
      WAYSTAR_RETURN_IF_ERROR(stop_.Check());
      const Leg leg = open_.top();
      open_.pop();
      if (!leg.is_found) {
        PushNextFrom(leg.from, std::pair(leg.f, leg.to));
      }
      if (nodes_[leg.to].is_settled) {
        continue;
      }
      if (!leg.is_found) {
        WAYSTAR_ASSIGN_OR_RETURN(const double cost,
                                 cost_of_leg_(BeginOf(leg.from).point, EndOf(leg.to).point));
        if (cost < kInfinity) {
          const double g = nodes_[leg.from].g + cost + CostBehind(leg.to);
          open_.push({.g = g, .f = g + RestOf(leg.to), .is_found = true, .from = leg.from, .to = leg.to});
        }
        continue;
      }
      Settle(leg.to, leg.from, leg.g);
      if (leg.to == Goal()) {
        return Trace();
      }
    }
    return std::nullopt;
  }

 private:
  // Start, goal, or a jump; reached once the jump is made.
  using Node = std::uint32_t;

  struct Reached {
    bool is_settled = false;
    double g = 0.0;
    Node before = 0;
  };
  // A leg and the jump behind it.
  struct Leg {
    // Cost from the start, once the leg is found; until then it counts as a straight line in `f`.
    double g = 0.0;
    // Lower bound of the cost of a way to the goal.
    double f = 0.0;
    bool is_found = false;
    Node from = 0;
    Node to = 0;

    bool operator>(const Leg& other) const {
      return std::tie(f, from, to) > std::tie(other.f, other.from, other.to);
    }
  };

  Node Start() const { return static_cast<Node>(jumps_.size()); }
  Node Goal() const { return Start() + 1; }
  const LegEnd& BeginOf(Node node) const { return node == Start() ? start_ : jumps_[node].to; }
  const LegEnd& EndOf(Node node) const { return node == Goal() ? goal_ : jumps_[node].from; }
  double CostBehind(Node node) const { return node == Goal() ? 0.0 : jumps_[node].cost; }
  double RestOf(Node node) const { return node == Goal() ? 0.0 : rests_[node]; }
  // Returns what a leg or a jump costs at least, unless it is a shortcut.
  static double LineOf(const LegEnd& from, const LegEnd& to) {
    return kLineShare * DistanceInPlan(from.point, to.point);
  }

  // A way costs at least as much as one along straight lines from shortcut to shortcut. If there are too many
  // shortcuts, the bounds stay 0.
  void FindRests() {
    std::vector<Node> shortcuts;
    for (Node jump = 0; jump < jumps_.size(); ++jump) {
      if (jumps_[jump].cost < LineOf(jumps_[jump].from, jumps_[jump].to)) {
        shortcuts.push_back(jump);
      }
    }
    if (shortcuts.size() * jumps_.size() > kMostLines) {
      return;
    }
    for (Node jump = 0; jump < jumps_.size(); ++jump) {
      rests_[jump] = LineOf(jumps_[jump].to, goal_);
    }
    while (!shortcuts.empty()) {
      const auto last = std::ranges::min_element(shortcuts, {}, [&](Node jump) { return rests_[jump]; });
      const Jump& shortcut = jumps_[*last];
      const double rest = shortcut.cost + rests_[*last];
      shortcuts.erase(last);
      for (Node jump = 0; jump < jumps_.size(); ++jump) {
        rests_[jump] = std::min(rests_[jump], LineOf(jumps_[jump].to, shortcut.from) + rest);
      }
    }
  }

  void Settle(Node node, Node before, double g) {
    nodes_[node] = {.is_settled = true, .g = g, .before = before};
    if (node != Goal()) {
      PushNextFrom(node, std::nullopt);
    }
  }

  // Pushes the straight leg from a node that comes after the last one pushed, in the order of Leg.
  void PushNextFrom(Node from, std::optional<std::pair<double, Node>> last) {
    std::optional<std::pair<double, Node>> next;
    for (Node to = 0; to <= Goal(); ++to) {
      if (to == Start() || nodes_[to].is_settled || !HaveSharedPart(BeginOf(from).parts, EndOf(to).parts)) {
        continue;
      }
      const double g = nodes_[from].g + LineOf(BeginOf(from), EndOf(to)) + CostBehind(to);
      const std::pair key(g + RestOf(to), to);
      if ((!last || key > *last) && (!next || key < *next)) {
        next = key;
      }
    }
    if (next) {
      open_.push({.f = next->first, .is_found = false, .from = from, .to = next->second});
    }
  }

  std::vector<std::uint32_t> Trace() const {
    std::vector<std::uint32_t> way;
    for (Node node = nodes_[Goal()].before; node != Start(); node = nodes_[node].before) {
      way.push_back(node);
    }
    std::ranges::reverse(way);
    return way;
  }

  const LegEnd& start_;
  const LegEnd& goal_;
  const absl::Span<const Jump> jumps_;
  const LegCost cost_of_leg_;
  const StopCheck& stop_;
  // Lower bound of the cost behind each jump.
  std::vector<double> rests_;
  // Has one straight leg for each settled node at a time.
  std::priority_queue<Leg, std::vector<Leg>, std::greater<>> open_;
  std::vector<Reached> nodes_;
};

}  // namespace

absl::StatusOr<std::optional<std::vector<std::uint32_t>>> FindCheapestLegs(const LegEnd& start,
                                                                           const LegEnd& goal,
                                                                           absl::Span<const Jump> jumps,
                                                                           LegCost cost_of_leg,
                                                                           const StopCheck& stop) {
  return LegSearch(start, goal, jumps, cost_of_leg, stop).Run();
}

}  // namespace waystar::core
