#include "server/core/map/edit.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
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
#include "server/core/map/grid_map_editor.h"

namespace waystar::core {
namespace {

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

// Sets obstacles and keeps account of what differs from the map it started from.
class Painter {
 public:
  explicit Painter(const GridMap& old) : old_(old), editor_(old) {}

  void Paint(const Shape& shape, bool obstacle) {
    for (const Cell cell : shape.cells) {
      PaintRow(cell.y, cell.x, cell.x + 1, obstacle);
    }
    for (const Rectangle& rectangle : shape.rectangles) {
      const Rectangle inside = Intersect(rectangle, old_.bounds());
      clipped_cells_ = SaturatingAdd(clipped_cells_, rectangle.area() - inside.area());
      for (std::int32_t y = inside.y; y < inside.y + inside.height; ++y) {
        PaintRow(y, inside.x, inside.x + inside.width, obstacle);
      }
    }
  }

  EditResult Finish() && {
    if (has_reverted_) {
      const Rectangle touched = changed_bounds_;
      changed_bounds_ = {};
      for (std::int32_t y = touched.y; y < touched.y + touched.height; ++y) {
        ExtendBounds(y, touched.x, touched.x + touched.width);
      }
    }
    return {.map = std::move(editor_).Finish(),
            .changed_cells = changed_cells_,
            .changed_bounds = changed_bounds_,
            .clipped_cells = clipped_cells_};
  }

 private:
  static std::int64_t SaturatingAdd(std::int64_t a, std::int64_t b) {
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    return a > kMax - b ? kMax : a + b;
  }

  void PaintRow(std::int32_t y, std::int32_t x_begin, std::int32_t x_end, bool obstacle) {
    const std::int64_t before = CountChanged(y, x_begin, x_end);
    editor_.SetObstacles(y, x_begin, x_end, obstacle);
    const std::int64_t after = CountChanged(y, x_begin, x_end);
    changed_cells_ += after - before;
    // What an earlier edit of the batch changed, this one may have changed back.
    has_reverted_ = has_reverted_ || before > 0;
    ExtendBounds(y, x_begin, x_end);
  }

  std::int64_t CountChanged(std::int32_t y, std::int32_t x_begin, std::int32_t x_end) const {
    std::int64_t count = 0;
    const Word* before = old_.ObstacleRow(y);
    const Word* now = editor_.map().ObstacleRow(y);
    ForEachWord(x_begin, x_end,
                [&](std::size_t i, Word mask) { count += std::popcount((before[i] ^ now[i]) & mask); });
    return count;
  }

  // Takes the changed cells of a part of a row into the bounds.
  void ExtendBounds(std::int32_t y, std::int32_t x_begin, std::int32_t x_end) {
    const Word* before = old_.ObstacleRow(y);
    const Word* now = editor_.map().ObstacleRow(y);
    ForEachWord(x_begin, x_end, [&](std::size_t i, Word mask) {
      if (const Word changed = (before[i] ^ now[i]) & mask; changed != 0) {
        const auto first = static_cast<std::int32_t>(i) * kWordBits - 1;
        changed_bounds_ = Extend(changed_bounds_, {first + std::countr_zero(changed), y});
        changed_bounds_ = Extend(changed_bounds_, {first + kWordBits - 1 - std::countl_zero(changed), y});
      }
    });
  }

  const GridMap& old_;
  GridMapEditor editor_;
  std::int64_t changed_cells_ = 0;
  std::int64_t clipped_cells_ = 0;
  Rectangle changed_bounds_;
  bool has_reverted_ = false;
};

}  // namespace

absl::StatusOr<EditResult> ApplyEdits(const GridMap& map, absl::Span<const Edit> edits) {
  WAYSTAR_RETURN_IF_ERROR(CheckEdits(map, edits));
  Painter painter(map);
  for (const Edit& edit : edits) {
    painter.Paint(NamelessShape(edit), std::holds_alternative<BlockCells>(edit));
  }
  return std::move(painter).Finish();
}

}  // namespace waystar::core
