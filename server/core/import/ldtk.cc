#include "server/core/import/ldtk.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/format/file_errors.h"
#include "server/core/format/rows.h"
#include "server/core/import/terrain_table.h"

namespace waystar::core {
namespace {

constexpr int kMaxInt = 0x7FFF'FFFF;
constexpr std::size_t kValuesBetweenChecks = 1 << 14;

std::string NameOfInstance(const JsonValue& layer) {
  return absl::StrCat("layer ", Quoted(layer.FindString("__identifier")));
}

// Returns the rule that follows from an identifier alone.
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

// The identifiers of values, by the layers' definitions, which are known by their uid.
using Identifiers = std::map<int, std::string>;

std::map<double, Identifiers> IdentifiersIn(const JsonValue& root) {
  std::map<double, Identifiers> all;
  const JsonValue* const definitions = root.Find("defs");
  if (definitions == nullptr) {
    return all;
  }
  for (const JsonValue& definition : definitions->FindArray("layers")) {
    Identifiers& identifiers = all[definition.FindNumber("uid").value_or(-1.0)];
    for (const JsonValue& value : definition.FindArray("intGridValues")) {
      if (const std::optional<int> number = value.FindInteger("value", 0, kMaxInt)) {
        identifiers[*number] = std::string(value.FindString("identifier"));
      }
    }
  }
  return all;
}

// The meanings of the values of a layer.
class ValueMeanings {
 public:
  ValueMeanings(const Identifiers& identifiers, const TerrainMapping& mapping, TerrainTable& terrains)
      : identifiers_(identifiers), mapping_(mapping), terrains_(terrains) {}

  absl::StatusOr<TerrainId> MeaningOf(int value) {
    if (value == last_value_) {
      return last_meaning_;
    }
    const auto known = known_.find(value);
    if (known == known_.end()) {
      WAYSTAR_ASSIGN_OR_RETURN(const CellRule rule, RuleOf(value));
      WAYSTAR_ASSIGN_OR_RETURN(last_meaning_, terrains_.Add(rule));
      known_.emplace(value, last_meaning_);
    } else {
      last_meaning_ = known->second;
    }
    last_value_ = value;
    return last_meaning_;
  }

 private:
  absl::StatusOr<CellRule> RuleOf(int value) const {
    if (const auto rule = mapping_.values.find(static_cast<std::uint32_t>(value));
        rule != mapping_.values.end()) {
      return rule->second;
    }
    const auto identifier = identifiers_.find(value);
    const bool has_name = identifier != identifiers_.end() && !identifier->second.empty();
    if (has_name) {
      if (const auto rule = mapping_.names.find(identifier->second); rule != mapping_.names.end()) {
        return rule->second;
      }
    }
    if (mapping_.otherwise) {
      return *mapping_.otherwise;
    }
    if (!has_name) {
      return BadFormat(absl::StrCat(
          "value ", value, " has no identifier, and the terrains have no line \"value ", value, " ...\""));
    }
    return RuleOfIdentifier(identifier->second);
  }

  const Identifiers& identifiers_;
  const TerrainMapping& mapping_;
  TerrainTable& terrains_;
  std::map<int, TerrainId> known_;
  // No layer holds it as a value.
  int last_value_ = 0;
  TerrainId last_meaning_ = 0;
};

// Returns the layers from the topmost to the lowest, as in the file.
absl::StatusOr<std::vector<const JsonValue*>> WantedInstances(const JsonValue& level,
                                                              const std::vector<std::string>& names) {
  std::vector<const JsonValue*> layers;
  for (const JsonValue& layer : level.FindArray("layerInstances")) {
    if (layer.FindString("__type") == "IntGrid") {
      layers.push_back(&layer);
    }
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::none_of(layers.begin(), layers.end(),
                     [&](const auto* layer) { return layer->FindString("__identifier") == names[i]; })) {
      return MakeError(ErrorReason::kBadValue, absl::StrCat(kLayersField, "[", i, "]"),
                       absl::StrCat("the level has no IntGrid layer ", Quoted(names[i])));
    }
  }
  const auto is_left_out = [&](const JsonValue* layer) {
    return names.empty()
               ? !layer->FindBoolean("visible").value_or(true)
               : std::find(names.begin(), names.end(), layer->FindString("__identifier")) == names.end();
  };
  layers.erase(std::remove_if(layers.begin(), layers.end(), is_left_out), layers.end());
  if (layers.empty()) {
    return JsonError(level, absl::StrCat("level ", Quoted(level.FindString("identifier")),
                                         " has no visible IntGrid layer"));
  }
  return layers;
}

struct LevelSize {
  int width = 0;
  int height = 0;
  // The size in pixels.
  int cell = 0;

  friend bool operator==(const LevelSize&, const LevelSize&) = default;
};

absl::StatusOr<LevelSize> SizeOf(const JsonValue& layer, int max_side) {
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
  return LevelSize{.width = *width, .height = *height, .cell = *cell};
}

absl::Status LayValues(const JsonValue& layer, const LevelSize& size, ValueMeanings& meanings,
                       std::vector<TerrainId>& cells, const StopCheck* stop) {
  const JsonValue* const csv = layer.Find("intGridCsv");
  const JsonValue::Numbers* const values = csv == nullptr ? nullptr : csv->numbers();
  if (values == nullptr || values->size() != cells.size()) {
    return JsonError(
        csv == nullptr ? layer : *csv,
        absl::StrCat(NameOfInstance(layer), ": intGridCsv has ", values == nullptr ? 0 : values->size(),
                     " values, not one for each of ", cells.size(), " cells"));
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i % kValuesBetweenChecks == 0) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    }
    const double value = (*values)[i];
    if (value == 0.0) {
      continue;
    }
    const bool is_value = value >= 1.0 && value <= kMaxInt && value == static_cast<int>(value);
    const absl::StatusOr<TerrainId> meaning = is_value ? meanings.MeaningOf(static_cast<int>(value))
                                                       : BadFormat(absl::StrCat(value, " is no value"));
    if (!meaning.ok()) {
      const auto width = static_cast<std::size_t>(size.width);
      return JsonError(*csv, absl::StrCat(NameOfInstance(layer), ", cell (", i % width, ", ", i / width,
                                          "): ", meaning.status().message()));
    }
    cells[i] = *meaning;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LdtkFile> LdtkFile::Parse(absl::string_view bytes, const StopCheck* stop) {
  WAYSTAR_ASSIGN_OR_RETURN(JsonValue root, ParseJson(bytes, stop));
  LdtkFile file;
  file.root_ = std::make_unique<const JsonValue>(std::move(root));
  for (const JsonValue& level : file.root_->FindArray("levels")) {
    file.levels_.push_back(&level);
  }
  for (const JsonValue& world : file.root_->FindArray("worlds")) {
    for (const JsonValue& level : world.FindArray("levels")) {
      file.levels_.push_back(&level);
    }
  }
  if (file.levels_.empty()) {
    return JsonError(*file.root_, "there are no levels: this is no file of LDtk");
  }
  return file;
}

absl::string_view LdtkFile::LevelName(std::size_t level) const {
  return levels_[level]->FindString("identifier");
}

absl::StatusOr<std::size_t> LdtkFile::FindLevel(absl::string_view name) const {
  if (name.empty() && levels_.size() == 1) {
    return 0;
  }
  constexpr std::size_t kMaxNames = 10;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    if (!name.empty() && (LevelName(i) == name || levels_[i]->FindString("iid") == name)) {
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
                                            const ImportOptions& options) const {
  const JsonValue* data = levels_[level];
  absl::StatusOr<JsonValue> apart;
  if (const absl::string_view path = data->FindString("externalRelPath"); !path.empty()) {
    if (!options.neighbours) {
      return JsonError(*data,
                       absl::StrCat("level ", Quoted(LevelName(level)), " is in ", Quoted(path),
                                    ", a file of its own: turn off \"Save levels to separate files\""));
    }
    const absl::StatusOr<std::string> bytes = options.neighbours(path);
    apart = bytes.ok() ? ParseJson(*bytes) : bytes.status();
    if (!apart.ok()) {
      return JsonError(*data, absl::StrCat(Quoted(path), ": ", apart.status().message()));
    }
    data = &*apart;
  }
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<const JsonValue*> layers,
                           WantedInstances(*data, options.layers));
  WAYSTAR_ASSIGN_OR_RETURN(const LevelSize size, SizeOf(*layers.front(), options.grid.max_side));
  TerrainTable terrains;
  WAYSTAR_RETURN_IF_ERROR(mapping.ReserveSymbols(terrains));
  std::vector<TerrainId> cells(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height));
  std::map<double, Identifiers> identifiers = IdentifiersIn(*root_);
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    WAYSTAR_ASSIGN_OR_RETURN(const LevelSize own_size, SizeOf(**layer, options.grid.max_side));
    if (own_size != size) {
      return JsonError(**layer, absl::StrCat(NameOfInstance(**layer), " has cells of another size than ",
                                             NameOfInstance(*layers.front()), ": say which layers to read"));
    }
    ValueMeanings meanings(identifiers[(*layer)->FindNumber("layerDefUid").value_or(-1.0)], mapping,
                           terrains);
    WAYSTAR_RETURN_IF_ERROR(LayValues(**layer, size, meanings, cells, options.grid.stop));
  }
  GridSettings settings;
  settings.terrains = terrains.terrains();
  const double pixel = options.grid.cell_size.value_or(1.0) / size.cell;
  settings.frame.origin = {data->FindNumber("worldX").value_or(0.0) * pixel,
                           data->FindNumber("worldY").value_or(0.0) * pixel, 0.0};
  WAYSTAR_ASSIGN_OR_RETURN(settings, ApplyOverrides(std::move(settings), options.grid));
  return BuildMap(size.width, size.height, std::move(settings), cells, options.grid.stop);
}

}  // namespace waystar::core
