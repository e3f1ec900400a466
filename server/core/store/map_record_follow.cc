// Commits of other servers, applied to a map.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/base/status_macros.h"
#include "server/core/edit/edit_digest.h"
#include "server/core/store/map_record.h"

namespace waystar::core {
namespace {

absl::Status DoesNotFollow(const MapSnapshot& base, std::uint64_t epoch, std::uint64_t revision) {
  return absl::FailedPreconditionError(absl::StrCat("revision ", revision, " of epoch ", epoch,
                                                    " does not follow revision ", base.revision, " of epoch ",
                                                    base.epoch, " of map \"", base.id, "\""));
}

// Applies commits that directly follow `base`.
absl::StatusOr<ComposedGroup> Replay(const MapSnapshot& base, std::uint64_t epoch,
                                     absl::Span<const LoggedCommit> commits) {
  ComposedGroup group;
  MapEditor editor(base.map);
  std::uint64_t revision = base.revision;
  absl::Time time = base.latest_commit_time;
  for (const LoggedCommit& logged : commits) {
    const Commit& commit = *logged.commit;
    if (epoch != base.epoch || commit.revision != revision + 1) {
      return DoesNotFollow(base, epoch, commit.revision);
    }
    WAYSTAR_RETURN_IF_ERROR(editor.Apply(commit.edits, commit.time).status());
    if (editor.digest() != commit.digest) {
      return absl::DataLossError(absl::StrCat("the digest of map \"", base.id, "\" at revision ",
                                              commit.revision, " is not that of the log"));
    }
    ++revision;
    time = std::max(time, commit.time);
    group.commits.push_back(logged.commit);
  }
  MapEditor::Result edited = std::move(editor).Finish();
  group.next = std::make_shared<const MapSnapshot>(MapSnapshot{.id = base.id,
                                                               .epoch = epoch,
                                                               .revision = revision,
                                                               .create_time = base.create_time,
                                                               .latest_commit_time = time,
                                                               .map = std::move(edited.map)});
  group.changes = std::move(edited.changes);
  return group;
}

}  // namespace

absl::Status MapRecord::Follow(std::uint64_t epoch, absl::Span<const LoggedCommit> commits) {
  absl::StatusOr<ComposedGroup> group;
  {
    // Only one editor may work on the map at a time.
    MutexLock committing(committing_);
    const PinnedSnapshot base = PinLatest();
    if (base == nullptr) {
      return Gone();
    }
    try {
      group = Replay(*base, epoch, commits);
    } catch (const std::bad_alloc&) {
      return context_.system_memory_full;
    }
    WAYSTAR_RETURN_IF_ERROR(group.status());
    TakeIn(*group, *base, commits);
  }
  Publish(*group);
  Conclude(*std::move(group));
  return absl::OkStatus();
}

void MapRecord::TakeIn(ComposedGroup& group, const MapSnapshot& base,
                       absl::Span<const LoggedCommit> commits) noexcept {
  if (in_flight_.Doom() || is_torn_) {
    applied_.TakeBackAfter(base.revision);
    lifetimes_ = Lifetimes();
    lifetimes_.Begin(group.next->obstacles());
    is_torn_ = false;
  } else {
    for (const LoggedCommit& logged : commits) {
      lifetimes_.Follow(logged.commit->edits, logged.commit->time);
    }
  }
  composed_ = group.next;
  for (const LoggedCommit& logged : commits) {
    const Commit& commit = *logged.commit;
    context_.memory->Add(kTableFactor * ApproximateBytes(commit.edits));
    if (!logged.request_id.empty()) {
      applied_.Follow(logged.request_id, logged.fingerprint, logged.request_time,
                      ResultOf(commit, composed_->epoch), commit.time);
    }
  }
  request_bytes_.store(applied_.bytes(), std::memory_order_relaxed);
  if (NoteNextExpiry(false)) {
    group.expiry_to_tell = NextExpiry();
  }
}

absl::Status MapRecord::FollowImage(StoredMap later) {
  ComposedGroup group{.next = std::move(later.snapshot), .changes = {.is_everything = true}};
  {
    MutexLock committing(committing_);
    const PinnedSnapshot base = PinLatest();
    if (base == nullptr) {
      return Gone();
    }
    if (group.next->epoch != base->epoch || group.next->revision <= base->revision) {
      return DoesNotFollow(*base, group.next->epoch, group.next->revision);
    }
    try {
      AppliedRequests applied(context_.options.request_ids);
      applied.Restore(std::move(later.requests), later.request_horizon);
      Lifetimes lifetimes;
      lifetimes.Begin(group.next->obstacles());
      applied_ = std::move(applied);
      lifetimes_ = std::move(lifetimes);
    } catch (const std::bad_alloc&) {
      return context_.system_memory_full;
    }
    in_flight_.Doom();
    is_torn_ = false;
    composed_ = group.next;
    request_bytes_.store(applied_.bytes(), std::memory_order_relaxed);
    if (NoteNextExpiry(false)) {
      group.expiry_to_tell = NextExpiry();
    }
  }
  Publish(group);
  Conclude(std::move(group));
  return absl::OkStatus();
}

MapRecord::Ended MapRecord::FollowEnd(MapVersion last, ChangeTable change_table) {
  Ended ended;
  {
    MutexLock committing(committing_);
    const PinnedSnapshot latest = PinLatest();
    if (latest == nullptr) {
      ended.status = Gone();
    } else if (latest->version() != last) {
      ended.status = DoesNotFollow(*latest, last.epoch, last.revision);
    }
    if (!ended.status.ok()) {
      return ended;
    }
    in_flight_.Doom();
    composed_ = latest;
    EndLocked(ended, change_table);
  }
  AnswerWaiting(ended);
  return ended;
}

}  // namespace waystar::core
