#include "server/core/image/grid_image.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "server/base/status_macros.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/edit/edit_plan.h"
#include "server/core/image/map_values.h"
#include "server/core/map/grid_map_editor.h"
#include "server/core/map/obstacle_table.h"
#include "server/core/map/portal.h"
#include "server/core/shape/shape_raster.h"

namespace waystar::core {
namespace {

// A cell is a byte, as GridMapEditor::SetRow takes it: its terrain, and this bit for a nameless obstacle.
constexpr std::uint8_t kObstacleBit = GridMapEditor::kObstacle;
static_assert(kObstacleBit == 0x80);

std::uint8_t CellByte(const GridMap& map, Cell cell) {
  return static_cast<std::uint8_t>(map.TerrainAt(cell) | (map.HasNamelessObstacle(cell) ? kObstacleBit : 0));
}

void FillRow(const GridMap& map, int y, std::string& row) {
  std::memcpy(row.data(), map.TerrainRow(y), row.size());
  for (int i = 0; i < WordsPerRow(map.width()); ++i) {
    const WordChange nameless{y, i, map.NamelessWord(y, static_cast<std::size_t>(i))};
    ForEachCell(nameless, [&](Cell cell) {
      char& byte = row[static_cast<std::size_t>(cell.x)];
      byte = static_cast<char>(static_cast<std::uint8_t>(byte) | kObstacleBit);
    });
  }
}

void WriteCells(const GridMap& map, BlockWriter& to, const StopCheck* stop) {
  // A guess at what most cells are, which costs a reader nothing.
  const std::uint8_t fill = CellByte(map, {map.width() / 2, map.height() / 2});
  to.PutByte(fill);
  std::string above(static_cast<std::size_t>(map.width()), static_cast<char>(fill));
  std::string row = above;
  for (int y = 0; y < map.height() && !IsStopped(stop); ++y) {
    FillRow(map, y, row);
    const bool is_other = row != above;
    to.PutBool(is_other);
    if (is_other) {
      to.PutBytes(row);
      row.swap(above);
    }
  }
}

absl::StatusOr<GridMap> ReadCells(BlockReader& from, int width, int height, GridSettings settings,
                                  const StopCheck* stop) {
  const std::size_t terrains = settings.terrains.size();
  const auto check = [&](absl::Span<const std::uint8_t> cells) {
    std::uint8_t highest = 0;
    for (const std::uint8_t cell : cells) {
      highest = std::max<std::uint8_t>(highest, cell & ~kObstacleBit);
    }
    if (highest >= terrains) {
      from.Fail(absl::StrCat("a cell has terrain ", highest, " of ", terrains));
    }
  };
  const std::uint8_t fill = from.Byte();
  check({&fill, 1});
  WAYSTAR_RETURN_IF_ERROR(from.status());
  WAYSTAR_ASSIGN_OR_RETURN(const GridMap blank, GridMap::Create(width, height, std::move(settings),
                                                                static_cast<TerrainId>(fill & ~kObstacleBit),
                                                                (fill & kObstacleBit) != 0, stop));
  GridMapEditor editor(blank);
  std::vector<std::uint8_t> row(static_cast<std::size_t>(width), fill);
  bool is_blank = true;
  for (int y = 0; y < height; ++y) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    if (from.Bool()) {
      from.Bytes(reinterpret_cast<char*>(row.data()), row.size());
      check(row);
      is_blank = std::ranges::all_of(row, [&](std::uint8_t cell) { return cell == fill; });
    }
    WAYSTAR_RETURN_IF_ERROR(from.status());
    if (!is_blank) {
      editor.SetRow(y, row);
    }
  }
  return std::move(editor).Finish();
}

// Says of an error of what was read where it was read.
absl::Status Damaged(const absl::Status& status, BlockReader& from) {
  if (!status.ok()) {
    from.Fail(status.message());
  }
  return from.status();
}

absl::Status ReadObstacles(BlockReader& from, const GridMap& map, const ImageLimits& limits, EditPlan& plan) {
  ObstacleTable table(map.bounds(), map.lattice());
  std::int64_t cells = 0;
  for (std::uint64_t left = from.Number(kMaxObstacles); left > 0; --left) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(limits.stop));
    auto obstacle = std::make_shared<const Obstacle>(ReadObstacle(from));
    WAYSTAR_RETURN_IF_ERROR(from.status());
    WAYSTAR_RETURN_IF_ERROR(Damaged(CheckObstacle(*obstacle, map.bounds()), from));
    if (table.Find(obstacle->id) != nullptr) {
      from.Fail("two obstacles have one id");
    }
    const bool is_block = obstacle->effect.kind == ObstacleEffect::Kind::kBlock;
    cells += WorkOf(obstacle->shape, map.bounds()) * (is_block ? 1 : kWorkOfCost);
    if (cells > limits.max_obstacle_cells) {
      from.Fail("its obstacles cover more cells than they may");
    }
    WAYSTAR_RETURN_IF_ERROR(from.status());
    table.Put(obstacle);
    plan.edits.push_back({.kind = PlannedEdit::Kind::kReplace, .after = std::move(obstacle)});
  }
  plan.obstacles = std::make_shared<const ObstacleTable>(std::move(table));
  return from.status();
}

// Portals and profiles are checked as those that an update puts.
absl::StatusOr<EditPlan> ReadTables(BlockReader& from, const GridMap& map) {
  std::vector<Edit> edits;
  for (std::uint64_t left = from.Number(kMaxProfiles); left > 0 && from.ok(); --left) {
    edits.push_back(PutProfile{.named = ReadProfile(from)});
  }
  for (std::uint64_t left = from.Number(kMaxPortals); left > 0 && from.ok(); --left) {
    edits.push_back(PutPortal{.portal = ReadPortal(from)});
  }
  WAYSTAR_RETURN_IF_ERROR(from.status());
  if (edits.empty()) {
    return EditPlan();
  }
  absl::StatusOr<EditPlan> plan = PlanEdits(map, edits, absl::UnixEpoch());
  WAYSTAR_RETURN_IF_ERROR(Damaged(plan.status(), from));
  return plan;
}

}  // namespace

void WriteGrid(const GridMap& map, BlockWriter& to, const StopCheck* stop) {
  to.PutNumber(static_cast<std::uint64_t>(map.width()));
  to.PutNumber(static_cast<std::uint64_t>(map.height()));
  WriteSettings(map.settings(), to);
  WriteCells(map, to, stop);
  to.PutNumber(map.profiles().size());
  for (const NamedProfile& profile : map.profiles()) {
    WriteProfile(profile, to);
  }
  to.PutNumber(map.portals().size());
  map.portals().VisitAfter("", [&](const Portal& portal) {
    WritePortal(portal, to);
    return true;
  });
  to.PutNumber(map.obstacles().size());
  map.obstacles().VisitAfter("", [&](const Obstacle& obstacle) {
    WriteObstacle(obstacle, to);
    return !IsStopped(stop);
  });
}

absl::StatusOr<GridMap> ReadGrid(BlockReader& from, const ImageLimits& limits) {
  const int width = static_cast<int>(from.Number(static_cast<std::uint64_t>(limits.max_side)));
  const int height = static_cast<int>(from.Number(static_cast<std::uint64_t>(limits.max_side)));
  GridSettings settings = ReadSettings(from);
  WAYSTAR_RETURN_IF_ERROR(from.status());
  WAYSTAR_RETURN_IF_ERROR(Damaged(CheckMapSize(width, height, limits.max_side), from));
  WAYSTAR_RETURN_IF_ERROR(Damaged(CheckGridSettings(settings), from));
  const std::optional<HexBoard>& board = settings.frame.hexagons;
  if (board && HasOffsets(board->layout) &&
      (board->plane_width() != width || board->plane_height() != height)) {
    from.Fail("its board of hexagons has another size");
    return from.status();
  }
  WAYSTAR_ASSIGN_OR_RETURN(const GridMap ground,
                           ReadCells(from, width, height, std::move(settings), limits.stop));
  WAYSTAR_ASSIGN_OR_RETURN(EditPlan plan, ReadTables(from, ground));
  WAYSTAR_RETURN_IF_ERROR(ReadObstacles(from, ground, limits, plan));
  BatchEditor editor(ground);
  WAYSTAR_RETURN_IF_ERROR(editor.Paint(plan, limits.stop));
  return std::move(editor).Finish().map;
}

}  // namespace waystar::core
