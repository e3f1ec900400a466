// Handlers of requests about fields, rays, samples and surfaces.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "server/core/store/map_store.h"
#include "server/service/call/call_context.h"
#include "waystar/v1/fields.pb.h"

namespace waystar::rpc {

// Answers on the map's latest snapshot. Returns RESOURCE_EXHAUSTED / RESPONSE_TOO_LARGE for messages over
// `max_bytes`.
//
// Thread safety: any. The store must outlive this.
class FieldAnswers {
 public:
  FieldAnswers(const core::MapStore& store, std::size_t max_bytes) : store_(store), max_bytes_(max_bytes) {}

  absl::Status CostMatrix(const v1::ComputeCostMatrixRequest& request,
                          v1::ComputeCostMatrixResponse& response, CallContext& context) const;
  absl::Status Reachable(const v1::FindReachableRequest& request, v1::FindReachableResponse& response,
                         CallContext& context) const;
  absl::Status FlowField(const v1::ComputeFlowFieldRequest& request, v1::ComputeFlowFieldResponse& response,
                         CallContext& context) const;
  absl::Status Reachability(const v1::CheckReachabilityRequest& request,
                            v1::CheckReachabilityResponse& response, CallContext& context) const;
  absl::Status Ray(const v1::CastRayRequest& request, v1::CastRayResponse& response,
                   CallContext& context) const;
  absl::Status Sample(const v1::SampleCellsRequest& request, v1::SampleCellsResponse& response,
                      CallContext& context) const;
  absl::Status Probe(const v1::ProbeSurfaceRequest& request, v1::ProbeSurfaceResponse& response,
                     CallContext& context) const;

 private:
  const core::MapStore& store_;
  const std::size_t max_bytes_;
};

}  // namespace waystar::rpc
