#include "server/core/store/map_record.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/edit/edit_digest.h"
#include "server/core/edit/edit_memory.h"
#include "server/core/store/map_editor.h"

namespace waystar::core {
namespace {

constexpr std::size_t kMaxRemovalsInBatch = 1000;

// Long enough for a queue to move on, short enough for a game's frame or two.
constexpr absl::Duration kRetryDelay = absl::Milliseconds(50);

// Entries of tables and trees of what has an id, and of the log, for each byte of the edits.
constexpr std::size_t kTableFactor = 4;

bool AddsToMap(const Edit& edit) {
  return std::holds_alternative<PutObstacle>(edit) || std::holds_alternative<PutPortal>(edit) ||
         std::holds_alternative<PutProfile>(edit) || std::holds_alternative<PutNodes>(edit) ||
         std::holds_alternative<PutEdges>(edit);
}

void MeasureIfDue(StoreContext& context) {
  const std::int64_t now = absl::ToUnixNanos(context.options.clock->Now());
  const std::int64_t interval = absl::ToInt64Nanoseconds(context.options.maps_memory_check_interval);
  std::int64_t due = context.next_measurement.load(std::memory_order_relaxed);
  // One thread measures at a time; the others go on.
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
  return MakeError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map",
                   absl::StrCat("there is no map \"", id, "\""));
}

// Batches on their way to one snapshot.
struct MapRecord::Group {
  PinnedSnapshot base;
  // Of the last batch that was applied.
  std::uint64_t revision = 0;
  // Made by the first batch that gets as far.
  std::optional<MapEditor> editor;
  std::vector<SharedCommit> commits;
  // The same with their requests, if there is a log.
  std::vector<LoggedCommit> logged;
};

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
    waiting.fingerprint = FingerprintOf(batch.edits, batch.expected_revision);
  }
  waiting.batch = std::move(batch);
  waiting.done = std::move(done);
  switch (queue_.Push(waiting)) {
    case UpdateQueue::Place::kLead:
      RunCommitLoop();
      break;
    case UpdateQueue::Place::kWait:
      if (context_.log != nullptr && in_flight_.Unpark(queue_.size())) {
        RunCommitLoop();
      }
      break;
    case UpdateQueue::Place::kBusy:
      std::move(waiting.done)(Busy(id_));
      break;
    case UpdateQueue::Place::kClosed:
      std::move(waiting.done)(NoSuchMap(id_));
      break;
  }
}

void MapRecord::RemoveDue(absl::Time now) {
  while (NextExpiry() <= now && queue_.PushDue(now) == UpdateQueue::Place::kLead) {
    RunCommitLoop();
  }
}

void MapRecord::RunCommitLoop() {
  const StoreOptions& options = context_.options;
  int folds = 0;
  do {
    if (folds == options.max_folds_in_a_row && options.defer) {
      if (options.defer([self = shared_from_this()] { self->RunCommitLoop(); })) {
        return;
      }
      folds = 0;
    }
    ++folds;
    std::optional<ComposedGroup> group = CommitGroup();
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
    context_.old_snapshots.EvictIfDue(context_.options.clock->Now(), context_.latest_of);
  }
}

std::optional<ComposedGroup> MapRecord::CommitGroup() {
  MutexLock committing(committing_);
  if (composed_ == nullptr) {
    return ComposedGroup();
  }
  if (context_.log != nullptr) {
    if (in_flight_.Park(queue_.size())) {
      return std::nullopt;
    }
    return SendToLog(Compose());
  }
  ComposedGroup group = Compose();
  if (group.next != nullptr) {
    Publish(group);
  }
  return group;
}

ComposedGroup MapRecord::Compose() {
  const StoreOptions& options = context_.options;
  ComposedGroup composed;
  Group fold{.base = composed_, .revision = composed_->revision};
  bool was_due = false;
  std::size_t edits = 0;
  absl::Time now = options.clock->Now();
  const absl::Time end = now + options.max_fold_time;
  while (composed.batches < options.max_fold_batches && edits < options.max_fold_edits && now <= end) {
    std::optional<WaitingBatch> waiting = queue_.Pop();
    if (!waiting) {
      break;
    }
    ++composed.batches;
    composed.bytes += waiting->bytes;
    edits += waiting->batch.edits.size();
    was_due = was_due || waiting->due.has_value();
    absl::StatusOr<UpdateResult> result = Apply(*waiting, now, fold);
    if (waiting->done) {
      composed.answers.push_back({std::move(waiting->done), std::move(result)});
    }
    now = options.clock->Now();
  }
  if (!fold.commits.empty()) {
    MapEditor::Result edited = std::move(*fold.editor).Finish();
    composed_ = std::make_shared<const MapSnapshot>(MapSnapshot{.id = id_,
                                                                .epoch = fold.base->epoch,
                                                                .revision = fold.revision,
                                                                .create_time = fold.base->create_time,
                                                                .map = std::move(edited.map)});
    composed.next = composed_;
    composed.commits = std::move(fold.commits);
    composed.changes = std::move(edited.changes);
    composed.logged = std::move(fold.logged);
  }
  if (NoteNextExpiry(was_due)) {
    composed.expiry_to_tell = NextExpiry();
  }
  return composed;
}

absl::StatusOr<UpdateResult> MapRecord::Apply(WaitingBatch& waiting, absl::Time now, Group& fold) {
  if (waiting.due) {
    std::vector<Edit> removals = lifetimes_.TakeRemovalsDue(*waiting.due, kMaxRemovalsInBatch);
    if (removals.empty()) {
      return UpdateResult();
    }
    return ApplyToGroup(std::move(removals), 0, now, fold);
  }
  UpdateBatch& batch = waiting.batch;
  if (batch.expected_epoch && *batch.expected_epoch != fold.base->epoch) {
    return MakeError(
        absl::StatusCode::kFailedPrecondition, ErrorReason::kMapReplaced, "expected_epoch",
        absl::StrCat("map \"", id_, "\" is of epoch ", fold.base->epoch, ", not ", *batch.expected_epoch));
  }
  if (!batch.request_id.empty()) {
    WAYSTAR_ASSIGN_OR_RETURN(const std::optional<UpdateResult> applied,
                             applied_.Find(batch.request_id, waiting.fingerprint, batch.request_time, now));
    if (applied) {
      return *applied;
    }
  }
  if (batch.expected_revision && *batch.expected_revision != fold.revision) {
    return MakeError(
        absl::StatusCode::kAborted, ErrorReason::kStaleRevision, "expected_revision",
        absl::StrCat("map \"", id_, "\" is at revision ", fold.revision, ", not ", *batch.expected_revision));
  }
  WAYSTAR_ASSIGN_OR_RETURN(const UpdateResult result,
                           ApplyToGroup(std::move(batch.edits), waiting.bytes, now, fold));
  if (!batch.request_id.empty()) {
    if (context_.log != nullptr) {
      LoggedCommit& logged = fold.logged.back();
      logged.request_id = batch.request_id;
      logged.fingerprint = waiting.fingerprint;
      logged.request_time = batch.request_time;
    }
    applied_.Add(std::move(batch.request_id), waiting.fingerprint, batch.request_time, result, now);
    request_bytes_.store(applied_.bytes(), std::memory_order_relaxed);
  }
  return result;
}

absl::Status MapRecord::ReserveFor(absl::Span<const Edit> edits, std::size_t bytes_of_edits) {
  MemoryAccount& account = *context_.memory;
  const std::size_t bytes = kTableFactor * bytes_of_edits;
  // What is spared lets a full map be painted and cleared.
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

absl::StatusOr<UpdateResult> MapRecord::ApplyToGroup(std::vector<Edit> edits, std::size_t bytes,
                                                     absl::Time now, Group& fold) {
  WAYSTAR_RETURN_IF_ERROR(ReserveFor(edits, bytes));
  if (!fold.editor) {
    fold.editor.emplace(fold.base->map);
  }
  WAYSTAR_ASSIGN_OR_RETURN(const ChangeSummary summary, fold.editor->Apply(edits, now));
  lifetimes_.Follow(edits, now);
  ++fold.revision;
  const std::uint64_t digest = fold.editor->digest();
  fold.commits.push_back(std::make_shared<const Commit>(Commit{.revision = fold.revision,
                                                               .time = now,
                                                               .edits = std::move(edits),
                                                               .summary = summary,
                                                               .digest = digest}));
  if (context_.log != nullptr) {
    fold.logged.push_back({.commit = fold.commits.back()});
  }
  return UpdateResult{
      .epoch = fold.base->epoch, .revision = fold.revision, .summary = summary, .digest = digest};
}

PinnedSnapshot MapRecord::ReplacePublished(PinnedSnapshot snapshot) {
  MutexLock lock(context_.readers);
  published_.swap(snapshot);
  return snapshot;
}

void MapRecord::Publish(ComposedGroup& group) {
  const PinnedSnapshot& next = group.next;
  log_.Append(group.commits);
  group.replaced = ReplacePublished(next);
  const PinnedSnapshot& replaced = group.replaced;
  if (replaced->is_grid() && &replaced->grid().static_index() != &next->grid().static_index()) {
    replaced->grid().static_index().GiveUp();
  }
  // From here on nobody can pin it any more who does not hold it.
  if (replaced.use_count() > 1) {
    context_.old_snapshots.Add(replaced, group.commits.back()->time);
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

absl::StatusOr<History> MapRecord::ReadHistory(std::uint64_t from, std::size_t max) const {
  History history = log_.ReadFrom(from, max);
  // Commits are logged shortly before they are published.
  const PinnedSnapshot latest = PinLatest();
  if (latest == nullptr) {
    return NoSuchMap(id_);
  }
  history.epoch = latest->epoch;
  history.latest_revision = std::min(history.latest_revision, latest->revision);
  while (!history.commits.empty() && history.commits.back()->revision > latest->revision) {
    history.commits.pop_back();
  }
  return history;
}

PinnedSnapshot MapRecord::PinLatest() const {
  MutexLock lock(context_.readers);
  return Latest();
}

void MapRecord::ForgetMostRequests() {
  MutexLock committing(committing_);
  applied_.ForgetMost();
  request_bytes_.store(applied_.bytes(), std::memory_order_relaxed);
}

void MapRecord::AddTo(MemoryUse& use) const {
  if (PinnedSnapshot latest = PinLatest(); latest != nullptr) {
    // What is in flight shares with the published snapshot what it has not changed.
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
  if (const PinnedSnapshot latest = PinLatest(); latest != nullptr && latest->is_grid()) {
    latest->grid().DropViews(what != MemoryDrop::kUnusedViews);
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

bool MapRecord::BuildInBackground(CancelFlag cancelled) {
  const PinnedSnapshot snapshot = PinLatest();
  if (snapshot == nullptr || !snapshot->is_grid() || !snapshot->grid().BuildInBackground(cancelled)) {
    return false;
  }
  // Much may have been committed meanwhile. First without the writers' lock, so that what is left to do under
  // it is little.
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

MapRecord::Deleted MapRecord::Delete() {
  Deleted deleted;
  MutexLock deleting(deleting_);
  if (context_.log != nullptr) {
    deleted.status = LogDeletion();
    if (!deleted.status.ok()) {
      return deleted;
    }
  }
  MutexLock committing(committing_);
  deleted.last = std::exchange(composed_, nullptr);
  if (deleted.last == nullptr) {
    return deleted;
  }
  ReplacePublished(nullptr);
  deleted.waiting = queue_.Close();
  next_expiry_nanos_.store(std::numeric_limits<std::int64_t>::max(), std::memory_order_release);
  for (StoreListener* const listener : context_.listeners) {
    listener->OnDelete(deleted.last);
  }
  return deleted;
}

}  // namespace waystar::core
