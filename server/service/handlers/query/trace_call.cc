#include "server/service/handlers/query/trace_call.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "server/base/error.h"
#include "server/core/query/resolve.h"
#include "server/core/query/route_query.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_query.h"
#include "server/service/handlers/query/answer_query.h"

namespace waystar::rpc {
namespace {

constexpr std::size_t kDefaultTraceEvents = 100'000;
constexpr std::size_t kEventsPerMessage = 1000;

// Upper bound on the bytes of a result apart from its answer.
constexpr std::size_t kTraceEnvelopeBytes = 32;

}  // namespace

TraceCall::TraceCall(const ServerContext& server, const core::MapStore& store, const TraceLimits& limits,
                     const QueryObserver& observer, grpc::CallbackServerContext& rpc,
                     const grpc::ByteBuffer& request)
    : SendingCall(server, rpc, request, limits.times),
      store_(store),
      observer_(observer),
      max_response_bytes_(limits.max_response_bytes - kTraceEnvelopeBytes),
      deadline_(CallHead(rpc).Deadline()) {}

absl::Status TraceCall::Prepare(int worker) {
  const Executor::Clock::time_point now = Executor::Clock::now();
  WAYSTAR_RETURN_IF_ERROR(CheckGiven(request().has_query(), "query"));
  WAYSTAR_ASSIGN_OR_RETURN(const std::size_t max_events,
                           ToMaxEvents(request().max_events(), kDefaultTraceEvents));
  recorder_.emplace(max_events);
  CallContext context{.bench = executor().bench(worker),
                      .caller = caller(),
                      .budget = {.deadline = deadline_, .cancelled = &cancelled_},
                      .queued = now - arrived_,
                      .begin = now,
                      .head = rpc_};
  v1::TraceSearchResult& result = result_.emplace();
  const absl::Status status = Search(context, *result.mutable_answer());
  NoteQuery(observer_, "waystar.v1.PictureService/TraceSearch", request().query(), result.answer(), status,
            Executor::Clock::now() - now, context);
  result.set_truncated(recorder_->is_truncated());
  return BelowQuery(status);
}

absl::Status TraceCall::Search(CallContext& context, v1::FindPathResponse& answer) {
  const v1::FindPathRequest& asked = request().query();
  WAYSTAR_RETURN_IF_ERROR(CheckNamesMap(asked));
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store_.Pin(asked.map()));
  WAYSTAR_RETURN_IF_ERROR(TakeView(*snapshot, asked.view(), context));
  WAYSTAR_ASSIGN_OR_RETURN(const core::RouteQuery query,
                           ToRouteQuery(asked, snapshot->id, HexCoordinates(*snapshot)));
  WAYSTAR_RETURN_IF_ERROR(core::CheckOneGoal(query));
  WAYSTAR_ASSIGN_OR_RETURN(const core::ResolvedRoute resolved,
                           core::Resolve(*snapshot, query, MapsFor(store_, context), context.budget));
  WAYSTAR_ASSIGN_OR_RETURN(const core::Route route,
                           core::Solve(resolved, context.budget, context.bench, &*recorder_));
  WAYSTAR_RETURN_IF_ERROR(context.missing_map);
  if (route.graph != nullptr) {
    nodes_ = TracedNodes(*route.graph, recorder_->nodes.events());
  }
  if (!recorder_->cells.events().empty()) {
    for (const std::string& map : recorder_->cells.maps()) {
      coordinates_.emplace_back(resolved.grid().agent->BoardOf(map));
    }
  }
  return WriteAnswer(route, *snapshot, max_response_bytes_, request().query(), answer, context);
}

void TraceCall::AddEvent(std::size_t index, v1::TraceSearchResponse& message) const {
  if (!recorder_->intervals.events().empty()) {
    const core::IntervalEvent& event = recorder_->intervals.events()[index];
    AddIntervalEvent(event, recorder_->intervals.intervals()[event.interval], message);
  } else if (!recorder_->nodes.events().empty()) {
    const core::NodeEvent& event = recorder_->nodes.events()[index];
    AddNodeEvent(event, nodes_.Of(event.node), nodes_.Of(event.parent), message);
  } else {
    const core::SearchEvent& event = recorder_->cells.events()[index];
    AddSearchEvent(event, recorder_->cells.maps(), coordinates_[event.map], message);
  }
}

bool TraceCall::FillNext(v1::TraceSearchResponse& message) {
  const std::size_t events = recorder_->event_count();
  if (sent_ < events) {
    const std::size_t end = std::min(sent_ + kEventsPerMessage, events);
    for (; sent_ < end; ++sent_) {
      AddEvent(sent_, message);
    }
    return true;
  }
  if (!result_.has_value()) {
    return false;
  }
  *message.mutable_result() = *std::exchange(result_, std::nullopt);
  return true;
}

TracedNodes::TracedNodes(const core::WaypointGraph& graph, absl::Span<const core::NodeEvent> events) {
  std::vector<core::NodeNumber> numbers;
  numbers.reserve(events.size());
  for (const core::NodeEvent& event : events) {
    numbers.push_back(event.node);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  nodes_.reserve(numbers.size());
  for (const core::NodeNumber number : numbers) {
    nodes_.push_back({.number = number, .id = graph.IdOf(number), .position = graph.PositionOf(number)});
  }
}

const ToldNode& TracedNodes::Of(core::NodeNumber number) const {
  return *std::lower_bound(
      nodes_.begin(), nodes_.end(), number,
      [](const ToldNode& node, core::NodeNumber wanted) { return node.number < wanted; });
}

}  // namespace waystar::rpc
