// Times views of movement profiles: made, brought up to date, and searched, in this process, on one thread.

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_format.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/map/movement_profile.h"
#include "server/core/grid/map/profile_views.h"
#include "tests/bench/bench.h"

ABSL_FLAG(int, side, 2048, "Of the map, from 64 to 8192.");
ABSL_FLAG(int, rounds, 200, "Edits and queries to take the median of.");

namespace waystar::bench {
namespace {

using core::GridMap;

// Patches of grass, swamp and water, and scattered rocks.
GridMap Landscape(int side, testing::Random& random) {
  core::GridSettings settings;
  settings.terrains.push_back({.symbol = 's', .name = "swamp", .cost = 3.0});
  settings.terrains.push_back({.symbol = '~', .name = "water", .impassable = true});
  const GridMap blank = *GridMap::Create(side, side, std::move(settings));
  core::GridMapEditor editor(blank);
  for (int i = 0; i < side * side / 2000; ++i) {
    const int width = random.Between(4, 40);
    const int height = random.Between(4, 40);
    const int left = random.Between(0, side - width);
    const int top = random.Between(0, side - height);
    for (int y = top; y < top + height; ++y) {
      editor.SetTerrains(y, left, left + width, static_cast<core::TerrainId>(i % 2 + 1));
    }
  }
  for (int i = 0; i < side * side / 20; ++i) {
    editor.SetObstacle({random.Between(0, side - 1), random.Between(0, side - 1)}, true);
  }
  return std::move(editor).Finish();
}

void Print(const std::string& name, const core::MovementProfile& profile, const GridMap& first, int rounds) {
  testing::Random random(11);
  GridMap map = first;
  const core::TerrainRules rules(profile, map.settings());
  const bool is_view = !rules.IsAsIn(map.settings());
  const auto view = [&] {
    return is_view ? core::ViewUnder(map, rules) : std::make_shared<const GridMap>(map);
  };
  const double making = MicrosOf(view);
  const std::size_t bytes = is_view ? view()->BytesBeyond(map) : 0;
  core::Scratch scratch(std::size_t{1} << 30);
  Sample editing;
  Sample repairing;
  Sample searching;
  for (int i = 0; i < rounds; ++i) {
    const core::Edit edit = core::BlockCells{{.cells = {AnyCell(map, random)}}};
    GridMap next = map;
    editing.Add(MicrosOf([&] { next = core::ApplyEdits(map, {edit})->map; }));
    map = std::move(next);
    repairing.Add(MicrosOf(view));
    const auto seen = view();
    const core::PathQuery query{.start = AnyCell(map, random),
                                .goal = AnyCell(map, random),
                                .unreachable_policy = core::UnreachablePolicy::kNearestByDistance};
    searching.Add(MicrosOf([&] { core::FindPath(*seen, query, {}, scratch).IgnoreError(); }));
  }
  absl::PrintF("%-28s %10.0f %10.1f %10.1f %10.1f %12.0f\n", name, making, editing.Median(),
               repairing.Median(), static_cast<double>(bytes) / 1024.0, searching.Median());
}

}  // namespace
}  // namespace waystar::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  const int side = absl::GetFlag(FLAGS_side);
  const int rounds = absl::GetFlag(FLAGS_rounds);
  if (side < 64 || side > waystar::core::kMaxMapSide || rounds < 1) {
    waystar::bench::Die("--side is from 64 to 8192, --rounds at least 1");
  }
  waystar::testing::Random random(7);
  waystar::core::GridMap map = waystar::bench::Landscape(side, random);
  map.Prepare();
  absl::PrintF("A map of %d x %d cells; microseconds, each the median of %d\n", side, side, rounds);
  absl::PrintF("%-28s %10s %10s %10s %10s %12s\n", "profile", "made", "an edit", "repaired", "KiB",
               "a query");
  waystar::bench::Print("none", {}, map, rounds);
  waystar::bench::Print("swamp costs 1", {.terrain_costs = {{'s', 1.0}}}, map, rounds);
  waystar::bench::Print("swamp costs 2", {.terrain_costs = {{'s', 2.0}}}, map, rounds);
  waystar::bench::Print("enters water", {.terrain_costs = {{'~', 1.5}}}, map, rounds);
  waystar::bench::Print("no diagonals, no swamp", {.forbidden_terrains = {'s'}, .no_diagonals = true}, map,
                        rounds);
  return 0;
}
