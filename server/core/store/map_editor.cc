#include "server/core/store/map_editor.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"

namespace waystar::core {
namespace {

// Number of commits after which the editor's changes are written to the snapshot.
constexpr std::size_t kMostCommitsOfEditor = 10'000;

template <typename Map>
using EditorOf = std::conditional_t<
    std::is_same_v<Map, GridMap>, BatchEditor,
    std::conditional_t<std::is_same_v<Map, WaypointGraph>, GraphBatchEditor, MeshBatchEditor>>;

}  // namespace

MapEditor::MapEditor(const MapSnapshot& base)
    : base_(base),
      editor_(std::visit(
          []<typename Map>(const Map& map) { return Editor(std::in_place_type<EditorOf<Map>>, map); },
          base.map)),
      revision_(base.revision),
      latest_commit_time_(base.latest_commit_time) {}

absl::StatusOr<ChangeSummary> MapEditor::Apply(absl::Span<const Edit> edits, absl::Time now) {
  absl::StatusOr<ChangeSummary> summary =
      std::visit([&](auto& editor) { return editor.Apply(edits, now); }, editor_);
  if (summary.ok()) {
    ++revision_;
    latest_commit_time_ = std::max(latest_commit_time_, now);
  }
  return summary;
}

std::vector<Rectangle> MapEditor::changed_areas() const {
  return std::visit([](const auto& editor) { return editor.changed_areas(); }, editor_);
}

std::size_t MapEditor::added_bytes() const {
  const auto* const of_mesh = std::get_if<MeshBatchEditor>(&editor_);
  return of_mesh == nullptr ? 0 : of_mesh->added_bytes();
}

std::uint64_t MapEditor::digest() const {
  return std::visit([](const auto& editor) { return editor.digest(); }, editor_);
}

MapEditor::Result MapEditor::Finish() && {
  const auto with = [this](AnyMap map, MapChanges changes) {
    return Result{.snapshot = {.id = base_.id,
                               .epoch = base_.epoch,
                               .revision = revision_,
                               .create_time = base_.create_time,
                               .latest_commit_time = latest_commit_time_,
                               .map = std::move(map)},
                  .changes = std::move(changes)};
  };
  return std::visit(
      [&]<typename Of>(Of& editor) {
        if constexpr (std::is_same_v<Of, BatchEditor>) {
          BatchEditor::Result result = std::move(editor).Finish();
          return with(std::move(result.map), std::move(result.changes));
        } else {
          MapChanges changes = editor.changes();
          return with(std::move(editor).Finish(), std::move(changes));
        }
      },
      editor_);
}

absl::StatusOr<std::optional<ChangeSummary>> MapReplay::Apply(const LoggedCommit& logged) {
  const Commit& commit = *logged.commit;
  MapSnapshot& snapshot = state_.snapshot;
  if (commit.revision <= snapshot.revision) {
    return std::nullopt;
  }
  if (commit.revision != snapshot.revision + 1) {
    return absl::DataLossError(
        absl::StrCat("revision ", commit.revision, " does not follow revision ", snapshot.revision));
  }
  if (!editor_) {
    editor_.emplace(snapshot);
  }
  WAYSTAR_ASSIGN_OR_RETURN(const ChangeSummary summary, editor_->Apply(commit.edits, commit.time));
  if (editor_->digest() != commit.digest) {
    return absl::DataLossError(
        absl::StrCat("the digest at revision ", commit.revision, " is not what it was"));
  }
  ++snapshot.revision;
  snapshot.latest_commit_time = std::max(snapshot.latest_commit_time, commit.time);
  if (!logged.request_id.empty()) {
    state_.requests.push_back({.request_id = logged.request_id,
                               .fingerprint = logged.fingerprint,
                               .request_time = logged.request_time,
                               .result = ResultOf(commit, snapshot.epoch),
                               .time = std::max(commit.time, logged.request_time.value_or(commit.time))});
  }
  if (++commits_of_editor_ == kMostCommitsOfEditor) {
    Finish();
  }
  return summary;
}

void MapReplay::Finish() {
  if (editor_) {
    state_.snapshot.map = std::move(*editor_).Finish().snapshot.map;
    editor_.reset();
    commits_of_editor_ = 0;
  }
}

}  // namespace waystar::core
