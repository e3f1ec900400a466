#include "server/service/handlers/query/field_answers.h"

#include "server/service/handlers/query/answer_by_kind.h"

namespace waystar::rpc {

absl::Status FieldAnswers::CostMatrix(const v1::ComputeCostMatrixRequest& request,
                                      v1::ComputeCostMatrixResponse& response, CallContext& context) const {
  return AnswerByKind(store_, max_bytes_, request, response, context);
}

absl::Status FieldAnswers::Reachable(const v1::FindReachableRequest& request,
                                     v1::FindReachableResponse& response, CallContext& context) const {
  return AnswerByKind(store_, max_bytes_, request, response, context);
}

absl::Status FieldAnswers::FlowField(const v1::ComputeFlowFieldRequest& request,
                                     v1::ComputeFlowFieldResponse& response, CallContext& context) const {
  return AnswerByKind(store_, max_bytes_, request, response, context);
}

absl::Status FieldAnswers::Reachability(const v1::CheckReachabilityRequest& request,
                                        v1::CheckReachabilityResponse& response, CallContext& context) const {
  return AnswerByKind(store_, max_bytes_, request, response, context);
}

absl::Status FieldAnswers::Ray(const v1::CastRayRequest& request, v1::CastRayResponse& response,
                               CallContext& context) const {
  return AnswerByKind(store_, max_bytes_, request, response, context);
}

absl::Status FieldAnswers::Sample(const v1::SampleCellsRequest& request, v1::SampleCellsResponse& response,
                                  CallContext& context) const {
  return AnswerByKind(store_, max_bytes_, request, response, context);
}

absl::Status FieldAnswers::Probe(const v1::ProbeSurfaceRequest& request, v1::ProbeSurfaceResponse& response,
                                 CallContext& context) const {
  return AnswerByKind(store_, max_bytes_, request, response, context);
}

}  // namespace waystar::rpc
