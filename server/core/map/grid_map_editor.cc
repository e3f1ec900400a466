#include "server/core/map/grid_map_editor.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/map/lazy.h"
#include "server/core/map/plain_cells.h"

namespace waystar::core {
namespace {

std::int64_t CountBits(const Word* row, int width) {
  std::int64_t count = 0;
  for (int i = 0; i < WordsPerRow(width); ++i) {
    count += std::popcount(row[i]);
  }
  return count;
}

}  // namespace

void GridMapEditor::SetObstacles(int y, int x_begin, int x_end, bool obstacle) {
  Word* obstacles = obstacles_.row(y);
  Word* walkable = walkable_.row(y);
  const Word* passable = map_.passable_.row(y);
  ForEachWord(x_begin, x_end, [&](std::size_t i, Word mask) {
    map_.obstacle_cells_ -= std::popcount(obstacles[i]);
    map_.walkable_cells_ -= std::popcount(walkable[i]);
    obstacles[i] = obstacle ? obstacles[i] | mask : obstacles[i] & ~mask;
    const Word was_walkable = walkable[i];
    walkable[i] = passable[i] & ~obstacles[i];
    if (walkable[i] != was_walkable) {
      Touch(y, i);
    }
    map_.obstacle_cells_ += std::popcount(obstacles[i]);
    map_.walkable_cells_ += std::popcount(walkable[i]);
  });
}

void GridMapEditor::SetRow(int y, absl::Span<const TerrainId> cells) {
  const auto terrain_of = [](TerrainId cell) { return cell == kObstacle ? TerrainId{0} : cell; };
  const auto is_unchanged = [&](TerrainId cell, TerrainId old) { return terrain_of(cell) == old; };
  // A band of terrain that is left as it is stays shared: most maps have long runs of one terrain.
  if (!std::equal(cells.begin(), cells.end(), map_.terrain_.row(y), is_unchanged)) {
    std::transform(cells.begin(), cells.end(), terrain_.row(y), terrain_of);
    repainted_rows_.push_back(y);
    Word* passable = passable_.row(y);
    for (int x = 0; x < map_.width(); ++x) {
      AssignBit(passable, x, map_.step_costs().passable[terrain_of(cells[static_cast<std::size_t>(x)])]);
    }
  }

  Word* obstacles = obstacles_.row(y);
  Word* walkable = walkable_.row(y);
  const Word* passable = map_.passable_.row(y);
  map_.obstacle_cells_ -= CountBits(obstacles, map_.width());
  map_.walkable_cells_ -= CountBits(walkable, map_.width());
  for (int x = 0; x < map_.width(); ++x) {
    const bool obstacle = cells[static_cast<std::size_t>(x)] == kObstacle;
    AssignBit(obstacles, x, obstacle);
    AssignBit(walkable, x, !obstacle && TestBit(passable, x));
  }
  ForEachWord(0, map_.width(), [&](std::size_t i, Word) { Touch(y, i); });
  map_.obstacle_cells_ += CountBits(obstacles, map_.width());
  map_.walkable_cells_ += CountBits(walkable, map_.width());
}

bool GridMapEditor::TouchedTooMany() const {
  const auto words =
      static_cast<std::size_t>(map_.height()) * static_cast<std::size_t>(WordsPerRow(map_.width()));
  return touched_.size() > words / 4;
}

void GridMapEditor::Touch(int y, std::size_t index) {
  if (!TouchedTooMany()) {
    touched_.push_back({y, static_cast<std::int32_t>(index)});
  }
}

std::vector<WordChange> GridMapEditor::Changes() {
  std::sort(touched_.begin(), touched_.end());
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  std::vector<WordChange> changes;
  for (const WordIndex& word : touched_) {
    const auto i = static_cast<std::size_t>(word.index);
    const Word flipped = base_.walkable_.row(word.y)[i] ^ map_.walkable_.row(word.y)[i];
    if (flipped != 0) {
      changes.push_back({word.y, word.index, flipped});
    }
  }
  return changes;
}

std::vector<WordChange> GridMapEditor::TerrainChanges() const {
  std::vector<WordChange> changes;
  for (const int y : repainted_rows_) {
    const TerrainId* before = base_.TerrainRow(y);
    const TerrainId* after = map_.TerrainRow(y);
    std::vector<Word> differs(static_cast<std::size_t>(WordsPerRow(map_.width())), 0);
    for (int x = 0; x < map_.width(); ++x) {
      AssignBit(differs.data(), x, before[x] != after[x]);
    }
    for (std::size_t i = 0; i < differs.size(); ++i) {
      if (differs[i] != 0) {
        changes.push_back({y, static_cast<std::int32_t>(i), differs[i]});
      }
    }
  }
  return changes;
}

void GridMapEditor::UpdatePlainCells(absl::Span<const WordChange> walkability_changes) {
  if (walkability_changes.empty() && repainted_rows_.empty()) {
    return;
  }
  const auto plain_cells = std::make_shared<Lazy<PlainCells>>();
  if (const PlainCells* before = base_.plain_cells_->GetIfMade()) {
    std::vector<WordChange> changes = TerrainChanges();
    changes.insert(changes.end(), walkability_changes.begin(), walkability_changes.end());
    plain_cells->Get([&] { return PlainCells(*before, map_, changes); });
  }
  map_.plain_cells_ = plain_cells;
}

GridMap GridMapEditor::Snapshot() {
  terrain_.Release();
  passable_.Release();
  obstacles_.Release();
  walkable_.Release();
  return map_;
}

GridMapEditor::Result GridMapEditor::FinishAndList() && {
  MapChanges changes;
  if (TouchedTooMany() || !repainted_rows_.empty()) {
    changes.is_everything = true;
  } else {
    changes.walkability = Changes();
  }
  if (TouchedTooMany()) {
    RemakeDerived();
  } else {
    RepairDerived(Changes());
  }
  if (map_.walk_ != base_.walk_ || !repainted_rows_.empty()) {
    map_.static_index_ = std::make_shared<StaticIndexSlot>(base_.static_index().is_wanted());
  }
  return {std::move(map_), std::move(changes)};
}

void GridMapEditor::RemakeDerived() {
  map_.walk_ = std::make_shared<const WalkGrid>(map_.walkable_, base_.walk().max_index_bytes());
  map_.walk_->PrepareLike(base_.walk());
  map_.footprint_grids_ = std::make_shared<const FootprintGrids>(*base_.footprint_grids_, map_.walkable_);
  map_.plain_cells_ = std::make_shared<const Lazy<PlainCells>>();
  if (base_.plain_cells_->GetIfMade() != nullptr) {
    map_.plain_cells();
  }
}

void GridMapEditor::RepairDerived(absl::Span<const WordChange> changes) {
  if (!changes.empty()) {
    map_.walk_ = std::make_shared<const WalkGrid>(base_.walk(), map_.walkable_, changes);
    map_.footprint_grids_ =
        std::make_shared<const FootprintGrids>(*base_.footprint_grids_, map_.walkable_, changes);
  }
  UpdatePlainCells(changes);
}

}  // namespace waystar::core
