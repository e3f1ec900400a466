#include "server/rpc/query/answer_query.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/engine/find_path.h"
#include "server/core/map/portal_table.h"
#include "server/core/nearest/nearest_goal.h"
#include "server/core/path/summary.h"
#include "server/core/portal/path_legs.h"
#include "server/core/portal/portal_validation.h"
#include "server/rpc/query/answer_graph_query.h"
#include "server/rpc/query/movement.h"
#include "server/rpc/query/placement.h"
#include "server/rpc/query/world_view.h"
#include "server/rpc/wire/convert.h"
#include "server/rpc/wire/convert_path.h"
#include "server/rpc/wire/convert_portals.h"
#include "server/rpc/wire/convert_validation.h"
#include "server/rpc/wire/write_path.h"

namespace waystar::rpc {
namespace {

absl::Status CheckSize(std::size_t bytes, std::size_t max_bytes) {
  if (bytes <= max_bytes) {
    return absl::OkStatus();
  }
  return MakeError(absl::StatusCode::kResourceExhausted, ErrorReason::kResponseTooLarge, "path_form",
                   absl::StrCat("the path takes more than the ", max_bytes,
                                " bytes of a message: ask for corners or directions"));
}

// What the request asked for beside the path, of each leg by the map that it lies on.
void FillExtras(const core::GridMap& home, WorldView& world, const v1::FindPathRequest& request,
                const core::PathQuery& query, const core::PortalPath& found, v1::FindPathResponse& response,
                WrittenMessage* written) {
  const bool with_positions = request.with_positions() || request.has_start_position() ||
                              request.has_goal_position() || !request.goal_positions().empty();
  const bool with_summary = request.with_summary() && found.path.outcome != core::Outcome::kUnreachable;
  if (!with_positions && !with_summary) {
    return;
  }
  const core::GridMap* map = &home;
  core::PathQuery part = query;
  core::PathResult leg = found.path;
  for (std::size_t i = 0; i <= found.crossings.size(); ++i) {
    leg.points = core::LegOf(found.path.points, found.crossings, i);
    leg.directions = core::LegOf(found.path.directions, found.crossings, i);
    if (with_positions && written != nullptr) {
      WritePositions(leg.points, map->settings().frame, *written);
    } else if (with_positions) {
      FillPositions(leg.points, map->settings().frame, response);
    }
    if (with_summary) {
      AddSummary(core::Summarize(*map, part, leg), map->settings(), *response.mutable_summary());
    }
    if (i < found.crossings.size()) {
      const core::PortalCrossing& crossing = found.crossings[i];
      map = crossing.map.empty() ? &home : world.Find(crossing.map);
      part.start = crossing.arrival;
    }
  }
}

absl::StatusOr<core::PortalPath> Search(const core::GridMap& map, WorldView& world, PathSearch search,
                                        absl::Span<const core::Cell> goals, const core::PortalQuery& query,
                                        const core::Budget& budget, CallContext& context) {
  if (goals.empty()) {
    return search(map, world, query, budget, context.bench.scratch);
  }
  if (map.portals().empty() && query.goal_map == core::kSameMap) {
    WAYSTAR_ASSIGN_OR_RETURN(const core::NearestGoalResult nearest,
                             core::FindPathToNearest(map, query.path, goals, budget, context.bench.scratch));
    return core::PortalPath{.path = nearest.path, .goal_index = nearest.goal_index};
  }
  core::PortalQuery to_nearest = query;
  to_nearest.goals = goals;
  return FindAnyPath(map, world, to_nearest, budget, context.bench.scratch);
}

absl::Status AnswerOnGrid(const core::MapStore& store, const core::MapSnapshot& snapshot, PathSearch search,
                          std::size_t max_bytes, const v1::FindPathRequest& request,
                          v1::FindPathResponse& response, CallContext& context) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::PathQuery query, ToPathQuery(request));
  return AnswerOn(store, snapshot, search, max_bytes, request, query, response, context);
}

}  // namespace

absl::StatusOr<core::PortalPath> FindAnyPath(const core::GridMap& map, core::World& world,
                                             const core::PortalQuery& query, const core::Budget& budget,
                                             core::Scratch& scratch) {
  return core::FindPathThroughPortals(map, world, query, core::FindPath, budget, scratch);
}

absl::StatusOr<core::PortalPath> TraceAnyPath(const core::GridMap& map, core::World& world,
                                              const core::PortalQuery& query, const core::Budget& budget,
                                              core::Scratch& scratch, core::EventRecorder& recorder) {
  const auto search_leg = [&](const core::GridMap& leg_map, const core::PathQuery& leg,
                              const core::Budget& leg_budget, core::Scratch& leg_scratch) {
    return &leg_map == &map ? core::TraceSearch(leg_map, leg, leg_budget, leg_scratch, recorder)
                            : core::FindPath(leg_map, leg, leg_budget, leg_scratch);
  };
  return core::FindPathThroughPortals(map, world, query, search_leg, budget, scratch);
}

void FillAnswer(const core::GridMap& map, WorldView& world, const v1::FindPathRequest& request,
                const core::PathQuery& query, const core::PortalPath& found, v1::FindPathResponse& response,
                WrittenMessage* written) {
  FillPathResult(found.path, response);
  if (written != nullptr) {
    WritePoints(found.path.points, *written);
  } else {
    FillPoints(found.path.points, response);
  }
  FillCrossings(found.crossings, world, response);
  if (HasSeveralGoals(request) && found.path.outcome == core::Outcome::kFound) {
    response.set_goal_index(static_cast<std::int32_t>(found.goal_index));
  }
  FillCell(query.start, *response.mutable_start());
  FillExtras(map, world, request, query, found, response, written);
}

std::size_t FinishAnswer(std::uint64_t revision, std::chrono::nanoseconds queued,
                         std::chrono::nanoseconds searching, v1::FindPathResponse& response,
                         WrittenMessage* written) {
  response.set_revision(revision);
  response.mutable_statistics()->set_queue_nanos(queued.count());
  response.mutable_statistics()->set_search_nanos(searching.count());
  if (written == nullptr) {
    return response.ByteSizeLong();
  }
  written->AddFieldsOf(response);
  return written->size();
}

absl::Status AnswerFindPath(const core::MapStore& store, std::size_t max_bytes,
                            const v1::FindPathRequest& request, v1::FindPathResponse& response,
                            CallContext& context) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  if (snapshot->is_graph()) {
    return AnswerGraphQuery(*snapshot, max_bytes, request, response, context);
  }
  return AnswerOnGrid(store, *snapshot, FindAnyPath, max_bytes, request, response, context);
}

absl::Status AnswerQuery(const core::MapStore& store, PathSearch search, std::size_t max_bytes,
                         const v1::FindPathRequest& request, v1::FindPathResponse& response,
                         CallContext& context) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  WAYSTAR_RETURN_IF_ERROR(core::CheckIsGrid(*snapshot));
  return AnswerOnGrid(store, *snapshot, search, max_bytes, request, response, context);
}

absl::Status AnswerOn(const core::MapStore& store, const core::MapSnapshot& snapshot, PathSearch search,
                      std::size_t max_bytes, const v1::FindPathRequest& request, const core::PathQuery& asked,
                      v1::FindPathResponse& response, CallContext& context) {
  const RequestedMovement requested = RequestedMovementOf(request);
  WAYSTAR_ASSIGN_OR_RETURN(const Movement movement, Movement::Make(snapshot, requested));
  WorldView world(store, context.caller, snapshot, movement, requested);
  core::PathQuery query = asked;
  query.corner_rule = movement.corner_rule();
  query.footprint = movement.footprint();
  return AnswerAs(snapshot, movement, world, search, max_bytes, request, query, response, context);
}

absl::Status AnswerAs(const core::MapSnapshot& snapshot, const Movement& movement, WorldView& world,
                      PathSearch search, std::size_t max_bytes, const v1::FindPathRequest& request,
                      const core::PathQuery& asked, v1::FindPathResponse& response, CallContext& context) {
  core::PortalQuery query{.path = asked, .required_tags = movement.required_tags()};
  if (request.goal_map() != snapshot.id) {
    query.goal_map = request.goal_map();
  }
  const core::GridMap* goal_map = query.goal_map.empty() ? &movement.map() : world.Find(query.goal_map);
  const std::uint64_t max_expansions = MaxExpansionsOf(request);
  core::Budget budget = context.BudgetFor(max_expansions);
  budget.evicted = &snapshot.eviction.flag();
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<core::Cell> goals,
                           PlaceEnds(request, movement.map(), goal_map, budget, query.path));
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  const absl::StatusOr<core::PortalPath> found =
      Search(movement.map(), world, search, goals, query, budget, context);
  if (!found.ok()) {
    return OfPositions(found.status(), request);
  }
  const std::chrono::nanoseconds searching = std::chrono::steady_clock::now() - begin;
  if (found->path.reason == core::OutcomeReason::kExpansionLimit && budget.max_expansions < max_expansions) {
    context.needs_larger_lane = true;
    return absl::OkStatus();
  }
  // A point takes at least two bytes: what cannot fit is not written down first.
  WAYSTAR_RETURN_IF_ERROR(CheckSize(found->path.points.size() * 2, max_bytes));
  WrittenMessage* const written = context.WrittenFor(response);
  FillAnswer(movement.map(), world, request, query.path, *found, response, written);
  return CheckSize(FinishAnswer(snapshot.revision, context.queued, searching, response, written), max_bytes);
}

absl::Status BelowQuery(const absl::Status& status) {
  return ErrorFieldOf(status).empty() ? status : WithFieldPrefix(status, "query.");
}

absl::Status AnswerValidation(const core::MapStore& store, const Caller& caller,
                              const v1::ValidatePathRequest& request, v1::ValidatePathResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(PathToValidate path, ToPathToValidate(request));
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  const RequestedMovement requested = RequestedMovementOf(request);
  WAYSTAR_ASSIGN_OR_RETURN(const Movement movement, Movement::Make(*snapshot, requested));
  path.corner_rule = movement.corner_rule();
  path.footprint = movement.footprint();
  WorldView world(store, caller, *snapshot, movement, requested);
  const absl::StatusOr<core::Validation> validation = core::ValidateThroughPortals(
      movement.map(), world, path.query(), path.crossings, movement.required_tags());
  if (!validation.ok()) {
    return path.InRequest(validation.status());
  }
  FillValidation(*validation, path, response);
  response.set_revision(snapshot->revision);
  return absl::OkStatus();
}

}  // namespace waystar::rpc
