// Editor for batches of edits on a map of any kind, and the replay of logged commits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/elements/map_changes.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/store/durable_log.h"

namespace waystar::core {

// Applies batches on top of a snapshot. Thread safety: one thread at a time; others may read the base.
class MapEditor {
 public:
  // The base must outlive the editor.
  explicit MapEditor(const MapSnapshot& base);

  // Returns the memory that the latest batch added and that no account was asked for.
  std::size_t added_bytes() const;
  // Applies a batch as the Apply method of BatchEditor, GraphBatchEditor or MeshBatchEditor does.
  absl::StatusOr<ChangeSummary> Apply(absl::Span<const Edit> edits, absl::Time now);

  // As BatchEditor::changed_areas.
  std::vector<Rectangle> changed_areas() const;

  // Returns the digest of the map after the batches applied so far.
  std::uint64_t digest() const;

  // The snapshot after the batches, each of which is a revision, and all changes since the base.
  struct Result {
    MapSnapshot snapshot;
    MapChanges changes;
  };

  // The editor must not be used afterwards.
  Result Finish() &&;

 private:
  using Editor = std::variant<BatchEditor, GraphBatchEditor, MeshBatchEditor>;

  const MapSnapshot& base_;
  Editor editor_;
  std::uint64_t revision_;
  absl::Time latest_commit_time_;
};

// Applies logged commits to a snapshot and records their requests.
//
// Thread safety: one thread at a time.
class MapReplay {
 public:
  // `state` must outlive the replay.
  explicit MapReplay(MapState& state) : state_(state) {}

  // Applies a commit and returns its changes. Returns nullopt without effect if the snapshot already has it.
  // Returns DATA_LOSS if the commit does not follow the snapshot or does not lead to its digest, and the
  // errors of MapEditor::Apply.
  absl::StatusOr<std::optional<ChangeSummary>> Apply(const LoggedCommit& logged);
  // Stores the edited map in the snapshot. Call after the last Apply.
  void Finish();

 private:
  MapState& state_;
  std::optional<MapEditor> editor_;
  std::size_t commits_of_editor_ = 0;
};

}  // namespace waystar::core
