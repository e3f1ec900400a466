// Handlers of requests about fields, rays, samples, paths to validate and surfaces.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "server/core/store/map_store.h"
#include "server/service/call/call_context.h"

namespace waystar::rpc {

// Answers such requests on the map's latest snapshot. Returns the errors of MapStore::Pin, TakeView,
// ToAgentQuery, core::CheckSnap, core::ResolveAgent and Answer, and RESOURCE_EXHAUSTED / RESPONSE_TOO_LARGE
// for messages over `max_bytes`.
//
// Thread safety: any. The store must outlive this.
class FieldAnswers {
 public:
  FieldAnswers(const core::MapStore& store, std::size_t max_bytes) : store_(store), max_bytes_(max_bytes) {}

  template <typename Request, typename Response>
  absl::Status operator()(const Request& request, Response& response, CallContext& context) const;

 private:
  const core::MapStore& store_;
  const std::size_t max_bytes_;
};

}  // namespace waystar::rpc
