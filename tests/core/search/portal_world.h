// Worlds of several maps for tests of portals.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "server/core/edit/edit.h"
#include "server/core/grid/cost.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/portal.h"
#include "server/core/search/portal_search.h"
#include "tests/testing/status_matchers.h"

namespace waystar::testing {

class Maps final : public core::World {
 public:
  const core::GridMap* Find(absl::string_view id) override {
    const auto it = maps.find(std::string(id));
    return it == maps.end() ? nullptr : &it->second;
  }

  std::map<std::string, core::GridMap> maps;
};

// The map with portals.
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

}  // namespace waystar::testing
