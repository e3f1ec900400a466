#include "server/core/map/batch_editor.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"

namespace waystar::core {
namespace {

std::int64_t SaturatingAdd(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  return a > kMax - b ? kMax : a + b;
}

absl::Status OffMap(absl::string_view field, absl::string_view what, const GridMap& map) {
  return MakeError(
      absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, field,
      absl::StrCat(what, " is off the map, which is ", map.width(), " x ", map.height(), " cells"));
}

absl::Status CheckShape(const GridMap& map, const Shape& shape) {
  if (shape.cells.empty() && shape.rectangles.empty()) {
    return InvalidArgument(ErrorReason::kEmptyShape, "", "a shape has at least one cell or rectangle");
  }
  for (std::size_t i = 0; i < shape.cells.size(); ++i) {
    const Cell cell = shape.cells[i];
    if (!map.Contains(cell)) {
      return OffMap(absl::StrCat(".cells[", i, "]"), absl::StrCat("cell (", cell.x, ", ", cell.y, ")"), map);
    }
  }
  for (std::size_t i = 0; i < shape.rectangles.size(); ++i) {
    const Rectangle& r = shape.rectangles[i];
    const std::string field = absl::StrCat(".rectangles[", i, "]");
    if (r.empty()) {
      return InvalidArgument(
          ErrorReason::kBadRectangle, field + (r.width <= 0 ? ".width" : ".height"),
          absl::StrCat("a rectangle's width and height are at least 1, not ", r.width, " x ", r.height));
    }
    if (Intersect(r, map.bounds()).empty()) {
      return OffMap(
          field, absl::StrCat("the rectangle at (", r.x, ", ", r.y, ") of ", r.width, " x ", r.height), map);
    }
  }
  return absl::OkStatus();
}

// On the map, as kMaxBatchCells counts them: a row is painted a word at a time.
std::int64_t CellsOf(const GridMap& map, const Shape& shape) {
  auto cells = static_cast<std::int64_t>(shape.cells.size());
  for (const Rectangle& rectangle : shape.rectangles) {
    const Rectangle inside = Intersect(rectangle, map.bounds());
    cells += std::int64_t{std::max(inside.width, kWordBits)} * inside.height;
  }
  return cells;
}

// The shape of a block or unblock.
const Shape& NamelessShape(const Edit& edit) {
  if (const auto* block = std::get_if<BlockCells>(&edit)) {
    return block->shape;
  }
  return std::get<UnblockCells>(edit).shape;
}

absl::Status CheckEdits(const GridMap& map, absl::Span<const Edit> edits) {
  if (edits.empty()) {
    return InvalidArgument(ErrorReason::kEmptyBatch, "edits", "a batch has at least one edit");
  }
  std::int64_t cells = 0;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (absl::Status status = CheckShape(map, NamelessShape(edits[i])); !status.ok()) {
      const absl::string_view kind = std::holds_alternative<BlockCells>(edits[i]) ? "block" : "unblock";
      return WithFieldPrefix(status, absl::StrCat("edits[", i, "].", kind));
    }
    cells += CellsOf(map, NamelessShape(edits[i]));
    if (cells > kMaxBatchCells) {
      return MakeError(
          absl::StatusCode::kResourceExhausted, ErrorReason::kBatchTooLarge, absl::StrCat("edits[", i, "]"),
          absl::StrCat("the shapes of a batch have at most ", kMaxBatchCells, " cells together"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<BatchResult> BatchEditor::Apply(absl::Span<const Edit> edits, absl::Time /*now*/) {
  WAYSTAR_RETURN_IF_ERROR(CheckEdits(base_, edits));
  std::optional<GridMap> before;
  if (is_changed_) {
    before = editor_.Snapshot();
  }
  is_changed_ = true;
  BatchResult result;
  for (const Edit& edit : edits) {
    Paint(NamelessShape(edit), std::holds_alternative<BlockCells>(edit), result);
  }
  CountChanges(before ? *before : base_, result);
  return result;
}

BatchEditor::Result BatchEditor::Finish() && {
  GridMapEditor::Result result = std::move(editor_).FinishAndList();
  return {std::move(result.map), std::move(result.changes)};
}

void BatchEditor::Paint(const Shape& shape, bool obstacle, BatchResult& result) {
  const auto paint_row = [&](int y, int x_begin, int x_end) {
    editor_.SetObstacles(y, x_begin, x_end, obstacle);
    touched_.Add(y, x_begin, x_end);
  };
  for (const Cell cell : shape.cells) {
    paint_row(cell.y, cell.x, cell.x + 1);
  }
  for (const Rectangle& rectangle : shape.rectangles) {
    const Rectangle inside = Intersect(rectangle, base_.bounds());
    result.clipped_cells = SaturatingAdd(result.clipped_cells, rectangle.area() - inside.area());
    for (int y = inside.y; y < inside.y + inside.height; ++y) {
      paint_row(y, inside.x, inside.x + inside.width);
    }
  }
}

void BatchEditor::CountChanges(const GridMap& before, BatchResult& result) {
  touched_.ForEach([&](const TouchedRows::Span& span) {
    const Word* old_obstacles = before.ObstacleRow(span.y);
    const Word* obstacles = editor_.map().ObstacleRow(span.y);
    ForEachWord(span.x_begin, span.x_end, [&](std::size_t i, Word mask) {
      if (const Word changed = (old_obstacles[i] ^ obstacles[i]) & mask; changed != 0) {
        result.changed_cells += std::popcount(changed);
        const auto first = static_cast<std::int32_t>(i) * kWordBits - 1;
        result.changed_bounds = Extend(result.changed_bounds, {first + std::countr_zero(changed), span.y});
        result.changed_bounds =
            Extend(result.changed_bounds, {first + kWordBits - 1 - std::countl_zero(changed), span.y});
      }
    });
  });
  touched_.Clear();
}

}  // namespace waystar::core
