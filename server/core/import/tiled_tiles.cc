#include "server/core/import/tiled_tiles.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/format/file_errors.h"

namespace waystar::core {
namespace {

std::optional<bool> FindFlag(const TiledProperties& properties, absl::string_view name) {
  const std::string* const text = FindProperty(properties, name);
  bool value = false;
  return text != nullptr && absl::SimpleAtob(*text, &value) ? std::optional(value) : std::nullopt;
}

// Names of terrains have no spaces, and letters of ASCII alone.
std::string NameOf(absl::string_view text) {
  std::string name(text.substr(0, kMaxTerrainNameBytes));
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !absl::ascii_isgraph(c); }, '_');
  return name;
}

absl::Status BadProperty(absl::string_view name, absl::string_view value, absl::string_view wanted) {
  return MakeError(
      ErrorReason::kBadTerrain, "",
      absl::StrCat("the property \"", name, "\" is \"", absl::CHexEscape(value), "\", not ", wanted));
}

absl::Status AddCost(const TiledProperties& properties, CellRule& rule) {
  if (const std::string* const cost = FindProperty(properties, "cost");
      cost != nullptr && !absl::SimpleAtod(*cost, &rule.cost)) {
    return BadProperty("cost", *cost, "a number");
  }
  if (const std::string* const symbol = FindProperty(properties, "symbol")) {
    if (symbol->size() != 1) {
      return BadProperty("symbol", *symbol, "one character");
    }
    rule.symbol = symbol->front();
  }
  rule.impassable = FindFlag(properties, "impassable").value_or(rule.impassable);
  return absl::OkStatus();
}

}  // namespace

std::optional<bool> SaysBlocked(const TiledProperties& properties) {
  for (const absl::string_view name : {"blocked", "collides"}) {
    if (const std::optional<bool> flag = FindFlag(properties, name)) {
      return flag;
    }
  }
  const std::optional<bool> walkable = FindFlag(properties, "walkable");
  return walkable ? std::optional(!*walkable) : std::nullopt;
}

absl::StatusOr<std::optional<CellRule>> RuleOfProperties(const TiledProperties& properties,
                                                         const std::string& class_name,
                                                         const TerrainMapping& mapping) {
  const std::optional<bool> blocked = SaysBlocked(properties);
  if (blocked.value_or(false)) {
    return CellRule{.blocked = true};
  }
  CellRule rule;
  const std::string* const terrain = FindProperty(properties, "terrain");
  rule.name = NameOf(terrain == nullptr ? class_name : *terrain);
  if (const auto known = mapping.names.find(rule.name); known != mapping.names.end()) {
    return known->second;
  }
  WAYSTAR_RETURN_IF_ERROR(AddCost(properties, rule));
  if (rule == CellRule{} && !blocked && FindProperty(properties, "cost") == nullptr) {
    return std::nullopt;
  }
  return rule;
}

TiledTiles::TiledTiles(const std::vector<TiledTileset>& tilesets, const TerrainMapping& mapping,
                       TerrainTable& terrains)
    : mapping_(mapping), terrains_(terrains) {
  std::vector<const TiledTileset*> in_order;
  in_order.reserve(tilesets.size());
  for (const TiledTileset& tileset : tilesets) {
    in_order.push_back(&tileset);
  }
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const auto* a, const auto* b) { return a->first_gid < b->first_gid; });
  first_gid_ = in_order.empty() ? std::numeric_limits<std::uint32_t>::max() : in_order.front()->first_gid;
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    const TiledTileset& tileset = *in_order[i];
    const std::uint64_t end =
        i + 1 < in_order.size() ? in_order[i + 1]->first_gid : std::numeric_limits<std::uint32_t>::max();
    for (const TiledTile& tile : tileset.tiles) {
      if (const std::uint64_t gid = std::uint64_t{tileset.first_gid} + tile.id; gid < end) {
        entries_.try_emplace(static_cast<std::uint32_t>(gid), Entry{.tile = &tile});
      }
    }
  }
}

absl::Status TiledTiles::ReserveSymbols() {
  WAYSTAR_RETURN_IF_ERROR(mapping_.ReserveSymbols(terrains_));
  std::vector<std::uint32_t> with_symbols;
  for (const auto& [gid, entry] : entries_) {
    if (FindProperty(entry.tile->properties, "symbol") != nullptr) {
      with_symbols.push_back(gid);
    }
  }
  std::sort(with_symbols.begin(), with_symbols.end());
  for (const std::uint32_t gid : with_symbols) {
    WAYSTAR_RETURN_IF_ERROR(MeaningOf(gid).status());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<TerrainId>> TiledTiles::MeaningOf(std::uint32_t gid) {
  if (gid < first_gid_) {
    return BadFormat(absl::StrCat("tile ", gid, " is in no tileset"));
  }
  const auto found = entries_.find(gid);
  if (found == entries_.end()) {
    return std::nullopt;
  }
  Entry& entry = found->second;
  if (!entry.is_known) {
    absl::StatusOr<std::optional<TerrainId>> meaning = Learn(*entry.tile);
    if (!meaning.ok()) {
      return MakeError(ErrorReason::kBadTerrain, "",
                       absl::StrCat("tile ", gid, ": ", meaning.status().message()));
    }
    entry.meaning = *meaning;
    entry.is_known = true;
  }
  return entry.meaning;
}

absl::StatusOr<std::optional<TerrainId>> TiledTiles::Learn(const TiledTile& tile) {
  WAYSTAR_ASSIGN_OR_RETURN(std::optional<CellRule> rule,
                           RuleOfProperties(tile.properties, tile.class_name, mapping_));
  if (tile.has_collision_shapes && !SaysBlocked(tile.properties)) {
    rule = CellRule{.blocked = true};
  }
  if (!rule) {
    return std::nullopt;
  }
  WAYSTAR_ASSIGN_OR_RETURN(const TerrainId id, terrains_.Add(*rule));
  return id;
}

}  // namespace waystar::core
