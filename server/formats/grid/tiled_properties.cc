#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/formats/grid/tiled_map.h"

namespace waystar::core {
namespace {

constexpr std::array<absl::string_view, 13> kMeaningful = {
    "blocked", "cell_size",  "collides",    "cost",   "cost_addition", "cost_factor", "empty",
    "ignore",  "impassable", "object_rule", "symbol", "terrain",       "walkable"};
constexpr std::array<absl::string_view, 4> kBlocking = {"blocked", "collides", "walkable", "impassable"};

bool IsMeaningful(absl::string_view lower) { return absl::c_linear_search(kMeaningful, lower); }

// Adds a property if its name has a meaning and is not present.
void AddProperty(const std::string& lower, absl::string_view value, TiledProperties& properties) {
  constexpr std::size_t kMaxValue = 100;
  if (IsMeaningful(lower) && FindProperty(properties, lower) == nullptr) {
    properties.emplace_back(lower, value.substr(0, kMaxValue));
  }
}

absl::Status BadProperty(absl::string_view name, absl::string_view value, absl::string_view wanted) {
  return MakeError(
      ErrorReason::kBadTerrain, "",
      absl::StrCat("the property \"", name, "\" is \"", absl::CHexEscape(value), "\", ", wanted));
}

// Class-typed properties.
using Classes = std::vector<std::pair<std::string, const JsonValue*>>;

// Adds a property with a plain value, or appends a class-typed one to `classes` for later.
void ReadProperty(absl::string_view name, const JsonValue& value, ImportNotes& notes,
                  TiledProperties& properties, Classes& classes) {
  if (value.object() != nullptr) {
    classes.emplace_back(name, &value);
    return;
  }
  const bool is_list = value.array() != nullptr || value.numbers() != nullptr;
  const std::string text = value.Text().value_or(is_list ? "(a list)" : "");
  if (const std::string lower = absl::AsciiStrToLower(name); IsMeaningful(lower)) {
    const std::string* const known = FindProperty(properties, lower);
    if (known != nullptr && *known != text) {
      notes.Add("properties that are there twice: the first counts",
                absl::StrCat(Quoted(name), " (line ", value.line(), ")"));
    }
    AddProperty(lower, text, properties);
    return;
  }
  bool flag = true;
  const bool says_no = absl::SimpleAtob(text, &flag) && !flag;
  notes.Add(SoundsLikeWall(name) && !says_no
                ? "properties that sound like walls are not read (\"blocked\" is)"
                : "properties that have no meaning here are not read",
            absl::StrCat(Quoted(name), " (line ", value.line(), ")"));
}

// Adds the properties within classes, at any depth.
void ReadClassProperties(Classes classes, ImportNotes& notes, TiledProperties& properties) {
  TiledProperties members;
  while (!classes.empty()) {
    Classes inner;
    for (const auto& [name, value] : classes) {
      const std::size_t before = members.size();
      for (const auto& [member, held] : *value->object()) {
        ReadProperty(member, held, notes, members, inner);
      }
      const std::string place = absl::StrCat(Quoted(name), " (line ", value->line(), ")");
      if (members.size() > before) {
        notes.Add("properties in classes count where none outside says the same",
                  absl::StrCat("\"", members.back().first, "\" in ", place));
      } else if (SoundsLikeWall(name)) {
        notes.Add("classes of properties that sound like walls do not say \"blocked\"", place);
      }
    }
    classes = std::move(inner);
  }
  AddMissing(members, properties);
}

}  // namespace

absl::StatusOr<std::vector<const JsonValue*>> ObjectsIn(const JsonValue& list, absl::string_view name) {
  std::vector<const JsonValue*> objects;
  if (list.is_null()) {
    return objects;
  }
  if (list.array() == nullptr) {
    return JsonError(list, absl::StrCat("\"", name, "\" is not a list of objects"));
  }
  for (const JsonValue& element : *list.array()) {
    if (element.object() == nullptr) {
      return JsonError(element, absl::StrCat("\"", name, "\" holds something that is not an object"));
    }
    objects.push_back(&element);
  }
  return objects;
}

absl::Status AddPropertiesIn(const JsonValue& value, ImportNotes& notes, TiledProperties& properties) {
  Classes classes;
  if (value.object() != nullptr) {
    for (const auto& [name, held] : *value.object()) {
      ReadProperty(name, held, notes, properties, classes);
    }
  } else {
    WAYSTAR_ASSIGN_OR_RETURN(const std::vector<const JsonValue*> list, ObjectsIn(value, "properties"));
    for (const JsonValue* const property : list) {
      const absl::string_view name = property->FindString("name");
      const JsonValue* const held = property->Find("value");
      if (held != nullptr) {
        ReadProperty(name, *held, notes, properties, classes);
      }
      if (held != nullptr && held->object() != nullptr &&
          SoundsLikeWall(property->FindString("propertytype"))) {
        notes.Add("classes of properties are read without what the project has for them",
                  absl::StrCat(Quoted(name), " (line ", property->line(), ")"));
      }
    }
  }
  ReadClassProperties(std::move(classes), notes, properties);
  return absl::OkStatus();
}

absl::Status ReadProperties(const JsonValue& value, ImportNotes& notes, TiledProperties& properties) {
  const JsonValue* const member = value.Find("properties");
  return member == nullptr ? absl::OkStatus() : AddPropertiesIn(*member, notes, properties);
}

void NoteOthers(const TiledProperties& properties, std::initializer_list<absl::string_view> read,
                absl::string_view place, ImportNotes& notes) {
  for (const auto& [name, value] : properties) {
    if (!absl::c_linear_search(read, name)) {
      notes.Add("properties that have no meaning where they stand are not read",
                absl::StrCat("\"", name, "\" of ", place));
    }
  }
}

const std::string* FindProperty(const TiledProperties& properties, absl::string_view name) {
  const auto found = std::find_if(properties.begin(), properties.end(),
                                  [&](const auto& property) { return property.first == name; });
  return found == properties.end() ? nullptr : &found->second;
}

absl::StatusOr<std::optional<bool>> FindFlag(const TiledProperties& properties, absl::string_view name) {
  const std::string* const text = FindProperty(properties, name);
  if (text == nullptr) {
    return std::nullopt;
  }
  bool value = false;
  if (!absl::SimpleAtob(absl::StripAsciiWhitespace(*text), &value)) {
    return BadProperty(name, *text, "neither true nor false");
  }
  return value;
}

absl::StatusOr<std::optional<double>> FindNumber(const TiledProperties& properties, absl::string_view name) {
  const std::string* const text = FindProperty(properties, name);
  if (text == nullptr) {
    return std::nullopt;
  }
  double value = 0.0;
  if (!absl::SimpleAtod(*text, &value)) {
    return BadProperty(name, *text, "not a number");
  }
  return value;
}

absl::StatusOr<std::optional<bool>> SaysBlocked(const TiledProperties& properties) {
  std::optional<bool> says;
  for (const absl::string_view name : {"blocked", "collides", "walkable"}) {
    // Read all of them, so that a bad value is always an error.
    WAYSTAR_ASSIGN_OR_RETURN(const std::optional<bool> flag, FindFlag(properties, name));
    if (flag && !says) {
      says = name == "walkable" ? !*flag : *flag;
    }
  }
  return says;
}

absl::StatusOr<std::optional<bool>> SaysImpassable(const TiledProperties& properties) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<bool> blocked, SaysBlocked(properties));
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<bool> impassable, FindFlag(properties, "impassable"));
  return blocked ? blocked : impassable;
}

void AddMissing(const TiledProperties& others, TiledProperties& properties) {
  const bool says = std::any_of(properties.begin(), properties.end(), [](const auto& property) {
    return absl::c_linear_search(kBlocking, property.first);
  });
  for (const auto& [name, value] : others) {
    if (!says || !absl::c_linear_search(kBlocking, name)) {
      AddProperty(name, value, properties);
    }
  }
}

}  // namespace waystar::core
