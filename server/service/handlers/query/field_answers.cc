#include "server/service/handlers/query/field_answers.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/base/error.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/search/graph_pairs.h"
#include "server/core/grid/field/cost_matrix.h"
#include "server/core/grid/field/reachable_pairs.h"
#include "server/core/mesh/portal/mesh_portal_net.h"
#include "server/core/mesh/portal/mesh_portal_search.h"
#include "server/core/mesh/search/mesh_fields.h"
#include "server/core/query/check_moves.h"
#include "server/core/query/resolve.h"
#include "server/service/call/status.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_query.h"
#include "server/service/handlers/query/answer_query.h"

namespace waystar::rpc {

core::Budget Question::BudgetHere() const {
  core::Budget here = budget;
  here.max_expansions = context.max_expansions_here;
  return here;
}

bool Question::ExceedsLane(std::uint64_t expansions) const {
  context.needs_more_expansions = expansions > context.max_expansions_here;
  return context.NeedsLargerLane();
}

absl::Status Question::OnLane(absl::Status end) const {
  if (ErrorReasonOf(end) == "REGION_TOO_LARGE" && context.max_expansions_here < budget.max_expansions) {
    context.needs_more_expansions = true;
  }
  return end;
}

absl::Status Question::CheckFits(const google::protobuf::MessageLite& response,
                                 absl::string_view field) const {
  return CheckFits(response.ByteSizeLong(), field);
}

absl::Status Question::CheckFits(std::size_t bytes, absl::string_view field) const {
  return CheckAnswerFits(bytes, max_bytes, field);
}

template <typename Agent>
auto QuestionOn<Agent>::PlaceOf(absl::string_view field, const v1::Location& location) const
    -> absl::StatusOr<Place> {
  return core::PlaceOf(*agent, snap, budget, field, ToLocation(location, coordinates));
}

template <typename Agent>
auto QuestionOn<Agent>::PlacesOf(absl::string_view list,
                                 const google::protobuf::RepeatedPtrField<v1::Location>& locations,
                                 std::size_t most) const -> absl::StatusOr<std::vector<Place>> {
  return core::PlacesOf(
      *agent, snap, budget, list, static_cast<std::size_t>(locations.size()), most,
      [&](std::size_t i) { return ToLocation(locations[static_cast<int>(i)], coordinates); });
}

template struct QuestionOn<core::ResolvedAgent>;
template struct QuestionOn<const core::GraphAgent>;
template struct QuestionOn<core::MeshAgent>;

void WorkStopwatch::Stamp(const CallContext& context, std::uint64_t expanded,
                          v1::SearchStatistics& statistics) const {
  statistics.set_expanded(expanded);
  FillDuration(context.queued, *statistics.mutable_queue_time());
  FillDuration(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin_),
               *statistics.mutable_search_time());
}

namespace {

// A core::CostMatrix for maps of any kind: one row per start with an entry per goal.
struct Costs {
  std::vector<double> costs;
  std::uint64_t expanded = 0;
};

absl::StatusOr<Costs> CostsOf(const GridQuestion& on, const std::vector<core::Cell>& starts,
                              const std::vector<core::Cell>& goals) {
  WAYSTAR_ASSIGN_OR_RETURN(
      core::CostMatrix matrix,
      core::ComputeCostMatrix(on.agent->map(), *on.agent,
                              {.starts = starts, .goals = goals, .agent = on.agent->agent()}, on.budget,
                              on.context.bench.scratch, on.context.bench.field_scratch));
  return Costs{std::move(matrix.costs), matrix.expanded};
}

absl::StatusOr<Costs> CostsOf(const GraphQuestion& on, const std::vector<core::GraphPlace>& starts,
                              const std::vector<core::GraphPlace>& goals) {
  WAYSTAR_ASSIGN_OR_RETURN(core::GraphMatrix matrix,
                           core::ComputeGraphMatrix(on.agent->graph(),
                                                    {.starts = starts,
                                                     .goals = goals,
                                                     .snap_radius = on.snap.value_or(core::Snap()).radius,
                                                     .required_tags = on.agent->required_tags()},
                                                    on.budget, on.context.bench.graph_scratch));
  return Costs{std::move(matrix.costs), matrix.expanded};
}

// Places off the mesh reach nothing.
absl::StatusOr<Costs> CostsOf(const MeshQuestion& on, const std::vector<core::FoundMeshPlace>& starts,
                              const std::vector<core::FoundMeshPlace>& goals) {
  const auto on_mesh = [](const std::vector<core::FoundMeshPlace>& places) {
    std::vector<core::MeshPlace> known;
    for (const core::FoundMeshPlace& place : places) {
      if (place) {
        known.push_back(*place);
      }
    }
    return known;
  };
  const core::NavMesh& mesh = on.agent->mesh();
  if (!mesh.portals().empty()) {
    WAYSTAR_RETURN_IF_ERROR(core::CheckUnweighted(*on.agent));
  }
  core::MeshScratch& scratch = on.context.bench.mesh_scratch;
  const absl::StatusOr<core::MeshMatrix> matrix =
      mesh.portals().empty()
          ? core::ComputeMeshMatrix(mesh, on_mesh(starts), on_mesh(goals), on.BudgetHere(), scratch)
          : core::ComputeMatrixThroughMeshPortals(on.agent->portals(), on_mesh(starts), on_mesh(goals),
                                                  on.BudgetHere(), scratch);
  WAYSTAR_RETURN_IF_ERROR(on.OnLane(matrix.status()));
  Costs costs{.costs = {}, .expanded = matrix->statistics.expanded};
  auto length = matrix->lengths.begin();
  for (const core::FoundMeshPlace& start : starts) {
    for (const core::FoundMeshPlace& goal : goals) {
      costs.costs.push_back(start && goal ? *length++ : core::MeshMatrix::kUnreachable);
    }
  }
  return costs;
}

absl::StatusOr<std::vector<bool>> ReachedOf(const GridQuestion& on,
                                            const std::vector<core::CellPair>& pairs) {
  return core::CheckReachability(on.agent->map(), *on.agent, on.agent->agent(), pairs, on.budget);
}

absl::StatusOr<std::vector<bool>> ReachedOf(const GraphQuestion& on,
                                            const std::vector<core::GraphPair>& pairs) {
  absl::StatusOr<std::vector<bool>> reached =
      core::CheckGraphReachability(on.agent->graph(),
                                   {.pairs = pairs,
                                    .snap_radius = on.snap.value_or(core::Snap()).radius,
                                    .required_tags = on.agent->required_tags()},
                                   on.BudgetHere(), on.context.bench.graph_scratch);
  WAYSTAR_RETURN_IF_ERROR(on.OnLane(reached.status()));
  return reached;
}

absl::StatusOr<std::vector<bool>> ReachedOf(const MeshQuestion& on,
                                            const std::vector<core::MeshPair>& pairs) {
  const core::BudgetStop stop(on.budget);
  core::ReachedMeshParts parts(on.agent->portals());
  std::vector<bool> reached;
  for (const auto& [start, goal] : pairs) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(&stop, reached.size()));
    bool is_reached = false;
    if (start && goal) {
      WAYSTAR_ASSIGN_OR_RETURN(is_reached, parts.IsReached(*start, *goal, stop));
    }
    reached.push_back(is_reached);
  }
  return reached;
}

template <typename Agent>
absl::Status Answer(const QuestionOn<Agent>& on, const v1::ComputeCostMatrixRequest& request,
                    v1::ComputeCostMatrixResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const auto starts, on.PlacesOf("starts", request.starts(), core::kMaxMatrixSide));
  WAYSTAR_ASSIGN_OR_RETURN(const auto goals, on.PlacesOf("goals", request.goals(), core::kMaxMatrixSide));
  WAYSTAR_RETURN_IF_ERROR(core::CheckMatrixSize(starts.size(), goals.size()));
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(const Costs costs, CostsOf(on, starts, goals));
  stopwatch.Stamp(on.context, costs.expanded, *response.mutable_info()->mutable_statistics());
  response.mutable_costs()->Add(costs.costs.begin(), costs.costs.end());
  return on.CheckFits(response, "goals");
}

template <typename Agent>
absl::Status Answer(const QuestionOn<Agent>& on, const v1::CheckReachabilityRequest& request,
                    v1::CheckReachabilityResponse& response) {
  const auto count = static_cast<std::size_t>(request.pairs_size());
  WAYSTAR_RETURN_IF_ERROR(core::CheckListed("pairs", count, core::kMaxReachabilityPairs));
  if constexpr (!std::is_same_v<Agent, core::ResolvedAgent>) {
    std::size_t positions = 0;
    for (const v1::LocationPair& pair : request.pairs()) {
      positions += (pair.start().has_position() ? 1 : 0) + (pair.goal().has_position() ? 1 : 0);
    }
    WAYSTAR_RETURN_IF_ERROR(core::BeginToPlace(positions, on.budget));
  }
  const auto pair_at = [&](std::size_t i) -> const v1::LocationPair& {
    return request.pairs(static_cast<int>(i));
  };
  WAYSTAR_ASSIGN_OR_RETURN(const auto pairs,
                           core::PairsOf(
                               *on.agent, on.snap, on.budget, count,
                               [&](std::size_t i) { return ToLocation(pair_at(i).start(), on.coordinates); },
                               [&](std::size_t i) { return ToLocation(pair_at(i).goal(), on.coordinates); }));
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<bool> reached, ReachedOf(on, pairs));
  stopwatch.Stamp(on.context, 0, *response.mutable_info()->mutable_statistics());
  response.mutable_reachable()->Add(reached.begin(), reached.end());
  return on.CheckFits(response, "pairs");
}

std::size_t PlacesIn(const v1::Path& path) {
  return static_cast<std::size_t>(path.points_size()) + static_cast<std::size_t>(path.directions_size()) +
         static_cast<std::size_t>(path.nodes_size()) + static_cast<std::size_t>(path.positions_size());
}

template <typename Agent>
absl::Status Answer(const QuestionOn<Agent>& on, const v1::ValidatePathsRequest& request,
                    v1::ValidatePathsResponse& response) {
  constexpr std::size_t kMaxPaths = 1000;
  WAYSTAR_RETURN_IF_ERROR(
      core::CheckListed("paths", static_cast<std::size_t>(request.paths_size()), kMaxPaths));
  std::size_t places = 0;
  for (const v1::Path& path : request.paths()) {
    places += PlacesIn(path);
  }
  if (places > core::kMaxValidatedPoints) {
    return MakeError(ErrorReason::kPathTooLong, "paths",
                     absl::StrCat("the paths must have at most ", core::kMaxValidatedPoints,
                                  " places together, got ", places));
  }
  const WorkStopwatch stopwatch;
  std::uint64_t work = 0;
  for (int i = 0; i < request.paths_size() && !on.context.NeedsLargerLane(); ++i) {
    const absl::Status status = Validate(on, request.paths(i), work, *response.add_results());
    if (!status.ok()) {
      return ErrorFieldOf(status).empty() ? status : WithFieldPrefix(status, absl::StrCat("paths[", i, "]."));
    }
  }
  stopwatch.Stamp(on.context, 0, *response.mutable_info()->mutable_statistics());
  return absl::OkStatus();
}

constexpr std::pair<v1::MoveVerdict, core::MoveVerdict> kMoveVerdicts[] = {
    {v1::MOVE_VERDICT_OK, core::MoveVerdict::kOk},
    {v1::MOVE_VERDICT_TOO_FAST, core::MoveVerdict::kTooFast},
    {v1::MOVE_VERDICT_NOT_REACHABLE, core::MoveVerdict::kNotReachable},
    {v1::MOVE_VERDICT_BLOCKED, core::MoveVerdict::kBlocked}};

// Returns INVALID_ARGUMENT / BAD_VALUE unless the duration is at least 0.
absl::StatusOr<absl::Duration> ToTime(const google::protobuf::Duration& time, absl::string_view field) {
  WAYSTAR_ASSIGN_OR_RETURN(const absl::Duration converted, ToDuration(time, ErrorReason::kBadValue, field));
  return converted >= absl::ZeroDuration()
             ? absl::StatusOr<absl::Duration>(converted)
             : BadNumber(ErrorReason::kBadValue, field, absl::ToDoubleSeconds(converted), "0 s or more");
}

absl::StatusOr<std::vector<core::Move>> ToMoves(const v1::CheckMovesRequest& request,
                                                const HexCoordinates& coordinates) {
  WAYSTAR_ASSIGN_OR_RETURN(const absl::Duration tolerance,
                           ToTime(request.time_tolerance(), "time_tolerance"));
  std::vector<core::Move> moves;
  moves.reserve(static_cast<std::size_t>(request.moves_size()));
  for (const v1::MoveToCheck& move : request.moves()) {
    const absl::StatusOr<absl::Duration> elapsed = ToTime(move.elapsed(), "elapsed");
    const double speed = move.has_speed() ? move.speed() : request.speed();
    const bool is_bad_speed = !(speed > 0.0 && std::isfinite(speed));
    if (!elapsed.ok() || is_bad_speed) {
      const std::string prefix = absl::StrCat(core::IndexedField("moves", moves.size()), ".");
      return !elapsed.ok()
                 ? WithFieldPrefix(elapsed.status(), prefix)
                 : BadNumber(ErrorReason::kBadValue, absl::StrCat(move.has_speed() ? prefix : "", "speed"),
                             speed, "a finite number above 0");
    }
    moves.push_back({.from = ToLocation(move.from(), coordinates),
                     .to = ToLocation(move.to(), coordinates),
                     .time = *elapsed + tolerance,
                     .speed = speed});
  }
  return moves;
}

void FillJudgement(const core::MoveJudgement& judged, double speed, const HexCoordinates& coordinates,
                   v1::MoveJudgement& out) {
  // The longest of a google.protobuf.Duration.
  constexpr absl::Duration kLongest = absl::Seconds(315'576'000'000);
  out.set_verdict(ToWire(kMoveVerdicts, judged.verdict));
  if (judged.least_cost > 0.0) {
    FillDuration(std::min(absl::Seconds(judged.least_cost / speed), kLongest), *out.mutable_least_time());
  }
  if (judged.blocked_at) {
    FillLocation(*judged.blocked_at, coordinates, *out.mutable_blocked_at());
  }
  out.set_obstacle(judged.obstacle == core::GraphEditor::kAreaId ? std::string() : judged.obstacle);
  if (judged.nearest) {
    FillLocation(*judged.nearest, coordinates, *out.mutable_nearest());
  }
  if (judged.judged_back > absl::ZeroDuration()) {
    FillDuration(judged.judged_back, *out.mutable_judged_back());
  }
}

template <typename Agent>
absl::Status Answer(const QuestionOn<Agent>& on, const v1::CheckMovesRequest& request,
                    v1::CheckMovesResponse& response) {
  // Typical costs of a move and of its line, in expansions of a search.
  constexpr std::uint64_t kExpansionsPerMove = 4;
  constexpr double kLineCellsPerExpansion = 32.0;
  const auto count = static_cast<std::size_t>(request.moves_size());
  WAYSTAR_RETURN_IF_ERROR(core::CheckListed("moves", count, core::kMaxMoves));
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<core::Move> moves, ToMoves(request, on.coordinates));
  std::uint64_t work = kExpansionsPerMove * count;
  for (const core::Move& move : moves) {
    if (move.from.cell && move.to.cell) {
      work += static_cast<std::uint64_t>(std::hypot(double(move.to.cell->x) - move.from.cell->x,
                                                    double(move.to.cell->y) - move.from.cell->y) /
                                         kLineCellsPerExpansion);
    }
  }
  if (on.ExceedsLane(work)) {
    return absl::OkStatus();
  }
  if constexpr (!std::is_same_v<Agent, core::ResolvedAgent>) {
    WAYSTAR_RETURN_IF_ERROR(core::BeginToPlace(2 * count, on.budget));
  }
  const WorkStopwatch stopwatch;
  const absl::StatusOr<core::CheckedMoves> checked =
      core::CheckMoves(on.agent, on.snapshot, {.agent = on.asked_agent, .snap = on.snap, .moves = moves},
                       MapsFor(on.store, on.context), on.BudgetHere(), on.context.bench);
  WAYSTAR_RETURN_IF_ERROR(on.OnLane(checked.status()));
  stopwatch.Stamp(on.context, checked->expanded, *response.mutable_info()->mutable_statistics());
  response.mutable_results()->Reserve(request.moves_size());
  for (std::size_t i = 0; i < count; ++i) {
    FillJudgement(checked->judgements[i], moves[i].speed, on.coordinates, *response.add_results());
  }
  return on.CheckFits(response, "moves");
}

template <typename Agent>
absl::Status Answer(const QuestionOn<Agent>& /*on*/, const v1::ProbeSurfaceRequest& /*request*/,
                    v1::ProbeSurfaceResponse& /*response*/) {
  return MakeError(ErrorReason::kWrongMapKind, "map", "only navigation meshes have a surface");
}

// Keeps paths within a region in columns and rows, as the core only supports regions of the plane. Regions
// off the map are rejected later.
void BlockOutside(const core::Rectangle& part, const HexCoordinates& coordinates, core::AgentQuery& agent) {
  const core::HexBoard* const board = coordinates.board();
  if (board != nullptr && !part.empty() && core::Intersect(part, board->bounds()) == part) {
    core::Overlay& overlay = agent.overlay.has_value() ? *agent.overlay : agent.overlay.emplace();
    coordinates.AddOutside(part, overlay.blocked.rectangles);
  }
}

}  // namespace

template <typename Request, typename Response>
absl::Status FieldAnswers::operator()(const Request& request, Response& response,
                                      CallContext& context) const {
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store_.Pin(request.map()));
  WAYSTAR_RETURN_IF_ERROR(TakeView(*snapshot, request.view(), context));
  core::AgentQuery query;
  Question question{.store = store_,
                    .snapshot = *snapshot,
                    .asked_agent = query,
                    .max_bytes = max_bytes_,
                    .context = context,
                    .coordinates = HexCoordinates(*snapshot),
                    .snap = std::nullopt,
                    .budget = core::BudgetOn(*snapshot, context.budget)};
  WAYSTAR_ASSIGN_OR_RETURN(query, ToAgentQuery(request.agent(), request.view(), question.coordinates));
  if constexpr (requires { request.has_max_cost(); }) {
    if (const std::optional<core::Rectangle> region = RegionOf(request)) {
      BlockOutside(*region, question.coordinates, query);
    }
  }
  if constexpr (requires { request.snap(); }) {
    question.snap = ToSnap(request.has_snap(), request.snap());
    WAYSTAR_RETURN_IF_ERROR(core::CheckSnap(question.snap, snapshot->kind()));
  }
  FillInfo(snapshot->version(), context.staleness, 1.0, *response.mutable_info());
  WAYSTAR_ASSIGN_OR_RETURN(
      const core::SharedAgent agent,
      core::ResolveAgent(*snapshot, query, MapsFor(store_, context), context.budget, false));
  return std::visit(
      [&](const auto& of_kind) {
        using Agent = typename std::decay_t<decltype(of_kind)>::element_type;
        return Answer(QuestionOn<Agent>{question, of_kind}, request, response);
      },
      agent);
}

template absl::Status FieldAnswers::operator()(const v1::ComputeCostMatrixRequest&,
                                               v1::ComputeCostMatrixResponse&, CallContext&) const;
template absl::Status FieldAnswers::operator()(const v1::FindReachableRequest&, v1::FindReachableResponse&,
                                               CallContext&) const;
template absl::Status FieldAnswers::operator()(const v1::ComputeFlowFieldRequest&,
                                               v1::ComputeFlowFieldResponse&, CallContext&) const;
template absl::Status FieldAnswers::operator()(const v1::CheckReachabilityRequest&,
                                               v1::CheckReachabilityResponse&, CallContext&) const;
template absl::Status FieldAnswers::operator()(const v1::CheckMovesRequest&, v1::CheckMovesResponse&,
                                               CallContext&) const;
template absl::Status FieldAnswers::operator()(const v1::CastRayRequest&, v1::CastRayResponse&,
                                               CallContext&) const;
template absl::Status FieldAnswers::operator()(const v1::SamplePlacesRequest&, v1::SamplePlacesResponse&,
                                               CallContext&) const;
template absl::Status FieldAnswers::operator()(const v1::ValidatePathsRequest&, v1::ValidatePathsResponse&,
                                               CallContext&) const;
template absl::Status FieldAnswers::operator()(const v1::ExplainPathRequest&, v1::ExplainPathResponse&,
                                               CallContext&) const;
template absl::Status FieldAnswers::operator()(const v1::ProbeSurfaceRequest&, v1::ProbeSurfaceResponse&,
                                               CallContext&) const;

}  // namespace waystar::rpc
