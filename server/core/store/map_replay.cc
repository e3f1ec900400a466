#include "server/core/store/map_replay.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"

namespace waystar::core {
namespace {

// Commits after which the editor's changes are written to the snapshot.
constexpr std::size_t kMostCommitsOfEditor = 10'000;

}  // namespace

absl::StatusOr<std::optional<ChangeSummary>> MapReplay::Apply(const LoggedCommit& logged) {
  const Commit& commit = *logged.commit;
  if (commit.revision <= snapshot_.revision) {
    return std::nullopt;
  }
  if (commit.revision != snapshot_.revision + 1) {
    return absl::DataLossError(
        absl::StrCat("revision ", commit.revision, " does not follow revision ", snapshot_.revision));
  }
  if (!editor_) {
    editor_.emplace(snapshot_.map);
  }
  WAYSTAR_ASSIGN_OR_RETURN(const ChangeSummary summary, editor_->Apply(commit.edits, commit.time));
  if (editor_->digest() != commit.digest) {
    return absl::DataLossError(
        absl::StrCat("the digest at revision ", commit.revision, " is not what it was"));
  }
  ++snapshot_.revision;
  snapshot_.latest_commit_time = std::max(snapshot_.latest_commit_time, commit.time);
  Remember(logged);
  if (++commits_of_editor_ == kMostCommitsOfEditor) {
    Finish();
  }
  return summary;
}

void MapReplay::Finish() {
  if (editor_) {
    MapEditor::Result edited = std::move(*editor_).Finish();
    editor_.reset();
    commits_of_editor_ = 0;
    snapshot_.map = std::move(edited.map);
  }
}

void MapReplay::Remember(const LoggedCommit& logged) {
  if (logged.request_id.empty()) {
    return;
  }
  const Commit& commit = *logged.commit;
  requests_.push_back({.request_id = logged.request_id,
                       .fingerprint = logged.fingerprint,
                       .request_time = logged.request_time,
                       .result = {.epoch = snapshot_.epoch,
                                  .revision = commit.revision,
                                  .summary = commit.summary,
                                  .digest = commit.digest},
                       .time = std::max(commit.time, logged.request_time.value_or(commit.time))});
}

}  // namespace waystar::core
