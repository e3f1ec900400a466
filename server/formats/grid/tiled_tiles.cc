#include "server/formats/grid/tiled_tiles.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"

namespace waystar::core {
namespace {

// Replaces characters that terrain names cannot have; they are printable ASCII without spaces.
std::string NameOf(absl::string_view text) {
  std::string name(text.substr(0, kMaxTerrainNameBytes));
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !absl::ascii_isgraph(c); }, '_');
  return name;
}

}  // namespace

const CellRule* RuleOfName(const std::string& name, const TerrainMapping& mapping) {
  for (const std::string& spelling : {name, NameOf(name)}) {
    if (const auto known = mapping.names.find(spelling); known != mapping.names.end()) {
      return &known->second;
    }
  }
  return nullptr;
}

absl::StatusOr<std::optional<CellRule>> RuleOfProperties(const TiledProperties& properties,
                                                         const std::string& class_name,
                                                         const TerrainMapping& mapping) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<bool> blocked, SaysBlocked(properties));
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<double> cost, FindNumber(properties, "cost"));
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<bool> impassable, FindFlag(properties, "impassable"));
  const std::string* const terrain = FindProperty(properties, "terrain");
  const std::string* const symbol = FindProperty(properties, "symbol");
  if (symbol != nullptr && symbol->size() != 1) {
    return MakeError(ErrorReason::kBadTerrain, "",
                     absl::StrCat("the property \"symbol\" is ", Quoted(*symbol), ", not one character"));
  }
  if (blocked.value_or(false)) {
    return CellRule{.blocked = true};
  }
  const std::string& name = terrain == nullptr ? class_name : *terrain;
  CellRule rule{.name = NameOf(name)};
  if (const CellRule* const known = RuleOfName(name, mapping)) {
    if (!(known->blocked && (blocked || impassable))) {
      rule = *known;
    }
    // Properties in the file take precedence over the mapping.
    const bool is_impassable = !blocked && impassable.value_or(rule.impassable);
    if (is_impassable != rule.impassable) {
      rule.impassable = is_impassable;
      // The symbol belongs to the mapping's own terrain.
      rule.symbol = '\0';
    }
    return rule;
  }
  if (!blocked && !cost && !impassable && terrain == nullptr) {
    return std::nullopt;
  }
  rule.cost = cost.value_or(rule.cost);
  rule.impassable = impassable.value_or(false);
  rule.symbol = symbol == nullptr ? '\0' : symbol->front();
  return rule;
}

TiledTiles::TiledTiles(const std::vector<TiledTileset>& tilesets, const TerrainMapping& mapping,
                       TerrainTable& terrains, ImportNotes& notes)
    : mapping_(mapping), terrains_(terrains), notes_(notes) {
  tilesets_.reserve(tilesets.size());
  for (const TiledTileset& tileset : tilesets) {
    tilesets_.push_back(&tileset);
  }
  std::stable_sort(tilesets_.begin(), tilesets_.end(),
                   [](const auto* a, const auto* b) { return a->first_gid < b->first_gid; });
  for (std::size_t i = 0; i < tilesets_.size(); ++i) {
    const TiledTileset& tileset = *tilesets_[i];
    const std::uint64_t end =
        i + 1 < tilesets_.size() ? tilesets_[i + 1]->first_gid : std::numeric_limits<std::uint32_t>::max();
    for (const auto& [id, tile] : tileset.tiles) {
      if (const std::uint64_t gid = std::uint64_t{tileset.first_gid} + id; gid < end) {
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
  const auto found = entries_.find(gid);
  if (found == entries_.end()) {
    WAYSTAR_RETURN_IF_ERROR(Find(gid).status());
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

absl::StatusOr<TileRef> TiledTiles::Find(std::uint32_t gid) const {
  const auto next =
      std::upper_bound(tilesets_.begin(), tilesets_.end(), gid,
                       [](std::uint32_t value, const auto* set) { return value < set->first_gid; });
  if (next == tilesets_.begin()) {
    return BadFormat(absl::StrCat("tile ", gid, " is in no tileset"));
  }
  const auto found = entries_.find(gid);
  return TileRef{.tileset = *(next - 1), .tile = found == entries_.end() ? nullptr : found->second.tile};
}

absl::StatusOr<std::optional<TerrainId>> TiledTiles::Learn(const TiledTile& tile) {
  WAYSTAR_ASSIGN_OR_RETURN(std::optional<CellRule> rule,
                           RuleOfProperties(tile.properties, tile.class_name, mapping_));
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<bool> says, SaysImpassable(tile.properties));
  const std::string* const terrain = FindProperty(tile.properties, "terrain");
  if (!tile.shapes.empty() && !says &&
      RuleOfName(terrain == nullptr ? tile.class_name : *terrain, mapping_) == nullptr) {
    rule = CellRule{.blocked = true};
  }
  NoteOthers(tile.properties, {"blocked", "collides", "walkable", "impassable", "cost", "terrain", "symbol"},
             absl::StrCat("tile ", tile.id, " on a layer of tiles"), notes_);
  if (!rule) {
    if (SoundsLikeWall(tile.class_name)) {
      notes_.Add("tiles of classes that sound like walls do not block by that alone",
                 absl::StrCat("tile ", tile.id, ", class ", Quoted(tile.class_name)));
    }
    return std::nullopt;
  }
  WAYSTAR_ASSIGN_OR_RETURN(const TerrainId id, terrains_.Add(*rule));
  return id;
}

namespace {

template <typename T>
void TakeMissing(const std::optional<T>& other, std::optional<T>& own) {
  if (!own) {
    own = other;
  }
}

void TakeFromTemplate(const TiledObject& other, TiledObject& object) {
  TakeMissing(other.name, object.name);
  TakeMissing(other.class_name, object.class_name);
  TakeMissing(other.rotation, object.rotation);
  TakeMissing(other.visible, object.visible);
  if (object.width.value_or(0.0) <= 0.0 || object.height.value_or(0.0) <= 0.0) {
    object.width = other.width;
    object.height = other.height;
  }
  if (!object.form) {
    object.form = other.form;
    object.points = other.points;
  }
  AddMissing(other.properties, object.properties);
}

void TakeFromTile(const TiledTile& tile, bool may_take_class, TiledObject& object) {
  if (may_take_class && !object.class_name && !tile.class_name.empty()) {
    object.class_name = tile.class_name;
  }
  AddMissing(tile.properties, object.properties);
}

}  // namespace

absl::Status LoadTileset(const NeighbourFiles& neighbours, ImportNotes& notes, TiledTileset& tileset) {
  const std::string name = absl::StrCat("the tileset ", Quoted(tileset.source));
  if (!neighbours) {
    return BadFormat(
        absl::StrCat(name, " is a file of its own: put it into the map, in Tiled by \"Embed Tileset\""));
  }
  const absl::StatusOr<std::string> bytes = neighbours(tileset.source);
  if (!bytes.ok()) {
    return BadFormat(absl::StrCat(name, ": ", bytes.status().message()));
  }
  notes.set_file(tileset.source);
  absl::StatusOr<TiledTileset> read = ParseTileset(*bytes, notes);
  notes.set_file("");
  if (!read.ok()) {
    return BadFormat(absl::StrCat(name, ": ", read.status().message()));
  }
  read->first_gid = tileset.first_gid;
  read->source.clear();
  tileset = *std::move(read);
  return absl::OkStatus();
}

absl::StatusOr<WholeObject> TiledTemplates::Complete(const TiledObject& object) {
  WholeObject whole{.object = object};
  const Entry* made_from = nullptr;
  if (!object.template_file.empty()) {
    made_from = &Find(object.template_file);
    whole.missing_template = made_from->missing;
  }
  const std::uint32_t own_tile = object.gid.value_or(0) & kTileBits;
  if (own_tile != 0) {
    WAYSTAR_ASSIGN_OR_RETURN(whole.picture, tiles_.Find(own_tile));
  }
  if (made_from != nullptr) {
    TakeFromTemplate(made_from->made.object, whole.object);
    if (own_tile == 0) {
      whole.picture = made_from->picture;
      whole.object.gid = made_from->made.object.gid;
    }
  }
  if (whole.picture.tile != nullptr) {
    TakeFromTile(*whole.picture.tile, made_from == nullptr || own_tile == 0, whole.object);
  }
  return whole;
}

const TiledTemplates::Entry& TiledTemplates::Find(const std::string& file) {
  if (const auto known = templates_.find(file); known != templates_.end()) {
    return *known->second;
  }
  const absl::StatusOr<std::string> bytes =
      neighbours_ ? neighbours_(file)
                  : absl::NotFoundError("only the map itself was sent, so load it by --maps_dir");
  std::unique_ptr<Entry>& entry = templates_[file];
  entry = std::make_unique<Entry>();
  if (!bytes.ok()) {
    entry->missing = std::string(bytes.status().message());
    return *entry;
  }
  if (const absl::Status status = Load(file, *bytes, *entry); !status.ok()) {
    *entry = {};
    entry->missing = std::string(status.message());
  }
  return *entry;
}

absl::Status TiledTemplates::Load(const std::string& file, absl::string_view bytes, Entry& entry) {
  notes_.set_file(file);
  absl::StatusOr<TiledTemplate> made = ParseTiledTemplate(bytes, notes_);
  notes_.set_file("");
  WAYSTAR_RETURN_IF_ERROR(made.status());
  entry.made = *std::move(made);
  if (!entry.made.tileset) {
    return absl::OkStatus();
  }
  TiledTileset& tileset = *entry.made.tileset;
  if (!tileset.source.empty()) {
    // The path is relative to the template.
    tileset.source =
        (std::filesystem::path(file).parent_path() / tileset.source).lexically_normal().generic_string();
    WAYSTAR_RETURN_IF_ERROR(LoadTileset(neighbours_, notes_, tileset));
  }
  if (const std::uint32_t tile = entry.made.object.gid.value_or(0) & kTileBits; tile != 0) {
    const auto found = tileset.tiles.find(tile - tileset.first_gid);
    entry.picture = {.tileset = &tileset, .tile = found == tileset.tiles.end() ? nullptr : &found->second};
    // An instance with another tile keeps this class, but has the properties of its own tile.
    TiledObject& object = entry.made.object;
    if (entry.picture.tile != nullptr && !object.class_name && !entry.picture.tile->class_name.empty()) {
      object.class_name = entry.picture.tile->class_name;
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
