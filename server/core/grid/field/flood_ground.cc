#include "server/core/grid/field/flood_ground.h"

#include <algorithm>
#include <cstring>

namespace waystar::core {
namespace {

// Transposes 8 x 8 bits: bit b of byte k becomes bit k of byte b. Source: Warren, "Hacker's Delight" (2002),
// 7-3.
std::uint64_t Transpose8x8(std::uint64_t bits) {
  std::uint64_t swap = (bits ^ bits >> 7) & 0x00AA00AA00AA00AA;
  bits ^= swap ^ swap << 7;
  swap = (bits ^ bits >> 14) & 0x0000CCCC0000CCCC;
  bits ^= swap ^ swap << 14;
  swap = (bits ^ bits >> 28) & 0x00000000F0F0F0F0;
  return bits ^ swap ^ swap << 28;
}

// Converts the moves of the 64 cells of a word from one word per direction to one set per cell.
void Interleave(const std::array<Word, kDirectionCount>& by_direction,
                std::array<DirectionSet, kWordBits>& moves) {
  for (unsigned block = 0; block < kWordBits / 8; ++block) {
    std::uint64_t bits = 0;
    for (unsigned d = 0; d < kDirectionCount; ++d) {
      bits |= (by_direction[d] >> (8 * block) & 0xFFU) << (8 * d);
    }
    bits = Transpose8x8(bits);
    for (unsigned cell = 0; cell < 8; ++cell) {
      moves[8 * block + cell] = static_cast<DirectionSet>(bits >> (8 * cell));
    }
  }
}

constexpr DirectionSet kNorthern =
    SetOf(Direction::kNorth) | SetOf(Direction::kNorthEast) | SetOf(Direction::kNorthWest);
constexpr DirectionSet kSouthern =
    SetOf(Direction::kSouth) | SetOf(Direction::kSouthEast) | SetOf(Direction::kSouthWest);
constexpr DirectionSet kEastern =
    SetOf(Direction::kEast) | SetOf(Direction::kNorthEast) | SetOf(Direction::kSouthEast);
constexpr DirectionSet kWestern =
    SetOf(Direction::kWest) | SetOf(Direction::kNorthWest) | SetOf(Direction::kSouthWest);

void Forbid(DirectionSet& moves, DirectionSet directions) {
  moves = static_cast<DirectionSet>(moves & ~directions);
}

CellCosts::Entry CostsOf(const GridMap& map, Cell cell) {
  return {map.StraightCost(cell), map.DiagonalCost(cell)};
}

CellCosts::Entry Dearer(CellCosts::Entry a, CellCosts::Entry b) {
  return {std::max(a.straight, b.straight), std::max(a.diagonal, b.diagonal)};
}

}  // namespace

void FloodGround::Read(const GridMap& map, const WalkGrid& walk, int footprint, CornerRule rule,
                       const Rectangle& region) {
  region_ = region;
  rule_ = rule;
  connectivity_ = map.settings().connectivity;
  is_uniform_ = map.HasUniformCost();
  min_straight_ = map.min_straight();
  min_diagonal_ = map.min_diagonal();
  max_step_ = min_diagonal_;
  ReadMoves(walk);
  entering_.clear();
  numbers_.Clear();
  if (!is_uniform_) {
    ReadCosts(map, footprint);
    FindMaxStep();
  }
}

void FloodGround::ReadStacked(absl::Span<const Layer> layers, int footprint, CornerRule rule) {
  const GridMap& first = *layers[0].map;
  region_ = {};
  rule_ = rule;
  connectivity_ = first.settings().connectivity;
  is_uniform_ = true;
  min_straight_ = first.min_straight();
  min_diagonal_ = first.min_diagonal();
  max_step_ = 0;
  for (const Layer& layer : layers) {
    const GridMap& map = *layer.map;
    region_.width = std::max(region_.width, map.width());
    region_.height += map.height();
    if (map.settings().connectivity != Connectivity::kEight) {
      connectivity_ = map.settings().connectivity;
    }
    is_uniform_ = is_uniform_ && map.HasUniformCost() && map.min_straight() == first.min_straight() &&
                  map.min_diagonal() == first.min_diagonal();
    min_straight_ = std::min(min_straight_, map.min_straight());
    min_diagonal_ = std::min(min_diagonal_, map.min_diagonal());
  }
  moves_.assign(static_cast<std::size_t>(region_.area()), 0);
  entering_.clear();
  if (!is_uniform_) {
    entering_.resize(moves_.size());
  }
  numbers_.Clear();
  int y = 0;
  for (const Layer& layer : layers) {
    FloodGround ground;
    ground.Read(*layer.map, *layer.walk, footprint, rule, layer.map->bounds());
    AddLayer(ground, y);
    y += layer.map->height();
  }
  if (!is_uniform_) {
    numbers_.ReadEntries(entering_);
    if (is_eight_connected() && !numbers_.empty()) {
      even_cells_.Find(moves_, numbers_.numbers(), static_cast<std::size_t>(region_.width));
    }
  }
}

void FloodGround::AddLayer(const FloodGround& layer, int y) {
  max_step_ = std::max(max_step_, layer.max_step_);
  const auto width = static_cast<std::size_t>(layer.region_.width);
  for (int row = 0; row < layer.region_.height; ++row) {
    const std::size_t from = static_cast<std::size_t>(row) * width;
    const std::size_t to = IndexOf({0, y + row});
    std::memcpy(moves_.data() + to, layer.moves_.data() + from, width * sizeof(moves_[0]));
    for (std::size_t x = 0; !is_uniform_ && x < width; ++x) {
      entering_[to + x] = layer.EntryAt(from + x);
    }
  }
}

CellCosts::Entry FloodGround::EntryAt(std::size_t index) const {
  if (is_uniform_) {
    return {min_straight_, min_diagonal_};
  }
  return numbers_.empty() ? entering_[index] : numbers_.costs()[numbers_.numbers()[index]];
}

void FloodGround::ReadMoves(const WalkGrid& walk) {
  const auto width = static_cast<std::size_t>(region_.width);
  moves_.resize(width * static_cast<std::size_t>(region_.height));
  std::array<Word, kDirectionCount> legal{};
  std::array<DirectionSet, kWordBits> moves{};
  const auto set = [&](Direction direction, Word cells) {
    legal[static_cast<std::size_t>(direction)] = cells;
  };
  for (int y = 0; y < region_.height; ++y) {
    const BitPlane::ThreeRows rows = walk.rows().RowsAround(region_.y + y);
    DirectionSet* to = moves_.data() + static_cast<std::size_t>(y) * width;
    ForEachWord(region_.x, region_.x + region_.width, [&](std::size_t i, Word /*mask*/) {
      const Word own = rows.own[i];
      const Word east = own & FromRight(rows.own, i);
      const Word west = own & FromLeft(rows.own, i);
      const Word north = own & rows.low[i];
      const Word south = own & rows.high[i];
      set(Direction::kNorth, north);
      set(Direction::kEast, east);
      set(Direction::kSouth, south);
      set(Direction::kWest, west);
      if (connectivity_ == Connectivity::kSix) {
        set(Direction::kNorthEast, own & FromRight(rows.low, i));
        set(Direction::kSouthWest, own & FromLeft(rows.high, i));
      }
      if (connectivity_ == Connectivity::kEight) {
        const auto diagonal = [&](Direction direction, Word target, Word one_side, Word other_side) {
          set(direction, LegalDiagonals(rule_, own & target, one_side, other_side));
        };
        diagonal(Direction::kNorthEast, FromRight(rows.low, i), north, east);
        diagonal(Direction::kSouthEast, FromRight(rows.high, i), south, east);
        diagonal(Direction::kSouthWest, FromLeft(rows.high, i), south, west);
        diagonal(Direction::kNorthWest, FromLeft(rows.low, i), north, west);
      }
      Interleave(legal, moves);
      // Bit b of the word is the cell x = first + b.
      const int first = static_cast<int>(i) * kWordBits - 1 - region_.x;
      const int begin = std::max(first, 0);
      const int end = std::min(first + kWordBits, region_.width);
      std::memcpy(to + begin, moves.data() + (begin - first), static_cast<std::size_t>(end - begin));
    });
    Forbid(to[0], kWestern);
    Forbid(to[width - 1], kEastern);
  }
  DirectionSet* last_row = moves_.data() + moves_.size() - width;
  for (std::size_t x = 0; x < width; ++x) {
    Forbid(moves_[x], kNorthern);
    Forbid(last_row[x], kSouthern);
  }
}

void FloodGround::ReadCosts(const GridMap& map, int footprint) {
  if (footprint == 1 && map.cell_costs() == nullptr) {
    numbers_.ReadTerrains(map, region_);
  } else {
    ReadEntries(map, footprint);
    numbers_.ReadEntries(entering_);
  }
  if (is_eight_connected() && !numbers_.empty()) {
    even_cells_.Find(moves_, numbers_.numbers(), static_cast<std::size_t>(region_.width));
  }
}

void FloodGround::FindMaxStep() {
  const auto take = [&](const CellCosts::Entry& entry) {
    max_step_ = std::max({max_step_, entry.straight, entry.diagonal});
  };
  if (numbers_.empty()) {
    for (std::size_t i = 0; i < moves_.size(); ++i) {
      if (moves_[i] != 0) {
        take(entering_[i]);
      }
    }
    return;
  }
  std::array<bool, CostNumbers::kMost> is_used{};
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    is_used[numbers_.numbers()[i]] |= moves_[i] != 0;
  }
  for (std::size_t number = 0; number < numbers_.costs().size(); ++number) {
    if (is_used[number]) {
      take(numbers_.costs()[number]);
    }
  }
}

void FloodGround::ReadEntries(const GridMap& map, int footprint) {
  const auto width = static_cast<std::size_t>(region_.width);
  entering_.assign(moves_.size(), {});
  // Finds the most expensive of `footprint` cells of a row, from each of the region's columns on, and then of
  // `footprint` such rows. Cells outside the map cost nothing: no agent stands there.
  across_.resize(width);
  const int last_row = std::min(region_.y + region_.height + footprint - 1, map.height());
  for (int y = region_.y; y < last_row; ++y) {
    for (int x = 0; x < region_.width; ++x) {
      CellCosts::Entry dearest;
      const int end = std::min(region_.x + x + footprint, map.width());
      for (int covered = region_.x + x; covered < end; ++covered) {
        dearest = Dearer(dearest, CostsOf(map, {covered, y}));
      }
      across_[static_cast<std::size_t>(x)] = dearest;
    }
    const int first = std::max(y - footprint + 1, region_.y);
    const int last = std::min(y, region_.y + region_.height - 1);
    for (int standing = first; standing <= last; ++standing) {
      CellCosts::Entry* to = entering_.data() + static_cast<std::size_t>(standing - region_.y) * width;
      for (std::size_t x = 0; x < width; ++x) {
        to[x] = Dearer(to[x], across_[x]);
      }
    }
  }
}

namespace {

bool AreAlike(const CellCosts::Entry& a, const CellCosts::Entry& b) {
  return a.straight == b.straight && a.diagonal == b.diagonal;
}

// Neutral values for cells that no path leaves.
constexpr std::uint8_t kNoLeast = 255;
constexpr std::uint8_t kNoHighest = 0;

}  // namespace

std::size_t CostNumbers::NumberOf(const CellCosts::Entry& cost) {
  const auto found = std::find_if(costs_.begin(), costs_.end(),
                                  [&](const CellCosts::Entry& other) { return AreAlike(other, cost); });
  const auto number = static_cast<std::size_t>(found - costs_.begin());
  if (found == costs_.end()) {
    costs_.push_back(cost);
  }
  return number;
}

void CostNumbers::ReadTerrains(const GridMap& map, const Rectangle& region) {
  Clear();
  std::array<std::uint8_t, kMaxTerrains> by_terrain{};
  static_assert(kMaxTerrains <= kMost);
  for (std::size_t terrain = 0; terrain < map.settings().terrains.size(); ++terrain) {
    by_terrain[terrain] = static_cast<std::uint8_t>(
        NumberOf({map.step_costs().straight[terrain], map.step_costs().diagonal[terrain]}));
  }
  const auto width = static_cast<std::size_t>(region.width);
  numbers_.resize(width * static_cast<std::size_t>(region.height));
  for (int y = 0; y < region.height; ++y) {
    const TerrainId* terrains = map.TerrainRow(region.y + y) + region.x;
    std::uint8_t* numbers = numbers_.data() + static_cast<std::size_t>(y) * width;
    for (std::size_t x = 0; x < width; ++x) {
      numbers[x] = by_terrain[terrains[x]];
    }
  }
}

bool CostNumbers::ReadEntries(absl::Span<const CellCosts::Entry> entering) {
  Clear();
  numbers_.resize(entering.size());
  std::size_t number = 0;
  for (std::size_t i = 0; i < entering.size(); ++i) {
    if (i == 0 || !AreAlike(entering[i], entering[i - 1])) {
      number = NumberOf(entering[i]);
    }
    if (number >= kMost) {
      Clear();
      return false;
    }
    numbers_[i] = static_cast<std::uint8_t>(number);
  }
  return true;
}

void CostNumbers::Clear() {
  numbers_.clear();
  costs_.clear();
}

void EvenCells::ReadRow(absl::Span<const DirectionSet> moves, absl::Span<const std::uint8_t> numbers,
                        Row& row) {
  const std::size_t width = moves.size();
  single_.least.assign(width + 2, kNoLeast);
  single_.highest.assign(width + 2, kNoHighest);
  std::uint8_t* least = single_.least.data();
  std::uint8_t* highest = single_.highest.data();
  for (std::size_t x = 0; x < width; ++x) {
    least[x + 1] = moves[x] == 0 ? kNoLeast : numbers[x];
    highest[x + 1] = moves[x] == 0 ? kNoHighest : numbers[x];
  }
  row.least.resize(width);
  row.highest.resize(width);
  std::uint8_t* row_least = row.least.data();
  std::uint8_t* row_highest = row.highest.data();
  for (std::size_t x = 0; x < width; ++x) {
    row_least[x] = std::min(std::min(least[x], least[x + 1]), least[x + 2]);
    row_highest[x] = std::max(std::max(highest[x], highest[x + 1]), highest[x + 2]);
  }
}

void EvenCells::Find(absl::Span<const DirectionSet> moves, absl::Span<const std::uint8_t> numbers,
                     std::size_t width) {
  const std::size_t height = moves.size() / width;
  bits_.assign(moves.size() / kWordBits + 1, 0);
  const auto read = [&](std::size_t y, Row& row) {
    if (y < height) {
      ReadRow(moves.subspan(y * width, width), numbers.subspan(y * width, width), row);
    } else {
      row.least.assign(width, kNoLeast);
      row.highest.assign(width, kNoHighest);
    }
  };
  read(height, rows_[0]);
  read(0, rows_[1]);
  for (std::size_t y = 0; y < height; ++y) {
    const Row& above = rows_[y % 3];
    const Row& own = rows_[(y + 1) % 3];
    Row& below = rows_[(y + 2) % 3];
    read(y + 1, below);
    for (std::size_t x = 0; x < width; ++x) {
      const std::uint8_t least = std::min(std::min(above.least[x], own.least[x]), below.least[x]);
      const std::uint8_t highest = std::max(std::max(above.highest[x], own.highest[x]), below.highest[x]);
      const std::size_t index = y * width + x;
      bits_[index / kWordBits] |= static_cast<Word>(least == highest ? 1U : 0U) << (index % kWordBits);
    }
  }
}

}  // namespace waystar::core
