#include "server/core/grid/map/grid_map.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/elements/element_hash.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/cost_floor.h"
#include "server/core/grid/map/profile_views.h"

namespace waystar::core {
namespace {

absl::Status CheckSide(absl::string_view field, std::int64_t side, int max_side) {
  if (side >= 1 && side <= max_side) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kBadSize, field,
                   absl::StrCat("a map's ", field, " must be 1 to ", max_side, " cells, got ", side));
}

std::uint64_t DigestOf(int width, int height, const GridSettings& settings) {
  ElementHash hash(ElementKind::kGrid);
  hash.AddSigned(width);
  hash.AddSigned(height);
  hash.Add(static_cast<std::uint64_t>(settings.connectivity));
  hash.AddDouble(settings.diagonal_cost);
  hash.Add(settings.terrains.size());
  for (const Terrain& terrain : settings.terrains) {
    hash.Add(static_cast<std::uint8_t>(terrain.symbol));
    hash.AddText(terrain.name);
    hash.AddDouble(terrain.cost);
    hash.Add(terrain.impassable ? 1 : 0);
  }
  hash.AddText(settings.world);
  hash.AddDouble(settings.frame.origin.x);
  hash.AddDouble(settings.frame.origin.y);
  hash.AddDouble(settings.frame.origin.z);
  hash.AddDouble(settings.frame.cell_size);
  hash.Add(settings.frame.hexagons ? 1 : 0);
  if (const std::optional<HexBoard>& board = settings.frame.hexagons) {
    hash.Add(static_cast<std::uint64_t>(board->layout));
    hash.AddSigned(board->columns);
    hash.AddSigned(board->rows);
  }
  return hash.value();
}

// Returns the digest of the cells of a uniform map, or the error of `stop`.
absl::StatusOr<std::uint64_t> DigestOfCells(int width, int height, TerrainId fill, bool blocked,
                                            const StopCheck* stop) {
  std::uint64_t digest = 0;
  for (int y = 0; fill != 0 && y < height; ++y) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    for (int x = 0; x < width; x += 8) {
      const std::uint64_t eight = std::uint64_t{fill} * 0x0101010101010101U;
      digest += DigestOfChange(ElementKind::kTerrains, y, static_cast<std::size_t>(x) / 8, 0,
                               eight >> 8 * std::max(0, x + 8 - width));
    }
  }
  for (int y = 0; blocked && y < height; ++y) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    ForEachWord(0, width, [&](std::size_t i, Word mask) {
      digest += DigestOfChange(ElementKind::kObstacles, y, i, 0, mask);
    });
  }
  return digest;
}

}  // namespace

absl::Status CheckMapSize(std::int64_t width, std::int64_t height, int max_side) {
  WAYSTAR_RETURN_IF_ERROR(CheckSide("width", width, max_side));
  return CheckSide("height", height, max_side);
}

absl::StatusOr<GridMap> GridMap::Create(std::int64_t width, std::int64_t height, GridSettings settings,
                                        TerrainId fill, bool blocked, const StopCheck* stop) {
  WAYSTAR_RETURN_IF_ERROR(CheckMapSize(width, height, kMaxMapSide));
  WAYSTAR_RETURN_IF_ERROR(CheckGridSettings(settings));
  WAYSTAR_ASSIGN_OR_RETURN(
      const std::uint64_t cells_digest,
      DigestOfCells(static_cast<int>(width), static_cast<int>(height), fill, blocked, stop));
  const bool passable = !settings.terrains[fill].impassable;
  const bool walkable = passable && !blocked;

  GridMap map;
  map.width_ = static_cast<int>(width);
  map.height_ = static_cast<int>(height);
  map.constants_ = std::make_shared<const Constants>(std::move(settings));
  map.min_straight_ = map.step_costs().min_straight;
  map.min_diagonal_ = map.step_costs().min_diagonal;
  map.terrain_ = Plane<TerrainId>(map.height_, std::vector<TerrainId>(static_cast<std::size_t>(width), fill));
  map.terrain_tiles_ = TerrainTiles(map.width_, map.height_, fill);
  map.passable_ = BitPlane(map.width_, map.height_, passable);
  map.obstacle_table_ = std::make_shared<const ObstacleTable>(map.bounds(), map.lattice());
  map.portal_table_ = std::make_shared<const PortalTable>();
  map.cover_counts_ =
      Plane<std::uint16_t>(map.height_, std::vector<std::uint16_t>(static_cast<std::size_t>(width), 0));
  map.covered_ = BitPlane(map.width_, map.height_, false);
  map.walkable_ = BitPlane(map.width_, map.height_, walkable);
  map.hidden_ = BitPlane(map.width_, map.height_, blocked && !passable);
  map.walk_ = std::make_shared<const WalkGrid>(map.walkable_);
  map.footprint_grids_ = std::make_shared<const FootprintGrids>();
  map.static_index_ = std::make_shared<StaticIndexSlot>();
  map.plain_cells_ = std::make_shared<const Lazy<PlainCells>>();
  map.cost_survey_ = std::make_shared<const Lazy<CostSurvey>>();
  map.profiles_ = std::make_shared<const ProfileTable>();
  map.profile_views_ = std::make_shared<const ProfileViews>();
  map.walkable_cells_ = walkable ? width * height : 0;
  map.obstacle_cells_ = blocked ? width * height : 0;
  map.cells_digest_ = DigestOf(map.width_, map.height_, map.settings()) + cells_digest;
  return map;
}

void GridMap::Prepare(IndexMemory memory, const StopCheck* stop, LargeIndexes large_indexes) {
  const auto walk = std::make_shared<WalkGrid>(WalkCells(*walk_), std::move(memory));
  walk_ = walk;
  if (settings().connectivity == Connectivity::kSix) {
    walk->components(Adjacency::kHexagonal, stop);
    return;
  }
  const bool is_eight = settings().connectivity == Connectivity::kEight;
  if (large_indexes == LargeIndexes::kInBackground && HasUniformCost() &&
      (is_eight ? walk->TryPostponeDiagonalJumpIndex(CornerRule::kNoCornerCutting)
                : walk->TryPostponeTurnJumpIndex())) {
    return;
  }
  walk->components(Adjacency::kStraight, stop);
  if (!HasUniformCost()) {
    return;
  }
  if (is_eight) {
    walk->MakeDiagonalJumpIndex(CornerRule::kNoCornerCutting, stop);
  } else {
    walk->MakeTurnJumpIndex(stop);
  }
}

const CostSurvey& GridMap::survey() const {
  return cost_survey_->Get([&] { return CostSurvey::Of(*this); });
}

const CostFloor& GridMap::cost_floor() const { return survey().floor; }

bool GridMap::HasNoisyCosts() const { return survey().is_noise; }

void GridMap::DropViews(bool used_too) const {
  footprint_grids_->Drop(used_too);
  profile_views_->Drop(used_too);
}

bool GridMap::BuildInBackground(CancelFlag cancelled) const {
  const bool has_made = walk_->BuildInBackground(cancelled);
  return footprint_grids_->BuildInBackground(cancelled) || has_made;
}

void GridMap::FollowCloser(const GridMap& before) const {
  walk_->FollowCloser(*before.walk_);
  footprint_grids_->FollowCloser(*before.footprint_grids_);
}

std::uint64_t GridMap::digest() const {
  return cells_digest_ + profiles_digest_ + obstacle_table_->digest() + portal_table_->digest();
}

std::size_t GridMap::memory_bytes() const {
  MemoryUse use;
  AddTo(use);
  return use.total() - use.promised;
}

void GridMap::AddTo(MemoryUse& use) const {
  const PlainCells* plain_cells = plain_cells_->GetIfMade();
  const std::shared_ptr<const StaticIndexSlot::Held> held = static_index_->held();
  use.views += footprint_grids_->memory_bytes();
  for (const ProfileViews::View& view : profile_views_->Held()) {
    use.views += view.map->BytesBeyond(*this);
  }
  use.indexes +=
      walk_->index_bytes() + (plain_cells == nullptr ? 0 : plain_cells->memory_bytes()) +
      (held == nullptr ? 0
                       : held->index->memory_bytes() + held->index->cells().rows().BytesBeyond(walkable_) +
                             held->index->cells().columns().BytesBeyond(walk_->columns()));
  use.promised += walk_->promised_bytes();
  use.maps += sizeof(*this) + sizeof(*constants_) + sizeof(*walk_) + terrain_.memory_bytes() +
              terrain_tiles_.memory_bytes() + (cell_costs_ == nullptr ? 0 : cell_costs_->memory_bytes()) +
              passable_.memory_bytes() + walkable_.memory_bytes() + hidden_.memory_bytes() +
              obstacle_table_->memory_bytes() + portal_table_->memory_bytes() + cover_counts_.memory_bytes() +
              covered_.memory_bytes();
}

std::size_t GridMap::BytesBeyond(const GridMap& other) const {
  const std::size_t viewed = viewed_ == nullptr ? 0
                                                : viewed_->hidden.BytesBeyond(other.hidden_) +
                                                      viewed_->walkable.BytesBeyond(other.walkable_);
  std::size_t views = 0;
  for (const ProfileViews::View& view : profile_views_->Held()) {
    const std::shared_ptr<const GridMap> same = other.profile_views_->FindHeld(*view.rules);
    const GridMap& before = same == nullptr ? other : *same;
    if (&before != view.map.get()) {
      views += view.map->DerivedBytesBeyond(before);
    }
  }
  return terrain_.BytesBeyond(other.terrain_) + terrain_tiles_.BytesBeyond(other.terrain_tiles_) + viewed +
         views + obstacle_table_->BytesBeyond(*other.obstacle_table_) +
         portal_table_->BytesBeyond(*other.portal_table_) + cover_counts_.BytesBeyond(other.cover_counts_) +
         covered_.BytesBeyond(other.covered_) + DerivedBytesBeyond(other);
}

std::size_t GridMap::DerivedBytesBeyond(const GridMap& other) const {
  const PlainCells* plain_cells = plain_cells_ == other.plain_cells_ ? nullptr : plain_cells_->GetIfMade();
  const std::shared_ptr<const StaticIndexSlot::Held> held = static_index_->held();
  const std::shared_ptr<const StaticIndexSlot::Held> others = other.static_index_->held();
  const bool has_own = held != nullptr && (others == nullptr || held->index != others->index);
  return sizeof(*this) + passable_.BytesBeyond(other.passable_) + hidden_.BytesBeyond(other.hidden_) +
         (cell_costs_ == nullptr ? 0 : cell_costs_->BytesBeyond(other.cell_costs_.get())) +
         walk_->BytesBeyond(*other.walk_) + footprint_grids_->BytesBeyond(*other.footprint_grids_) +
         (plain_cells == nullptr ? 0 : plain_cells->BytesBeyond(other.plain_cells_->GetIfMade())) +
         (has_own ? held->index->memory_bytes() : 0);
}

}  // namespace waystar::core
