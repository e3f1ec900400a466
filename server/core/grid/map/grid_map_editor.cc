#include "server/core/grid/map/grid_map_editor.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/base/lazy.h"
#include "server/core/elements/element_hash.h"
#include "server/core/grid/map/cost_floor.h"
#include "server/core/grid/map/plain_cells.h"
#include "server/core/grid/map/profile_views.h"
#include "server/core/grid/map/terrain_tiles.h"

namespace waystar::core {

std::size_t GridMapEditor::MaxTouchedWords() const {
  // Minimum, so that changes of small maps can still be listed.
  constexpr std::size_t kAtLeast = 64;
  const auto words =
      static_cast<std::size_t>(map_.height()) * static_cast<std::size_t>(WordsPerRow(map_.width()));
  return std::max(kAtLeast, words / 4);
}

GridMapEditor::Ground GridMapEditor::GroundAt(int y, std::size_t index) const {
  return {.passable = map_.passable_.word(y, index),
          .covered = map_.covered_.word(y, index),
          .nameless = map_.NamelessWord(y, index)};
}

void GridMapEditor::SetGround(int y, std::size_t index, const Ground& ground) {
  const Word before = map_.ObstacleWord(y, index);
  const Word after = ground.covered | ground.nameless;
  if (after != before) {
    map_.obstacle_cells_ += std::popcount(after) - std::popcount(before);
  }
  map_.cells_digest_ +=
      DigestOfChange(ElementKind::kObstacles, y, index, map_.NamelessWord(y, index), ground.nameless);
  passable_.Set(y, index, ground.passable);
  covered_.Set(y, index, ground.covered);
  const Word walkable = map_.walkable_.word(y, index);
  SetNameless(y, index, ground.nameless);
  if (after != before && map_.walkable_.word(y, index) == walkable) {
    hidden_touched_.Add(y, index);
  }
}

void GridMapEditor::SetNameless(int y, std::size_t index, Word nameless) {
  const Word open = map_.passable_.word(y, index) & ~map_.covered_.word(y, index);
  const Word before = map_.walkable_.word(y, index);
  const Word after = open & ~nameless;
  if (after != before) {
    map_.walkable_cells_ += std::popcount(after) - std::popcount(before);
    walkable_.row(y)[index] = after;
    walkability_touched_.Add(y, index);
  }
  hidden_.Set(y, index, nameless & ~open);
}

void GridMapEditor::DigestTerrains(int y, int x_begin, int x_end, TerrainId after) {
  const TerrainId* row = map_.terrain_.row(y);
  for (int first = x_begin / kEight * kEight; first < x_end; first += kEight) {
    const std::uint64_t before = EightCells(row, map_.width(), first);
    const int skipped = std::max(x_begin - first, 0);
    const int left = std::max(first + kEight - x_end, 0);
    const std::uint64_t painted = ~std::uint64_t{0} >> 8 * (skipped + left) << 8 * skipped;
    map_.cells_digest_ += DigestOfChange(ElementKind::kTerrains, y, static_cast<std::size_t>(first / kEight),
                                         before, (before & ~painted) | (EightTimes(after) & painted));
  }
}

void GridMapEditor::SetObstacles(int y, int x_begin, int x_end, bool obstacle) {
  ForEachWord(x_begin, x_end, [&](std::size_t i, Word mask) {
    Ground ground = GroundAt(y, i);
    ground.nameless = obstacle ? ground.nameless | mask : ground.nameless & ~mask;
    SetGround(y, i, ground);
  });
}

void GridMapEditor::Cover(int y, int x_begin, int x_end, int more) {
  std::uint16_t* counts = cover_counts_.row(y);
  for (int x = x_begin; x < x_end; ++x) {
    counts[x] = static_cast<std::uint16_t>(counts[x] + more);
  }
  ForEachWord(x_begin, x_end, [&](std::size_t i, Word mask) {
    Ground ground = GroundAt(y, i);
    ground.covered = (ground.covered & ~mask) | WordWhere(i, mask, [&](int x) { return counts[x] != 0; });
    SetGround(y, i, ground);
  });
}

void GridMapEditor::SetTerrains(int y, int x_begin, int x_end, TerrainId terrain) {
  const TerrainId* before = map_.terrain_.row(y);
  if (std::all_of(before + x_begin, before + x_end, [&](TerrainId cell) { return cell == terrain; })) {
    return;
  }
  DigestTerrains(y, x_begin, x_end, terrain);
  std::fill(terrain_.row(y) + x_begin, terrain_.row(y) + x_end, terrain);
  const bool passable = map_.step_costs().passable[terrain];
  ForEachWord(x_begin, x_end, [&](std::size_t i, Word mask) {
    Ground ground = GroundAt(y, i);
    ground.passable = passable ? ground.passable | mask : ground.passable & ~mask;
    SetGround(y, i, ground);
    cost_touched_.Add(y, i);
  });
}

void GridMapEditor::SetStepCost(Cell cell, std::optional<Cost> straight) {
  CellCosts::Entry entry;
  if (straight) {
    entry = {*straight, DiagonalCost(*straight, map_.settings().diagonal_cost)};
  }
  if (cell_costs_.Set(cell, entry)) {
    ForEachWord(cell.x, cell.x + 1, [&](std::size_t i, Word) { cost_touched_.Add(cell.y, i); });
  }
}

void GridMapEditor::SetRow(int y, absl::Span<const TerrainId> cells) {
  const int width = map_.width();
  row_terrains_.resize(cells.size());
  std::transform(cells.begin(), cells.end(), row_terrains_.begin(),
                 [](TerrainId cell) { return static_cast<TerrainId>(cell & ~kObstacle); });
  row_nameless_.resize(static_cast<std::size_t>(WordsPerRow(width)));
  for (std::size_t i = 0; i < row_nameless_.size(); ++i) {
    row_nameless_[i] = WordOfCells(cells.data(), width, i, HighBits);
  }
  SetRow(y, row_terrains_, row_nameless_);
}

void GridMapEditor::SetRow(int y, absl::Span<const TerrainId> terrains, absl::Span<const Word> nameless) {
  const int width = map_.width();
  const TerrainId* row = map_.terrain_.row(y);
  bool is_repainted = false;
  for (int x = 0; !terrains.empty() && x < width; x += kEight) {
    const std::uint64_t before = EightCells(row, width, x);
    const std::uint64_t after = EightCells(terrains.data(), width, x);
    if (after != before) {
      is_repainted = true;
      map_.cells_digest_ +=
          DigestOfChange(ElementKind::kTerrains, y, static_cast<std::size_t>(x / kEight), before, after);
    }
  }
  // An unchanged band stays shared; most maps have long runs of one terrain.
  if (is_repainted) {
    std::copy(terrains.begin(), terrains.end(), terrain_.row(y));
  }
  const auto passable_of = [&](std::uint64_t eight) {
    const auto& passable = map_.step_costs().passable;
    if (eight == EightTimes(static_cast<TerrainId>(eight))) {
      return passable[static_cast<TerrainId>(eight)] ? Word{0xFF} : Word{0};
    }
    Word bits = 0;
    for (unsigned i = 0; i < kEight; ++i) {
      bits |= Word{passable[static_cast<TerrainId>(eight >> 8 * i)]} << i;
    }
    return bits;
  };
  ForEachWord(0, width, [&](std::size_t i, Word mask) {
    Ground ground = GroundAt(y, i);
    if (is_repainted) {
      ground.passable = mask & WordOfCells(terrains.data(), width, i, passable_of);
      cost_touched_.Add(y, i);
    }
    ground.nameless = nameless[i];
    SetGround(y, i, ground);
  });
}

std::vector<WordChange> GridMapEditor::WalkabilityChanges() {
  std::vector<WordChange> changes;
  for (const WordIndex& word : walkability_touched_.Sorted()) {
    const auto i = static_cast<std::size_t>(word.index);
    const Word flipped = base_.walkable_.word(word.y, i) ^ map_.walkable_.word(word.y, i);
    if (flipped != 0) {
      changes.push_back({word.y, word.index, flipped});
    }
  }
  return changes;
}

template <typename Differs>
std::vector<WordChange> GridMapEditor::WalkableCellsWhere(Differs differs) {
  std::vector<WordChange> changes;
  for (const WordIndex& word : cost_touched_.Sorted()) {
    const auto i = static_cast<std::size_t>(word.index);
    WordChange change{word.y, word.index, 0};
    ForEachCell({word.y, word.index, base_.walkable_.word(word.y, i) & map_.walkable_.word(word.y, i)},
                [&](Cell cell) {
                  if (differs(cell)) {
                    change.flipped |= Word{1} << (static_cast<unsigned>(cell.x + 1) % kWordBits);
                  }
                });
    if (change.flipped != 0) {
      changes.push_back(change);
    }
  }
  return changes;
}

void GridMapEditor::ReleasePlanes() {
  terrain_.Release();
  passable_.Release();
  cover_counts_.Release();
  covered_.Release();
  walkable_.Release();
  hidden_.Release();
}

GridMap GridMapEditor::Snapshot() {
  ReleasePlanes();
  cell_costs_.Release();
  return map_;
}

GridMapEditor::Result GridMapEditor::FinishAndList() && {
  ReleasePlanes();
  cell_costs_.Finish();
  UpdateLeastCosts();
  UpdateTerrainTiles();
  MapChanges changes;
  changes.walkability = WalkabilityChanges();
  changes.cost =
      WalkableCellsWhere([&](Cell cell) { return base_.StraightCost(cell) != map_.StraightCost(cell); });
  UpdateWalkGrids(changes.walkability);
  UpdatePlainCells(changes.walkability);
  const absl::Span<const WordIndex> hidden = hidden_touched_.Sorted();
  const absl::Span<const WordIndex> cost = cost_touched_.Sorted();
  std::set_union(hidden.begin(), hidden.end(), cost.begin(), cost.end(), std::back_inserter(changes.touched));
  changes.is_every_view = hidden_touched_.is_too_many() || has_refreshed_costs_;
  if (walkability_touched_.is_too_many() || cost_touched_.is_too_many()) {
    changes = {.is_everything = true};
  }
  map_.profile_views_ = base_.profile_views_->AfterEdits();
  if (!changes.empty()) {
    const StaticIndexSlot& before = base_.static_index();
    map_.static_index_ = changes.is_everything || !changes.cost.empty()
                             ? std::make_shared<StaticIndexSlot>(before.is_wanted())
                             : std::make_shared<StaticIndexSlot>(before, changes.walkability, map_.walkable_);
  }
  if (map_.profiles_ != base_.profiles_) {
    changes = {.is_everything = true};
  }
  changes.portals = base_.portal_table_ != map_.portal_table_;
  return {std::move(map_), std::move(changes)};
}

void GridMapEditor::UpdateLeastCosts() {
  map_.min_straight_ = map_.step_costs().min_straight;
  if (map_.cell_costs_ != nullptr) {
    map_.min_straight_ = std::min(map_.min_straight_, map_.cell_costs_->min_straight());
  }
  map_.min_diagonal_ = DiagonalCost(map_.min_straight_, map_.settings().diagonal_cost);
}

void GridMapEditor::UpdateTerrainTiles() {
  if (cost_touched_.empty()) {
    return;
  }
  const absl::Span<const WordIndex> words = cost_touched_.Sorted();
  if (!takes_terrains_) {
    if (cost_touched_.is_too_many()) {
      map_.terrain_tiles_.Update(map_.terrain_);
    } else {
      map_.terrain_tiles_.Update(map_.terrain_, words);
    }
  }
  map_.cost_survey_ = std::make_shared<const Lazy<CostSurvey>>();
}

void GridMapEditor::UpdateWalkGrids(absl::Span<const WordChange> changes) {
  if (shares_walk_) {
    return;
  }
  if (walkability_touched_.is_too_many()) {
    auto walk = std::make_shared<WalkGrid>(map_.walkable_, base_.walk().index_memory());
    walk->PrepareLike(base_.walk());
    map_.walk_ = std::move(walk);
    map_.footprint_grids_ = std::make_shared<const FootprintGrids>(*base_.footprint_grids_, map_.walkable_);
  } else if (!changes.empty()) {
    map_.walk_ = std::make_shared<const WalkGrid>(base_.walk(), map_.walkable_, changes);
    map_.footprint_grids_ =
        std::make_shared<const FootprintGrids>(*base_.footprint_grids_, map_.walkable_, changes);
  }
}

void GridMapEditor::UpdatePlainCells(absl::Span<const WordChange> walkability_changes) {
  if (walkability_touched_.empty() && cost_touched_.empty()) {
    return;
  }
  map_.plain_cells_ = std::make_shared<const Lazy<PlainCells>>();
  const PlainCells* before = base_.plain_cells_->GetIfMade();
  if (before == nullptr || walkability_touched_.is_too_many() || cost_touched_.is_too_many()) {
    return;
  }
  // PlainCells depends on whether a cell has its own cost, even if that equals its terrain's.
  std::vector<WordChange> changes = WalkableCellsWhere([&](Cell cell) {
    return base_.StraightCost(cell) != map_.StraightCost(cell) ||
           (base_.OwnCosts(cell).straight != 0) != (map_.OwnCosts(cell).straight != 0);
  });
  std::vector<WordChange> all;
  std::ranges::merge(changes, walkability_changes, std::back_inserter(all), {}, &WordChange::place,
                     &WordChange::place);
  map_.plain_cells_->Get([&] { return PlainCells(*before, map_, all); });
}

}  // namespace waystar::core
