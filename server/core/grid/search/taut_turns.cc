#include "server/core/grid/search/taut_turns.h"

#include <algorithm>
#include <cstddef>

namespace waystar::core {
namespace {

constexpr std::size_t kSpots = 9;

// The nine cells of a 3 x 3 window, numbered in row-major order.
struct Spot {
  int x;
  int y;
};

constexpr Spot SpotAt(std::size_t index) {
  return {static_cast<int>(index % 3) - 1, static_cast<int>(index / 3) - 1};
}

constexpr std::size_t IndexOf(int x, int y) {
  return static_cast<std::size_t>(y + 1) * 3 + static_cast<std::size_t>(x + 1);
}

constexpr std::size_t IndexOf(unsigned direction) {
  return IndexOf(kSteps[direction].x, kSteps[direction].y);
}

using Distances = std::array<std::array<Cost, kSpots>, kSpots>;

// Returns the distances between all pairs of the nine cells, by paths within them.
Distances DistancesIn(NeighbourBits surroundings, Cost straight, Cost diagonal) {
  // More than the cost of any path over nine cells.
  const Cost unreachable = kSpots * 2 * diagonal;
  std::array<bool, kSpots> is_free{};
  is_free[IndexOf(0, 0)] = true;
  for (unsigned d = 0; d < kDirectionCount; ++d) {
    is_free[IndexOf(d)] = (surroundings >> d & 1U) != 0;
  }
  Distances distances{};
  for (std::size_t a = 0; a < kSpots; ++a) {
    for (std::size_t b = 0; b < kSpots; ++b) {
      const Spot from = SpotAt(a);
      const Spot to = SpotAt(b);
      const int dx = std::abs(from.x - to.x);
      const int dy = std::abs(from.y - to.y);
      const bool is_step = std::max(dx, dy) == 1 && is_free[a] && is_free[b] &&
                           is_free[IndexOf(from.x, to.y)] && is_free[IndexOf(to.x, from.y)];
      distances[a][b] = a == b ? 0 : !is_step ? unreachable : dx + dy == 2 ? diagonal : straight;
    }
  }
  for (std::size_t over = 0; over < kSpots; ++over) {
    for (std::size_t a = 0; a < kSpots; ++a) {
      for (std::size_t b = 0; b < kSpots; ++b) {
        distances[a][b] = std::min(distances[a][b], distances[a][over] + distances[over][b]);
      }
    }
  }
  return distances;
}

}  // namespace

TautTurns::TautTurns(Cost straight, Cost diagonal) {
  for (std::size_t surroundings = 0; surroundings < table_.size(); ++surroundings) {
    const Distances distances = DistancesIn(static_cast<NeighbourBits>(surroundings), straight, diagonal);
    const auto step = [&](unsigned direction) {
      return IsDiagonal(static_cast<Direction>(direction)) ? diagonal : straight;
    };
    const auto is_taut = [&](unsigned from, unsigned to) {
      return distances[IndexOf(from)][IndexOf(to)] >= step(from) + step(to);
    };
    for (unsigned from = 0; from < kSectorCount; ++from) {
      SectorSet onward = 0;
      for (unsigned to = 0; to < kSectorCount; ++to) {
        bool all = true;
        for (const unsigned first : {from / 2, (from + 1) / 2 % kDirectionCount}) {
          for (const unsigned last : {to / 2, (to + 1) / 2 % kDirectionCount}) {
            all = all && is_taut(first, last);
          }
        }
        onward = static_cast<SectorSet>(onward | (all ? 1U : 0U) << to);
      }
      table_[surroundings][from] = onward;
    }
  }
}

}  // namespace waystar::core
