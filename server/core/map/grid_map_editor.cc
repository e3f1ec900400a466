#include "server/core/map/grid_map_editor.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"

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
  Word* obstacles = obstacles_.row(y);
  Word* passable = passable_.row(y);
  Word* walkable = walkable_.row(y);
  map_.obstacle_cells_ -= CountBits(obstacles, map_.width());
  map_.walkable_cells_ -= CountBits(walkable, map_.width());
  for (int x = 0; x < map_.width(); ++x) {
    const TerrainId cell = cells[static_cast<std::size_t>(x)];
    const bool obstacle = cell == kObstacle;
    AssignBit(obstacles, x, obstacle);
    AssignBit(passable, x, map_.step_costs().passable[terrain_of(cell)]);
    AssignBit(walkable, x, !obstacle && TestBit(passable, x));
  }
  ForEachWord(0, map_.width(), [&](std::size_t i, Word) { Touch(y, i); });
  map_.obstacle_cells_ += CountBits(obstacles, map_.width());
  map_.walkable_cells_ += CountBits(walkable, map_.width());

  const auto is_unchanged = [&](TerrainId cell, TerrainId old) { return terrain_of(cell) == old; };
  // A band of terrain that is left as it is stays shared: most maps have long runs of one terrain.
  if (!std::equal(cells.begin(), cells.end(), map_.terrain_.row(y), is_unchanged)) {
    std::transform(cells.begin(), cells.end(), terrain_.row(y), terrain_of);
  }
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

GridMap GridMapEditor::Finish() && {
  if (TouchedTooMany()) {
    map_.walk_ = std::make_shared<const WalkGrid>(map_.walkable_, base_.walk().max_index_bytes());
    map_.walk_->PrepareLike(base_.walk());
  } else if (const std::vector<WordChange> changes = Changes(); !changes.empty()) {
    map_.walk_ = std::make_shared<const WalkGrid>(base_.walk(), map_.walkable_, changes);
  }
  return std::move(map_);
}

}  // namespace waystar::core
