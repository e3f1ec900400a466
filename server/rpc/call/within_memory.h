// Runs queries that may find no memory.
#pragma once

#include <new>
#include <type_traits>

#include "absl/status/status.h"
#include "server/base/error.h"
#include "server/rpc/admission/workbench.h"

namespace waystar::rpc {

// Returns what `query` returns, an absl::Status or a StatusOr; RESOURCE_EXHAUSTED / MAPS_MEMORY_FULL if it
// finds no memory, and then the bench, which may be in any state, begins anew.
//
// It is for what leaves nothing of itself elsewhere when it ends halfway: queries, and what else only reads
// maps. Updates may have left parts of themselves in a map by then, and end the process.
template <typename Query>
std::invoke_result_t<Query> RunWithinMemory(Workbench& bench, Query query) {
  try {
    return query();
  } catch (const std::bad_alloc&) {
    bench.Renew();
    return MakeError(absl::StatusCode::kResourceExhausted, ErrorReason::kMapsMemoryFull, "",
                     "the system has no more memory for this process");
  }
}

}  // namespace waystar::rpc
