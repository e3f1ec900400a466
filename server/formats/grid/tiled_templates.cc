#include "server/formats/grid/tiled_templates.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/file_errors.h"
#include "server/base/status_macros.h"

namespace waystar::core {
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

TileRef TileIn(const TiledTileset& tileset, std::uint32_t number) {
  const auto tile = std::find_if(tileset.tiles.begin(), tileset.tiles.end(), [&](const TiledTile& known) {
    return known.id == number - tileset.first_gid;
  });
  return {.tileset = &tileset, .tile = tile == tileset.tiles.end() ? nullptr : &*tile};
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
    entry.picture = TileIn(tileset, tile);
    // An instance with another tile keeps this class, but has the properties of its own tile.
    TiledObject& object = entry.made.object;
    if (entry.picture.tile != nullptr && !object.class_name && !entry.picture.tile->class_name.empty()) {
      object.class_name = entry.picture.tile->class_name;
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
