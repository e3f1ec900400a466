// Worlds of several maps for tests of portals.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/portal/grid_portal_net.h"
#include "tests/testing/generator.h"
#include "tests/testing/status_matchers.h"

namespace waystar {

class Maps final : public core::World {
 public:
  const core::GridMap* Find(absl::string_view id) override {
    const auto it = maps.find(std::string(id));
    return it == maps.end() ? nullptr : &it->second;
  }

  // Adds `count` portals, or fewer, between cells of any two of the maps where an agent of that footprint can
  // stand. Costs are multiples of a quarter, and some are much higher than the others.
  void AddPortals(Generator& generator, int count, int footprint = 1) {
    std::vector<std::string> ids;
    for (const auto& [id, map] : maps) {
      ids.push_back(id);
    }
    const auto any = [&] {
      return ids[static_cast<std::size_t>(generator.Between(0, static_cast<int>(ids.size()) - 1))];
    };
    for (int i = 0; i < count; ++i) {
      const std::string from = any();
      const std::string to = any();
      core::Portal portal{
          .id = absl::StrCat("p", i),
          .from = generator.WalkableCellOf(maps.at(from), footprint),
          .to_map = from == to ? "" : to,
          .to = generator.WalkableCellOf(maps.at(to), footprint),
          .cost = core::CostFromDouble(generator.Between(0, 40) * (generator.Chance(0.9) ? 0.25 : 2000.0)),
          .both_ways = from == to && generator.Chance(0.5),
          .tags = {},
          .closed = generator.Chance(0.1)};
      if (generator.Chance(0.7)) {
        portal.tags = {"wide"};
      }
      const std::vector<core::Edit> edits = {core::PutPortal{.portal = std::move(portal)}};
      // Some lead nowhere, or where another does.
      if (auto result = core::ApplyEdits(maps.at(from), edits); result.ok()) {
        maps.at(from) = result->map;
      }
    }
  }

  std::map<std::string, core::GridMap> maps;
};

// Returns the map with portals.
inline core::GridMap With(const core::GridMap& map, const std::vector<core::Portal>& portals) {
  std::vector<core::Edit> edits;
  for (const core::Portal& portal : portals) {
    edits.emplace_back(core::PutPortal{.portal = portal});
  }
  auto result = core::ApplyEdits(map, edits);
  EXPECT_THAT(result, IsOk());
  return result->map;
}

inline core::Portal Between(std::string id, core::Cell from, core::Cell to, double cost = 1.0) {
  return {.id = std::move(id), .from = from, .to = to, .cost = core::CostFromDouble(cost)};
}

}  // namespace waystar
