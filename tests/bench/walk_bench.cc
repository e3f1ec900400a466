// Counts the paths that a game server asks for again while agents walk and carts drive: by the areas of a map
// that changed, as WatchMap reports them, and by one box around them. In this process, on one thread.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/search/scratch.h"
#include "tests/bench/bench.h"

ABSL_FLAG(int, agents, 200, "Agents that walk between random cells, a cell a tick.");
ABSL_FLAG(int, carts, 12, "Carts of 3 x 3 cells that drive to and fro, a cell a tick, all in one batch.");
ABSL_FLAG(int, side, 512, "Side of the map, a tenth of which is blocked.");
ABSL_FLAG(int, ticks, 200, "Ticks: 20 a second.");

namespace waystar::bench {
namespace {

using core::Cell;
using core::Rectangle;

struct Walker {
  Cell goal;
  // Remaining cells of the path, the next one last.
  std::vector<Cell> way;
};

// Returns true if an agent on the cell, or beside it, may be affected.
bool IsNear(const Rectangle& area, Cell cell) {
  return cell.x >= area.x - 1 && cell.x <= area.x + area.width && cell.y >= area.y - 1 &&
         cell.y <= area.y + area.height;
}

class Loop {
 public:
  explicit Loop(bool by_areas) : by_areas_(by_areas), map_(NoiseMap(absl::GetFlag(FLAGS_side), 0.1)) {
    std::vector<core::Edit> edits;
    for (int i = 0; i < absl::GetFlag(FLAGS_carts); ++i) {
      const Cell at = AnyCell(map_, random_);
      core::Obstacle cart{.id = absl::StrCat("cart-", i)};
      cart.shape.rectangles.push_back({.x = at.x, .y = at.y, .width = 3, .height = 3});
      edits.emplace_back(core::PutObstacle{.obstacle = std::move(cart)});
    }
    Apply(edits);
    walkers_.resize(static_cast<std::size_t>(absl::GetFlag(FLAGS_agents)));
    for (Walker& walker : walkers_) {
      Send(walker, WalkableCell(map_, random_));
    }
    asked_ = 0;
  }

  // Returns the number of paths that were asked for again because of changes.
  std::uint64_t Run() {
    for (int tick = 0; tick < absl::GetFlag(FLAGS_ticks); ++tick) {
      for (Walker& walker : walkers_) {
        const Cell here = walker.way.back();
        if (walker.way.size() > 1) {
          walker.way.pop_back();
        } else {
          Send(walker, here);
        }
      }
      Drive(tick);
    }
    return asked_;
  }

 private:
  void Drive(int tick) {
    const double step = tick / 20 % 2 == 0 ? 1 : -1;
    std::vector<core::Edit> edits;
    for (int i = 0; i < absl::GetFlag(FLAGS_carts); ++i) {
      edits.emplace_back(core::MoveObstacle{.id = absl::StrCat("cart-", i), .dx = step});
    }
    const std::vector<Rectangle> areas = Apply(edits);
    for (Walker& walker : walkers_) {
      const bool is_affected = std::ranges::any_of(walker.way, [&](Cell cell) {
        return std::ranges::any_of(areas, [&](const Rectangle& area) { return IsNear(area, cell); });
      });
      if (is_affected) {
        ++asked_;
        Find(walker, walker.way.back());
      }
    }
  }

  // Returns the areas that changed.
  std::vector<Rectangle> Apply(const std::vector<core::Edit>& edits) {
    core::BatchEditor editor(map_);
    const core::ChangeSummary summary = OrDie(editor.Apply(edits, absl::UnixEpoch()));
    std::vector<Rectangle> areas = editor.changed_areas();
    core::GridMap next = std::move(editor).Finish().map;
    map_ = std::move(next);
    return by_areas_ && !areas.empty() ? std::move(areas) : std::vector<Rectangle>{summary.changed_bounds};
  }

  // Sends an agent from `start` to some cell that it can reach, unless a cart is in its way.
  void Send(Walker& walker, Cell start) {
    do {
      walker.goal = WalkableCell(map_, random_);
    } while (map_.IsWalkable(start) && !Find(walker, start));
  }

  // Keeps the old path if there is none: the agent waits until the cart is gone.
  bool Find(Walker& walker, Cell start) {
    const absl::StatusOr<core::PathResult> found =
        core::FindPath(map_, {.start = start, .goal = walker.goal}, {}, scratch_);
    if (!found.ok() || found->outcome != core::Outcome::kFound) {
      return false;
    }
    walker.way.assign(found->points.rbegin(), found->points.rend());
    return true;
  }

  const bool by_areas_;
  core::GridMap map_;
  core::Scratch scratch_{std::size_t{1} << 30};
  Random random_{1};
  std::vector<Walker> walkers_;
  std::uint64_t asked_ = 0;
};

}  // namespace
}  // namespace waystar::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  std::cout << absl::StreamFormat("paths asked for again: by one box %d, by areas %d\n",
                                  waystar::bench::Loop(false).Run(), waystar::bench::Loop(true).Run());
  return 0;
}
