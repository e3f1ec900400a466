#include "server/core/store/map_editor.h"

#include <utility>

namespace waystar::core {

MapEditor::MapEditor(const AnyMap& base) {
  if (const auto* grid = std::get_if<GridMap>(&base)) {
    editor_.emplace<BatchEditor>(*grid);
  } else {
    editor_.emplace<GraphBatchEditor>(*std::get_if<WaypointGraph>(&base));
  }
}

absl::StatusOr<ChangeSummary> MapEditor::Apply(absl::Span<const Edit> edits, absl::Time now) {
  if (auto* grid = std::get_if<BatchEditor>(&editor_)) {
    return grid->Apply(edits, now);
  }
  return std::get_if<GraphBatchEditor>(&editor_)->Apply(edits, now);
}

std::uint64_t MapEditor::digest() const {
  const auto* const grid = std::get_if<BatchEditor>(&editor_);
  return grid != nullptr ? grid->digest() : std::get_if<GraphBatchEditor>(&editor_)->digest();
}

MapEditor::Result MapEditor::Finish() && {
  if (auto* grid = std::get_if<BatchEditor>(&editor_)) {
    BatchEditor::Result result = std::move(*grid).Finish();
    return {std::move(result.map), std::move(result.changes)};
  }
  auto* const graph = std::get_if<GraphBatchEditor>(&editor_);
  MapChanges changes{.graph = graph->places()};
  return {std::move(*graph).Finish(), std::move(changes)};
}

}  // namespace waystar::core
