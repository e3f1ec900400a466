// Handlers of requests about fields, rays, samples, paths to validate, moves to check and surfaces.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message_lite.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/query/places.h"
#include "server/core/query/resolved_agent.h"
#include "server/core/query/route_query.h"
#include "server/core/search/query.h"
#include "server/core/store/map_store.h"
#include "server/service/call/call_context.h"
#include "server/service/convert/convert_shape.h"
#include "server/service/convert/hex_coordinates.h"
#include "waystar/v1/path_service.pb.h"

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

// Fields common to all questions. The referenced objects must outlive it.
struct Question {
  // Returns the budget of searches on the call's lane.
  core::Budget BudgetHere() const;
  // Returns true, and records it, if work of that cost must restart on a larger lane.
  bool ExceedsLane(std::uint64_t expansions) const;
  // Returns the end of a search with BudgetHere. Records whether the search must restart on a larger lane;
  // the error then never reaches the client.
  absl::Status OnLane(absl::Status end) const;
  // Returns RESOURCE_EXHAUSTED / RESPONSE_TOO_LARGE with `field` if the response exceeds `max_bytes`.
  absl::Status CheckFits(const google::protobuf::MessageLite& response, absl::string_view field) const;
  absl::Status CheckFits(std::size_t bytes, absl::string_view field) const;

  const core::MapStore& store;
  const core::MapSnapshot& snapshot;
  // The agent as asked for.
  const core::AgentQuery& asked_agent;
  // Larger answers are rejected.
  std::size_t max_bytes;
  CallContext& context;
  // Coordinates of the cells of the request and the answer.
  HexCoordinates coordinates;
  std::optional<core::Snap> snap;
  core::Budget budget;
};

// A question with the agent that it asks for, on a map of the agent's kind.
template <typename Agent>
struct QuestionOn : Question {
  using Place = typename core::PlacesOn<std::remove_const_t<Agent>>::Place;

  // These return the errors of core::PlaceOf and core::PlacesOf.
  absl::StatusOr<Place> PlaceOf(absl::string_view field, const v1::Location& location) const;
  absl::StatusOr<std::vector<Place>> PlacesOf(
      absl::string_view list, const google::protobuf::RepeatedPtrField<v1::Location>& locations,
      std::size_t most) const;

  std::shared_ptr<Agent> agent;
};
using GridQuestion = QuestionOn<core::ResolvedAgent>;
using GraphQuestion = QuestionOn<const core::GraphAgent>;
using MeshQuestion = QuestionOn<core::MeshAgent>;

extern template struct QuestionOn<core::ResolvedAgent>;
extern template struct QuestionOn<const core::GraphAgent>;
extern template struct QuestionOn<core::MeshAgent>;

// Measures the time since construction. Thread safety: as a const object.
class WorkStopwatch {
 public:
  // Fills in everything but the algorithm.
  void Stamp(const CallContext& context, std::uint64_t expanded, v1::SearchStatistics& statistics) const;

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Returns the region of a request, if it has one.
template <typename Request>
std::optional<core::Rectangle> RegionOf(const Request& request) {
  return request.has_region() ? std::optional(ToRectangle(request.region())) : std::nullopt;
}

template <typename Request>
std::optional<double> MaxCostOf(const Request& request) {
  return request.has_max_cost() ? std::optional(request.max_cost()) : std::nullopt;
}

// Answer a question on a map of each kind. Each fills in everything but the version, staleness and bound of
// `info`, and returns FAILED_PRECONDITION / WRONG_MAP_KIND with a field that the kind does not support. The
// response and the status are discarded if the call needs a larger lane.
absl::Status Answer(const GridQuestion& on, const v1::FindReachableRequest& request,
                    v1::FindReachableResponse& response);
absl::Status Answer(const GridQuestion& on, const v1::ComputeFlowFieldRequest& request,
                    v1::ComputeFlowFieldResponse& response);
absl::Status Answer(const GridQuestion& on, const v1::CastRayRequest& request, v1::CastRayResponse& response);
absl::Status Answer(const GridQuestion& on, const v1::SamplePlacesRequest& request,
                    v1::SamplePlacesResponse& response);
absl::Status Answer(const GridQuestion& on, const v1::ExplainPathRequest& request,
                    v1::ExplainPathResponse& response);

absl::Status Answer(const GraphQuestion& on, const v1::FindReachableRequest& request,
                    v1::FindReachableResponse& response);
absl::Status Answer(const GraphQuestion& on, const v1::ComputeFlowFieldRequest& request,
                    v1::ComputeFlowFieldResponse& response);
absl::Status Answer(const GraphQuestion& on, const v1::CastRayRequest& request,
                    v1::CastRayResponse& response);
absl::Status Answer(const GraphQuestion& on, const v1::SamplePlacesRequest& request,
                    v1::SamplePlacesResponse& response);
absl::Status Answer(const GraphQuestion& on, const v1::ExplainPathRequest& request,
                    v1::ExplainPathResponse& response);

absl::Status Answer(const MeshQuestion& on, const v1::FindReachableRequest& request,
                    v1::FindReachableResponse& response);
absl::Status Answer(const MeshQuestion& on, const v1::ComputeFlowFieldRequest& request,
                    v1::ComputeFlowFieldResponse& response);
absl::Status Answer(const MeshQuestion& on, const v1::CastRayRequest& request, v1::CastRayResponse& response);
absl::Status Answer(const MeshQuestion& on, const v1::SamplePlacesRequest& request,
                    v1::SamplePlacesResponse& response);
absl::Status Answer(const MeshQuestion& on, const v1::ExplainPathRequest& request,
                    v1::ExplainPathResponse& response);
// Returns INVALID_ARGUMENT / MISSING_FIELD or BAD_VALUE with fields such as "probes[3].move_to.x",
// RESOURCE_EXHAUSTED / TOO_MANY_ITEMS (probes) or REGION_TOO_LARGE ("probes[3].wall_within"), and the errors
// of InterruptionError.
absl::Status Answer(const MeshQuestion& on, const v1::ProbeSurfaceRequest& request,
                    v1::ProbeSurfaceResponse& response);

// Validate a path on a map of each kind. `work`, in expansions, is that of the paths before it, to which its
// own is added. The result is discarded if the call needs a larger lane. Errors name fields of the path.
absl::Status Validate(const GridQuestion& on, const v1::Path& path, std::uint64_t& work,
                      v1::PathValidity& result);
absl::Status Validate(const GraphQuestion& on, const v1::Path& path, std::uint64_t& work,
                      v1::PathValidity& result);
absl::Status Validate(const MeshQuestion& on, const v1::Path& path, std::uint64_t& work,
                      v1::PathValidity& result);

}  // namespace waystar::rpc
