// Answers to questions about fields, sight, samples and paths, on waypoint graphs.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/graph_query.h"
#include "server/core/query/graph_agent.h"
#include "server/core/query/resolve.h"
#include "server/geometry/world_point.h"
#include "server/service/handlers/query/question.h"
#include "waystar/v1/fields.pb.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// Answers one question. Thread safety: none.
class GraphAnswers {
 public:
  // The agent is one of `question`.
  GraphAnswers(const Question& question, std::shared_ptr<const core::GraphAgent> agent)
      : question_(question),
        agent_(std::move(agent)),
        budget_(core::BudgetOn(question.snapshot, question.context.budget)) {}

  // Each fills in everything but the version. Returns FAILED_PRECONDITION / WRONG_MAP_KIND with the field if
  // it is for grids only.
  absl::Status Answer(const v1::ComputeCostMatrixRequest& request, v1::ComputeCostMatrixResponse& response);
  absl::Status Answer(const v1::FindReachableRequest& request, v1::FindReachableResponse& response);
  absl::Status Answer(const v1::ComputeFlowFieldRequest& request, v1::ComputeFlowFieldResponse& response);
  absl::Status Answer(const v1::CheckReachabilityRequest& request, v1::CheckReachabilityResponse& response);
  absl::Status Answer(const v1::CastRayRequest& request, v1::CastRayResponse& response);
  absl::Status Answer(const v1::SampleCellsRequest& request, v1::SampleCellsResponse& response);
  absl::Status Answer(const v1::ValidatePathRequest& request, v1::ValidatePathResponse& response);
  // Returns FAILED_PRECONDITION / WRONG_MAP_KIND with field "map".
  static absl::Status Answer(const v1::ProbeSurfaceRequest& request, v1::ProbeSurfaceResponse& response);

 private:
  const core::WaypointGraph& graph() const { return agent_->graph(); }
  CallContext& context() const { return question_.context; }
  double snap_radius() const { return question_.snap.value_or(core::Snap()).radius; }
  // Returns the place of a location, or the errors of CheckLocationOnGraph.
  absl::StatusOr<core::GraphPlace> PlaceOf(absl::string_view field, const v1::Location& location) const;
  // Like ToPlace, for a list of 1 to `most` locations. `name` is that of the field.
  absl::StatusOr<std::vector<core::GraphPlace>> PlacesOf(
      absl::string_view name, const google::protobuf::RepeatedPtrField<v1::Location>& locations,
      std::size_t most) const;
  // Returns RESOURCE_EXHAUSTED / RESPONSE_TOO_LARGE if there are too many nodes to fit into any answer.
  absl::Status CheckCanFit(std::size_t nodes) const;
  // Returns an end of a ray.
  absl::StatusOr<core::WorldPoint> RayEnd(absl::string_view field, const v1::Location& location) const;
  // Returns the candidates of a sample in ascending order, if they are not all nodes.
  absl::StatusOr<std::optional<std::vector<core::NodeNumber>>> NodesToDrawFrom(
      const v1::SampleCellsRequest& request);
  absl::Status DrawNodes(const v1::SampleCellsRequest& request, v1::SampleCellsResponse& response);
  absl::Status DrawPoints(const v1::SampleCellsRequest& request, v1::SampleCellsResponse& response);

  const Question& question_;
  const std::shared_ptr<const core::GraphAgent> agent_;
  const core::Budget budget_;
};

// Returns the answers for questions on a waypoint graph, or the errors of GraphAgent::Make.
absl::StatusOr<std::unique_ptr<GraphAnswers>> AnswersOn(const core::WaypointGraph& graph,
                                                        const Question& question);

}  // namespace waystar::rpc
