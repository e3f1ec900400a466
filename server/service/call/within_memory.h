// Runs queries that may find no memory.
#pragma once

#include <new>
#include <type_traits>

#include "absl/status/status.h"
#include "server/core/edit/edit_memory.h"
#include "server/service/admission/workbench.h"

namespace waystar::rpc {

// Returns what `query` returns, an absl::Status or a StatusOr; RESOURCE_EXHAUSTED / MAPS_MEMORY_FULL if it
// finds no memory, and then the bench, which may be in any state, begins anew.
//
// It is for what leaves nothing of itself elsewhere when it ends halfway: queries, what else only reads maps,
// and what leads to a new map or an update. The store itself sees to an update that finds no memory.
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
