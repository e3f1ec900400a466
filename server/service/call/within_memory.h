// Runs queries that may run out of memory.
#pragma once

#include <new>
#include <type_traits>

#include "absl/status/status.h"
#include "server/core/edit/edit_memory.h"
#include "server/service/admission/executor.h"

namespace waystar::rpc {

// Returns the result of `query`, an absl::Status or a StatusOr. If it runs out of memory, resets the bench,
// which may be in any state, and returns RESOURCE_EXHAUSTED / MAPS_MEMORY_FULL.
//
// Use it only for work without side effects: queries, other reads of maps, and the preparation of a new map
// or an update. The store itself handles updates that run out of memory.
template <typename Query>
std::invoke_result_t<Query> RunWithinMemory(Workbench& bench, Query query) {
  try {
    return query();
  } catch (const std::bad_alloc&) {
    bench.Renew();
    return core::SystemMemoryFull();
  }
}

}  // namespace waystar::rpc
