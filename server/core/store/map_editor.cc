#include "server/core/store/map_editor.h"

#include <utility>

namespace waystar::core {
namespace {

template <typename Map>
struct EditorOf;
template <>
struct EditorOf<GridMap> {
  using type = BatchEditor;
};
template <>
struct EditorOf<WaypointGraph> {
  using type = GraphBatchEditor;
};
template <>
struct EditorOf<NavMesh> {
  using type = MeshBatchEditor;
};

MapEditor::Result ResultOf(BatchEditor&& editor) {
  BatchEditor::Result result = std::move(editor).Finish();
  return {std::move(result.map), std::move(result.changes)};
}
MapEditor::Result ResultOf(GraphBatchEditor&& editor) {
  MapChanges changes{.graph = editor.places()};
  return {std::move(editor).Finish(), std::move(changes)};
}
MapEditor::Result ResultOf(MeshBatchEditor&& editor) {
  MapChanges changes = editor.changes();
  return {std::move(editor).Finish(), std::move(changes)};
}

}  // namespace

MapEditor::MapEditor(const AnyMap& base)
    : editor_(std::visit(
          []<typename Map>(const Map& map) {
            return Editor(std::in_place_type<typename EditorOf<Map>::type>, map);
          },
          base)) {}

absl::StatusOr<ChangeSummary> MapEditor::Apply(absl::Span<const Edit> edits, absl::Time now) {
  return std::visit([&](auto& editor) { return editor.Apply(edits, now); }, editor_);
}

std::uint64_t MapEditor::digest() const {
  return std::visit([](const auto& editor) { return editor.digest(); }, editor_);
}

MapEditor::Result MapEditor::Finish() && {
  return std::visit([](auto& editor) { return ResultOf(std::move(editor)); }, editor_);
}

}  // namespace waystar::core
