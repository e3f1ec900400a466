// Composition of a map's queued batches into one snapshot.

#include "server/core/store/map_record.h"

#include <algorithm>
#include <new>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/edit/edit_digest.h"
#include "server/core/edit/edit_work.h"

namespace waystar::core {
namespace {

// Retry delay of a refused batch: the queue drains a little in it, and it is but a frame or two of a game.
constexpr absl::Duration kRetryDelay = absl::Milliseconds(50);

void MeasureIfDue(StoreContext& context) {
  const std::int64_t now = absl::ToUnixNanos(context.options.clock->Now());
  const std::int64_t interval = absl::ToInt64Nanoseconds(context.options.maps_memory_check_interval);
  std::int64_t due = context.next_measurement.load(std::memory_order_relaxed);
  // One thread measures; the others skip it.
  if (now >= due && context.next_measurement.compare_exchange_strong(due, now + interval)) {
    context.memory->Measure();
  }
}

absl::Status Busy(absl::string_view id) {
  return Refusal(ErrorReason::kUpdatesBusy, kRetryDelay,
                 absl::StrCat("as many batches wait for map \"", id, "\" as the server lets wait"));
}

}  // namespace

absl::Status NoSuchMap(absl::string_view id) {
  return MakeError(ErrorReason::kMapNotFound, "map", absl::StrCat("there is no map \"", id, "\""));
}

MapRecord::MapRecord(StoreContext& context, StoredMap first)
    : context_(context),
      id_(first.snapshot->id),
      queue_(context.options.max_waiting_batches, context.options.max_waiting_bytes),
      log_(first.snapshot->revision + 1, context.options.max_history_commits,
           context.options.max_history_bytes),
      applied_(context.options.request_ids),
      composed_(std::move(first.snapshot)),
      published_(composed_),
      in_flight_(context.options.max_waiting_batches, context.options.max_waiting_bytes) {
  applied_.Restore(std::move(first.requests), first.request_horizon);
  request_bytes_.store(applied_.bytes(), std::memory_order_relaxed);
  lifetimes_.Begin(composed_->obstacles());
  NoteNextExpiry(false);
}

void MapRecord::Update(UpdateBatch batch, UpdateDone done) {
  WaitingBatch waiting;
  waiting.bytes = sizeof(WaitingBatch) + ApproximateBytes(batch.edits);
  if (!batch.request_id.empty()) {
    waiting.fingerprint = FingerprintOf(batch.edits, batch.expected.revision);
  }
  waiting.batch = std::move(batch);
  waiting.done = std::move(done);
  UpdateQueue::Place place = UpdateQueue::Place::kBusy;
  try {
    waiting.is_large = IsLarge(waiting.batch);
    place = queue_.Push(waiting);
  } catch (const std::bad_alloc&) {
    std::move(waiting.done)(context_.system_memory_full);
    return;
  }
  switch (place) {
    case UpdateQueue::Place::kLead:
      RunCommitLoop(Takes::kSmall);
      break;
    case UpdateQueue::Place::kWait:
      if (context_.log != nullptr && in_flight_.Unpark(queue_.size())) {
        RunCommitLoop(Takes::kSmall);
      }
      break;
    case UpdateQueue::Place::kBusy:
      std::move(waiting.done)(Busy(id_));
      break;
    case UpdateQueue::Place::kClosed:
      std::move(waiting.done)(Gone());
      break;
  }
}

bool MapRecord::IsLarge(const UpdateBatch& batch) const {
  const PinnedSnapshot latest = PinLatest();
  return latest != nullptr && EstimateWork(batch.edits, latest->map) > context_.options.large_work;
}

void MapRecord::ExpireDue(absl::Time now) {
  while (NextExpiry() <= now) {
    WaitingBatch removal;
    removal.due = now;
    if (queue_.Push(removal) != UpdateQueue::Place::kLead) {
      return;
    }
    RunCommitLoop(Takes::kAny);
  }
}

bool MapRecord::DeferLoop() {
  const Defer& defer = context_.options.defer;
  if (!defer) {
    return false;
  }
  const UpdateQueue::Front front = queue_.front();
  const Takes takes = front.is_large ? Takes::kLarge : Takes::kSmall;
  try {
    return defer({.is_large = front.is_large, .client = front.client},
                 [self = shared_from_this(), takes] { self->RunCommitLoop(takes); });
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void MapRecord::RunCommitLoop(Takes takes) noexcept {
  int folds = 0;
  do {
    const Takes other = queue_.front().is_large ? Takes::kSmall : Takes::kLarge;
    if (folds == context_.options.max_folds_in_a_row || takes == other) {
      if (DeferLoop()) {
        return;
      }
      takes = Takes::kAny;
      folds = 0;
    }
    ++folds;
    std::optional<ComposedGroup> group = CommitGroup(takes != Takes::kSmall);
    if (!group) {
      return;
    }
    for (UpdateAnswer& answer : group->answers) {
      std::move(answer.done)(std::move(answer.result));
    }
    Conclude(*std::move(group));
    MeasureIfDue(context_);
  } while (!queue_.Yield());
}

void MapRecord::Conclude(ComposedGroup group) {
  if (group.expiry_to_tell && context_.on_earlier_expiry) {
    context_.on_earlier_expiry(*group.expiry_to_tell);
  }
  if (group.replaced != nullptr) {
    group.replaced.reset();
    const absl::Time now = context_.options.clock->Now();
    if (context_.old_snapshots.EvictIfDue(now, context_.latest_of)) {
      context_.recent_snapshots.Drop(now);
    }
  }
}

std::optional<ComposedGroup> MapRecord::CommitGroup(bool takes_large) {
  MutexLock committing(committing_);
  ComposedGroup group;
  if (composed_ == nullptr) {
    return group;
  }
  if (context_.log != nullptr && in_flight_.Park(queue_.size())) {
    return std::nullopt;
  }
  try {
    Compose(takes_large, group);
  } catch (const std::bad_alloc&) {
    GiveUp(group);
  }
  if (context_.log == nullptr) {
    if (group.next != nullptr) {
      Publish(group);
    }
    return group;
  }
  std::vector<LoggedCommit> logged = std::move(group.logged);
  if (!in_flight_.Add(group)) {
    return group;
  }
  context_.log->AppendCommits(
      id_, composed_->epoch, std::move(logged),
      [self = shared_from_this()](const AppendOutcome& outcome) { self->OnLogged(outcome); });
  return ComposedGroup();
}

PinnedSnapshot MapRecord::ReplacePublished(PinnedSnapshot snapshot) {
  MutexLock lock(context_.readers);
  published_.swap(snapshot);
  return snapshot;
}

void MapRecord::Publish(ComposedGroup& group) {
  const PinnedSnapshot& next = group.next;
  if (group.commits.empty()) {
    log_.BeginAgain(next->revision + 1);
  } else if (context_.log != nullptr) {
    log_.Append(group.commits);
  }
  // Added before it is replaced, so that no question misses it.
  context_.recent_snapshots.Add(PinLatest(), context_.options.clock->Now());
  group.replaced = ReplacePublished(next);
  const PinnedSnapshot& replaced = group.replaced;
  // Only existing holders still pin the replaced snapshot from here on.
  if (replaced.use_count() > 1) {
    context_.old_snapshots.Add(
        replaced, group.commits.empty() ? context_.options.clock->Now() : group.commits.back()->time);
  }
  for (StoreListener* const listener : context_.listeners) {
    listener->OnCommit(next, group.commits, group.changes);
  }
}

absl::Time MapRecord::NextExpiry() const {
  const std::int64_t nanos = next_expiry_nanos_.load(std::memory_order_acquire);
  return nanos == std::numeric_limits<std::int64_t>::max() ? absl::InfiniteFuture()
                                                           : absl::FromUnixNanos(nanos);
}

absl::StatusOr<History> MapRecord::ReadHistory(std::uint64_t from, std::size_t max) const {
  History history = log_.ReadFrom(from, max);
  // Commits enter the history shortly before they are published.
  const PinnedSnapshot latest = PinLatest();
  if (latest == nullptr) {
    return Gone();
  }
  history.epoch = latest->epoch;
  history.latest_revision = std::min(history.latest_revision, latest->revision);
  while (!history.commits.empty() && history.commits.back()->revision > latest->revision) {
    history.commits.pop_back();
  }
  if (from == latest->revision + 1 && history.kind == History::Kind::kGone) {
    // A gap in the history precedes the publication that caused it.
    history.kind = History::Kind::kHeld;
  }
  return history;
}

PinnedSnapshot MapRecord::PinLatest() const {
  MutexLock lock(context_.readers);
  return Latest();
}

absl::Status MapRecord::Gone() const {
  return is_unloaded_.load(std::memory_order_acquire) ? MapLoading(id_) : NoSuchMap(id_);
}

PinnedSnapshot MapRecord::Unload(MapVersion stored, absl::FunctionRef<void()> change_table) {
  MutexLock committing(committing_);
  if (composed_ == nullptr || composed_->version() != stored || composed_ != PinLatest() ||
      NextExpiry() != absl::InfiniteFuture() || !in_flight_.IsIdle()) {
    return nullptr;
  }
  is_unloaded_.store(true, std::memory_order_release);
  if (!queue_.CloseIfIdle()) {
    is_unloaded_.store(false, std::memory_order_release);
    return nullptr;
  }
  change_table();
  composed_ = nullptr;
  return ReplacePublished(nullptr);
}

void MapRecord::ForgetMostRequests() {
  MutexLock committing(committing_);
  applied_.ForgetMost();
  request_bytes_.store(applied_.bytes(), std::memory_order_relaxed);
}

void MapRecord::AddTo(MemoryUse& use) const {
  if (PinnedSnapshot latest = PinLatest(); latest != nullptr) {
    // Measures the newest in-flight snapshot; it shares unchanged memory with the published one.
    if (PinnedSnapshot newest = in_flight_.Newest(); newest != nullptr) {
      latest = std::move(newest);
    }
    latest->AddTo(use);
    use.maps += lifetime_bytes_.load(std::memory_order_relaxed);
    use.requests += request_bytes_.load(std::memory_order_relaxed);
    use.history += log_.bytes() + in_flight_.bytes();
  }
}

void MapRecord::Drop(MemoryDrop what) {
  if (what == MemoryDrop::kHistory) {
    log_.ForgetMost();
  }
  if (const PinnedSnapshot latest = PinLatest()) {
    const bool used_too = what != MemoryDrop::kUnusedViews;
    if (latest->as_grid() != nullptr) {
      latest->grid().DropViews(used_too);
    } else if (latest->as_mesh() != nullptr) {
      latest->mesh().DropViews(used_too);
    }
  }
}

StoredMap MapRecord::Store() const {
  MutexLock committing(committing_);
  StoredMap stored{.snapshot = PinLatest(), .request_horizon = applied_.horizon()};
  if (stored.snapshot != nullptr) {
    stored.requests = applied_.UpTo(stored.snapshot->revision);
  }
  return stored;
}

absl::StatusOr<PinnedSnapshot> MapRecord::FindCreated(const CreationRequest& request, absl::Time now) const {
  MutexLock committing(committing_);
  const absl::StatusOr<std::optional<UpdateResult>> found =
      applied_.Find(request.request_id, request.fingerprint, std::nullopt, now);
  if (found.ok()) {
    return found->has_value() ? PinLatest() : nullptr;
  }
  // REQUEST_ID_EXPIRED: the creation may have been forgotten.
  return absl::IsInvalidArgument(found.status()) ? absl::StatusOr<PinnedSnapshot>(found.status()) : nullptr;
}

bool MapRecord::BuildInBackground(CancelFlag cancelled) {
  const PinnedSnapshot snapshot = PinLatest();
  if (snapshot == nullptr || snapshot->as_grid() == nullptr ||
      !snapshot->grid().BuildInBackground(cancelled)) {
    return false;
  }
  // Commits may have come in meanwhile. Catch up without the writers' lock first, so that little remains to
  // do under it.
  const PinnedSnapshot newer = PinLatest();
  if (newer == nullptr) {
    return true;
  }
  newer->grid().FollowCloser(snapshot->grid());
  MutexLock committing(committing_);
  if (composed_ != nullptr) {
    composed_->grid().FollowCloser(newer->grid());
  }
  return true;
}

void MapRecord::PutStaticIndex(const MapSnapshot& of, const std::shared_ptr<const StaticIndex>& index) {
  const auto put = [&](const PinnedSnapshot& snapshot) {
    if (snapshot != nullptr && snapshot->epoch == of.epoch && snapshot->grid().HasUniformCost() &&
        snapshot->grid().min_straight() == of.grid().min_straight()) {
      snapshot->grid().static_index().Put(index, snapshot->grid().walkable());
    }
  };
  put(PinLatest());
  MutexLock committing(committing_);
  put(composed_);
}

MapRecord::Ended MapRecord::End(const ExpectedVersion& expected, AppendEnd append, ChangeTable change_table) {
  Ended ended;
  {
    MutexLock ending(ending_);
    if (context_.log != nullptr) {
      ended = EndByLog(expected, append, change_table);
    } else {
      MutexLock committing(committing_);
      if (composed_ != nullptr) {
        ended.status = CheckVersion(id_, composed_->version(), expected);
        if (ended.status.ok()) {
          EndLocked(ended, change_table);
        }
      }
    }
  }
  AnswerWaiting(ended);
  return ended;
}

void MapRecord::AnswerWaiting(Ended& ended) {
  std::vector<UpdateAnswer> answers;
  for (WaitingBatch& batch : ended.waiting) {
    if (batch.done) {
      answers.push_back({.done = std::move(batch.done), .result = NoSuchMap(id_)});
    }
  }
  ended.waiting.clear();
  in_flight_.Join(answers);
  for (UpdateAnswer& answer : answers) {
    std::move(answer.done)(std::move(answer.result));
  }
}

void MapRecord::EndLocked(Ended& ended, ChangeTable change_table) {
  ended.last = std::exchange(composed_, nullptr);
  ended.waiting = queue_.Close();
  next_expiry_nanos_.store(std::numeric_limits<std::int64_t>::max(), std::memory_order_release);
  change_table([&] {
    for (StoreListener* const listener : context_.listeners) {
      listener->OnDelete(ended.last);
    }
  });
}

void MapRecord::HoldCommits(absl::FunctionRef<void()> body) {
  MutexLock committing(committing_);
  body();
}

namespace {

constexpr std::size_t kMaxRemovalsInBatch = 1000;

bool AddsToMap(const Edit& edit) {
  return AsPutObstacle(edit) != nullptr || std::holds_alternative<PutPortal>(edit) ||
         std::holds_alternative<PutMeshPortal>(edit) || std::holds_alternative<PutProfile>(edit) ||
         std::holds_alternative<PutMeshProfile>(edit) || std::holds_alternative<PutGround>(edit) ||
         std::holds_alternative<PutNodes>(edit) || std::holds_alternative<PutEdges>(edit);
}

}  // namespace

void MapRecord::Compose(bool takes_large, ComposedGroup& group) {
  const StoreOptions& options = context_.options;
  std::optional<MapEditor> editor;
  bool was_due = false;
  std::size_t edits = 0;
  const bool keeps_batches = IsShared();
  absl::Time now = options.clock->Now();
  const absl::Time end = now + options.max_fold_time;
  while (group.batches < options.max_fold_batches && edits < options.max_fold_edits && now <= end) {
    // Added before the batch leaves the queue, so that the batch is answered even if memory runs out.
    UpdateAnswer& answer =
        group.answers.emplace_back(UpdateAnswer{.done = nullptr, .result = context_.system_memory_full});
    std::optional<WaitingBatch> waiting = queue_.Pop(takes_large);
    if (!waiting) {
      group.answers.pop_back();
      break;
    }
    answer.done = std::move(waiting->done);
    ++group.batches;
    group.bytes += waiting->bytes;
    edits += waiting->batch.edits.size();
    was_due = was_due || waiting->due.has_value();
    if (is_torn_) {
      Mend();
    }
    const std::size_t applied = group.commits.size();
    // Times never go back, even if another server with a clock ahead made the last commit.
    answer.result = Apply(*waiting, std::max(now, composed_->latest_commit_time), editor, group);
    if (!answer.done) {
      group.answers.pop_back();
    } else if (keeps_batches) {
      answer.kept = std::make_unique<KeptBatch>(
          KeptBatch{.batch = *std::move(waiting),
                    .commit = group.commits.size() > applied ? group.commits.back() : nullptr});
    }
    now = options.clock->Now();
  }
  if (!group.commits.empty()) {
    MapEditor::Result edited = std::move(*editor).Finish();
    group.next = std::make_shared<const MapSnapshot>(std::move(edited.snapshot));
    group.changes = std::move(edited.changes);
    if (context_.log == nullptr) {
      log_.Append(group.commits);
    }
    composed_ = group.next;
  }
  if (NoteNextExpiry(was_due)) {
    group.expiry_to_tell = NextExpiry();
  }
}

void MapRecord::GiveUp(ComposedGroup& group) {
  group.next = nullptr;
  group.commits.clear();
  group.logged.clear();
  std::erase_if(group.answers, [](const UpdateAnswer& answer) { return !answer.done; });
  for (UpdateAnswer& answer : group.answers) {
    answer.result = context_.system_memory_full;
    answer.kept.reset();
  }
  is_torn_ = true;
  if (NextExpiry() != absl::InfiniteFuture()) {
    // Expired obstacles may still need removal.
    SetNextExpiry(std::max(NextExpiry(), context_.options.clock->Now() + kRetryDelayOfRemovals));
    group.expiry_to_tell = NextExpiry();
  }
}

void MapRecord::Mend() {
  applied_.TakeBackAfter(composed_->revision);
  request_bytes_.store(applied_.bytes(), std::memory_order_relaxed);
  lifetimes_ = Lifetimes();
  lifetimes_.Begin(composed_->obstacles());
  is_torn_ = false;
}

absl::StatusOr<UpdateResult> MapRecord::Apply(WaitingBatch& waiting, absl::Time now,
                                              std::optional<MapEditor>& editor, ComposedGroup& group) {
  UpdateBatch& batch = waiting.batch;
  const MapVersion version{.epoch = composed_->epoch, .revision = composed_->revision + group.commits.size()};
  if (waiting.due) {
    batch.edits = lifetimes_.TakeRemovalsDue(*waiting.due, kMaxRemovalsInBatch);
    if (batch.edits.empty()) {
      return UpdateResult();
    }
  }
  WAYSTAR_RETURN_IF_ERROR(CheckEpoch(id_, version, batch.expected));
  if (!batch.request_id.empty()) {
    WAYSTAR_ASSIGN_OR_RETURN(const std::optional<UpdateResult> applied,
                             applied_.Find(batch.request_id, waiting.fingerprint, batch.request_time, now));
    if (applied) {
      return *applied;
    }
  }
  WAYSTAR_RETURN_IF_ERROR(CheckRevision(id_, version, batch.expected));
  WAYSTAR_RETURN_IF_ERROR(batch.caller.Check());
  WAYSTAR_RETURN_IF_ERROR(ReserveFor(batch.edits, waiting.bytes));
  if (!editor) {
    editor.emplace(*composed_);
  }
  WAYSTAR_ASSIGN_OR_RETURN(const ChangeSummary summary, editor->Apply(batch.edits, now));
  context_.memory->Add(editor->added_bytes());
  lifetimes_.Follow(batch.edits, now);
  const CommitPtr commit = std::make_shared<const Commit>(Commit{.revision = version.revision + 1,
                                                                 .time = now,
                                                                 .edits = std::move(batch.edits),
                                                                 .summary = summary,
                                                                 .changed_areas = editor->changed_areas(),
                                                                 .digest = editor->digest()});
  group.commits.push_back(commit);
  const UpdateResult result = ResultOf(*commit, version.epoch);
  if (context_.log != nullptr) {
    group.logged.push_back({.commit = commit});
  }
  if (!batch.request_id.empty()) {
    if (context_.log != nullptr) {
      LoggedCommit& logged = group.logged.back();
      logged.request_id = batch.request_id;
      logged.fingerprint = waiting.fingerprint;
      logged.request_time = batch.request_time;
    }
    applied_.Add(IsShared() ? batch.request_id : std::move(batch.request_id), waiting.fingerprint,
                 batch.request_time, result, now);
    request_bytes_.store(applied_.bytes(), std::memory_order_relaxed);
  }
  return result;
}

absl::Status MapRecord::ReserveFor(absl::Span<const Edit> edits, std::size_t bytes_of_edits) {
  MemoryAccount& account = *context_.memory;
  const std::size_t bytes = kTableFactor * bytes_of_edits;
  // The spare part of the limit lets clients paint and clear even when the maps are full.
  const std::size_t spared = account.max_bytes() / 16;
  if (account.TryAdd(bytes, spared)) {
    return absl::OkStatus();
  }
  account.Measure();
  if (account.TryAdd(bytes, spared)) {
    return absl::OkStatus();
  }
  applied_.ForgetMost();
  request_bytes_.store(applied_.bytes(), std::memory_order_relaxed);
  MemoryAccount::Reservation memory;
  if (account.Reserve(bytes, memory, spared)) {
    memory.Keep();
    return absl::OkStatus();
  }
  if (std::ranges::any_of(edits, AddsToMap)) {
    return MapsMemoryFull(account, "");
  }
  account.Add(bytes);
  return absl::OkStatus();
}

bool MapRecord::NoteNextExpiry(bool was_due) {
  const absl::Time next = lifetimes_.next();
  const absl::Time before = NextExpiry();
  SetNextExpiry(next);
  return next != absl::InfiniteFuture() && (was_due || next < before);
}

void MapRecord::SetNextExpiry(absl::Time next) {
  next_expiry_nanos_.store(absl::ToUnixNanos(next), std::memory_order_release);
  lifetime_bytes_.store(lifetimes_.bytes(), std::memory_order_relaxed);
}

}  // namespace waystar::core
