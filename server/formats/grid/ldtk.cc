#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/formats/grid/grid_readers.h"
#include "server/formats/grid/terrain_mapping.h"
#include "server/formats/text/rows.h"
#include "server/formats/text/text.h"

namespace waystar::core {
namespace {

constexpr int kMaxInt = 0x7FFF'FFFF;

// Returns the error of a level that cannot be a map.
absl::Status NoMap(const JsonValue& at_fault, absl::string_view message) {
  return absl::FailedPreconditionError(JsonError(at_fault, message).message());
}

bool HasValues(const JsonValue& layer) {
  const JsonValue* const csv = layer.Find("intGridCsv");
  const JsonValue::Numbers* const values = csv == nullptr ? nullptr : csv->numbers();
  return !layer.FindArray("intGrid").empty() ||
         (values != nullptr &&
          std::any_of(values->begin(), values->end(), [](double value) { return value != 0.0; }));
}

std::string NameOfInstance(const JsonValue& layer) {
  return absl::StrCat("layer ", Quoted(layer.FindString("__identifier")));
}

std::string PlaceOfInstance(const JsonValue& layer) {
  return absl::StrCat(NameOfInstance(layer), " (line ", layer.line(), ")");
}

// Returns the rule implied by an identifier.
CellRule RuleOfIdentifier(absl::string_view identifier) {
  constexpr std::array<absl::string_view, 8> kWalls = {"wall",    "walls",    "solid",     "block",
                                                       "blocked", "obstacle", "collision", "collisions"};
  if (std::find(kWalls.begin(), kWalls.end(), absl::AsciiStrToLower(identifier)) != kWalls.end()) {
    return {.blocked = true};
  }
  const std::size_t underscore = identifier.rfind('_');
  int cost = 0;
  if (underscore != absl::string_view::npos && underscore > 0 &&
      absl::SimpleAtoi(identifier.substr(underscore + 1), &cost)) {
    return {.name = std::string(identifier.substr(0, underscore)), .cost = static_cast<double>(cost)};
  }
  return {.name = std::string(identifier)};
}

// Identifiers of a value and of its group.
struct ValueName {
  std::string identifier;
  std::string group;
};

// Names of the values of a layer definition; definitions are keyed by uid.
using Identifiers = std::map<int, ValueName>;

std::map<double, Identifiers> IdentifiersIn(const JsonValue& root) {
  std::map<double, Identifiers> all;
  const JsonValue* const definitions = root.Find("defs");
  if (definitions == nullptr) {
    return all;
  }
  for (const JsonValue& definition : definitions->FindArray("layers")) {
    Identifiers& identifiers = all[definition.FindNumber("uid").value_or(-1.0)];
    std::map<double, std::string> groups;
    for (const JsonValue& group : definition.FindArray("intGridValuesGroups")) {
      groups[group.FindNumber("uid").value_or(-1.0)] = std::string(group.FindString("identifier"));
    }
    // Before version 0.8, a value is its position in the list.
    int place = 0;
    for (const JsonValue& value : definition.FindArray("intGridValues")) {
      ++place;
      const std::optional<int> number =
          value.Find("value") == nullptr ? place : value.FindInteger("value", 0, kMaxInt);
      if (number) {
        const auto group = groups.find(value.FindNumber("groupUid").value_or(-1.0));
        identifiers[*number] = {.identifier = std::string(value.FindString("identifier")),
                                .group = group == groups.end() ? "" : group->second};
      }
    }
  }
  return all;
}

// Meanings of the values of one layer.
class ValueMeanings {
 public:
  ValueMeanings(const Identifiers& identifiers, const TerrainMapping& mapping, TerrainTable& terrains,
                ImportNotes& notes)
      : identifiers_(identifiers), mapping_(mapping), terrains_(terrains), notes_(notes) {}

  absl::StatusOr<TerrainId> MeaningOf(int value) {
    if (const auto known = known_.find(value); known != known_.end()) {
      return known->second;
    }
    WAYSTAR_ASSIGN_OR_RETURN(const CellRule rule, RuleOf(value));
    WAYSTAR_ASSIGN_OR_RETURN(const TerrainId meaning, terrains_.Add(rule));
    known_.emplace(value, meaning);
    return meaning;
  }

 private:
  absl::StatusOr<CellRule> RuleOf(int value) const {
    if (const auto rule = mapping_.values.find(static_cast<std::uint32_t>(value));
        rule != mapping_.values.end()) {
      return rule->second;
    }
    const auto found = identifiers_.find(value);
    const auto& [identifier, group] = found == identifiers_.end() ? ValueName() : found->second;
    if (const auto rule = mapping_.names.find(identifier); rule != mapping_.names.end()) {
      return rule->second;
    }
    if (mapping_.otherwise) {
      return *mapping_.otherwise;
    }
    if (identifier.empty()) {
      return BadFormat(absl::StrCat(
          "value ", value, " has no identifier, and the terrains have no line \"value ", value, " ...\""));
    }
    CellRule rule = RuleOfIdentifier(identifier);
    if (!rule.blocked && (SoundsLikeWall(identifier) || SoundsLikeWall(group))) {
      notes_.Add(
          "values that sound like walls are walkable by their names: call them \"wall\", or give a line of "
          "terrains such as \"value 2 blocked\"",
          absl::StrCat("value ", value, ", ", Quoted(identifier)));
    }
    return rule;
  }

  const Identifiers& identifiers_;
  const TerrainMapping& mapping_;
  TerrainTable& terrains_;
  ImportNotes& notes_;
  absl::flat_hash_map<int, TerrainId> known_;
};

// Notes a layer that is not read, unless it is empty.
void NoteLayer(const JsonValue& layer, ImportNotes& notes) {
  const std::string place = PlaceOfInstance(layer);
  if (!layer.FindArray("entityInstances").empty()) {
    notes.Add("layers of entities are not read: IntGrid layers are", place);
  } else if (!layer.FindArray("gridTiles").empty()) {
    notes.Add("layers of tiles are not read: IntGrid layers are", place);
  }
}

// Returns the layers in file order, topmost first.
absl::StatusOr<std::vector<const JsonValue*>> WantedInstances(const JsonValue& level,
                                                              const std::vector<std::string>& names,
                                                              ImportNotes& notes) {
  std::vector<const JsonValue*> layers;
  for (const JsonValue& layer : level.FindArray("layerInstances")) {
    if (layer.FindString("__type") == "IntGrid") {
      layers.push_back(&layer);
    } else {
      NoteLayer(layer, notes);
    }
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::none_of(layers.begin(), layers.end(),
                     [&](const auto* layer) { return layer->FindString("__identifier") == names[i]; })) {
      return MakeError(ErrorReason::kBadValue, absl::StrCat(kLayersField, "[", i, "]"),
                       absl::StrCat("the level has no IntGrid layer ", Quoted(names[i])));
    }
  }
  const auto is_unwanted = [&](const JsonValue* layer) {
    if (!names.empty()) {
      return std::find(names.begin(), names.end(), layer->FindString("__identifier")) == names.end();
    }
    const bool is_hidden = !layer->FindBoolean("visible").value_or(true);
    if (is_hidden) {
      notes.Add("hidden layers are not read", PlaceOfInstance(*layer));
    }
    return is_hidden;
  };
  layers.erase(std::remove_if(layers.begin(), layers.end(), is_unwanted), layers.end());
  if (layers.empty()) {
    return NoMap(level, absl::StrCat("level ", Quoted(level.FindString("identifier")),
                                     " has no visible IntGrid layer"));
  }
  return layers;
}

// Geometry of a layer.
struct LayerFrame {
  int width = 0;
  int height = 0;
  // Cell size in pixels.
  int cell = 0;
  // Offset of the layer in pixels.
  double offset_x = 0.0;
  double offset_y = 0.0;
};

absl::StatusOr<LayerFrame> FrameOf(const JsonValue& layer, int max_side) {
  const auto width = layer.FindInteger("__cWid", 0, kMaxInt);
  const auto height = layer.FindInteger("__cHei", 0, kMaxInt);
  const auto cell = layer.FindInteger("__gridSize", 1, kMaxInt);
  if (!width || !height || !cell) {
    return JsonError(layer, absl::StrCat(NameOfInstance(layer),
                                         ": __cWid, __cHei and __gridSize are not all whole numbers"));
  }
  if (const absl::Status status = CheckMapSize(*width, *height, max_side); !status.ok()) {
    return MakeError(
        ErrorReason::kBadSize, "",
        absl::StrCat("line ", layer.line(), ": ", NameOfInstance(layer), ": ", status.message()));
  }
  return LayerFrame{.width = *width,
                    .height = *height,
                    .cell = *cell,
                    .offset_x = layer.FindNumber("__pxTotalOffsetX").value_or(0.0),
                    .offset_y = layer.FindNumber("__pxTotalOffsetY").value_or(0.0)};
}

// Cells of a level, as built up from its layers.
struct LevelCells {
  int width = 0;
  int height = 0;
  // Cell size in pixels.
  int cell = 0;
  std::vector<TerrainId> terrains;
};

// Writes the values of one layer over those below.
class LayerLaying {
 public:
  LayerLaying(const JsonValue& layer, const LayerFrame& frame, ValueMeanings& meanings, LevelCells& cells,
              ImportNotes& notes)
      : layer_(layer),
        frame_(frame),
        columns_(frame.offset_x / frame.cell),
        rows_(frame.offset_y / frame.cell),
        meanings_(meanings),
        cells_(cells),
        notes_(notes) {}

  // `version` is the LDtk version, for errors.
  absl::Status LayAll(const std::string& version, const StopCheck* stop) {
    const JsonValue* const csv = layer_.Find("intGridCsv");
    const JsonValue* const listed = layer_.Find("intGrid");
    if (csv == nullptr && listed != nullptr) {
      return LayListed(*listed, version, stop);
    }
    const JsonValue::Numbers* const values = csv == nullptr ? nullptr : csv->numbers();
    if (values == nullptr || values->size() != count()) {
      return JsonError(
          csv == nullptr ? layer_ : *csv,
          absl::StrCat(NameOfInstance(layer_), ": intGridCsv has ", values == nullptr ? 0 : values->size(),
                       " values, not one for each of ", count(), " cells", version));
    }
    for (std::size_t i = 0; i < values->size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, i));
      WAYSTAR_RETURN_IF_ERROR(Lay(i, (*values)[i], *csv));
    }
    return absl::OkStatus();
  }

 private:
  std::size_t count() const {
    return static_cast<std::size_t>(frame_.width) * static_cast<std::size_t>(frame_.height);
  }

  // Before version 0.8, only cells with a value are listed, and values start at 0.
  absl::Status LayListed(const JsonValue& listed, const std::string& version, const StopCheck* stop) {
    if (listed.array() == nullptr) {
      return JsonError(listed, absl::StrCat(NameOfInstance(layer_), ": intGrid is not a list", version));
    }
    for (const JsonValue& cell : *listed.array()) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
      const std::optional<int> place = cell.FindInteger("coordId", 0, kMaxInt);
      const std::optional<double> value = cell.FindNumber("v");
      if (!place || static_cast<std::size_t>(*place) >= count() || !value) {
        return JsonError(cell, absl::StrCat(NameOfInstance(layer_), ": there is no such cell", version));
      }
      WAYSTAR_RETURN_IF_ERROR(Lay(static_cast<std::size_t>(*place), *value + 1.0, cell));
    }
    return absl::OkStatus();
  }

  // Sets the value of a cell; 0 means none.
  absl::Status Lay(std::size_t i, double value, const JsonValue& at_fault) {
    if (value == 0.0) {
      return absl::OkStatus();
    }
    if (columns_ != std::floor(columns_) || rows_ != std::floor(rows_)) {
      return JsonError(
          layer_,
          absl::StrCat(NameOfInstance(layer_), ": its offset of ", frame_.offset_x, ", ", frame_.offset_y,
                       " pixels is not a whole number of its cells, which have ", frame_.cell));
    }
    const auto width = static_cast<std::size_t>(frame_.width);
    const bool is_value = value >= 1.0 && value <= kMaxInt && value == std::floor(value);
    const absl::StatusOr<TerrainId> meaning = is_value ? meanings_.MeaningOf(static_cast<int>(value))
                                                       : BadFormat(absl::StrCat(value, " is not a value"));
    if (!meaning.ok()) {
      return JsonError(at_fault, absl::StrCat(NameOfInstance(layer_), ", cell (", i % width, ", ", i / width,
                                              "): ", meaning.status().message()));
    }
    const auto row = i / width;
    const double x = static_cast<double>(i % width) + columns_;
    const double y = static_cast<double>(row) + rows_;
    if (x < 0.0 || y < 0.0 || x >= cells_.width || y >= cells_.height) {
      notes_.Add("cells beyond the edge of the level are not read", NameOfInstance(layer_));
      return absl::OkStatus();
    }
    cells_.terrains[static_cast<std::size_t>(y) * static_cast<std::size_t>(cells_.width) +
                    static_cast<std::size_t>(x)] = *meaning;
    return absl::OkStatus();
  }

  const JsonValue& layer_;
  const LayerFrame& frame_;
  // Offset of the layer in cells.
  const double columns_;
  const double rows_;
  ValueMeanings& meanings_;
  LevelCells& cells_;
  ImportNotes& notes_;
};

// Returns a level of ground, of the level's size, or of its topmost layer's size if the level has none.
absl::StatusOr<LevelCells> CellsOf(const JsonValue& level, const LayerFrame& top, int max_side) {
  LevelCells cells{.width = top.width, .height = top.height, .cell = top.cell};
  const auto width = level.FindInteger("pxWid", 1, kMaxInt);
  const auto height = level.FindInteger("pxHei", 1, kMaxInt);
  if (width && height) {
    cells.width = static_cast<int>((std::int64_t{*width} + top.cell - 1) / top.cell);
    cells.height = static_cast<int>((std::int64_t{*height} + top.cell - 1) / top.cell);
    if (const absl::Status status = CheckMapSize(cells.width, cells.height, max_side); !status.ok()) {
      return MakeError(ErrorReason::kBadSize, "",
                       absl::StrCat("line ", level.line(), ": ", status.message()));
    }
  }
  cells.terrains.resize(static_cast<std::size_t>(cells.width) * static_cast<std::size_t>(cells.height));
  return cells;
}

}  // namespace

const MemberTables& LdtkMembers() {
  static const auto* const tables = new MemberTables({
      {"project", "jsonVersion defs:file's_definitions levels:[level] worlds:[world] worldLayout",
       "__header__ advancedOptionFlags appBuildId backupLimit backupOnSave backupRelPath bgColor "
       "customCommands defaultEntityHeight defaultEntityWidth defaultGridSize defaultLevelBgColor "
       "defaultLevelHeight defaultLevelWidth defaultPivotX defaultPivotY dummyWorldIid exportLevelBg "
       "exportPng exportTiled externalLevels flags identifierStyle iid imageExportMode "
       "levelNamePattern minifyJson nextUid pngFilePattern simplifiedExport toc tutorialDesc "
       "worldGridHeight worldGridWidth"},
      {"world", "levels:[level] worldLayout",
       "identifier iid worldGridWidth worldGridHeight defaultLevelWidth defaultLevelHeight"},
      {"level", "identifier iid layerInstances:[layer] externalRelPath pxWid pxHei worldX worldY",
       "uid __bgColor bgColor __bgPos bgPos bgPivotX bgPivotY bgRelPath __smartColor __header__ "
       "__neighbours fieldInstances useAutoIdentifier worldDepth"},
      {"layer",
       "__identifier __type __cWid __cHei __gridSize __pxTotalOffsetX __pxTotalOffsetY layerDefUid "
       "layerDefId visible intGridCsv intGrid:[cell_of_an_IntGrid] gridTiles entityInstances",
       "iid levelId seed optionalRules __opacity __tilesetDefUid __tilesetRelPath overrideTilesetUid "
       "autoLayerTiles autoTiles pxOffsetX pxOffsetY"},
      {"cell of an IntGrid", "coordId v"},
      {"file's definitions",
       // Definitions of entities, tilesets and enums are ignored. Layers of entities and tiles are noted
       // apart.
       "layers:[definition_of_a_layer]", "entities enums externalEnums levelFields tilesets"},
      {"definition of a layer",
       "uid intGridValues:[value_of_an_IntGrid] intGridValuesGroups:[group_of_values]",
       "__type type identifier doc gridSize displayOpacity inactiveOpacity hideInList "
       "hideFieldsWhenInactive canSelectWhenInactive renderInWorldView pxOffsetX pxOffsetY "
       "guideGridWid guideGridHei parallaxFactorX parallaxFactorY parallaxScaling requiredTags "
       "excludedTags uiColor uiFilterTags useAsyncRender autoRuleGroups autoSourceLayerDefUid "
       "autoTilesKilledByOtherLayerUid autoTilesetDefUid biomeFieldUid tilesetDefUid tilePivotX "
       "tilePivotY"},
      {"value of an IntGrid", "value identifier groupUid", "color tile"},
      {"group of values", "uid identifier", "color"},
  });
  return *tables;
}

absl::StatusOr<LdtkFile> LdtkFile::Parse(absl::string_view bytes, ImportNotes& notes, const StopCheck* stop) {
  WAYSTAR_ASSIGN_OR_RETURN(JsonValue root, ParseJson(SkipByteOrderMark(bytes), stop));
  WAYSTAR_RETURN_IF_ERROR(LdtkMembers().NoteMembers("project", root, notes, stop));
  LdtkFile file;
  file.root_ = std::make_unique<const JsonValue>(std::move(root));
  const auto add_levels = [&file](const JsonValue& world) {
    const bool is_in_line = absl::StartsWith(world.FindString("worldLayout"), "Linear");
    for (const JsonValue& level : world.FindArray("levels")) {
      file.levels_.push_back({.value = &level, .is_in_line = is_in_line});
    }
  };
  add_levels(*file.root_);
  for (const JsonValue& world : file.root_->FindArray("worlds")) {
    add_levels(world);
  }
  if (file.levels_.empty()) {
    return JsonError(*file.root_,
                     absl::StrCat("there are no levels: this is not a file of LDtk", file.Version()));
  }
  return file;
}

std::string LdtkFile::Version() const {
  const absl::string_view version = root_->FindString("jsonVersion");
  return version.empty()
             ? ""
             : absl::StrCat(" (the file is of LDtk ", absl::CHexEscape(version.substr(0, 20)), ")");
}

absl::string_view LdtkFile::LevelName(std::size_t level) const {
  return levels_[level].value->FindString("identifier");
}

absl::StatusOr<std::size_t> LdtkFile::FindLevel(absl::string_view name) const {
  if (name.empty() && levels_.size() == 1) {
    return 0;
  }
  constexpr std::size_t kMaxNames = 10;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    if (!name.empty() && (LevelName(i) == name || levels_[i].value->FindString("iid") == name)) {
      return i;
    }
    if (i < kMaxNames) {
      names.push_back(Quoted(LevelName(i)));
    }
  }
  return MakeError(
      ErrorReason::kBadValue, kLevelField,
      absl::StrCat(name.empty() ? "say which level" : absl::StrCat("there is no level ", Quoted(name)),
                   ": the file has ", levels_.size(), ", ", absl::StrJoin(names, ", "),
                   levels_.size() > kMaxNames ? " and so on" : ""));
}

absl::StatusOr<GridMap> LdtkFile::ReadLevel(std::size_t level, const TerrainMapping& mapping,
                                            const ImportOptions& options, ImportNotes& notes) const {
  const absl::Cleanup end_of_file = [&notes] { notes.set_file(""); };
  const JsonValue* data = levels_[level].value;
  absl::StatusOr<JsonValue> apart;
  if (const absl::string_view path = data->FindString("externalRelPath"); !path.empty()) {
    if (!options.neighbours) {
      return JsonError(*data,
                       absl::StrCat("level ", Quoted(LevelName(level)), " is in ", Quoted(path),
                                    ", a file of its own: turn off \"Save levels to separate files\""));
    }
    const absl::StatusOr<std::string> bytes = options.neighbours(path);
    apart = bytes.ok() ? ParseJson(SkipByteOrderMark(*bytes)) : bytes.status();
    if (!apart.ok()) {
      return JsonError(*data, absl::StrCat(Quoted(path), ": ", apart.status().message()));
    }
    data = &*apart;
    notes.set_file(std::string(path));
    WAYSTAR_RETURN_IF_ERROR(LdtkMembers().NoteMembers("level", *data, notes, options.grid.stop));
  }
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<const JsonValue*> layers,
                           WantedInstances(*data, options.layers, notes));
  const int max_side = options.grid.max_side;
  WAYSTAR_ASSIGN_OR_RETURN(const LayerFrame top, FrameOf(*layers.front(), max_side));
  const bool has_size = data->FindInteger("pxWid", 1, kMaxInt) && data->FindInteger("pxHei", 1, kMaxInt);
  WAYSTAR_ASSIGN_OR_RETURN(LevelCells cells, CellsOf(*data, top, max_side));
  TerrainTable terrains;
  WAYSTAR_RETURN_IF_ERROR(mapping.ReserveSymbols(terrains));
  std::map<double, Identifiers> identifiers = IdentifiersIn(*root_);
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    WAYSTAR_ASSIGN_OR_RETURN(const LayerFrame frame, FrameOf(**layer, max_side));
    if (frame.cell != top.cell || (!has_size && (frame.width != top.width || frame.height != top.height))) {
      if (!HasValues(**layer)) {
        continue;
      }
      return NoMap(**layer, absl::StrCat(NameOfInstance(**layer), " has cells of another size than ",
                                         NameOfInstance(*layers.front()), ": say which layers to read"));
    }
    const double definition =
        (*layer)->FindNumber("layerDefUid").value_or((*layer)->FindNumber("layerDefId").value_or(-1.0));
    ValueMeanings meanings(identifiers[definition], mapping, terrains, notes);
    WAYSTAR_RETURN_IF_ERROR(
        LayerLaying(**layer, frame, meanings, cells, notes).LayAll(Version(), options.grid.stop));
  }
  GridSettings settings;
  settings.terrains = terrains.terrains();
  if (!levels_[level].is_in_line) {
    const double pixel = options.grid.cell_size.value_or(1.0) / cells.cell;
    settings.frame.origin = {data->FindNumber("worldX").value_or(0.0) * pixel,
                             data->FindNumber("worldY").value_or(0.0) * pixel, 0.0};
  }
  WAYSTAR_ASSIGN_OR_RETURN(settings, ApplyOverrides(std::move(settings), options.grid));
  return BuildMap(cells.width, cells.height, std::move(settings), cells.terrains, options.grid.stop);
}

}  // namespace waystar::core
