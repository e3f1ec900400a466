#include "server/core/grid/field/passages.h"

#include <algorithm>
#include <utility>

#include "server/core/grid/portal/grid_portal_net.h"

namespace waystar::core {
namespace {

std::vector<Cell> Distinct(std::vector<Cell> cells) {
  std::sort(cells.begin(), cells.end(), RowMajorLess);
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  return cells;
}

std::size_t NumberOf(const std::vector<Cell>& cells, Cell cell) {
  return static_cast<std::size_t>(std::lower_bound(cells.begin(), cells.end(), cell, RowMajorLess) -
                                  cells.begin());
}

}  // namespace

std::vector<Passage> OwnPassages(const GridMap& map, const Agent& agent) {
  std::vector<Passage> passages;
  if (map.portals().empty()) {
    return passages;
  }
  NoWorld world;
  GridPortalNet net(map, world, agent);
  net.FindDoors();
  for (std::uint32_t i = 0; i < net.door_count(); ++i) {
    const Door& door = net.door(i);
    passages.push_back({.from = door.from, .to = door.to, .cost = door.portal->cost, .portal = door.portal});
  }
  return passages;
}

void FloodGates::Read(const FloodGround& ground, absl::Span<const Passage> passages, FloodSense sense) {
  gates_.clear();
  for (const Passage& passage : passages) {
    if (!ground.Contains(passage.from) || !ground.Contains(passage.to)) {
      continue;
    }
    Gate gate{.from = ground.IndexOf(passage.from),
              .to = ground.IndexOf(passage.to),
              .cost = passage.cost,
              .portal = passage.portal};
    if (sense == FloodSense::kToSeeds) {
      std::swap(gate.from, gate.to);
    }
    gates_.push_back(gate);
  }
  std::stable_sort(gates_.begin(), gates_.end(),
                   [](const Gate& a, const Gate& b) { return a.from < b.from; });
  at_.assign(gates_.empty() ? 0 : ground.cell_count() / kWordBits + 1, 0);
  for (const Gate& gate : gates_) {
    at_[gate.from / kWordBits] |= Word{1} << (gate.from % kWordBits);
  }
}

absl::Span<const Gate> FloodGates::From(std::uint32_t index) const {
  const auto begin = std::lower_bound(gates_.begin(), gates_.end(), index,
                                      [](const Gate& gate, std::uint32_t from) { return gate.from < from; });
  const auto end =
      std::find_if(begin, gates_.end(), [index](const Gate& gate) { return gate.from != index; });
  return absl::MakeConstSpan(gates_).subspan(static_cast<std::size_t>(begin - gates_.begin()),
                                             static_cast<std::size_t>(end - begin));
}

PassageCosts::PassageCosts(absl::Span<const Passage> passages, bool is_reversed, std::size_t end_count)
    : end_count_(end_count) {
  for (const Passage& passage : passages) {
    entrances_.push_back(is_reversed ? passage.to : passage.from);
    exits_.push_back(is_reversed ? passage.from : passage.to);
  }
  const std::vector<Cell> from = std::exchange(entrances_, Distinct(entrances_));
  const std::vector<Cell> to = std::exchange(exits_, Distinct(exits_));
  for (std::size_t i = 0; i < passages.size(); ++i) {
    links_.push_back({.entrance = NumberOf(entrances_, from[i]),
                      .exit = NumberOf(exits_, to[i]),
                      .cost = passages[i].cost});
  }
  rows_.resize(exits_.size());
}

void PassageCosts::Improve(std::vector<Cost>& row) const {
  std::vector<Cost> costs(exits_.size(), kUnreached);
  std::vector<bool> is_settled(exits_.size(), false);
  const auto pass = [&](Cost so_far, const std::vector<Cost>& walks) {
    for (const Link& link : links_) {
      if (const Cost walk = walks[end_count_ + link.entrance]; walk != kUnreached) {
        costs[link.exit] = std::min(costs[link.exit], SaturatingSum(SaturatingSum(so_far, walk), link.cost));
      }
    }
  };
  pass(0, row);
  while (true) {
    std::size_t next = exits_.size();
    for (std::size_t exit = 0; exit < exits_.size(); ++exit) {
      if (!is_settled[exit] && costs[exit] != kUnreached &&
          (next == exits_.size() || costs[exit] < costs[next])) {
        next = exit;
      }
    }
    if (next == exits_.size()) {
      return;
    }
    is_settled[next] = true;
    const std::vector<Cost>& walks = rows_[next];
    for (std::size_t end = 0; end < end_count_; ++end) {
      if (walks[end] != kUnreached) {
        row[end] = std::min(row[end], SaturatingSum(costs[next], walks[end]));
      }
    }
    pass(costs[next], walks);
  }
}

}  // namespace waystar::core
