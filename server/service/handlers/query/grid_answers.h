// Answers to questions about fields, rays, samples and paths, on grids.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/path/line_of_sight.h"
#include "server/core/query/resolve.h"
#include "server/core/query/resolved_agent.h"
#include "server/geometry/cell.h"
#include "server/service/convert/hex_coordinates.h"
#include "server/service/handlers/query/question.h"
#include "waystar/v1/fields.pb.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// Answers one question. Thread safety: none.
class GridAnswers {
 public:
  // The agent is one of `question`.
  GridAnswers(const Question& question, std::unique_ptr<core::ResolvedAgent> agent)
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
  // Returns FAILED_PRECONDITION / WRONG_MAP_KIND with field "map".
  static absl::Status Answer(const v1::ProbeSurfaceRequest& request, v1::ProbeSurfaceResponse& response);

 private:
  const core::GridMap& map() const { return agent_->map(); }
  CallContext& context() const { return question_.context; }
  // Returns the cell of a location, or the errors of CheckLocationOnGrid and LocationResolver.
  absl::StatusOr<core::Cell> Resolve(absl::string_view field, const v1::Location& location) const;
  // Like the above, for a list of bounded length. `name` is that of the field.
  absl::StatusOr<std::vector<core::Cell>> ResolveAll(
      absl::string_view name, const google::protobuf::RepeatedPtrField<v1::Location>& locations,
      std::size_t most) const;
  // Returns the bounding rectangle in the plane of the request's region, or the errors of CheckCountedRegion.
  template <typename Request>
  absl::StatusOr<std::optional<core::Rectangle>> PlaneRegion(const Request& request) const;
  // Returns INVALID_ARGUMENT / BAD_VALUE for a cell outside a region in columns and rows. Regions of the
  // plane are checked by the core.
  template <typename Request>
  absl::Status CheckInPart(const Request& request, absl::string_view field, core::Cell cell) const;
  // Returns the coordinates of the maps that the crossings of a path lead to.
  std::vector<HexCoordinates> CoordinatesBehind(
      const google::protobuf::RepeatedPtrField<v1::PortalCrossing>& crossings) const;
  // Returns an end of a ray: a cell stands for its centre.
  absl::StatusOr<core::CellPoint> RayEnd(absl::string_view field, const v1::Location& location) const;

  const Question& question_;
  const std::unique_ptr<core::ResolvedAgent> agent_;
  const core::Budget budget_;
};

// Returns the answers for questions on a grid, or the errors of ResolvedAgent::Make.
absl::StatusOr<std::unique_ptr<GridAnswers>> AnswersOn(const core::GridMap& map, const Question& question);

}  // namespace waystar::rpc
