#include "server/core/grid/portal/portal_astar.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "server/core/search/interruption.h"
#include "server/core/search/open_list.h"

namespace waystar::core {
namespace {

// Maximum number of goals that the heuristic checks one by one.
constexpr std::size_t kFewGoals = 16;

}  // namespace

bool PortalAStar::Start() {
  is_started_ = true;
  const std::vector<GridLayer>& maps = graph_.maps();
  layer_of_map_.resize(maps.size());
  int width = 1;
  std::uint64_t rows = 0;
  for (std::uint32_t map = 0; map < maps.size(); ++map) {
    if (maps[map].is_reached) {
      layer_of_map_[map] = layers_.size();
      layers_.push_back(
          {.map = map,
           .row = static_cast<std::uint32_t>(rows),
           .walk = maps[map].walk.get(),
           .moves = &GridMoves::For(maps[map].map->settings().connectivity, query_.corner_rule)});
      width = std::max(width, maps[map].map->width());
      rows += static_cast<std::uint64_t>(maps[map].map->height());
    }
  }
  row_shift_ = static_cast<unsigned>(std::bit_width(static_cast<unsigned>(width - 1)));
  if (rows << row_shift_ > std::numeric_limits<Number>::max() ||
      rows > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
    return false;
  }
  for (const std::uint32_t index : graph_.reached()) {
    const Door& door = graph_.door(index);
    places_[NumberOf(layers_[layer_of_map_[door.from_map]], door.from)].departures.push_back(index);
  }
  const Layer& last = layers_[layer_of_map_[graph_.goal_map()]];
  for (std::uint32_t i = 0; i < graph_.goals().size(); ++i) {
    Place& place = places_[NumberOf(last, graph_.goals()[i])];
    place.goal = place.goal.value_or(i);
  }
  BoundPortals();

  if (!scratch_.Start(width, static_cast<int>(rows))) {
    return false;
  }
  for (Layer& layer : layers_) {
    const GridMap& map = *maps[layer.map].map;
    if (query_.footprint > 1 && !map.HasUniformCost()) {
      layer.ground = scratch_.dearest_cells().Add(map, query_.footprint);
    }
  }
  start_ = NumberOf(layers_[0], query_.start);
  SearchNode* node = Find(start_);
  if (node == nullptr) {
    return false;
  }
  scratch_.Reach(*node, 0, Direction::kNorth);
  return Push(layers_[0], start_, query_.start, query_.start, 0);
}

void PortalAStar::BoundPortals() {
  if (graph_.goals().size() > kFewGoals || query_.algorithm == Algorithm::kDijkstra) {
    return;
  }
  const GridLayer& last = graph_.maps()[graph_.goal_map()];
  for (const Cell goal : graph_.goals()) {
    goals_.emplace_back(*last.map, goal);
  }
  through_portals_ = PortalGraph::kFar;
  for (const std::uint32_t index : last.arrivals) {
    const Door& door = graph_.door(index);
    if (door.is_reached) {
      for (const CostFloorHeuristic& goal : goals_) {
        through_portals_ = std::min(through_portals_, door.portal->cost + goal(door.to));
      }
    }
  }
}

std::optional<SearchEnd> PortalAStar::Run(std::uint64_t max_expansions, const Budget& budget) {
  if (!is_started_ && !Start()) {
    return SearchEnd::kScratchLimit;
  }
  OpenList& open = scratch_.open();
  while (!open.empty()) {
    if (statistics_.expanded >= max_expansions) {
      return std::nullopt;
    }
    const OpenEntry entry = open.Pop();
    if (entry.f > best_cost_) {
      break;
    }
    if (!best_ && entry.f > budget.max_cost) {
      least_cost_ = entry.f;
      return SearchEnd::kCostLimit;
    }
    const Number number = entry.packed_cell;
    SearchNode& node = *Find(number);
    if (node.expanded) {
      continue;
    }
    if (statistics_.expanded % Budget::kPollInterval == 0) {
      if (const std::optional<SearchEnd> end = Interruption(budget)) {
        return end;
      }
    }
    node.expanded = true;
    const Cost g = node.g;
    const auto place = places_.find(number);
    if (place != places_.end() && place->second.goal) {
      if (g < best_cost_ || *place->second.goal < *best_) {
        best_ = place->second.goal;
        best_cost_ = g;
      }
      if (graph_.goals().size() == 1) {
        break;
      }
    }
    ++statistics_.expanded;
    const Layer& layer = LayerOf(number);
    const Cell cell = CellOf(layer, number);
    if (recorder_ != nullptr) {
      recorder_->OnMap(graph_.maps()[layer.map].id);
      recorder_->Expanded(cell, g, entry.f);
    }
    if (!Expand(layer, cell, g) || (place != places_.end() && !Pass(place->second, cell, g))) {
      return SearchEnd::kScratchLimit;
    }
  }
  return best_ ? SearchEnd::kGoalReached : SearchEnd::kExhausted;
}

bool PortalAStar::Expand(const Layer& layer, Cell cell, Cost g) {
  for (unsigned moves = layer.moves->From(*layer.walk, cell); moves != 0; moves &= moves - 1) {
    const auto direction = static_cast<Direction>(std::countr_zero(moves));
    const Cell next = Step(cell, direction);
    const Cost next_g = g + StepCost(layer, direction, next);
    const Number number = NumberOf(layer, next);
    SearchNode* node = Find(number);
    if (node == nullptr) {
      return false;
    }
    if (scratch_.IsFresh(*node) || next_g < node->g) {
      scratch_.Reach(*node, next_g, direction);
      if (!Push(layer, number, next, cell, next_g)) {
        return false;
      }
    }
  }
  return true;
}

// Passes the portals at a place. Nodes reached through one get non-empty arrivals.
bool PortalAStar::Pass(const Place& place, Cell cell, Cost g) {
  for (const std::uint32_t index : place.departures) {
    const Door& door = graph_.door(index);
    const Layer& layer = layers_[layer_of_map_[door.to_map]];
    const Cost next_g = g + door.portal->cost;
    const Number number = NumberOf(layer, door.to);
    SearchNode* node = Find(number);
    if (node == nullptr) {
      return false;
    }
    if (scratch_.IsFresh(*node) || next_g < node->g) {
      scratch_.Reach(*node, next_g, Direction::kNorth);
      node->arrivals = 1;
      doors_to_[number] = index;
      // The recorder gets no parent on another map.
      if (!Push(layer, number, door.to, door.to_map == door.from_map ? cell : door.to, next_g)) {
        return false;
      }
    }
  }
  return true;
}

bool PortalAStar::Push(const Layer& layer, Number number, Cell cell, Cell parent, Cost g) {
  const Cost rest = Heuristic(layer.map, cell);
  if (rest == PortalGraph::kFar) {
    // No goal can be reached from this cell.
    return true;
  }
  ++statistics_.generated;
  const Cost f = g + rest;
  if (recorder_ != nullptr) {
    recorder_->OnMap(graph_.maps()[layer.map].id);
    recorder_->Generated(cell, parent, g, f);
  }
  return scratch_.Push({.f = f, .g = g, .packed_cell = number});
}

const PortalAStar::Layer& PortalAStar::LayerOf(Number number) const {
  const auto behind = std::upper_bound(layers_.begin(), layers_.end(), number >> row_shift_,
                                       [](std::uint32_t row, const Layer& layer) { return row < layer.row; });
  return *(behind - 1);
}

// The heuristic is consistent: passing a portal costs at least as much as it decreases.
Cost PortalAStar::Heuristic(std::uint32_t map, Cell cell) const {
  Cost least = through_portals_;
  if (map == graph_.goal_map()) {
    for (const CostFloorHeuristic& goal : goals_) {
      least = std::min(least, goal(cell));
    }
  }
  return least;
}

// A large agent pays for the most expensive cell that it covers after the step.
Cost PortalAStar::StepCost(const Layer& layer, Direction direction, Cell entered) const {
  const GridMap& map = *graph_.maps()[layer.map].map;
  if (map.HasUniformCost()) {
    return IsDiagonal(direction) ? map.min_diagonal() : map.min_straight();
  }
  const Cell paying = query_.footprint > 1 ? scratch_.dearest_cells().Under(layer.ground, entered) : entered;
  return IsDiagonal(direction) ? map.DiagonalCost(paying) : map.StraightCost(paying);
}

PortalEntry PortalAStar::FindWay() {
  PortalEntry last{.f = best_cost_, .g = best_cost_, .is_exact = true, .to = graph_.GoalIndex(*best_)};
  std::uint32_t* before = &last.from;
  Number number = NumberOf(layers_[layer_of_map_[graph_.goal_map()]], graph_.goals()[*best_]);
  while (number != start_) {
    const SearchNode& node = *Find(number);
    if (node.arrivals == 0) {
      const Layer& layer = LayerOf(number);
      number = NumberOf(layer, Step(CellOf(layer, number), Opposite(node.entered_by)));
    } else {
      *before = doors_to_.at(number);
      Door& door = graph_.door(*before);
      before = &door.parent;
      number = NumberOf(layers_[layer_of_map_[door.from_map]], door.from);
    }
  }
  *before = kNoDoor;
  return last;
}

}  // namespace waystar::core
