#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/core/codec/fields.h"
#include "server/core/codec/map_image.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/edit/edit_plan.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/elements/portal.h"
#include "server/core/elements/profile_table.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/map/terrain_tiles.h"
#include "server/core/grid/shapes/shape_raster.h"

namespace waystar::core {
namespace {

// Bit of the fill byte that marks a nameless obstacle; the other bits are a terrain.
constexpr std::uint8_t kObstacleBit = GridMapEditor::kObstacle;
static_assert(kObstacleBit == 0x80);

// Encoding of a row's terrains.
enum class Terrains : std::uint8_t { kAsAbove, kRuns, kCells };

// Shorter average runs are slower to read than single cells.
constexpr int kCellsPerRun = 8;

// A row of cells, as GridMapEditor::SetRow takes it.
struct CellRow {
  CellRow(int width, std::uint8_t fill)
      : terrains(static_cast<std::size_t>(width), static_cast<TerrainId>(fill & ~kObstacleBit)),
        nameless(static_cast<std::size_t>(WordsPerRow(width)), 0) {
    if ((fill & kObstacleBit) != 0) {
      ForEachWord(0, width, [&](std::size_t i, Word mask) { nameless[i] = mask; });
    }
  }

  int width() const { return static_cast<int>(terrains.size()); }

  std::vector<TerrainId> terrains;
  std::vector<Word> nameless;
};

// Returns the number of bytes for the bits of a row (bit_row.h).
std::size_t BitBytes(int width) { return static_cast<std::size_t>(width) / 8 + 1; }

void WriteTerrains(const std::vector<TerrainId>& row, BlockWriter& to) {
  int runs = 1;
  for (std::size_t x = 1; x < row.size(); ++x) {
    runs += row[x] != row[x - 1] ? 1 : 0;
  }
  if (static_cast<std::size_t>(runs - 1) * kCellsPerRun >= row.size()) {
    to.PutByte(static_cast<std::uint8_t>(Terrains::kCells));
    to.PutBytes({reinterpret_cast<const char*>(row.data()), row.size()});
    return;
  }
  to.PutByte(static_cast<std::uint8_t>(Terrains::kRuns));
  for (auto run = row.begin(); run != row.end();) {
    const auto end = std::find_if(run, row.end(), [&](TerrainId cell) { return cell != *run; });
    to.PutByte(*run);
    to.PutNumber(static_cast<std::uint64_t>(end - run));
    run = end;
  }
}

void WriteNameless(const CellRow& row, BlockWriter& to) {
  std::string bytes(BitBytes(row.width()), '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(row.nameless[i / 8] >> i % 8 * 8);
  }
  to.PutBytes(bytes);
}

void WriteCells(const GridMap& map, BlockWriter& to, const StopCheck* stop) {
  // Guess of the most frequent cell; it costs the reader nothing.
  const Cell middle{map.width() / 2, map.height() / 2};
  const auto fill =
      static_cast<std::uint8_t>(map.TerrainAt(middle) | (map.HasNamelessObstacle(middle) ? kObstacleBit : 0));
  to.PutByte(fill);
  CellRow above(map.width(), fill);
  CellRow row = above;
  for (int y = 0; y < map.height() && !IsStopped(stop); ++y) {
    std::copy_n(map.TerrainRow(y), row.terrains.size(), row.terrains.begin());
    for (std::size_t i = 0; i < row.nameless.size(); ++i) {
      row.nameless[i] = map.NamelessWord(y, i);
    }
    if (row.terrains == above.terrains) {
      to.PutByte(static_cast<std::uint8_t>(Terrains::kAsAbove));
    } else {
      WriteTerrains(row.terrains, to);
    }
    const bool has_other_obstacles = row.nameless != above.nameless;
    to.PutBool(has_other_obstacles);
    if (has_other_obstacles) {
      WriteNameless(row, to);
    }
    std::swap(row, above);
  }
}

// Reads and checks rows of cells. Each row is encoded relative to the one above.
class RowReader {
 public:
  RowReader(BlockReader& from, std::size_t terrains, int width)
      : from_(from), terrains_(terrains), nameless_(BitBytes(width)) {}

  void CheckTerrain(TerrainId terrain) {
    if (terrain >= terrains_) {
      from_.Fail(absl::StrCat("a cell has terrain ", terrain, " of ", terrains_));
    }
  }

  void Read(CellRow& row) {
    switch (static_cast<Terrains>(from_.Number(static_cast<std::uint64_t>(Terrains::kCells)))) {
      case Terrains::kAsAbove:
        break;
      case Terrains::kRuns:
        ReadRuns(row);
        break;
      case Terrains::kCells:
        from_.Bytes(reinterpret_cast<char*>(row.terrains.data()), row.terrains.size());
        CheckTerrain(*std::ranges::max_element(row.terrains));
        break;
    }
    if (from_.Bool()) {
      ReadNameless(row);
    }
  }

 private:
  void ReadRuns(CellRow& row) {
    for (std::size_t x = 0; x < row.terrains.size() && from_.ok();) {
      const TerrainId terrain = from_.Byte();
      CheckTerrain(terrain);
      const std::uint64_t cells = from_.Number(row.terrains.size() - x);
      if (cells == 0) {
        from_.Fail("a run has no cell");
      }
      std::fill_n(row.terrains.begin() + static_cast<std::ptrdiff_t>(x), cells, terrain);
      x += cells;
    }
  }

  void ReadNameless(CellRow& row) {
    from_.Bytes(reinterpret_cast<char*>(nameless_.data()), nameless_.size());
    bool is_beside = false;
    for (std::size_t i = 0; i < row.nameless.size(); ++i) {
      row.nameless[i] =
          EightCells(nameless_.data(), static_cast<int>(nameless_.size()), static_cast<int>(i) * kEight);
      is_beside = is_beside || (row.nameless[i] & ~SpanMask(i, 0, row.width())) != 0;
    }
    if (is_beside) {
      from_.Fail("an obstacle lies beside its row");
    }
  }

  BlockReader& from_;
  const std::size_t terrains_;
  // Bits of a row's nameless obstacles, as stored in the image.
  std::vector<std::uint8_t> nameless_;
};

absl::StatusOr<GridMap> ReadCells(BlockReader& from, int width, int height, GridSettings settings,
                                  const StopCheck* stop) {
  RowReader reader(from, settings.terrains.size(), width);
  const std::uint8_t fill = from.Byte();
  const auto terrain = static_cast<TerrainId>(fill & ~kObstacleBit);
  reader.CheckTerrain(terrain);
  WAYSTAR_RETURN_IF_ERROR(from.status());
  WAYSTAR_ASSIGN_OR_RETURN(const GridMap blank, GridMap::Create(width, height, std::move(settings), terrain,
                                                                (fill & kObstacleBit) != 0, stop));
  GridMapEditor editor(blank);
  const CellRow blank_row(width, fill);
  CellRow row = blank_row;
  for (int y = 0; y < height; ++y) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    reader.Read(row);
    WAYSTAR_RETURN_IF_ERROR(from.status());
    absl::Span<const TerrainId> other_terrains;
    if (row.terrains != blank_row.terrains) {
      other_terrains = row.terrains;
    }
    if (!other_terrains.empty() || row.nameless != blank_row.nameless) {
      editor.SetRow(y, other_terrains, row.nameless);
    }
  }
  return std::move(editor).Finish();
}

// Turns an error about a value into one with its position in the image. Returns the reader's status.
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
    auto obstacle = ReadValue<std::shared_ptr<const Obstacle>>(from);
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

// Portals and profiles are checked like those of an update.
absl::StatusOr<EditPlan> ReadTables(BlockReader& from, const GridMap& map) {
  std::vector<Edit> edits;
  for (std::uint64_t left = from.Number(kMaxProfiles); left > 0 && from.ok(); --left) {
    edits.push_back(PutProfile{.named = ReadValue<NamedProfile>(from)});
  }
  for (std::uint64_t left = from.Number(kMaxPortals); left > 0 && from.ok(); --left) {
    edits.push_back(PutPortal{.portal = ReadValue<Portal>(from)});
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

void WriteBody(const GridMap& map, BlockWriter& to, const StopCheck* stop) {
  to.PutNumber(static_cast<std::uint64_t>(map.width()));
  to.PutNumber(static_cast<std::uint64_t>(map.height()));
  WriteValue(map.settings(), to);
  WriteCells(map, to, stop);
  to.PutNumber(map.profiles().size());
  for (const NamedProfile& profile : map.profiles()) {
    WriteValue(profile, to);
  }
  WriteTable<Portal>(map.portals(), to, stop);
  WriteTable<Obstacle>(map.obstacles(), to, stop);
}

absl::StatusOr<GridMap> ReadGrid(BlockReader& from, const ImageLimits& limits) {
  const int width = static_cast<int>(from.Number(static_cast<std::uint64_t>(limits.max_side)));
  const int height = static_cast<int>(from.Number(static_cast<std::uint64_t>(limits.max_side)));
  GridSettings settings = ReadValue<GridSettings>(from);
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
