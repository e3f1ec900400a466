// Composition of a map's queued batches into one snapshot.

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/edit/edit_digest.h"
#include "server/core/edit/edit_work.h"
#include "server/core/store/map_record.h"

namespace waystar::core {
namespace {

constexpr std::size_t kMaxRemovalsInBatch = 1000;

bool AddsToMap(const Edit& edit) {
  return std::holds_alternative<PutObstacle>(edit) || std::holds_alternative<PutPortal>(edit) ||
         std::holds_alternative<PutMeshPortal>(edit) || std::holds_alternative<PutProfile>(edit) ||
         std::holds_alternative<PutNodes>(edit) || std::holds_alternative<PutEdges>(edit);
}

}  // namespace

void CompleteGroup(const MapSnapshot& base, MapEditor&& editor, ComposedGroup& group) {
  MapEditor::Result edited = std::move(editor).Finish();
  absl::Time latest = base.latest_commit_time;
  for (const SharedCommit& commit : group.commits) {
    latest = std::max(latest, commit->time);
  }
  group.next = std::make_shared<const MapSnapshot>(MapSnapshot{.id = base.id,
                                                               .epoch = base.epoch,
                                                               .revision = group.commits.back()->revision,
                                                               .create_time = base.create_time,
                                                               .latest_commit_time = latest,
                                                               .map = std::move(edited.map)});
  group.changes = std::move(edited.changes);
}

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
    CompleteGroup(*composed_, std::move(*editor), group);
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
    editor.emplace(composed_->map);
  }
  WAYSTAR_ASSIGN_OR_RETURN(const ChangeSummary summary, editor->Apply(batch.edits, now));
  lifetimes_.Follow(batch.edits, now);
  const SharedCommit commit = std::make_shared<const Commit>(Commit{.revision = version.revision + 1,
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
