// Memory that the maps of a store take, for statistics and metrics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "server/core/store/map_store.h"

namespace waystar::maintenance {

// The memory of one map, at its latest revision.
struct MapUsage {
  std::string id;
  core::MapVersion version;
  // The memory of its indexes is included.
  std::size_t bytes = 0;
  core::MapKind kind = core::MapKind::kSquares;
};

// Returns the usage of the maps that `wanted` names, the largest first, equally large ones by id. Takes time
// in proportion to the number of maps and of their bands of rows: some milliseconds for thousands.
std::vector<MapUsage> UsageOf(const core::MapStore& store,
                              absl::FunctionRef<bool(absl::string_view id)> wanted);

}  // namespace waystar::maintenance
