// Answers to questions about navigation meshes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "server/base/error.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/query/mesh_agent.h"
#include "server/core/query/resolve.h"
#include "server/service/handlers/query/question.h"
#include "waystar/v1/fields.pb.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// Answers one question. Thread safety: none.
class MeshAnswers {
 public:
  // The agent is one of `question`.
  MeshAnswers(const Question& question, std::shared_ptr<core::MeshAgent> agent)
      : question_(question),
        agent_(std::move(agent)),
        budget_(core::BudgetOn(question.snapshot, question.context.budget)) {}

  // Each fills in everything but the version.
  absl::Status Answer(const v1::ComputeCostMatrixRequest& request, v1::ComputeCostMatrixResponse& response);
  absl::Status Answer(const v1::FindReachableRequest& request, v1::FindReachableResponse& response);
  absl::Status Answer(const v1::ComputeFlowFieldRequest& request, v1::ComputeFlowFieldResponse& response);
  absl::Status Answer(const v1::CheckReachabilityRequest& request, v1::CheckReachabilityResponse& response);
  absl::Status Answer(const v1::CastRayRequest& request, v1::CastRayResponse& response);
  absl::Status Answer(const v1::SampleCellsRequest& request, v1::SampleCellsResponse& response);
  absl::Status Answer(const v1::ValidatePathRequest& request, v1::ValidatePathResponse& response);
  absl::Status Answer(const v1::ProbeSurfaceRequest& request, v1::ProbeSurfaceResponse& response);

  // Returns FAILED_PRECONDITION / WRONG_MAP_KIND with field "map": meshes do not answer these yet.
  template <typename Request, typename Response>
  absl::Status Answer(const Request& /*request*/, Response& /*response*/) {
    return MakeError(ErrorReason::kWrongMapKind, "map", "navigation meshes do not answer this yet");
  }

 private:
  const core::NavMesh& mesh() const { return agent_->mesh(); }
  CallContext& context() const { return question_.context; }
  // Returns the position of a location, or the errors of CheckLocationOnMesh and CheckMeshPosition.
  absl::StatusOr<core::WorldPoint> PositionOf(absl::string_view field, const v1::Location& location) const;
  // Returns the place on the mesh that represents a location; nothing if there is none.
  absl::StatusOr<std::optional<core::MeshPlace>> PlaceOf(absl::string_view field,
                                                         const v1::Location& location) const;
  // Like the above, for a list of 1 to `most` locations. `name` is that of the field.
  absl::StatusOr<std::vector<std::optional<core::MeshPlace>>> PlacesOf(
      absl::string_view name, const google::protobuf::RepeatedPtrField<v1::Location>& locations,
      std::size_t most) const;
  static absl::Status StartBlocked(absl::string_view field);
  // Budget of searches on the call's lane.
  core::Budget BudgetHere() const;
  // Returns true, and records it, if a search with that budget and that end must restart on a larger lane.
  bool NeedsLargerLane(const absl::Status& status);
  // Returns true, and records it, if the mesh of a region must be built on a larger lane.
  bool IsRegionForLargerLane(bool has_region);
  // Returns the error of CheckAnswerFits for an answer that is certainly too large, without making it.
  absl::Status CheckCanFit(std::size_t polygons) const;

  const Question& question_;
  const std::shared_ptr<core::MeshAgent> agent_;
  const core::Budget budget_;
};

// Returns the answers for questions on a navigation mesh, or the errors of MeshAgent::Make.
absl::StatusOr<std::unique_ptr<MeshAnswers>> AnswersOn(const core::NavMesh& mesh, const Question& question);

}  // namespace waystar::rpc
