#include "server/core/grid/engines/blocker_ground.h"

#include <algorithm>

#include "server/core/elements/obstacle_table.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/cells/grid_moves.h"
#include "server/core/grid/shapes/shape_raster.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

constexpr unsigned kAllFree = 0x1FF;
// Sums of prices stop growing here, so that costs stay below 2^63.
constexpr Cost kMostPrice = Cost{1} << 60;
constexpr Cost kMostCost = Cost{1} << 62;

bool EntersTerrain(const GridMap& map, const BlockerPrices& prices, std::size_t terrain) {
  return map.step_costs().passable[terrain] || !prices.only_obstacles;
}

}  // namespace

BlockerGround::BlockerGround(const BlockedMap& blocked, const PathQuery& query, const BlockerPrices& prices,
                             const Budget& budget, std::size_t max_bytes)
    : blocked_(blocked),
      map_(blocked.map),
      walk_(map_.walk(query.footprint)),
      query_(query),
      prices_(prices),
      budget_(budget),
      max_bytes_(max_bytes),
      open_moves_(GridMoves::MovesIn(kAllFree, map_.settings().connectivity, query.corner_rule)),
      least_straight_(map_.min_straight()),
      price_(CostFromDouble(prices.price)),
      sets_(2),
      tiles_per_row_(static_cast<std::size_t>(map_.width()) / kSide + 1),
      tiles_(tiles_per_row_ * (static_cast<std::size_t>(map_.height()) / kSide + 1)) {
  for (std::size_t terrain = 0; terrain < map_.settings().terrains.size(); ++terrain) {
    if (EntersTerrain(map_, prices, terrain)) {
      least_straight_ = std::min(least_straight_, map_.step_costs().straight[terrain]);
    }
  }
  map_.obstacles().VisitAfter("", [&](const Obstacle& obstacle) {
    if (obstacle.effect.kind == ObstacleEffect::Kind::kBlock) {
      numbers_[&obstacle] = kFirstObstacle + static_cast<Number>(obstacles_.size());
      obstacles_.push_back(&obstacle);
      obstacle_prices_.push_back(CostFromDouble(prices.OfObstacle(obstacle.id)));
    }
    return true;
  });
  map_.portals().VisitAfter("", [&](const Portal& portal) {
    if (portal.to_map.empty() && !(portal.closed && prices.only_obstacles) &&
        std::ranges::includes(portal.tags, blocked.required_tags)) {
      AddJump(portal.from, portal.to, portal);
      if (portal.both_ways) {
        AddJump(portal.to, portal.from, portal);
      }
    }
    return true;
  });
  std::ranges::stable_sort(jumps_, {}, [](const Jump& jump) { return Pack(jump.from); });
}

void BlockerGround::AddJump(Cell from, Cell to, const Portal& portal) {
  jumps_.push_back({.from = from, .to = to, .portal = &portal, .g = portal.cost});
}

absl::Span<const BlockerGround::Jump> BlockerGround::JumpsFrom(Cell cell, Cost g) {
  jumps_here_.clear();
  const auto begin =
      std::ranges::lower_bound(jumps_, Pack(cell), {}, [](const Jump& jump) { return Pack(jump.from); });
  for (auto jump = begin; jump != jumps_.end() && jump->from == cell; ++jump) {
    const SetNumber to = SetAt(jump->to);
    if (to != kWall) {
      const Cost price = PriceOfEntering(SetAt(cell), to) + (jump->portal->closed ? price_ : 0);
      jumps_here_.push_back(*jump);
      jumps_here_.back().g = std::min(g + jump->portal->cost + price, kMostCost);
    }
  }
  return jumps_here_;
}

Cost BlockerGround::Begin(Cell start, Scratch& scratch) {
  if (query_.footprint > 1) {
    dearest_ = &scratch.dearest_cells();
    dearest_ground_ = dearest_->Add(map_, query_.footprint);
  }
  return sets_[SetAt(start)].price;
}

DirectionSet BlockerGround::MovesFrom(Cell cell) {
  around_ = nullptr;
  if (WindowAround(*walk_, cell) == kAllFree) {
    return open_moves_;
  }
  around_ = Around(cell);
  if (around_ == nullptr) {
    return 0;
  }
  const SetNumber here = *around_;
  const bool has_corners = map_.settings().connectivity == Connectivity::kEight;
  unsigned moves = 0;
  for (unsigned d = 0; d < kDirectionCount; ++d) {
    const Cell step = kSteps[d];
    const SetNumber next = around_[OffsetOf(step)];
    if ((open_moves_ >> d & 1U) == 0 || next == kWall) {
      continue;
    }
    if (has_corners && IsDiagonal(static_cast<Direction>(d))) {
      const bool one_side = IsWithin(around_[OffsetOf({step.x, 0})], here, next);
      const bool other_side = IsWithin(around_[OffsetOf({0, step.y})], here, next);
      if (!MayPassCorner(query_.corner_rule, one_side, other_side)) {
        continue;
      }
    }
    moves |= 1U << d;
  }
  return static_cast<DirectionSet>(moves);
}

Cost BlockerGround::After(Cost g, Direction direction, Cell entered) {
  const Cell paying = dearest_ != nullptr ? dearest_->Under(dearest_ground_, entered) : entered;
  const Cost step = IsDiagonal(direction) ? map_.DiagonalCost(paying) : map_.StraightCost(paying);
  const Cost price =
      around_ == nullptr
          ? 0
          : PriceOfEntering(*around_, around_[OffsetOf(kSteps[static_cast<std::size_t>(direction)])]);
  return std::min(g + step + price, kMostCost);
}

void BlockerGround::AppendEntries(const Cell* from, Cell to, const Portal* portal, std::size_t index,
                                  std::vector<Blocker>& entries) {
  const std::size_t begin = entries.size();
  if (portal != nullptr && portal->closed) {
    entries.push_back(
        {.kind = Blocker::Kind::kPortal, .id = portal->id, .index = index, .price = prices_.price});
  }
  VisitEntered(from == nullptr ? kFree : SetAt(*from), SetAt(to), [&](Number number) {
    Blocker& entry = entries.emplace_back(Blocker{.index = index, .price = prices_.price});
    if (number < kNameless) {
      entry.kind = Blocker::Kind::kTerrain;
      entry.id = std::string(1, map_.settings().terrains[number].symbol);
    } else if (number < kFirstObstacle) {
      entry.kind = number == kArea ? Blocker::Kind::kArea : Blocker::Kind::kNameless;
    } else {
      entry.id = obstacles_[number - kFirstObstacle]->id;
      entry.price = prices_.OfObstacle(entry.id);
    }
  });
  SortEntries(entries, begin);
}

const BlockerGround::SetNumber* BlockerGround::Around(Cell cell) {
  const int column = cell.x >> kShift;
  const int row = cell.y >> kShift;
  std::unique_ptr<Tile>& tile =
      tiles_[static_cast<std::size_t>(row) * tiles_per_row_ + static_cast<std::size_t>(column)];
  const Cell first = {(column << kShift) - 1, (row << kShift) - 1};
  if (tile == nullptr) {
    auto read = std::make_unique<Tile>();
    if (!Read(*read, first)) {
      return nullptr;
    }
    tile = std::move(read);
  }
  return tile->data() + OffsetOf({cell.x - first.x, cell.y - first.y});
}

BlockerGround::SetNumber BlockerGround::SetAt(Cell cell) {
  const SetNumber* const set = Around(cell);
  return set == nullptr ? kFree : *set;
}

bool BlockerGround::Read(Tile& tile, Cell first) {
  if (MustEnd()) {
    return false;
  }
  const int reach = query_.footprint - 1;
  for (int y = 0; y < kStride; ++y) {
    for (int x = 0; x < kStride; ++x) {
      const Cell cell = {first.x + x, first.y + y};
      const bool fits = map_.Contains(cell) && map_.Contains({cell.x + reach, cell.y + reach});
      tile[static_cast<std::size_t>(OffsetOf({x, y}))] = fits ? kFree : kWall;
    }
  }
  const Rectangle cells = Intersect({first.x, first.y, kStride + reach, kStride + reach}, map_.bounds());
  MarkGround(tile, first, cells);
  if (!MarkObstacles(tile, first, cells)) {
    return false;
  }
  ++tiles_read_;
  return !MustEnd();
}

bool BlockerGround::MustEnd() {
  const std::size_t bytes = tiles_read_ * sizeof(Tile) + sets_.capacity() * sizeof(Set) +
                            extensions_.capacity() * (sizeof(std::uint64_t) + 2 * sizeof(SetNumber));
  end_ = bytes > max_bytes_ ? std::optional(SearchEnd::kScratchLimit) : InterruptionAlone(budget_);
  return end_.has_value();
}

void BlockerGround::MarkGround(Tile& tile, Cell first, const Rectangle& cells) {
  const Number nameless = prices_.only_obstacles ? kImpassable : kNameless;
  const auto blocker_at = [&](Cell cell, bool of_terrain) -> std::optional<Number> {
    if (!of_terrain) {
      return blocked_.before_overlay.HasNamelessObstacle(cell) ? std::optional(nameless) : std::nullopt;
    }
    const TerrainId terrain = map_.TerrainAt(cell);
    if (map_.step_costs().passable[terrain]) {
      return std::nullopt;
    }
    return prices_.only_obstacles ? kImpassable : Number{terrain};
  };
  for (int y = cells.y; y < cells.y + cells.height; ++y) {
    if (const std::optional<HexBoard>& board = map_.settings().frame.hexagons;
        board && HasOffsets(board->layout)) {
      const HexBoard::Span on_board = board->InRow(y);
      Mark(tile, first, y, cells.x, std::min(on_board.begin, cells.x + cells.width), kImpassable);
      Mark(tile, first, y, std::max(on_board.end, cells.x), cells.x + cells.width, kImpassable);
    }
    for (const bool of_terrain : {true, false}) {
      int begin = cells.x;
      std::optional<Number> last;
      for (int x = cells.x; x < cells.x + cells.width; ++x) {
        const std::optional<Number> blocker = blocker_at({x, y}, of_terrain);
        if (blocker != last) {
          if (last) {
            Mark(tile, first, y, begin, x, *last);
          }
          last = blocker;
          begin = x;
        }
      }
      if (last) {
        Mark(tile, first, y, begin, cells.x + cells.width, *last);
      }
    }
  }
}

bool BlockerGround::MarkObstacles(Tile& tile, Cell first, const Rectangle& cells) {
  const auto mark = [&](const Shape& shape, Number blocker) {
    ForEachSpan(shape, map_.lattice(), cells,
                [&](const RowSpan& span) { Mark(tile, first, span.y, span.x_begin, span.x_end, blocker); });
  };
  if (blocked_.area != nullptr) {
    mark(*blocked_.area, kArea);
  }
  if (obstacles_.empty()) {
    return true;
  }
  std::size_t marked = 0;
  for (const Obstacle* obstacle : map_.obstacles().Overlapping(cells)) {
    if (obstacle->effect.kind != ObstacleEffect::Kind::kBlock) {
      continue;
    }
    mark(obstacle->shape, numbers_.find(obstacle)->second);
    if (++marked % 64 == 0 && MustEnd()) {
      return false;
    }
  }
  return true;
}

void BlockerGround::Mark(Tile& tile, Cell first, int y, int x_begin, int x_end, Number blocker) {
  const int reach = query_.footprint - 1;
  const int left = std::max(x_begin - reach - first.x, 0);
  const int right = std::min(x_end - first.x, kStride);
  const int bottom = std::min(y - first.y, kStride - 1);
  if (x_begin >= x_end) {
    return;
  }
  SetNumber before = kWall;
  SetNumber after = kWall;
  for (int row = std::max(y - reach - first.y, 0); row <= bottom; ++row) {
    for (int x = left; x < right; ++x) {
      SetNumber& set = tile[static_cast<std::size_t>(OffsetOf({x, row}))];
      if (set != before) {
        before = set;
        after = With(set, blocker);
      }
      set = after;
    }
  }
}

BlockerGround::SetNumber BlockerGround::With(SetNumber set, Number blocker) {
  if (set == kWall || blocker == kImpassable) {
    return kWall;
  }
  if (set != kFree) {
    const Set known = sets_[set];
    if (known.largest == blocker) {
      return set;
    }
    // Only the ground is not marked in the order of numbers, so that few are above.
    if (known.largest > blocker) {
      return Extended(With(known.rest, blocker), known.largest);
    }
  }
  return Extended(set, blocker);
}

BlockerGround::SetNumber BlockerGround::Extended(SetNumber rest, Number largest) {
  const auto [known, is_new] =
      extensions_.try_emplace(std::uint64_t{rest} << 32 | largest, static_cast<SetNumber>(sets_.size()));
  if (is_new) {
    const Cost price = std::min(sets_[rest].price + PriceOf(largest), kMostPrice);
    sets_.push_back({.largest = largest, .rest = rest, .price = price});
  }
  return known->second;
}

Cost BlockerGround::PriceOf(Number blocker) const {
  return blocker < kFirstObstacle ? price_ : obstacle_prices_[blocker - kFirstObstacle];
}

BlockerGround::SetNumber BlockerGround::RestOf(SetNumber set) {
  if (++rests_ % (std::size_t{1} << 20) == 0) {
    MustEnd();
  }
  return sets_[set].rest;
}

template <typename Visitor>
void BlockerGround::VisitEntered(SetNumber from, SetNumber to, Visitor visit) {
  for (; to != kFree && to != from; to = RestOf(to)) {
    const Number number = sets_[to].largest;
    while (from != kFree && sets_[from].largest > number) {
      from = RestOf(from);
    }
    if (from == kFree || sets_[from].largest != number) {
      visit(number);
    }
  }
}

Cost BlockerGround::PriceOfEntering(SetNumber from, SetNumber to) {
  if (from == kFree || to == kFree || from == to) {
    return from == kFree ? sets_[to].price : 0;
  }
  Cost price = 0;
  VisitEntered(from, to, [&](Number number) { price = std::min(price + PriceOf(number), kMostPrice); });
  return price;
}

bool BlockerGround::IsWithin(SetNumber set, SetNumber a, SetNumber b) {
  if (set == kWall || (set != kFree && a == kFree && b == kFree)) {
    return false;
  }
  const auto skip_to = [&](SetNumber& other, Number number) {
    while (other != kFree && sets_[other].largest > number) {
      other = RestOf(other);
    }
    return other != kFree && sets_[other].largest == number;
  };
  for (; set != kFree && set != a && set != b; set = RestOf(set)) {
    const Number number = sets_[set].largest;
    const bool is_in_a = skip_to(a, number);
    if (!skip_to(b, number) && !is_in_a) {
      return false;
    }
  }
  return true;
}

}  // namespace waystar::core
