#include "server/storage/map_replay.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/core/store/map_editor.h"
#include "server/storage/log_entry.h"

namespace waystar::storage {
namespace {

// After as many, what an editor has gathered is made a map.
constexpr std::size_t kCommitsOfEditor = 10'000;

// Applies commits that follow each other.
class Replayer {
 public:
  explicit Replayer(MapState& state) : state_(state) {}

  absl::Status Apply(const core::LoggedCommit& logged) {
    const core::Commit& commit = *logged.commit;
    core::MapSnapshot& snapshot = state_.snapshot;
    if (commit.revision <= snapshot.revision) {
      return absl::OkStatus();
    }
    if (commit.revision != snapshot.revision + 1) {
      return absl::DataLossError(
          absl::StrCat("revision ", commit.revision, " does not follow revision ", snapshot.revision));
    }
    if (!editor_) {
      editor_.emplace(snapshot.map);
    }
    WAYSTAR_ASSIGN_OR_RETURN(const core::ChangeSummary summary, editor_->Apply(commit.edits, commit.time));
    if (editor_->digest() != commit.digest) {
      return absl::DataLossError(
          absl::StrCat("the digest at revision ", commit.revision, " is not what it was"));
    }
    ++snapshot.revision;
    snapshot.latest_commit_time = std::max(snapshot.latest_commit_time, commit.time);
    Remember(logged);
    replayed_.work += WorkOfCommit(summary);
    if (++replayed_.commits % kCommitsOfEditor == 0) {
      Finish();
    }
    return absl::OkStatus();
  }

  void Finish() {
    if (editor_) {
      core::MapEditor::Result edited = std::move(*editor_).Finish();
      editor_.reset();
      state_.snapshot.map = std::move(edited.map);
    }
  }

  const Replayed& replayed() const { return replayed_; }

 private:
  void Remember(const core::LoggedCommit& logged) {
    if (logged.request_id.empty()) {
      return;
    }
    const core::Commit& commit = *logged.commit;
    state_.requests.push_back({.request_id = logged.request_id,
                               .fingerprint = logged.fingerprint,
                               .request_time = logged.request_time,
                               .result = {.epoch = state_.snapshot.epoch,
                                          .revision = commit.revision,
                                          .summary = commit.summary,
                                          .digest = commit.digest},
                               .time = std::max(commit.time, logged.request_time.value_or(commit.time))});
  }

  MapState& state_;
  std::optional<core::MapEditor> editor_;
  Replayed replayed_;
};

}  // namespace

absl::StatusOr<Replayed> Replay(const LogHistory& history, absl::Span<const LocatedEntry> entries,
                                const LiveMap& live, MapState& state) {
  Replayer replayer(state);
  for (const LocatedEntry& located : entries) {
    const LogEntry& entry = located.entry;
    if (entry.kind != LogEntry::Kind::kCommits || entry.revision <= state.snapshot.revision) {
      continue;
    }
    const LogFile& file = history.files[located.file];
    const absl::StatusOr<std::vector<core::LoggedCommit>> commits = DecodeCommits(entry.body);
    if (!commits.ok()) {
      return Damage(file.path, located.offset, commits.status().message());
    }
    for (const core::LoggedCommit& commit : *commits) {
      if (const absl::Status applied = replayer.Apply(commit); !applied.ok()) {
        return Damage(file.path, located.offset, absl::StrCat("map \"", live.id, "\": ", applied.message()));
      }
    }
  }
  replayer.Finish();
  return replayer.replayed();
}

absl::StatusOr<MapState> ReadCreation(const LogHistory& history, const LocatedEntry& creation) {
  const LogFile& file = history.files[creation.file];
  const absl::StatusOr<Creation> decoded = DecodeCreation(creation.entry.body);
  if (!decoded.ok()) {
    return Damage(file.path, creation.offset, decoded.status().message());
  }
  WAYSTAR_ASSIGN_OR_RETURN(core::MapSnapshot image, ReadImage(decoded->image, file.path, creation.offset));
  MapState state{.snapshot = std::move(image)};
  state.snapshot.id = creation.entry.map;
  state.snapshot.epoch = creation.entry.epoch;
  state.snapshot.revision = creation.entry.revision;
  state.snapshot.create_time = decoded->create_time;
  return state;
}

}  // namespace waystar::storage
