// Memory use of the maps of a store, for statistics and metrics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "server/core/store/map_store.h"

namespace waystar::maintenance {

// Memory use of one map at its latest revision.
struct MapUsage {
  std::string id;
  core::MapVersion version;
  // Includes its indexes.
  std::size_t bytes = 0;
  core::MapKind kind = core::MapKind::kSquares;
};

// Returns the usage of the maps accepted by `wanted`, largest first, then by id. Costs time proportional to
// the number of maps and their row blocks: milliseconds for thousands of maps.
std::vector<MapUsage> UsageOf(const core::MapStore& store,
                              absl::FunctionRef<bool(absl::string_view id)> wanted);

}  // namespace waystar::maintenance
