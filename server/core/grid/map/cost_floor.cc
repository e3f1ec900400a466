#include "server/core/grid/map/cost_floor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <tuple>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/cell_costs.h"
#include "server/core/grid/map/terrain_tiles.h"
#include "server/geometry/cell.h"

namespace waystar::core {
namespace {

constexpr Cost kNone = std::numeric_limits<Cost>::max();
// Maximum number of costs tried as the floor of the rest of the map.
constexpr int kMostFloors = 8;
// Cheap places are used only if they raise the heuristic by at least this factor.
constexpr double kWorthwhile = 1.1;

static_assert(TerrainTiles::kSide == CellCosts::kTileSide);

struct Tile {
  Cost least = kNone;
  int column = 0;
  int row = 0;

  friend bool operator<(const Tile& a, const Tile& b) {
    return std::tie(a.least, a.row, a.column) < std::tie(b.least, b.row, b.column);
  }
};

// Returns the maximum number of steps that passing through a free place saves.
int SpanOf(const Rectangle& place) { return std::max(place.width, place.height); }

int SpanOf(absl::Span<const Rectangle> places) {
  int span = 0;
  for (const Rectangle& place : places) {
    span += SpanOf(place);
  }
  return span;
}

// Merges places, the closest pair first, until they are few and far apart.
void Join(std::vector<Rectangle>& places) {
  while (places.size() > 1) {
    int least = std::numeric_limits<int>::max();
    std::size_t first = 0;
    std::size_t second = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      for (std::size_t k = i + 1; k < places.size(); ++k) {
        const int more = SpanOf(Union(places[i], places[k])) - SpanOf(places[i]) - SpanOf(places[k]);
        if (more < least) {
          least = more;
          first = i;
          second = k;
        }
      }
    }
    if (least > 0 && places.size() <= CostFloor::kMostPlaces) {
      return;
    }
    places[first] = Union(places[first], places[second]);
    places.erase(places.begin() + static_cast<std::ptrdiff_t>(second));
  }
}

class FloorFinder {
 public:
  explicit FloorFinder(const GridMap& map) : map_(map) {
    for (std::size_t terrain = 0; terrain < map.settings().terrains.size(); ++terrain) {
      straight_[terrain] = map.step_costs().passable[terrain] ? map.step_costs().straight[terrain] : kNone;
    }
  }

  CostFloor Find() {
    ListCheapestTiles();
    if (tiles_.empty() || tiles_.front().least == kNone) {
      return {.everywhere = OpenGround<Cost>::Of(map_)};
    }
    Cost least = tiles_.front().least;
    CostFloor floor{.everywhere = GroundOf(least),
                    .has_diagonals = map_.settings().connectivity == Connectivity::kEight};
    const int distance = std::max(map_.width(), map_.height()) / 2;
    // Lower bounds on the cost of a path of length `distance`.
    double best = kWorthwhile * static_cast<double>(least) * distance;
    Cost best_cost = least;
    for (const Cost cost : FloorsAbove(least)) {
      std::vector<Rectangle> places = PlacesBelow(cost);
      if (places.empty()) {
        // No cell is cheaper than `cost`: those with cheaper terrain have costs of their own.
        least = cost;
        best_cost = cost;
        best = kWorthwhile * static_cast<double>(least) * distance;
        floor.everywhere = GroundOf(least);
        continue;
      }
      const int span = SpanOf(places);
      if (span >= distance) {
        // Higher costs have places that span even more.
        break;
      }
      const double bound = static_cast<double>(cost) * distance - static_cast<double>(cost - least) * span;
      if (bound > best) {
        best = bound;
        best_cost = cost;
        floor.cheap = std::move(places);
      }
    }
    if (best_cost > least) {
      floor.elsewhere = Beyond(floor.everywhere, GroundOf(best_cost));
    }
    return floor;
  }

 private:
  Cost LeastOf(const TerrainBits& terrains) const {
    Cost least = kNone;
    for (std::size_t word = 0; word < terrains.size(); ++word) {
      for (Word left = terrains[word]; left != 0; left &= left - 1) {
        least =
            std::min(least, straight_[word * kWordBits + static_cast<std::size_t>(std::countr_zero(left))]);
      }
    }
    return least;
  }

  // Lists the cheapest tiles in ascending order of cost: one more than CostFloor::kMostTiles.
  void ListCheapestTiles() {
    const TerrainTiles& terrains = map_.terrain_tiles();
    const CellCosts* own = map_.cell_costs();
    std::vector<Tile> rows;
    for (int row = 0; row < terrains.rows(); ++row) {
      const TerrainBits set = terrains.InRow(row);
      std::transform(present_.begin(), present_.end(), set.begin(), present_.begin(),
                     [](Word a, Word b) { return a | b; });
      const Cost least = LeastOf(set);
      rows.push_back({own == nullptr ? least : std::min(least, own->MinInTileRow(row)), 0, row});
    }
    std::sort(rows.begin(), rows.end());
    for (const Tile& row : rows) {
      if (tiles_.size() > CostFloor::kMostTiles && row.least >= tiles_.front().least) {
        break;
      }
      for (int column = 0; column < terrains.columns(); ++column) {
        const Cost least = LeastOf(terrains.At(column, row.row));
        const Tile tile{own == nullptr ? least : std::min(least, own->MinInTile(column, row.row)), column,
                        row.row};
        if (tiles_.size() > CostFloor::kMostTiles) {
          if (!(tile < tiles_.front())) {
            continue;
          }
          std::pop_heap(tiles_.begin(), tiles_.end());
          tiles_.pop_back();
        }
        tiles_.push_back(tile);
        std::push_heap(tiles_.begin(), tiles_.end());
      }
    }
    std::sort_heap(tiles_.begin(), tiles_.end());
  }

  // Returns candidate floors in ascending order: lower bounds of the costs of cells outside a few tiles.
  std::vector<Cost> FloorsAbove(Cost least) const {
    const Cost highest =
        std::min(tiles_.size() > CostFloor::kMostTiles ? tiles_.back().least : kNone, kNone - 1);
    std::vector<Cost> floors;
    const auto add = [&](Cost cost) {
      if (least < cost && cost <= highest) {
        floors.push_back(cost);
      }
    };
    for (std::size_t terrain = 0; terrain < map_.settings().terrains.size(); ++terrain) {
      if ((present_[terrain / kWordBits] >> terrain % kWordBits & 1U) != 0) {
        add(straight_[terrain]);
      }
    }
    for (const Tile& tile : tiles_) {
      add(tile.least);
    }
    std::sort(floors.begin(), floors.end());
    floors.erase(std::unique(floors.begin(), floors.end()), floors.end());
    floors.resize(std::min<std::size_t>(floors.size(), kMostFloors));
    return floors;
  }

  // Returns rectangles that contain every cell cheaper than `cost`.
  std::vector<Rectangle> PlacesBelow(Cost cost) const {
    std::vector<Rectangle> places;
    for (const Tile& tile : tiles_) {
      if (tile.least >= cost) {
        break;
      }
      const Rectangle place = PlaceBelow(cost, tile);
      if (!place.empty()) {
        places.push_back(place);
      }
    }
    Join(places);
    return places;
  }

  Rectangle PlaceBelow(Cost cost, const Tile& tile) const {
    const CellCosts* own = map_.cell_costs();
    if (own != nullptr && own->MinInTile(tile.column, tile.row) == kNone) {
      own = nullptr;
    }
    const Rectangle cells = Intersect({tile.column * TerrainTiles::kSide, tile.row * TerrainTiles::kSide,
                                       TerrainTiles::kSide, TerrainTiles::kSide},
                                      map_.bounds());
    Rectangle place;
    for (int y = cells.y; y < cells.y + cells.height; ++y) {
      const TerrainId* terrains = map_.TerrainRow(y);
      for (int x = cells.x; x < cells.x + cells.width; ++x) {
        const Cost of_cell = own == nullptr ? 0 : own->At({x, y}).straight;
        if ((of_cell != 0 ? of_cell : straight_[terrains[x]]) < cost) {
          place = Extend(place, {x, y});
        }
      }
    }
    return place;
  }

  OpenGround<Cost> GroundOf(Cost straight) const {
    return OpenGround<Cost>::Of(map_.settings().connectivity, straight,
                                DiagonalCost(straight, map_.settings().diagonal_cost));
  }

  // Returns the ground whose costs are those of `high` minus those of `low`.
  OpenGround<Cost> Beyond(const OpenGround<Cost>& low, const OpenGround<Cost>& high) const {
    // Both are rounded. A diagonal step must still cost at least one straight step and at most two.
    const Cost diagonal = high.rising - low.rising;
    const Cost straight = map_.settings().connectivity == Connectivity::kEight
                              ? std::min(high.straight - low.straight, diagonal)
                              : high.straight - low.straight;
    return OpenGround<Cost>::Of(map_.settings().connectivity, straight, std::min(diagonal, 2 * straight));
  }

  const GridMap& map_;
  // Straight cost by terrain; kNone if impassable.
  std::array<Cost, kMaxTerrains> straight_{};
  // Terrains that occur on the map.
  TerrainBits present_{};
  std::vector<Tile> tiles_;
};

}  // namespace

CostFloor CostFloor::Of(const GridMap& map) {
  return map.HasUniformCost() ? CostFloor{.everywhere = OpenGround<Cost>::Of(map)} : FloorFinder(map).Find();
}

namespace {

// Number of sample cells along each side. Maps with a shorter side are not sampled: any search on them is
// fast.
constexpr int kSamples = 32;
constexpr int kFewestPairs = 64;
// If fewer neighbours than this fraction cost the same, A* is faster than jumps. With patches of 2 x 2 cells
// of eight costs A* takes 0.6 times as long as jumps, with patches of 4 x 4 cells 1.7 times.
constexpr double kNoise = 0.6;
// Minimum number of distinct costs of noise; with fewer, there are few neighbourhoods, and their judgements
// are cached.
constexpr std::size_t kFewestCosts = 4;

// Returns true if the map may have cells of kFewestCosts costs.
bool MayHaveManyCosts(const GridMap& map) {
  std::set<Cost> costs;
  for (std::size_t terrain = 0; terrain < map.settings().terrains.size(); ++terrain) {
    if (map.step_costs().passable[terrain]) {
      costs.insert(map.step_costs().straight[terrain]);
    }
  }
  return costs.size() >= kFewestCosts || map.cell_costs() != nullptr;
}

bool IsNoise(const GridMap& map) {
  if (std::min(map.width(), map.height()) < kSamples || !MayHaveManyCosts(map)) {
    return false;
  }
  int pairs = 0;
  int equal = 0;
  std::vector<Cost> costs;
  for (int i = 0; i < kSamples; ++i) {
    for (int k = 0; k < kSamples; ++k) {
      // Samples at uneven distances, because terrain may form a regular pattern.
      const Cell cell{k * map.width() / kSamples + (7 * k + 3 * i) % (map.width() / kSamples),
                      i * map.height() / kSamples + (3 * k + 7 * i) % (map.height() / kSamples)};
      if (!map.IsWalkable(cell)) {
        continue;
      }
      const Cost cost = map.StraightCost(cell);
      if (costs.size() < kFewestCosts && std::find(costs.begin(), costs.end(), cost) == costs.end()) {
        costs.push_back(cost);
      }
      for (const Cell next : {Cell{cell.x + 1, cell.y}, Cell{cell.x, cell.y + 1}}) {
        if (map.IsWalkable(next)) {
          ++pairs;
          equal += map.StraightCost(next) == cost ? 1 : 0;
        }
      }
    }
  }
  return pairs >= kFewestPairs && costs.size() >= kFewestCosts && equal < kNoise * pairs;
}

}  // namespace

std::uint64_t CostSurvey::WorkOn(const GridMap& map) {
  if (map.HasUniformCost()) {
    return 0;
  }
  constexpr std::uint64_t kWorkOfTile = 3;
  constexpr std::uint64_t kWorkOfSample = 4;
  const TerrainTiles& tiles = map.terrain_tiles();
  const std::uint64_t looks = CostFloor::kMostTiles * static_cast<std::uint64_t>(tiles.columns()) +
                              static_cast<std::uint64_t>(tiles.rows());
  return kWorkOfTile * looks + kWorkOfSample * kSamples * kSamples;
}

CostSurvey CostSurvey::Of(const GridMap& map) {
  return {.floor = CostFloor::Of(map), .is_noise = !map.HasUniformCost() && IsNoise(map)};
}

}  // namespace waystar::core
