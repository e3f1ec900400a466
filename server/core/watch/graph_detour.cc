#include "server/core/watch/graph_detour.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace waystar::core {
namespace {

// Exceeds the rounding error of sums of costs.
constexpr double kMargin = 1.0 - 1e-12;

double Distance(const WorldPoint& point, const Box& box) {
  return std::sqrt(box.SquaredDistance(point.x, point.y));
}

}  // namespace

GraphGround::GraphGround(const WaypointGraph& graph)
    : per_length_(graph.least_cost_per_length()), arcs_(graph.cheap_arcs()) {
  const std::size_t count = arcs_.size();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      const WorldPoint& to = arcs_[j].from;
      between_[i][j] =
          std::min(per_length_ * core::Distance(arcs_[i].from, to),
                   static_cast<double>(arcs_[i].cost) + per_length_ * core::Distance(arcs_[i].to, to));
    }
    between_[i][i] = 0.0;
  }
  // Floyd, "Algorithm 97: Shortest Path" (1962).
  for (std::size_t over = 0; over < count; ++over) {
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < count; ++j) {
        between_[i][j] = std::min(between_[i][j], between_[i][over] + between_[over][j]);
      }
    }
  }
}

GraphDetour::GraphDetour(const GraphGround& ground, const Box& box) : ground_(ground), box_(box) {
  const std::vector<CheapArc>& arcs = ground.arcs_;
  const double unit = ground.per_length_;
  to_box_.fill(std::numeric_limits<double>::infinity());
  from_box_.fill(std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    const auto cost = static_cast<double>(arcs[i].cost);
    for (std::size_t j = 0; j < arcs.size(); ++j) {
      const double last = std::min(unit * Distance(arcs[j].from, box),
                                   static_cast<double>(arcs[j].cost) + unit * Distance(arcs[j].to, box));
      to_box_[i] = std::min(to_box_[i], ground.between_[i][j] + last);
      from_box_[i] =
          std::min(from_box_[i], unit * Distance(arcs[j].from, box) + ground.between_[j][i] + cost);
    }
  }
}

double GraphDetour::LeastCost(const WorldPoint& from, const WorldPoint& to) const {
  const double unit = ground_.per_length_;
  double there = unit * Distance(from, box_);
  double back = unit * Distance(to, box_);
  for (std::size_t i = 0; i < ground_.arcs_.size(); ++i) {
    there = std::min(there, unit * core::Distance(from, ground_.arcs_[i].from) + to_box_[i]);
    back = std::min(back, from_box_[i] + unit * core::Distance(ground_.arcs_[i].to, to));
  }
  return (there + back) * kMargin;
}

}  // namespace waystar::core
