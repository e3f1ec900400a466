#include "tests/core/watch/watchers.h"

#include <cmath>
#include <map>

#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/path/validate_path.h"
#include "tests/testing/without_portals.h"

namespace waystar::testing {
namespace {

using core::BlockCells;
using core::Cell;
using core::Direction;
using core::Edit;
using core::GridMap;
using core::GridMapEditor;
using core::kWordBits;
using core::MapChanges;
using core::PathForm;
using core::PathQuery;
using core::TerrainId;
using core::UnblockCells;
using core::WatchedAnswer;
using core::Word;
using ::testing::UnorderedElementsAreArray;

// What an agent of one cell sees otherwise, cell by cell.
MapChanges ChangesBetween(const GridMap& before, const GridMap& after) {
  std::map<std::pair<int, int>, std::pair<Word, Word>> words;
  for (int y = 0; y < before.height(); ++y) {
    for (int x = 0; x < before.width(); ++x) {
      const Cell cell{x, y};
      auto& [walkability, costs] = words[{y, (x + 1) / kWordBits}];
      const Word bit = Word{1} << ((x + 1) % kWordBits);
      if (before.IsWalkable(cell) != after.IsWalkable(cell)) {
        walkability |= bit;
      } else if (before.IsWalkable(cell) && before.StraightCost(cell) != after.StraightCost(cell)) {
        costs |= bit;
      }
    }
  }
  MapChanges changes;
  for (const auto& [place, bits] : words) {
    if (bits.first != 0) {
      changes.walkability.push_back({place.first, place.second, bits.first});
    }
    if (bits.second != 0) {
      changes.cost.push_back({place.first, place.second, bits.second});
    }
  }
  return changes;
}

}  // namespace

Watchers::Answer Watchers::Find(const PathQuery& query) {
  Answer answer{.result = FindPath(map_, query, {}, scratch_)};
  if (answer.HasPath()) {
    answer.points.assign(answer.result->points.begin(), answer.result->points.end());
    if (query.path_form == PathForm::kDirections) {
      answer.points.push_back(query.start);
      for (const Direction direction : answer.result->directions) {
        answer.points.push_back(Step(answer.points.back(), direction));
      }
    }
  }
  return answer;
}

void Watchers::Watch(const PathQuery& query) {
  WatchState watch{.query = query, .answer = Find(query)};
  watch.watched = std::make_shared<WatchedAnswer>(map_, query, core::WithoutPortals(watch.answer.result));
  index_.Add(watches_.size(), watch.watched, map_);
  watches_.push_back(std::move(watch));
}

std::vector<std::uint64_t> Watchers::ChangeTo(GridMap next) {
  const MapChanges changes = ChangesBetween(map_, next);
  map_ = std::move(next);
  std::vector<std::uint64_t> affected;
  index_.FindAffected(changes, map_, affected);
  std::vector<std::uint64_t> expected;
  told_.clear();
  for (std::uint64_t id = 0; id < watches_.size(); ++id) {
    if (watches_[id].watched->MayBeOutdatedBy(changes, map_, index_.shortcuts())) {
      expected.push_back(id);
    }
  }
  EXPECT_THAT(affected, UnorderedElementsAreArray(expected));
  for (const std::uint64_t id : affected) {
    const PathQuery& query = watches_[id].query;
    Answer answer = Find(query);
    auto next_watched = std::make_shared<WatchedAnswer>(map_, query, core::WithoutPortals(answer.result));
    const bool is_news = watches_[id].watched->IsOutdatedBy(map_, core::WithoutPortals(answer.result));
    if (is_news) {
      told_.push_back(id);
      watches_[id].answer = std::move(answer);
    }
    if (is_news || next_watched->kind() == WatchedAnswer::Kind::kNoPath) {
      index_.Remove(id);
      index_.Add(id, next_watched, map_);
      watches_[id].watched = std::move(next_watched);
    }
  }
  return affected;
}

std::string Watchers::Fault() {
  for (std::uint64_t id = 0; id < watches_.size(); ++id) {
    const PathQuery& query = watches_[id].query;
    const Answer& last = watches_[id].answer;
    const Answer now = Find(query);
    // What an algorithm no longer searches may hold all the same.
    const bool is_unsuited =
        ErrorReasonOf(now.result.status()) == ErrorReasonName(ErrorReason::kAlgorithmUnsuited);
    if (now.result.ok() != last.result.ok() && !is_unsuited) {
      return "one is an error";
    }
    if (!last.result.ok()) {
      continue;
    }
    if (!is_unsuited && now.result->outcome != last.result->outcome) {
      return "another outcome";
    }
    if (!last.HasPath()) {
      continue;
    }
    const double tolerance = 1e-6 * (1.0 + last.result->cost);
    const auto valid =
        ValidatePath(map_, {.points = last.points,
                            .corner_rule = query.corner_rule,
                            .path_form = last.IsLines(query) ? PathForm::kSmoothed : PathForm::kEveryCell,
                            .footprint = query.footprint});
    if (!valid.ok() || !valid->walkable) {
      return "not walkable";
    }
    if (std::abs(valid->cost - last.result->cost) > tolerance) {
      return "costs something else";
    }
    if (!is_unsuited && !last.IsLines(query) && std::abs(now.result->cost - last.result->cost) > tolerance) {
      return "a path of another cost is found";
    }
  }
  return "";
}

GridMap Edited(const GridMap& map, const std::vector<Edit>& edits) {
  const auto edited = ApplyEdits(map, edits);
  EXPECT_TRUE(edited.ok()) << edited.status();
  return edited.ok() ? edited->map : map;
}

GridMap Blocked(const GridMap& map, Cell cell) { return Edited(map, {BlockCells{{.cells = {cell}}}}); }
GridMap Unblocked(const GridMap& map, Cell cell) { return Edited(map, {UnblockCells{{.cells = {cell}}}}); }

GridMap Repainted(const GridMap& map, Cell cell, TerrainId terrain) {
  GridMap painted = map;
  std::vector<TerrainId> row(map.TerrainRow(cell.y), map.TerrainRow(cell.y) + map.width());
  row[static_cast<std::size_t>(cell.x)] = terrain;
  GridMapEditor editor(painted);
  editor.SetRow(cell.y, row);
  return std::move(editor).Finish();
}

}  // namespace waystar::testing
