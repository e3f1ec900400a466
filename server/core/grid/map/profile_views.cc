#include "server/core/grid/map/profile_views.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "server/base/lazy.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/map/cost_floor.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/shapes/shape_raster.h"

namespace waystar::core {

namespace {

// Cost of computing a cell's cost under an obstacle, in cells read.
constexpr std::uint64_t kWorkOfCostView = 24;

// Adds the cells of an obstacle that changes costs; none for one that blocks.
void AddCellsOf(const Obstacle& obstacle, const GridMap& map, SpanSet& cells) {
  if (obstacle.effect.kind != ObstacleEffect::Kind::kBlock) {
    ForEachSpan(obstacle.shape, map.lattice(), map.bounds(), [&](const RowSpan& span) { cells.Add(span); });
  }
}

// Returns true if both have the same passable terrains.
bool EntersTheSame(const GridMap& view, const GridMap& map) {
  return view.step_costs().passable == map.step_costs().passable;
}

// Returns the cells of a word, among those in `mask`, whose terrain is passable in the view.
Word PassableWord(const GridMap& view, const TerrainId* terrains, std::size_t index, Word mask) {
  return WordWhere(index, mask, [&](int x) { return view.step_costs().passable[terrains[x]]; });
}

}  // namespace

void GridMapEditor::TakeCells(const GridMap& source) {
  const bool enters_the_same = EntersTheSame(base_, source);
  const bool has_cost_obstacles = source.obstacles().cost_obstacles() > 0;
  SpanSet stale;
  map_.terrain_ = source.terrain_;
  map_.terrain_tiles_ = source.terrain_tiles_;
  takes_terrains_ = true;
  map_.cover_counts_ = source.cover_counts_;
  map_.covered_ = source.covered_;
  map_.obstacle_table_ = source.obstacle_table_;
  map_.portal_table_ = source.portal_table_;
  map_.obstacle_cells_ = source.obstacle_cells_;
  const auto take_nameless = [&](int y, std::size_t i) { SetNameless(y, i, source.NamelessWord(y, i)); };
  base_.terrain_.ForEachUnsharedRow(source.terrain_, map_.height(), [&](int y) {
    const TerrainId* before = base_.terrain_.row(y);
    const TerrainId* after = source.terrain_.row(y);
    if (std::equal(before, before + map_.width(), after)) {
      return;
    }
    ForEachWord(0, map_.width(), [&](std::size_t i, Word mask) {
      const int begin = std::max(static_cast<int>(i) * kWordBits - 1, 0);
      const int end = std::min(static_cast<int>(i + 1) * kWordBits - 1, map_.width());
      if (std::equal(before + begin, before + end, after + begin)) {
        return;
      }
      cost_touched_.Add(y, i);
      if (has_cost_obstacles) {
        stale.Add({y, begin, end});
      }
      if (!enters_the_same) {
        passable_.Set(y, i, PassableWord(map_, after, i, mask));
        take_nameless(y, i);
      }
    });
  });
  if (enters_the_same) {
    ShareWalk(source);
  } else {
    const auto follow = [&](const BitPlane& before, const BitPlane& after) {
      for (const WordChange& change : DifferencesBetween(before, after)) {
        take_nameless(change.y, static_cast<std::size_t>(change.index));
      }
    };
    follow(base_.covered_, source.covered_);
    follow(base_.viewed_->hidden, source.hidden_);
    follow(base_.viewed_->walkable, source.walkable_);
    map_.viewed_ = std::make_shared<const GridMap::NamelessPlanes>(source);
  }
  base_.obstacles().VisitDifferences(source.obstacles(),
                                     [&](const Obstacle& obstacle) { AddCellsOf(obstacle, map_, stale); });
  RefreshCosts(stale.Sorted());
}

void GridMapEditor::ShareWalk(const GridMap& source) {
  map_.passable_ = source.passable_;
  map_.walkable_ = source.walkable_;
  map_.hidden_ = source.hidden_;
  map_.walkable_cells_ = source.walkable_cells_;
  map_.walk_ = source.walk_;
  map_.footprint_grids_ = source.footprint_grids_;
  shares_walk_ = true;
  base_.walkable_.ForEachUnsharedRow(source.walkable_, [&](int y) {
    ForEachWord(0, map_.width(), [&](std::size_t i, Word) {
      if (base_.walkable_.word(y, i) != source.walkable_.word(y, i)) {
        walkability_touched_.Add(y, i);
      }
    });
  });
}

// Makes a view of the map. If the passable terrains are the same, it shares everything except the costs of
// single cells; otherwise time is proportional to the size of the map.
GridMap MakeView(const GridMap& map, const TerrainRules& rules) {
  GridMap view = map;
  view.constants_ = std::make_shared<const GridMap::Constants>(rules.ApplyTo(map.settings()));
  view.cell_costs_ = nullptr;
  view.static_index_ = std::make_shared<StaticIndexSlot>();
  view.plain_cells_ = std::make_shared<const Lazy<PlainCells>>();
  view.cost_survey_ = std::make_shared<const Lazy<CostSurvey>>();
  view.profile_views_ = std::make_shared<const ProfileViews>();
  if (!EntersTheSame(view, map)) {
    const auto blank = [&] { return BitPlane(map.width(), map.height(), false); };
    view.passable_ = blank();
    view.walkable_ = blank();
    view.walkable_cells_ = 0;
    view.hidden_ = blank();
    view.viewed_ = std::make_shared<const GridMap::NamelessPlanes>(map);
    BitPlaneWriter passable_plane(view.passable_);
    BitPlaneWriter walkable_plane(view.walkable_);
    BitPlaneWriter hidden_plane(view.hidden_);
    for (int y = 0; y < map.height(); ++y) {
      ForEachWord(0, map.width(), [&](std::size_t i, Word mask) {
        const Word passable = PassableWord(view, map.TerrainRow(y), i, mask);
        const Word open = passable & ~map.covered_.word(y, i);
        const Word nameless = map.NamelessWord(y, i);
        passable_plane.Set(y, i, passable);
        walkable_plane.Set(y, i, open & ~nameless);
        hidden_plane.Set(y, i, nameless & ~open);
        view.walkable_cells_ += std::popcount(open & ~nameless);
      });
    }
    passable_plane.Release();
    walkable_plane.Release();
    hidden_plane.Release();
    view.walk_ = std::make_shared<const WalkGrid>(
        view.walkable_, map.walk().index_memory().DividedBy(ProfileViews::kAlwaysKept));
    view.footprint_grids_ = std::make_shared<const FootprintGrids>();
  }
  SpanSet stale;
  if (map.obstacles().cost_obstacles() > 0) {
    map.obstacles().VisitAfter("", [&](const Obstacle& obstacle) {
      AddCellsOf(obstacle, map, stale);
      return true;
    });
  }
  GridMapEditor editor(view);
  editor.RefreshCosts(stale.Sorted());
  return std::move(editor).Finish();
}

std::uint64_t CellsToView(const GridMap& map, const TerrainRules& rules) {
  std::uint64_t cells = 0;
  const auto add_obstacle = [&](const Obstacle& obstacle) {
    if (obstacle.effect.kind != ObstacleEffect::Kind::kBlock) {
      cells += kWorkOfCostView * static_cast<std::uint64_t>(WorkOf(obstacle.shape, map.bounds()));
    }
    return true;
  };
  const std::shared_ptr<const GridMap> before = map.profile_views().FindHeld(rules);
  if (before == nullptr) {
    if (map.obstacles().cost_obstacles() > 0) {
      map.obstacles().VisitAfter("", add_obstacle);
    }
    return cells + static_cast<std::uint64_t>(map.bounds().area());
  }
  const auto add_row = [&](int) { cells += static_cast<std::uint64_t>(map.width()); };
  before->terrain_.ForEachUnsharedRow(map.terrain_, map.height(), add_row);
  before->covered_.ForEachUnsharedRow(map.covered_, add_row);
  const BitPlane& walkable = before->viewed_ == nullptr ? before->walkable_ : before->viewed_->walkable;
  walkable.ForEachUnsharedRow(map.walkable_, add_row);
  before->obstacles().VisitDifferences(map.obstacles(), add_obstacle);
  return cells;
}

std::shared_ptr<const GridMap> ViewUnder(const GridMap& map, const TerrainRules& rules) {
  const auto make = [&](const GridMap* before) {
    if (before == nullptr) {
      return std::make_shared<const GridMap>(MakeView(map, rules));
    }
    GridMapEditor editor(*before);
    editor.TakeCells(map);
    return std::make_shared<const GridMap>(std::move(editor).Finish());
  };
  return map.profile_views().Get(rules, make, FootprintGrids::BytesKeptOver(map.walk()),
                                 [&](const GridMap* view) { return view->BytesBeyond(map); });
}

}  // namespace waystar::core
