#include "server/service/handlers/watch/path_watch.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/status/statusor.h"
#include "server/base/error.h"
#include "server/core/query/route_query.h"
#include "server/service/call/status.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_query.h"
#include "server/service/convert/hex_coordinates.h"
#include "server/service/handlers/query/answer_query.h"

namespace waystar::rpc {
namespace {

constexpr char kMethod[] = "waystar.v1.PathService/FollowAgents";
// Limits each search.
constexpr std::chrono::seconds kMaxSearchTime{10};
// At most so many watches are searched for in one job, so that others have their turns.
constexpr std::size_t kMostTogether = 64;
// Limits a search for several.
constexpr std::chrono::seconds kMaxSharedTime{1};
// A path is compared with at most so many changes since it was right.
constexpr std::uint64_t kMostChanges = 1024;
// Maps that could not be read are looked for again after that time.
constexpr std::chrono::seconds kLookAgainAfter{1};
// One of so many searches is for a watch that can wait.
constexpr std::uint64_t kPatientShare = 8;

absl::Status Deleted() { return MakeError(ErrorReason::kMapNotFound, "map", "the map was deleted"); }

// Returns a query without its start, as bytes.
std::string WithoutStart(const v1::FindPathRequest& request) {
  v1::FindPathRequest shared = request;
  shared.clear_start();
  return shared.SerializeAsString();
}

// Overlays are resolved, versions checked, and other maps visited for each query by itself.
std::uint64_t GroupOf(const v1::FindPathRequest& request) {
  const bool is_alone = request.has_view() || !request.goal_map().empty();
  return is_alone ? 0 : absl::HashOf(WithoutStart(request));
}

// Returns true if one search may answer several queries.
bool MayShare(const core::MapSnapshot& snapshot) {
  if (const core::NavMesh* const mesh = snapshot.as_mesh()) {
    return mesh->portals().empty();
  }
  return snapshot.as_graph() == nullptr && snapshot.grid().portals().empty();
}

// Returns true if no change of the map can help the query.
bool IsMalformed(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsUnimplemented(status) || absl::IsOutOfRange(status) ||
         ErrorReasonOf(status) == ErrorReasonName(ErrorReason::kWrongMapKind);
}

}  // namespace

absl::StatusOr<core::RouteQuery> ToWatchedQuery(const core::MapStore& store,
                                                const v1::FindPathRequest& request) {
  WAYSTAR_RETURN_IF_ERROR(CheckNamesMap(request));
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  WAYSTAR_ASSIGN_OR_RETURN(core::RouteQuery query,
                           ToRouteQuery(request, request.map(), HexCoordinates(*snapshot)));
  WAYSTAR_RETURN_IF_ERROR(core::CheckOneGoal(query));
  WAYSTAR_RETURN_IF_ERROR(core::CheckUnlimited(query));
  return query;
}

PathWatchScheduler::PathWatchScheduler(const core::MapStore& store, Executor& executor, std::size_t max_bytes,
                                       const QueryObserver& observer)
    : store_(store), executor_(executor), max_bytes_(max_bytes), observer_(observer) {}

PathWatchScheduler::~PathWatchScheduler() = default;

void PathWatchScheduler::Begin(const PathWatchPtr& watch) {
  if (Add(watch)) {
    Enqueue({watch});
  }
}

bool PathWatchScheduler::Add(const PathWatchPtr& watch) {
  absl::Status status;
  {
    MutexLock lock(mutex_);
    if (watch->is_over_) {
      return false;
    }
    // Under the lock, so that no watch of the map is searched for on an older snapshot.
    const absl::StatusOr<core::PinnedSnapshot> latest = store_.Pin(watch->request.map());
    if (latest.ok()) {
      // If the map is deleted meanwhile, there is no further notification; the search then fails.
      watch->epoch_ = (*latest)->epoch;
      watch->group_ = GroupOf(watch->request);
      Known& known = maps_[watch->epoch_];
      if (known.map == nullptr) {
        known.map = std::make_shared<core::MapSubscriptions>((*latest)->revision);
      }
      ++known.watches;
      watch->map_ = known.map;
      known.map->Add(watch);
      return true;
    }
    status = latest.status();
  }
  watch->End(status);
  return false;
}

std::shared_ptr<core::MapSubscriptions> PathWatchScheduler::MapOf(const PathWatch& watch) {
  MutexLock lock(mutex_);
  return watch.is_over_ ? nullptr : watch.map_;
}

void PathWatchScheduler::MoveTo(const PathWatchPtr& watch, core::PathSubscription::Move move) {
  const std::shared_ptr<core::MapSubscriptions> map = MapOf(*watch);
  if (map != nullptr && map->MoveTo(*watch, std::move(move))) {
    Enqueue({watch});
  }
}

void PathWatchScheduler::Repeat(const PathWatchPtr& watch) {
  const std::shared_ptr<core::MapSubscriptions> map = MapOf(*watch);
  if (map != nullptr && map->Repeat(*watch)) {
    Enqueue({watch});
  }
}

void PathWatchScheduler::VisitAgain(const PathWatchPtr& watch) {
  const v1::FindPathRequest& request = watch->request;
  if (!request.goal_map().empty() && request.goal_map() != request.map()) {
    Outdate({&watch, 1});
  }
}

std::vector<PathWatchScheduler::Progress> PathWatchScheduler::Judge(absl::Span<const PathWatchPtr> watches,
                                                                    Clock::time_point searched_before) {
  struct Watched {
    std::shared_ptr<core::MapSubscriptions> map;
    std::vector<core::PathSubscriptionPtr> subscriptions;
    std::string id;
  };
  absl::flat_hash_map<std::uint64_t, Watched> maps;
  std::vector<PathWatchPtr> missing;
  const Clock::time_point now = Clock::now();
  {
    MutexLock lock(mutex_);
    for (const PathWatchPtr& watch : watches) {
      if (watch->map_ != nullptr && !watch->is_over_) {
        if (watch->look_again_ <= now) {
          watch->look_again_ = Clock::time_point::max();
          missing.push_back(watch);
        }
        Watched& watched = maps[watch->epoch_];
        if (watched.map == nullptr) {
          watched.map = watch->map_;
          watched.id = watch->request.map();
        }
        watched.subscriptions.push_back(watch);
      }
    }
  }
  Outdate(missing);
  std::vector<Progress> progress;
  for (auto& [epoch, watched] : maps) {
    Enqueue(watched.map->QueueCheaper(watched.subscriptions, searched_before), false);
    const core::MapSubscriptions::Standing standing = watched.map->StandingOf(watched.subscriptions);
    if (standing.right > 0) {
      progress.push_back({.map = std::move(watched.id), .epoch = epoch, .standing = standing});
    }
  }
  return progress;
}

std::shared_ptr<core::MapSubscriptions> PathWatchScheduler::SubscriptionsOf(std::uint64_t epoch) const {
  MutexLock lock(mutex_);
  const auto it = maps_.find(epoch);
  return it == maps_.end() ? nullptr : it->second.map;
}

void PathWatchScheduler::Remove(PathWatch& watch) {
  {
    MutexLock lock(mutex_);
    watch.is_over_ = true;
    Unqueue(watch);
    ForgetVisits(watch);
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

void PathWatchScheduler::Search(const PathWatchPtr& watch, int worker) {
  core::MapSubscriptions& map = *watch->map_;
  if (watch->cancelled.load(std::memory_order_relaxed) || !map.BeginSearch(*watch)) {
    return;
  }
  const auto end = [&](const absl::Status& why) {
    map.AbandonSearch(*watch);
    watch->End(why);
  };
  const absl::StatusOr<core::PinnedSnapshot> pinned = store_.Pin(watch->request.map());
  if (!pinned.ok()) {
    end(pinned.status());
    return;
  }
  const core::MapSnapshot& snapshot = **pinned;
  if (snapshot.epoch != watch->epoch_) {
    end(Deleted());
    return;
  }
  const core::PathSubscription::Clock::time_point now = core::PathSubscription::Clock::now();
  const Caller caller = watch->GetCaller();
  CallContext context{.bench = executor_.bench(worker),
                      .caller = caller,
                      .budget = {.deadline = now + kMaxSearchTime, .cancelled = &watch->cancelled},
                      .begin = now};
  if (watch->held && Adopt(watch, snapshot, context)) {
    return;
  }
  core::AnswerRenewal renewal(MapsFor(store_, context), snapshot, *watch);
  v1::AgentState state;
  const absl::Status status = RunWithinMemory(context.bench, [&]() -> absl::Status {
    WAYSTAR_RETURN_IF_ERROR(CheckLeastVersion(snapshot.version(), watch->request.view()));
    const absl::StatusOr<core::Route> route = renewal.Search(context.budget, context.bench);
    WAYSTAR_RETURN_IF_ERROR(context.missing_map);
    WAYSTAR_RETURN_IF_ERROR(route.status());
    return WriteAnswer(*route, snapshot, max_bytes_, watch->request, *state.mutable_answer(), context);
  });
  NoteQuery(observer_, kMethod, watch->request, state.answer(), status, Executor::Clock::now() - now,
            context);
  // The snapshot of an aborted search was evicted.
  if (absl::IsCancelled(status) || absl::IsAborted(status)) {
    if (map.AbandonSearch(*watch) && absl::IsAborted(status)) {
      Enqueue({watch});
    }
    return;
  }
  if (watch->answer() == nullptr && IsMalformed(status)) {
    end(status);
    return;
  }
  NoteVisits(watch, renewal.visits());
  EndSearch(watch, snapshot, renewal, std::move(state), status);
  // A map may have changed before its changes were listened to.
  if (std::ranges::any_of(renewal.visits(), [this](const core::AnswerRenewal::Visit& visit) {
        return core::AnswerRenewal::VersionOf(store_, visit.map) != visit.version;
      })) {
    Outdate({&watch, 1});
  }
}

bool PathWatchScheduler::Adopt(const PathWatchPtr& watch, const core::MapSnapshot& snapshot,
                               CallContext& context) {
  const core::MapVersion right = watch->held->version;
  if (right.epoch == snapshot.epoch && right.revision > snapshot.revision) {
    // The query's view has it wait for that revision.
    return false;
  }
  const core::HeldPath held = *std::exchange(watch->held, std::nullopt);
  core::AnswerRenewal renewal(MapsFor(store_, context), snapshot, *watch);
  bool is_adopted = false;
  std::uint64_t cheaper_from = 0;
  const absl::Status status = RunWithinMemory(context.bench, [&]() -> absl::Status {
    WAYSTAR_ASSIGN_OR_RETURN(is_adopted, renewal.Adopt(held, context.budget));
    if (is_adopted && right.revision < snapshot.revision &&
        !IsStillRight(right.revision, snapshot, *renewal.answer())) {
      cheaper_from = right.revision + 1;
    }
    return absl::OkStatus();
  });
  if (!status.ok() || !is_adopted || right.epoch != snapshot.epoch) {
    return false;
  }
  v1::AgentState state;
  state.mutable_held();
  FillVersion(snapshot.version(), *state.mutable_version());
  watch->Send(std::move(state), renewal.answer()->bytes());
  if (watch->map_->EndSearch(*watch, snapshot, renewal.answer(), cheaper_from)) {
    Enqueue({watch});
  }
  return true;
}

bool PathWatchScheduler::IsStillRight(std::uint64_t revision, const core::MapSnapshot& snapshot,
                                      const core::KeptAnswer& answer) const {
  const std::uint64_t changes = snapshot.revision - revision;
  if (changes > kMostChanges) {
    return false;
  }
  const absl::StatusOr<core::History> history = store_.ReadHistory(snapshot.id, revision + 1, changes);
  return history.ok() && history->epoch == snapshot.epoch && history->commits.size() == changes &&
         answer.EffectOf(core::ChangesOf(history->commits, snapshot), snapshot) == core::ChangeEffect::kNone;
}

void PathWatchScheduler::SearchTogether(const std::vector<PathWatchPtr>& watches, int worker) {
  const PathWatch& first = *watches.front();
  core::MapSubscriptions& map = *first.map_;
  const std::string shared = WithoutStart(first.request);
  std::vector<PathWatchPtr> begun;
  for (const PathWatchPtr& watch : watches) {
    if (watch->held || watch->map_ != first.map_ || WithoutStart(watch->request) != shared) {
      Search(watch, worker);
    } else if (map.BeginSearch(*watch)) {
      begun.push_back(watch);
    }
  }
  const absl::StatusOr<core::PinnedSnapshot> pinned = store_.Pin(first.request.map());
  std::vector<std::optional<v1::AgentState>> states(begun.size());
  std::deque<core::AnswerRenewal> renewals;
  // Why not all were searched for together.
  absl::Status status = absl::UnavailableError("");
  if (!begun.empty() && pinned.ok() && (*pinned)->epoch == first.epoch_ && MayShare(**pinned)) {
    const core::MapSnapshot& snapshot = **pinned;
    auto begin = core::PathSubscription::Clock::now();
    const Caller caller = begun.front()->GetCaller();
    CallContext context{
        .bench = executor_.bench(worker),
        .caller = caller,
        .budget = {.deadline = begin + kMaxSharedTime, .cancelled = &begun.front()->cancelled},
        .begin = begin};
    std::vector<core::AnswerRenewal*> to_search;
    to_search.reserve(begun.size());
    for (const PathWatchPtr& watch : begun) {
      to_search.push_back(&renewals.emplace_back(MapsFor(store_, context), snapshot, *watch));
    }
    const auto take = [&](std::size_t i, const absl::StatusOr<core::Route>& route) {
      v1::AgentState state;
      if (route.ok() &&
          WriteAnswer(*route, snapshot, max_bytes_, begun[i]->request, *state.mutable_answer(), context)
              .ok()) {
        const auto now = core::PathSubscription::Clock::now();
        NoteQuery(observer_, kMethod, begun[i]->request, state.answer(), absl::OkStatus(), now - begin,
                  context);
        begin = now;
        states[i] = std::move(state);
      }
      return absl::OkStatus();
    };
    status = RunWithinMemory(context.bench, [&] {
      return core::AnswerRenewal::SearchAll(to_search, context.budget, context.bench, take);
    });
  }
  for (std::size_t i = 0; i < begun.size(); ++i) {
    if (states[i]) {
      EndSearch(begun[i], **pinned, renewals[i], *std::move(states[i]), absl::OkStatus());
    } else if (map.AbandonSearch(*begun[i])) {
      if (status.ok()) {
        // An error of its own.
        Search(begun[i], worker);
        continue;
      }
      if (!absl::IsCancelled(status)) {
        // It shares no search from now on.
        begun[i]->group_ = 0;
      }
      Enqueue({begun[i]});
    }
  }
}

void PathWatchScheduler::EndSearch(const PathWatchPtr& watch, const core::MapSnapshot& snapshot,
                                   core::AnswerRenewal& renewal, v1::AgentState state,
                                   const absl::Status& status) {
  if (!status.ok()) {
    const bool is_loading = !core::LoadingMapOf(status).empty();
    if (renewal.answer() == nullptr || absl::IsResourceExhausted(status) || is_loading) {
      renewal.TakeError(status);
    }
    *state.mutable_problem() = ToStatusMessage(status);
  }
  FillVersion(snapshot.version(), *state.mutable_version());
  if (renewal.is_news()) {
    watch->Send(std::move(state), renewal.answer()->bytes());
  }
  if (watch->map_->EndSearch(*watch, snapshot, renewal.answer())) {
    Enqueue({watch});
  }
}

void PathWatchScheduler::Enqueue(std::vector<core::PathSubscriptionPtr> watches, bool is_urgent) {
  // All subscriptions are watches.
  std::ranges::stable_sort(watches, {}, [](const core::PathSubscriptionPtr& watch) {
    return static_cast<const PathWatch&>(*watch).group_.load();
  });
  std::vector<SearchJob*> to_start;
  {
    MutexLock lock(mutex_);
    std::list<PathWatchPtr>& queue = is_urgent ? urgent_ : patient_;
    for (const core::PathSubscriptionPtr& subscription : watches) {
      const auto watch = std::static_pointer_cast<PathWatch>(subscription);
      if (watch->is_over_ || watch->queue_ == &urgent_) {
        continue;
      }
      Unqueue(*watch);
      watch->queue_ = &queue;
      watch->place_ = queue.insert(queue.end(), watch);
    }
    if (jobs_.empty()) {
      const int jobs = std::max(1, executor_.workers(Lane::kLarge) / 2);
      for (int i = 0; i < jobs; ++i) {
        jobs_.push_back(std::make_unique<SearchJob>(*this));
        idle_jobs_.push_back(jobs_.back().get());
      }
    }
    while (to_start.size() < urgent_.size() + patient_.size() && !idle_jobs_.empty()) {
      to_start.push_back(idle_jobs_.back());
      idle_jobs_.pop_back();
    }
  }
  for (SearchJob* job : to_start) {
    executor_.SubmitOwn(Lane::kLarge, job);
  }
}

void PathWatchScheduler::Unqueue(PathWatch& watch) {
  if (watch.queue_ != nullptr) {
    std::exchange(watch.queue_, nullptr)->erase(watch.place_);
  }
}

std::vector<PathWatchPtr> PathWatchScheduler::TakeNext() {
  const bool is_for_patient = urgent_.empty() || (++taken_ % kPatientShare == 0 && !patient_.empty());
  const std::list<PathWatchPtr>& queue = is_for_patient ? patient_ : urgent_;
  std::vector<PathWatchPtr> next;
  while (!queue.empty() && next.size() < kMostTogether &&
         (next.empty() || (next.front()->group_ != 0 && queue.front()->group_ == next.front()->group_))) {
    next.push_back(queue.front());
    Unqueue(*next.back());
  }
  return next;
}

void PathWatchScheduler::RunJob(SearchJob& job, int worker) {
  std::vector<PathWatchPtr> next;
  {
    MutexLock lock(mutex_);
    next = TakeNext();
  }
  if (next.size() == 1) {
    Search(next.front(), worker);
  } else if (!next.empty()) {
    SearchTogether(next, worker);
  }
  {
    MutexLock lock(mutex_);
    if (urgent_.empty() && patient_.empty()) {
      idle_jobs_.push_back(&job);
      return;
    }
  }
  // The job goes to the end of the queue.
  executor_.SubmitOwn(Lane::kLarge, &job);
}

void PathWatchScheduler::NoteVisits(const PathWatchPtr& watch,
                                    absl::Span<const core::AnswerRenewal::Visit> visits) {
  MutexLock lock(mutex_);
  ForgetVisits(*watch);
  watch->look_again_ = Clock::time_point::max();
  for (const core::AnswerRenewal::Visit& visit : visits) {
    if (!visit.version) {
      watch->look_again_ = Clock::now() + kLookAgainAfter;
    }
    if (!watch->is_over_ && visitors_[visit.map].emplace(watch.get(), watch).second) {
      watch->visited_.push_back(visit.map);
    }
  }
}

void PathWatchScheduler::ForgetVisits(PathWatch& watch) {
  for (const std::string& map : watch.visited_) {
    const auto visitors = visitors_.find(map);
    visitors->second.erase(&watch);
    if (visitors->second.empty()) {
      visitors_.erase(visitors);
    }
  }
  watch.visited_.clear();
}

void PathWatchScheduler::Outdate(absl::Span<const PathWatchPtr> watches) {
  std::vector<core::PathSubscriptionPtr> queued;
  for (const PathWatchPtr& watch : watches) {
    const std::shared_ptr<core::MapSubscriptions> map = MapOf(*watch);
    if (map != nullptr && map->Outdate(*watch)) {
      queued.push_back(watch);
    }
  }
  if (!queued.empty()) {
    Enqueue(std::move(queued));
  }
}

void PathWatchScheduler::OutdateVisitorsOf(absl::string_view map) {
  std::vector<PathWatchPtr> watches;
  {
    MutexLock lock(mutex_);
    if (const auto visitors = visitors_.find(map); visitors != visitors_.end()) {
      for (const auto& [pointer, watch] : visitors->second) {
        watches.push_back(watch);
      }
    }
  }
  Outdate(watches);
}

void PathWatchScheduler::OnCommit(const core::PinnedSnapshot& snapshot,
                                  absl::Span<const core::CommitPtr> /*commits*/,
                                  const core::MapChanges& changes) {
  OutdateVisitorsOf(snapshot->id);
  const std::shared_ptr<core::MapSubscriptions> map = SubscriptionsOf(snapshot->epoch);
  if (map == nullptr) {
    return;
  }
  std::vector<core::PathSubscriptionPtr> queued = map->Commit(snapshot, changes);
  if (!queued.empty()) {
    Enqueue(std::move(queued));
  }
}

bool PathWatchScheduler::Needs(const core::MapSnapshot& latest) const {
  MutexLock lock(mutex_);
  return maps_.contains(latest.epoch) || visitors_.contains(latest.id);
}

void PathWatchScheduler::OnDelete(const core::PinnedSnapshot& last) {
  OutdateVisitorsOf(last->id);
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
