// Answers to probes of the surface of a navigation mesh.
#pragma once

#include "absl/status/status.h"
#include "server/core/query/mesh_agent.h"
#include "server/core/search/query.h"
#include "server/service/handlers/query/question.h"
#include "waystar/v1/fields.pb.h"

namespace waystar::rpc {

// Fills in everything but the version, unless the call needs a larger lane.
//
// Returns INVALID_ARGUMENT / MISSING_FIELD or BAD_VALUE with fields such as "probes[3].move_to.x",
// RESOURCE_EXHAUSTED / TOO_MANY_ITEMS (probes), REGION_TOO_LARGE ("probes[3].wall_within") or
// RESPONSE_TOO_LARGE, and the errors of InterruptionError.
absl::Status AnswerProbes(const core::MeshAgent& agent, const Question& question, const core::Budget& budget,
                          const v1::ProbeSurfaceRequest& request, v1::ProbeSurfaceResponse& response);

}  // namespace waystar::rpc
