#include "server/service/handlers/watch/path_watch_scheduler.h"

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
#include "server/core/watch/answer_renewal.h"
#include "server/service/call/call_context.h"
#include "server/service/call/status.h"
#include "server/service/convert/convert.h"
#include "server/service/handlers/query/answer_query.h"

namespace waystar::rpc {
namespace {

// Limits each search after the first.
constexpr std::chrono::seconds kMaxSearchTime{10};

void FillProblem(const absl::Status& status, google::rpc::Status& problem) {
  const grpc::Status written = ToGrpcStatus(status);
  if (!problem.ParseFromString(written.error_details()) || problem.code() == 0) {
    problem.set_code(static_cast<int>(status.code()));
    problem.set_message(std::string(status.message()));
  }
}

absl::Status Deleted() { return MakeError(ErrorReason::kMapNotFound, "query.map", "the map was deleted"); }

}  // namespace

PathWatchScheduler::PathWatchScheduler(const core::MapStore& store, Executor& executor, std::size_t max_bytes,
                                       const QueryObserver& observer)
    : store_(store), executor_(executor), max_bytes_(max_bytes), observer_(observer) {}

PathWatchScheduler::~PathWatchScheduler() = default;

absl::Status PathWatchScheduler::Register(const PathWatchPtr& watch) {
  std::uint64_t epoch = 0;
  {
    WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot latest, store_.Pin(watch->request.map()));
    epoch = latest->epoch;
  }
  MutexLock lock(mutex_);
  if (watch->is_over_) {
    return CancelledError();
  }
  // If the map was deleted meanwhile, there is no further notification; the search then fails.
  Known& known = maps_[epoch];
  if (known.map == nullptr) {
    known.map = std::make_shared<core::MapSubscriptions>();
  }
  ++known.watches;
  watch->epoch_ = epoch;
  watch->map_ = known.map;
  known.map->Add(watch);
  return absl::OkStatus();
}

void PathWatchScheduler::Begin(const PathWatchPtr& watch, int worker) {
  if (const absl::Status status = Register(watch); !status.ok()) {
    watch->End(BelowQuery(status));
    return;
  }
  Search(watch, worker);
}

void PathWatchScheduler::Remove(PathWatch& watch) {
  {
    MutexLock lock(mutex_);
    watch.is_over_ = true;
    if (watch.map_ == nullptr) {
      return;
    }
  }
  watch.map_->Remove(watch);
  MutexLock lock(mutex_);
  const auto it = maps_.find(watch.epoch_);
  if (it != maps_.end() && it->second.map == watch.map_ && --it->second.watches == 0) {
    maps_.erase(it);
  }
}

absl::StatusOr<core::PinnedSnapshot> PathWatchScheduler::Pin(const PathWatch& watch) const {
  absl::StatusOr<core::PinnedSnapshot> latest = store_.Pin(watch.request.map());
  if (!latest.ok()) {
    return BelowQuery(latest.status());
  }
  if ((*latest)->epoch != watch.epoch_) {
    return Deleted();
  }
  return latest;
}

void PathWatchScheduler::Search(const PathWatchPtr& watch, int worker) {
  core::MapSubscriptions& map = *watch->map_;
  if (watch->cancelled.load(std::memory_order_relaxed) || !map.BeginSearch(*watch)) {
    return;
  }
  const absl::StatusOr<core::PinnedSnapshot> snapshot = Pin(*watch);
  if (!snapshot.ok()) {
    map.AbandonSearch(*watch);
    watch->End(snapshot.status());
    return;
  }
  SearchOn(**snapshot, watch, worker);
}

void PathWatchScheduler::SearchOn(const core::MapSnapshot& snapshot, const PathWatchPtr& watch, int worker) {
  const bool is_first = watch->answer() == nullptr;
  const core::PathSubscription::Clock::time_point now = core::PathSubscription::Clock::now();
  const Caller caller = watch->GetCaller();
  CallContext context{
      .bench = executor_.bench(worker),
      .caller = caller,
      .budget = {.deadline = is_first ? watch->deadline : std::min(watch->deadline, now + kMaxSearchTime),
                 .cancelled = &watch->cancelled},
      .queued = now - watch->queued_at(),
      .begin = now};
  core::AnswerRenewal renewal(store_, snapshot, *watch);
  v1::WatchPathResponse message;
  const absl::Status status = RunWithinMemory(context.bench, [&]() -> absl::Status {
    if (is_first) {
      WAYSTAR_RETURN_IF_ERROR(CheckLeastVersion(snapshot.version(), watch->request.view()));
    }
    WAYSTAR_ASSIGN_OR_RETURN(const core::Route route, renewal.Search(context.budget, context.bench));
    return WriteAnswer(route, snapshot, max_bytes_, *message.mutable_answer(), context);
  });
  NoteQuery(observer_, "waystar.v1.PathService/WatchPath", watch->request, message.answer(), status,
            Executor::Clock::now() - now, context);
  if (absl::IsCancelled(status)) {
    watch->map_->AbandonSearch(*watch);
    return;
  }
  if (absl::IsAborted(status)) {
    // The snapshot was evicted.
    if (watch->map_->AbandonSearch(*watch)) {
      EnqueueAgain(watch);
    }
    return;
  }
  if (!status.ok() && is_first) {
    watch->map_->AbandonSearch(*watch);
    watch->End(BelowQuery(status));
    return;
  }
  if (!status.ok()) {
    if (renewal.answer() == nullptr || absl::IsResourceExhausted(status)) {
      renewal.TakeError(status);
    }
    FillProblem(BelowQuery(status), *message.mutable_problem());
  }
  FillVersion(snapshot.version(), *message.mutable_version());
  if (renewal.is_news()) {
    watch->Send(message);
  }
  if (watch->map_->EndSearch(*watch, snapshot, renewal.answer())) {
    EnqueueAgain(watch);
  }
}

void PathWatchScheduler::EnqueueAgain(const PathWatchPtr& watch) {
  const core::PathSubscriptionPtr subscription = watch;
  Enqueue(absl::MakeConstSpan(&subscription, 1));
}

void PathWatchScheduler::Enqueue(absl::Span<const core::PathSubscriptionPtr> watches) {
  std::vector<SearchJob*> to_start;
  {
    MutexLock lock(mutex_);
    queue_.insert(queue_.end(), watches.begin(), watches.end());
    if (jobs_.empty()) {
      const int jobs = std::max(1, executor_.workers(Lane::kLarge) / 2);
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

PathWatchPtr PathWatchScheduler::TakeQueued() {
  MutexLock lock(mutex_);
  if (queue_.empty()) {
    return nullptr;
  }
  // It only contains watches.
  PathWatchPtr watch = std::static_pointer_cast<PathWatch>(std::move(queue_.front()));
  queue_.pop_front();
  return watch;
}

void PathWatchScheduler::RunJob(SearchJob& job, int worker) {
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
  // The job goes to the end of the queue.
  executor_.SubmitOwn(Lane::kLarge, &job);
}

void PathWatchScheduler::OnCommit(const core::PinnedSnapshot& snapshot,
                                  absl::Span<const core::SharedCommit> /*commits*/,
                                  const core::MapChanges& changes) {
  std::shared_ptr<core::MapSubscriptions> map;
  {
    MutexLock lock(mutex_);
    const auto it = maps_.find(snapshot->epoch);
    if (it == maps_.end()) {
      return;
    }
    map = it->second.map;
  }
  const std::vector<core::PathSubscriptionPtr> queued = map->Commit(snapshot, changes);
  if (!queued.empty()) {
    Enqueue(queued);
  }
}

bool PathWatchScheduler::Needs(const core::MapSnapshot& latest) const {
  MutexLock lock(mutex_);
  return maps_.contains(latest.epoch);
}

void PathWatchScheduler::OnDelete(const core::PinnedSnapshot& last) {
  std::shared_ptr<core::MapSubscriptions> map;
  {
    MutexLock lock(mutex_);
    const auto it = maps_.find(last->epoch);
    if (it == maps_.end()) {
      return;
    }
    map = std::move(it->second.map);
    maps_.erase(it);
  }
  for (const core::PathSubscriptionPtr& watch : map->All()) {
    std::static_pointer_cast<PathWatch>(watch)->End(Deleted());
  }
}

}  // namespace waystar::rpc
