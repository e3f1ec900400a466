#include "server/rpc/watch/path_watches.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/rpc/status.pb.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/portal/portal_search.h"
#include "server/core/query/resolve.h"
#include "server/core/query/solve.h"
#include "server/rpc/call/call_context.h"
#include "server/rpc/call/cancelled.h"
#include "server/rpc/call/status.h"
#include "server/rpc/query/answer_query.h"

namespace waystar::rpc {
namespace {

// For one search after the first.
constexpr std::chrono::seconds kMaxSearchTime{10};

// A profile that has a name may be another one by now, and a start snap to another cell.
bool IsSameQuery(const core::PathQuery& a, const core::PathQuery& b) {
  return a.start == b.start && a.goal == b.goal && a.footprint == b.footprint &&
         a.corner_rule == b.corner_rule;
}

// Whether the answer depends on more of the map than its path and where a cheaper one could pass tell of. An
// agent that sees other terrains than the map's does not see what the map's changes are said to be.
bool IsUncertain(const core::RouteQuery& query, const core::GridMap& seen, const core::GridMap& map) {
  const std::optional<core::Overlay>& overlay = query.agent.overlay;
  return query.snap_radius > 0 || (overlay.has_value() && !overlay->ignored_obstacles.empty()) ||
         seen.settings() != map.settings();
}

// A watched path stays on its map.
core::OtherMaps NoOtherMaps(const core::MapStore& store) {
  return {.store = store, .may_visit = [](absl::string_view /*id*/) { return false; }};
}

// Of a query that could not be resolved, as far as it is known.
core::PathQuery UnresolvedQuery(const core::RouteQuery& query) {
  return {.start = query.start.cell.value_or(core::Cell()), .goal = query.goal.cell.value_or(core::Cell())};
}

void FillProblem(const absl::Status& status, google::rpc::Status& problem) {
  const grpc::Status written = ToGrpcStatus(status);
  if (!problem.ParseFromString(written.error_details()) || problem.code() == 0) {
    problem.set_code(static_cast<int>(status.code()));
    problem.set_message(std::string(status.message()));
  }
}

}  // namespace

PathWatches::PathWatches(const core::MapStore& store, Executor& executor, std::size_t max_bytes,
                         const QueryObserver& observer)
    : store_(store), executor_(executor), max_bytes_(max_bytes), observer_(observer) {}

PathWatches::~PathWatches() = default;

absl::Status PathWatches::Register(const PathWatchPtr& watch) {
  MutexLock lock(mutex_);
  if (watch->is_over_) {
    return CancelledError();
  }
  Known& known = maps_[watch->request.map()];
  if (known.map == nullptr) {
    known.map = std::make_shared<WatchedMap>();
  }
  ++known.watches;
  watch->id_ = ++last_id_;
  watch->map_ = known.map;
  known.map->Add(watch);
  return absl::OkStatus();
}

void PathWatches::Begin(const PathWatchPtr& watch, int worker) {
  if (const absl::Status status = Register(watch); !status.ok()) {
    watch->End(status);
    return;
  }
  Search(watch, worker);
}

void PathWatches::Remove(PathWatch& watch) {
  {
    MutexLock lock(mutex_);
    watch.is_over_ = true;
    if (watch.map_ == nullptr) {
      return;
    }
  }
  watch.map_->Remove(watch);
  MutexLock lock(mutex_);
  const auto it = maps_.find(watch.request.map());
  if (it != maps_.end() && it->second.map == watch.map_ && --it->second.watches == 0) {
    maps_.erase(it);
  }
}

void PathWatches::Search(const PathWatchPtr& watch, int worker) {
  WatchedMap& map = *watch->map_;
  if (watch->cancelled.load(std::memory_order_relaxed) || !map.BeginSearch(*watch)) {
    return;
  }
  const absl::StatusOr<core::PinnedSnapshot> snapshot = store_.Pin(watch->request.map());
  absl::Status status = snapshot.status();
  if (status.ok()) {
    status = map.CheckPinned(**snapshot);
  }
  if (!status.ok()) {
    map.AbandonSearch(*watch);
    watch->End(BelowQuery(status));
    return;
  }
  SearchOn(**snapshot, watch, worker);
}

void PathWatches::SearchOn(const core::MapSnapshot& snapshot, const PathWatchPtr& watch, int worker) {
  const std::shared_ptr<const core::WatchedAnswer> last = watch->answer_;
  const Executor::Clock::time_point now = Executor::Clock::now();
  const Caller caller = watch->GetCaller();
  CallContext context{
      .bench = executor_.bench(worker),
      .caller = caller,
      .budget = {.deadline =
                     last == nullptr ? watch->deadline : std::min(watch->deadline, now + kMaxSearchTime),
                 .cancelled = &watch->cancelled},
      .queued = now - watch->queued_at_,
      .begin = now};
  std::shared_ptr<const core::WatchedAnswer> answer;
  bool is_news = true;
  // While the path is in the scratch.
  const auto judge = [&](const core::GridMap& map, const core::PathQuery& query,
                         absl::Span<const std::string> tags, const absl::StatusOr<core::PortalPath>& result) {
    is_news = last == nullptr || !IsSameQuery(last->query(), query) || last->IsOutdatedBy(map, result, tags);
    const bool had_path = last != nullptr && (last->kind() == core::WatchedAnswer::Kind::kPath ||
                                              last->kind() == core::WatchedAnswer::Kind::kPartial);
    answer = had_path && !is_news ? last
                                  : std::make_shared<core::WatchedAnswer>(
                                        map, query, result, IsUncertain(watch->query, map, snapshot.grid()));
  };
  v1::WatchPathResponse message;
  const auto search = [&]() -> absl::Status {
    WAYSTAR_RETURN_IF_ERROR(core::CheckIsGrid(snapshot));
    WAYSTAR_ASSIGN_OR_RETURN(const core::ResolvedRoute resolved,
                             core::Resolve(snapshot, watch->query, NoOtherMaps(store_), context.budget));
    const absl::StatusOr<core::Route> route = core::Solve(resolved, context.budget, context.bench);
    const core::GridRouteQuery& query = resolved.grid();
    judge(query.agent->map(), query.path, query.agent->required_tags(),
          route.ok() ? absl::StatusOr<core::PortalPath>(route->portal_path()) : route.status());
    WAYSTAR_RETURN_IF_ERROR(route.status());
    return WriteAnswer(*route, snapshot, watch->coordinates, max_bytes_, *message.mutable_answer(), context);
  };
  const absl::Status status = search();
  NoteQuery(observer_, "waystar.v1.PathService/WatchPath", watch->request, message.answer(), status,
            Executor::Clock::now() - now, context);
  if (absl::IsCancelled(status)) {
    watch->map_->AbandonSearch(*watch);
    return;
  }
  if (absl::IsAborted(status)) {
    // The snapshot had to go.
    if (watch->map_->AbandonSearch(*watch)) {
      Enqueue(absl::MakeConstSpan(&watch, 1));
    }
    return;
  }
  if (!status.ok() && last == nullptr) {
    watch->map_->AbandonSearch(*watch);
    watch->End(BelowQuery(status));
    return;
  }
  if (!status.ok()) {
    if (answer == nullptr || absl::IsResourceExhausted(status)) {
      // No search was made, or what it found cannot be sent.
      judge(snapshot.grid(), UnresolvedQuery(watch->query), {}, status);
    }
    FillProblem(BelowQuery(status), *message.mutable_problem());
  }
  message.set_revision(snapshot.revision);
  if (is_news) {
    watch->Send(message);
  }
  if (watch->map_->EndSearch(*watch, snapshot, std::move(answer))) {
    Enqueue(absl::MakeConstSpan(&watch, 1));
  }
}

void PathWatches::Enqueue(absl::Span<const PathWatchPtr> watches) {
  std::vector<SearchJob*> to_start;
  {
    MutexLock lock(mutex_);
    queue_.insert(queue_.end(), watches.begin(), watches.end());
    if (jobs_.empty()) {
      const int jobs = std::max(1, executor_.workers() / 2);
      for (int i = 0; i < jobs; ++i) {
        jobs_.push_back(std::make_unique<SearchJob>(*this));
        idle_jobs_.push_back(jobs_.back().get());
      }
    }
    while (to_start.size() < queue_.size() && !idle_jobs_.empty()) {
      to_start.push_back(idle_jobs_.back());
      idle_jobs_.pop_back();
    }
  }
  for (SearchJob* job : to_start) {
    executor_.SubmitOwn(Lane::kLarge, job);
  }
}

PathWatchPtr PathWatches::TakeQueued() {
  MutexLock lock(mutex_);
  if (queue_.empty()) {
    return nullptr;
  }
  PathWatchPtr watch = std::move(queue_.front());
  queue_.pop_front();
  return watch;
}

void PathWatches::RunJob(SearchJob& job, int worker) {
  if (const PathWatchPtr watch = TakeQueued()) {
    Search(watch, worker);
  }
  {
    MutexLock lock(mutex_);
    if (queue_.empty()) {
      idle_jobs_.push_back(&job);
      return;
    }
  }
  // Behind the calls that wait by now.
  executor_.SubmitOwn(Lane::kLarge, &job);
}

void PathWatches::OnCommit(const core::PinnedSnapshot& snapshot,
                           absl::Span<const core::SharedCommit> /*commits*/,
                           const core::MapChanges& changes) {
  std::shared_ptr<WatchedMap> map;
  {
    MutexLock lock(mutex_);
    const auto it = maps_.find(snapshot->id);
    if (it == maps_.end()) {
      return;
    }
    map = it->second.map;
  }
  const std::vector<PathWatchPtr> queued = map->Commit(snapshot, changes);
  if (!queued.empty()) {
    Enqueue(queued);
  }
}

void PathWatches::OnDelete(const core::PinnedSnapshot& last) {
  std::shared_ptr<WatchedMap> map;
  {
    MutexLock lock(mutex_);
    const auto it = maps_.find(last->id);
    if (it == maps_.end() || !it->second.map->Delete(last->revision)) {
      return;
    }
    map = std::move(it->second.map);
    maps_.erase(it);
  }
  const absl::Status status =
      MakeError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "query.map", "the map was deleted");
  for (const PathWatchPtr& watch : map->All()) {
    watch->End(status);
  }
}

}  // namespace waystar::rpc
