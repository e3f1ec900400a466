#include "server/service/handlers/query/answer_query.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/edit/edit_work.h"
#include "server/core/grid/cells/world_frame.h"
#include "server/core/query/resolved_agent.h"
#include "server/core/query/solve.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"
#include "server/geometry/world_point.h"
#include "server/service/call/status.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_creation.h"
#include "server/service/convert/convert_query.h"
#include "server/service/convert/hex_coordinates.h"
#include "server/service/convert/write_route.h"

namespace waystar::rpc {
namespace {

// Advice on what to request instead of an answer that does not fit.
constexpr absl::string_view kShorterForms = "ask for corners or directions";

}  // namespace

absl::Status TakeView(const core::MapSnapshot& snapshot, const v1::View& view, CallContext& context) {
  const absl::Status status = CheckLeastVersion(snapshot.version(), view);
  if (absl::IsUnavailable(status)) {
    context.awaited_version =
        core::MapVersion{.epoch = view.least_version().epoch(), .revision = view.least_version().revision()};
  }
  return status;
}

absl::Status AnswerFindPath(const core::MapStore& store, std::size_t max_bytes,
                            const v1::FindPathRequest& request, v1::FindPathResponse& response,
                            CallContext& context) {
  std::unique_ptr<InlineSnapshot> own;
  core::PinnedSnapshot pinned;
  core::OtherMaps others = MapsFor(store, context);
  if (!request.has_inline_map()) {
    WAYSTAR_ASSIGN_OR_RETURN(pinned, store.Pin(request.map()));
  } else if (!request.map().empty()) {
    return MakeError(ErrorReason::kBadSource, "inline_map", "give either map or inline_map");
  } else {
    WAYSTAR_ASSIGN_OR_RETURN(own, MakeInlineMap(request.inline_map(), store.memory(), context.budget));
    others.may_visit = [](absl::string_view /*id*/) { return false; };
  }
  const core::MapSnapshot& snapshot = own != nullptr ? own->snapshot : *pinned;
  WAYSTAR_RETURN_IF_ERROR(TakeView(snapshot, request.view(), context));
  WAYSTAR_ASSIGN_OR_RETURN(const core::RouteQuery query,
                           ToRouteQuery(request, snapshot.id, HexCoordinates(snapshot)));
  const core::Budget budget = context.BudgetFor(query.max_expansions);
  WAYSTAR_ASSIGN_OR_RETURN(const core::ResolvedRoute resolved,
                           core::Resolve(snapshot, query, std::move(others), budget));
  WAYSTAR_ASSIGN_OR_RETURN(const core::Route route, core::Solve(resolved, budget, context.bench));
  context.needs_more_expansions = route.path.reason == core::OutcomeReason::kExpansionLimit &&
                                  budget.max_expansions < query.max_expansions;
  return context.NeedsLargerLane() ? absl::OkStatus()
                                   : WriteAnswer(route, snapshot, max_bytes, request, response, context);
}

absl::Status WriteAnswer(const core::Route& route, const core::MapSnapshot& snapshot, std::size_t max_bytes,
                         const v1::FindPathRequest& query, v1::FindPathResponse& response,
                         const CallContext& context) {
  // Does not write an answer that cannot fit.
  WAYSTAR_RETURN_IF_ERROR(CheckAnswerFits(LeastBytesOf(route), max_bytes, "path_form", kShorterForms));
  RouteStamp stamp = StampOf(snapshot.version(), query, context.queued);
  if (!query.has_inline_map()) {
    stamp.staleness = context.staleness;
  }
  const std::size_t bytes =
      WriteRoute(route, stamp, HexCoordinates(snapshot), response, context.WrittenFor(response));
  return CheckAnswerFits(bytes, max_bytes, "path_form", kShorterForms);
}

core::OtherMaps MapsFor(const core::MapStore& store, CallContext& context) {
  return {.store = store,
          .may_visit = [&caller = context.caller](absl::string_view id) { return caller.MayRead(id); },
          .missing = &context.missing_map};
}

absl::Status CheckNamesMap(const v1::FindPathRequest& query) {
  return query.has_inline_map() ? MakeError(ErrorReason::kBadValue, "inline_map",
                                            "only FindPath and StreamFindPath take a map along")
                                : absl::OkStatus();
}

absl::Status BelowQuery(const absl::Status& status) {
  return ErrorFieldOf(status).empty() ? status : WithFieldPrefix(status, "query.");
}

namespace {

// Collects the results of a batch. Each result is written by one thread; several threads may write
// concurrently.
class ResultWriter {
 public:
  ResultWriter(const core::MapVersion& version, std::size_t max_bytes, const v1::FindPathsRequest& request,
               v1::FindPathsResponse& response, const CallContext& context)
      : version_(version),
        context_(context),
        max_bytes_(max_bytes),
        request_(request),
        response_(response),
        written_(context.WrittenFor(response)) {
    const int queries = request.queries_size();
    response_.mutable_results()->Reserve(queries);
    results_.reserve(written_ != nullptr ? static_cast<std::size_t>(queries) : 0);
    for (int i = 0; i < queries; ++i) {
      const v1::FindPathsResult& result = *response_.add_results();
      if (written_ != nullptr) {
        results_.emplace_back(result);
      }
    }
  }

  absl::Status Write(std::size_t index, const core::Route& route, const HexCoordinates& coordinates) {
    WAYSTAR_RETURN_IF_ERROR(CheckFits(LeastBytesOf(route)));
    const RouteStamp stamp = StampOf(version_, request_.queries(static_cast<int>(index)), context_.queued);
    v1::FindPathResponse& answer = *response_.mutable_results(static_cast<int>(index))->mutable_answer();
    if (written_ == nullptr) {
      WriteRoute(route, stamp, coordinates, answer, nullptr);
    } else {
      WrittenMessage written(answer);
      WriteRoute(route, stamp, coordinates, answer, &written);
      results_[index].AddField(v1::FindPathsResult::kAnswerFieldNumber, written);
    }
    return Count(index);
  }

  absl::Status WriteProblem(std::size_t index, const absl::Status& status) {
    v1::FindPathsResult& result = *response_.mutable_results(static_cast<int>(index));
    *result.mutable_problem() = ToStatusMessage(status);
    if (written_ != nullptr) {
      results_[index].AddFieldsOf(result);
    }
    return Count(index);
  }

  // REQUIRES: all results have been added.
  absl::Status Finish() {
    FillInfo(version_, context_.staleness, 0.0, *response_.mutable_info());
    if (written_ == nullptr) {
      return CheckFits(response_.ByteSizeLong());
    }
    for (const WrittenMessage& result : results_) {
      written_->AddField(v1::FindPathsResponse::kResultsFieldNumber, result);
    }
    v1::FindPathsResponse rest;
    *rest.mutable_info() = response_.info();
    written_->AddFieldsOf(rest);
    return CheckFits(written_->size());
  }

 private:
  // Returns the error of a batch that does not fit.
  absl::Status Count(std::size_t index) {
    const std::size_t bytes = written_ != nullptr ? results_[index].size()
                                                  : response_.results(static_cast<int>(index)).ByteSizeLong();
    return CheckFits(bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
  }

  absl::Status CheckFits(std::size_t bytes) const {
    return CheckAnswerFits(bytes, max_bytes_, "queries", "ask for corners or directions, or fewer at a time");
  }

  const core::MapVersion version_;
  const CallContext& context_;
  const std::size_t max_bytes_;
  const v1::FindPathsRequest& request_;
  v1::FindPathsResponse& response_;
  // Null if the response is wanted as a message. Otherwise results are kept as bytes until all are complete.
  WrittenMessage* const written_;
  std::vector<WrittenMessage> results_;
  // Total bytes of the results so far.
  std::atomic<std::size_t> bytes_ = 0;
};

}  // namespace

absl::Status AnswerQueries(const core::MapStore& store, std::size_t max_bytes,
                           const v1::FindPathsRequest& request, v1::FindPathsResponse& response,
                           CallContext& context) {
  WAYSTAR_RETURN_IF_ERROR(CheckGiven(!request.queries().empty(), "queries"));
  WAYSTAR_RETURN_IF_ERROR(
      core::CheckCount("queries", static_cast<std::size_t>(request.queries_size()), kMaxQueries));
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  WAYSTAR_RETURN_IF_ERROR(TakeView(*snapshot, request.view(), context));
  const HexCoordinates coordinates(*snapshot);
  WAYSTAR_ASSIGN_OR_RETURN(const core::RouteQuery shared, ToSharedQuery(request));
  WAYSTAR_RETURN_IF_ERROR(core::CheckOptions(shared, snapshot->kind()));
  WAYSTAR_ASSIGN_OR_RETURN(const core::AgentQuery own_agent,
                           ToAgentQuery(request.agent(), request.view(), coordinates));
  const core::Budget budget = context.BudgetFor(shared.max_expansions);
  WAYSTAR_ASSIGN_OR_RETURN(const core::SharedAgent agent,
                           core::ResolveAgent(*snapshot, own_agent, MapsFor(store, context), budget));

  ResultWriter writer(snapshot->version(), max_bytes, request, response, context);
  std::vector<std::optional<core::ResolvedRoute>> batch(static_cast<std::size_t>(request.queries_size()));
  std::vector<const core::ResolvedRoute*> queries(batch.size(), nullptr);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (const std::optional<core::SearchEnd> end = core::Interruption(budget)) {
      return core::InterruptionError(*end, 0);
    }
    const absl::StatusOr<core::RouteQuery> query =
        ToRouteQuery(shared, request.queries(static_cast<int>(i)), snapshot->id, coordinates);
    absl::StatusOr<core::ResolvedRoute> resolved =
        query.ok() ? core::ResolveFor(agent, *snapshot, *query, budget) : query.status();
    if (context.NeedsLargerLane()) {
      return absl::OkStatus();
    }
    if (resolved.ok()) {
      queries[i] = &batch[i].emplace(*std::move(resolved));
    } else {
      WAYSTAR_RETURN_IF_ERROR(core::EndsAll(resolved.status()) ? resolved.status()
                                                               : writer.WriteProblem(i, resolved.status()));
    }
  }
  const auto take = [&](std::size_t index, const absl::StatusOr<core::Route>& route) {
    if (route.ok() && route->path.reason == core::OutcomeReason::kExpansionLimit &&
        budget.max_expansions < shared.max_expansions) {
      context.needs_more_expansions = true;
      return core::UpkeepError();
    }
    return route.ok() ? writer.Write(index, *route, coordinates) : writer.WriteProblem(index, route.status());
  };
  const absl::Status status = core::SolveMany(queries, agent, budget, context.bench, context.crew, take);
  if (context.NeedsLargerLane()) {
    return absl::OkStatus();
  }
  WAYSTAR_RETURN_IF_ERROR(status);
  return writer.Finish();
}

namespace {

// Cost, in cells examined, of making a cell, a node or an edge, and of testing a pair of nodes against an
// obstacle.
constexpr std::uint64_t kWorkOfCell = 64;
constexpr std::uint64_t kWorkOfNode = 4'096;
constexpr std::uint64_t kWorkOfPair = 16;
// Maximum ratio of the cells of a board's plane to the limit of cells.
constexpr std::uint64_t kMostOfPlane = 2;

absl::Status CheckMost(std::uint64_t count, std::uint64_t most, absl::string_view items, ErrorReason reason,
                       absl::string_view field) {
  return count <= most ? absl::OkStatus()
                       : MakeError(reason, field,
                                   absl::StrCat("an inline map may have at most ", most, " ", items, ", got ",
                                                count, ": create a map"));
}

std::uint64_t CellsOf(const v1::InlineMap& map) {
  if (map.has_bits()) {
    return static_cast<std::uint64_t>(std::max(map.bits().width(), 0)) *
           static_cast<std::uint64_t>(std::max(map.bits().height(), 0));
  }
  std::uint64_t cells = 0;
  for (const std::string& row : map.rows()) {
    cells += row.size();
  }
  return cells;
}

// Returns the number of cells of the plane of a board with these columns and rows.
absl::StatusOr<std::uint64_t> PlaneOf(const v1::InlineMap& map, std::int32_t columns, std::int32_t rows) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::GridSettings settings, ToGridSettings(map.grid()));
  const auto product = [](std::int64_t a, std::int64_t b) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(a, 0)) *
           static_cast<std::uint64_t>(std::max<std::int64_t>(b, 0));
  };
  if (!settings.frame.hexagons || !core::HasOffsets(settings.frame.hexagons->layout)) {
    return product(columns, rows);
  }
  core::HexBoard board = *settings.frame.hexagons;
  board.columns = columns;
  board.rows = rows;
  return product(board.plane_width(), board.plane_height());
}

absl::StatusOr<core::AnyMap> MakeGrid(const v1::InlineMap& map, const core::Budget& budget,
                                      const StopCheck& stop) {
  const absl::string_view field = map.has_bits() ? "bits" : "rows";
  WAYSTAR_RETURN_IF_ERROR(CheckMost(CellsOf(map), kMaxInlineCells, "cells", ErrorReason::kBadSize, field));
  const auto columns = map.has_bits()
                           ? map.bits().width()
                           : static_cast<std::int32_t>(map.rows().empty() ? 0 : map.rows(0).size());
  const auto rows = map.has_bits() ? map.bits().height() : map.rows_size();
  WAYSTAR_ASSIGN_OR_RETURN(const std::uint64_t plane, PlaneOf(map, columns, rows));
  if (plane > kMostOfPlane * kMaxInlineCells) {
    return MakeError(ErrorReason::kBadSize, field,
                     absl::StrCat("the plane of axial coordinates that such a board lies on has ", plane,
                                  " cells: create a map"));
  }
  WAYSTAR_RETURN_IF_ERROR(core::BeginUpkeep(budget, plane * kWorkOfCell));
  WAYSTAR_ASSIGN_OR_RETURN(
      core::GridMap grid,
      WithProfiles(map.has_bits() ? GridFromBits(map.bits(), map.grid(), core::kMaxMapSide, &stop)
                                  : GridFromRows(map.rows(), map.grid(), core::kMaxMapSide, &stop),
                   map.grid()));
  return grid;
}

// Pairs of nodes near enough for an automatic edge count as edges.
absl::Status CheckPairs(const core::WaypointSpec& spec, std::uint64_t edges) {
  if (!spec.auto_connect.has_value()) {
    return absl::OkStatus();
  }
  const double reach = spec.auto_connect->max_distance;
  for (std::size_t i = 0; i < spec.nodes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      edges += core::SquaredDistance(spec.nodes[i].position, spec.nodes[j].position) <= reach * reach ? 2 : 0;
    }
    if (edges > kMaxInlineEdges) {
      return MakeError(ErrorReason::kTooManyEdges, "graph.auto_connect",
                       absl::StrCat("sight may make more than the ", kMaxInlineEdges,
                                    " edges that an inline map has at most: create a map"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<core::AnyMap> MakeGraph(const v1::InlineMap& map, const core::Budget& budget,
                                       const StopCheck& stop) {
  const v1::WaypointGraph& graph = map.graph();
  if (map.has_grid()) {
    return MakeError(ErrorReason::kBadSource, "grid", "a waypoint graph has no options of a grid");
  }
  if (!graph.auto_connect().reference_map().empty()) {
    return MakeError(ErrorReason::kBadValue, "graph.auto_connect.reference_map",
                     "an inline map has no reference map");
  }
  const auto nodes = static_cast<std::uint64_t>(graph.nodes_size());
  WAYSTAR_RETURN_IF_ERROR(
      CheckMost(nodes, kMaxInlineNodes, "nodes", ErrorReason::kTooManyNodes, "graph.nodes"));
  std::uint64_t edges = 0;
  for (const v1::WaypointEdge& edge : graph.edges()) {
    edges += edge.edge().one_way() ? 1 : 2;
  }
  WAYSTAR_RETURN_IF_ERROR(
      CheckMost(edges, kMaxInlineEdges, "edges", ErrorReason::kTooManyEdges, "graph.edges"));
  const auto obstacles = static_cast<std::uint64_t>(graph.obstacles_size());
  WAYSTAR_RETURN_IF_ERROR(CheckMost(obstacles, kMaxInlineObstacles, "obstacles",
                                    ErrorReason::kTooManyObstacles, "graph.obstacles"));
  // There may be as many automatic edges as edges are allowed, and each may be tested against each obstacle.
  const std::uint64_t arcs = graph.has_auto_connect() ? kMaxInlineEdges : edges;
  WAYSTAR_RETURN_IF_ERROR(core::BeginUpkeep(
      budget, (nodes + edges) * kWorkOfNode + nodes * nodes + arcs * (1 + obstacles) * kWorkOfPair));
  const absl::StatusOr<core::WaypointSpec> spec = ToWaypointSpec(graph, nullptr);
  WAYSTAR_RETURN_IF_ERROR(WithFieldPrefix(spec.status(), "graph."));
  WAYSTAR_RETURN_IF_ERROR(CheckPairs(*spec, edges));
  absl::StatusOr<core::WaypointGraph> made = core::WaypointGraph::Create(*spec, &stop);
  if (!made.ok()) {
    WAYSTAR_RETURN_IF_ERROR(stop.Check());
    return WithFieldPrefix(made.status(), ErrorFieldOf(made.status()).empty() ? "graph" : "graph.");
  }
  return *std::move(made);
}

absl::StatusOr<core::AnyMap> MakeMap(const v1::InlineMap& map, const core::Budget& budget) {
  const int sources = (map.rows().empty() ? 0 : 1) + (map.has_bits() ? 1 : 0) + (map.has_graph() ? 1 : 0);
  if (sources != 1) {
    return MakeError(ErrorReason::kBadSource, "", "give exactly one of rows, bits and graph");
  }
  const core::BudgetStop stop(budget);
  return map.has_graph() ? MakeGraph(map, budget, stop) : MakeGrid(map, budget, stop);
}

}  // namespace

absl::StatusOr<std::unique_ptr<InlineSnapshot>> MakeInlineMap(const v1::InlineMap& map,
                                                              MemoryAccount& account,
                                                              const core::Budget& budget) {
  absl::StatusOr<core::AnyMap> made = MakeMap(map, budget);
  if (!made.ok()) {
    const bool has_field = !ErrorFieldOf(made.status()).empty();
    const bool is_about_map = absl::IsInvalidArgument(made.status());
    return has_field || is_about_map
               ? WithFieldPrefix(made.status(), has_field ? "inline_map." : "inline_map")
               : made.status();
  }
  auto result =
      std::make_unique<InlineSnapshot>(InlineSnapshot{.snapshot = {.revision = 0, .map = *std::move(made)}});
  if (!account.Reserve(result->snapshot.memory_bytes(), result->memory)) {
    return core::MapsMemoryFull(account, "inline_map");
  }
  return result;
}

}  // namespace waystar::rpc
