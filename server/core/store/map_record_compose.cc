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
#include "server/core/edit/edit_memory.h"
#include "server/core/store/map_editor.h"
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

// Batches being composed into one snapshot.
struct MapRecord::Group {
  PinnedSnapshot base;
  // Revision of the last applied batch.
  std::uint64_t revision = 0;
  // Created by the first batch that passes the checks.
  std::optional<MapEditor> editor;
  std::vector<SharedCommit> commits;
  // The commits with their requests, if there is a log.
  std::vector<LoggedCommit> logged;
};

ComposedGroup MapRecord::Compose(bool takes_large) {
  ComposedGroup composed;
  try {
    ComposeInto(takes_large, composed);
  } catch (const std::bad_alloc&) {
    GiveUp(composed);
  }
  return composed;
}

void MapRecord::ComposeInto(bool takes_large, ComposedGroup& composed) {
  const StoreOptions& options = context_.options;
  Group fold{.base = composed_, .revision = composed_->revision};
  bool was_due = false;
  std::size_t edits = 0;
  const bool keeps_batches = IsShared();
  absl::Time now = options.clock->Now();
  const absl::Time end = now + options.max_fold_time;
  while (composed.batches < options.max_fold_batches && edits < options.max_fold_edits && now <= end) {
    // Added before the batch leaves the queue, so that the batch is answered even if memory runs out.
    UpdateAnswer& answer =
        composed.answers.emplace_back(UpdateAnswer{.done = nullptr, .result = context_.system_memory_full});
    std::optional<WaitingBatch> waiting = queue_.Pop(takes_large);
    if (!waiting) {
      composed.answers.pop_back();
      break;
    }
    answer.done = std::move(waiting->done);
    ++composed.batches;
    composed.bytes += waiting->bytes;
    edits += waiting->batch.edits.size();
    was_due = was_due || waiting->due.has_value();
    if (is_torn_) {
      Mend();
    }
    const std::size_t applied = fold.commits.size();
    // The clock of another server may be ahead.
    answer.result = Apply(*waiting, std::max(now, fold.base->latest_commit_time), fold);
    if (!answer.done) {
      composed.answers.pop_back();
    } else if (keeps_batches) {
      answer.kept = std::make_unique<KeptBatch>(
          KeptBatch{.batch = *std::move(waiting),
                    .commit = fold.commits.size() > applied ? fold.commits.back() : nullptr});
    }
    now = options.clock->Now();
  }
  if (!fold.commits.empty()) {
    MapEditor::Result edited = std::move(*fold.editor).Finish();
    composed.next = std::make_shared<const MapSnapshot>(
        MapSnapshot{.id = id_,
                    .epoch = fold.base->epoch,
                    .revision = fold.revision,
                    .create_time = fold.base->create_time,
                    .latest_commit_time = std::max(fold.base->latest_commit_time, fold.commits.back()->time),
                    .map = std::move(edited.map)});
    if (context_.log == nullptr) {
      log_.Append(fold.commits);
    }
    composed_ = composed.next;
    composed.commits = std::move(fold.commits);
    composed.changes = std::move(edited.changes);
    composed.logged = std::move(fold.logged);
  }
  if (NoteNextExpiry(was_due)) {
    composed.expiry_to_tell = NextExpiry();
  }
}

void MapRecord::GiveUp(ComposedGroup& composed) {
  composed.next = nullptr;
  std::erase_if(composed.answers, [](const UpdateAnswer& answer) { return !answer.done; });
  for (UpdateAnswer& answer : composed.answers) {
    answer.result = context_.system_memory_full;
    answer.kept.reset();
  }
  is_torn_ = true;
  if (NextExpiry() != absl::InfiniteFuture()) {
    // Expired obstacles may still need removal.
    SetNextExpiry(std::max(NextExpiry(), context_.options.clock->Now() + kRetryDelayOfRemovals));
    composed.expiry_to_tell = NextExpiry();
  }
}

void MapRecord::Mend() {
  applied_.TakeBackAfter(composed_->revision);
  request_bytes_.store(applied_.bytes(), std::memory_order_relaxed);
  lifetimes_ = Lifetimes();
  lifetimes_.Begin(composed_->obstacles());
  is_torn_ = false;
}

absl::StatusOr<UpdateResult> MapRecord::Apply(WaitingBatch& waiting, absl::Time now, Group& fold) {
  if (waiting.due) {
    std::vector<Edit> removals = lifetimes_.TakeRemovalsDue(*waiting.due, kMaxRemovalsInBatch);
    if (removals.empty()) {
      return UpdateResult();
    }
    return ApplyToGroup(removals, 0, now, fold);
  }
  UpdateBatch& batch = waiting.batch;
  const MapVersion version{.epoch = fold.base->epoch, .revision = fold.revision};
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
  WAYSTAR_ASSIGN_OR_RETURN(const UpdateResult result, ApplyToGroup(batch.edits, waiting.bytes, now, fold));
  if (!batch.request_id.empty()) {
    if (context_.log != nullptr) {
      LoggedCommit& logged = fold.logged.back();
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

absl::StatusOr<UpdateResult> MapRecord::ApplyToGroup(std::vector<Edit>& edits, std::size_t bytes,
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
