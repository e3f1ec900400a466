#include "server/formats/grid/tiled_values.h"

#include <algorithm>
#include <array>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "server/base/file_errors.h"

namespace waystar::core {
namespace {

// Formats a value as XML does.
std::string TextOf(const JsonValue& value) {
  if (const std::string* const string = value.string()) {
    return *string;
  }
  if (const bool* const boolean = value.boolean()) {
    return *boolean ? "true" : "false";
  }
  if (const double* const number = value.number()) {
    return ShortestText(*number);
  }
  return value.array() != nullptr || value.numbers() != nullptr ? "(a list)" : "";
}

// Adds a property with a plain value, or appends a class-typed one to `classes` for later.
void ReadProperty(absl::string_view name, const JsonValue& value, ImportNotes& notes,
                  TiledProperties& properties,
                  std::vector<std::pair<std::string, const JsonValue*>>& classes) {
  if (value.object() != nullptr) {
    classes.emplace_back(name, &value);
    return;
  }
  const std::string text = TextOf(value);
  if (IsMeaningfulProperty(name)) {
    const std::string* const known = FindProperty(properties, absl::AsciiStrToLower(name));
    if (known != nullptr && *known != text) {
      notes.Add("properties that are there twice: the first counts",
                absl::StrCat(Quoted(name), " (line ", value.line(), ")"));
    }
    AddProperty(name, text, properties);
    return;
  }
  bool flag = true;
  const bool says_no = absl::SimpleAtob(text, &flag) && !flag;
  notes.Add(SoundsLikeWall(name) && !says_no
                ? "properties that sound like walls are not read (\"blocked\" is)"
                : "properties that have no meaning here are not read",
            absl::StrCat(Quoted(name), " (line ", value.line(), ")"));
}

using Classes = std::vector<std::pair<std::string, const JsonValue*>>;

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

// Reads a member that is a T or, as in XML, text that `parse` reads. Keeps `out` if it is missing or null.
// The error says that it is `wrong`.
template <typename T, typename Parse>
absl::Status ReadScalar(const JsonValue& value, absl::string_view name, const T* (JsonValue::*as)() const,
                        Parse parse, absl::string_view wrong, T& out) {
  const JsonValue* const member = value.Find(name);
  if (member == nullptr || member->is_null() ||
      (member->string() != nullptr && parse(*member->string(), &out))) {
    return absl::OkStatus();
  }
  const T* const held = (member->*as)();
  if (held == nullptr) {
    return JsonError(*member, absl::StrCat("\"", name, "\" is ", wrong));
  }
  out = *held;
  return absl::OkStatus();
}

absl::Status ReadPoints(const JsonValue& value, std::vector<Point>& points) {
  if (value.array() == nullptr) {
    return JsonError(value, "these are not points");
  }
  for (const JsonValue& element : *value.array()) {
    Point& point = points.emplace_back();
    WAYSTAR_RETURN_IF_ERROR(ReadMembers(element, "x", point.x, "y", point.y));
  }
  return absl::OkStatus();
}

absl::Status ReadForm(const JsonValue& value, TiledObject& object) {
  using Form = TiledObject::Form;
  for (const auto& [name, form] :
       {std::pair("polygon", Form::kPolygon), std::pair("polyline", Form::kPolyline)}) {
    if (const JsonValue* const points = value.Find(name)) {
      object.form = form;
      return ReadPoints(*points, object.points);
    }
  }
  for (const auto& [name, form] : {std::pair("ellipse", Form::kEllipse), std::pair("capsule", Form::kCapsule),
                                   std::pair("point", Form::kPoint)}) {
    bool is_form = false;
    WAYSTAR_RETURN_IF_ERROR(ReadMember(value, name, is_form));
    if (is_form) {
      object.form = form;
    }
  }
  if (value.Find("text") != nullptr) {
    object.form = Form::kText;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadMember(const JsonValue& value, absl::string_view name, std::string& out) {
  const auto none = [](absl::string_view /*text*/, std::string* /*out*/) { return false; };
  return ReadScalar(value, name, &JsonValue::string, none, "not a string", out);
}

absl::Status ReadMember(const JsonValue& value, absl::string_view name, bool& out) {
  return ReadScalar(value, name, &JsonValue::boolean, &absl::SimpleAtob, "neither true nor false", out);
}

absl::Status ReadMember(const JsonValue& value, absl::string_view name, double& out) {
  const auto read = [](absl::string_view text, double* number) {
    return absl::SimpleAtod(text, number) && std::isfinite(*number);
  };
  return ReadScalar(value, name, &JsonValue::number, read, "not a number", out);
}

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

absl::StatusOr<std::vector<const JsonValue*>> FindObjects(const JsonValue& value, absl::string_view name) {
  const JsonValue* const list = value.Find(name);
  return list == nullptr ? std::vector<const JsonValue*>() : ObjectsIn(*list, name);
}

absl::Status AddPropertiesIn(const JsonValue& value, ImportNotes& notes, TiledProperties& properties) {
  std::vector<std::pair<std::string, const JsonValue*>> classes;
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

absl::Status ReadClass(const JsonValue& value, std::string& out) {
  WAYSTAR_RETURN_IF_ERROR(ReadMember(value, "class", out));
  return out.empty() ? ReadMember(value, "type", out) : absl::OkStatus();
}

absl::StatusOr<TiledObject> ReadObject(const JsonValue& value, TiledReading& reading) {
  // An object takes about 100 times the bytes of its shortest text.
  constexpr std::size_t kMaxObjects = std::size_t{1} << 18;
  if (++reading.objects > kMaxObjects) {
    return JsonError(value, absl::StrCat("more than ", kMaxObjects, " objects in one file"));
  }
  TiledObject object;
  WAYSTAR_RETURN_IF_ERROR(ReadMembers(value, "id", object.id, "name", object.name, "x", object.position.x,
                                      "y", object.position.y, "width", object.width, "height", object.height,
                                      "rotation", object.rotation, "visible", object.visible, "gid",
                                      object.gid, "template", object.template_file));
  WAYSTAR_RETURN_IF_ERROR(ReadProperties(value, reading.notes, object.properties));
  WAYSTAR_RETURN_IF_ERROR(ReadForm(value, object));
  std::string class_name;
  WAYSTAR_RETURN_IF_ERROR(ReadClass(value, class_name));
  if (!class_name.empty()) {
    object.class_name = std::move(class_name);
  }
  return object;
}

namespace {

constexpr std::array<absl::string_view, 13> kMeaningful = {
    "blocked", "cell_size",  "collides",    "cost",   "cost_addition", "cost_factor", "empty",
    "ignore",  "impassable", "object_rule", "symbol", "terrain",       "walkable"};
constexpr std::array<absl::string_view, 4> kBlocking = {"blocked", "collides", "walkable", "impassable"};

absl::Status BadProperty(absl::string_view name, absl::string_view value, absl::string_view wanted) {
  return MakeError(
      ErrorReason::kBadTerrain, "",
      absl::StrCat("the property \"", name, "\" is \"", absl::CHexEscape(value), "\", ", wanted));
}

}  // namespace

bool IsMeaningfulProperty(absl::string_view name) {
  return absl::c_linear_search(kMeaningful, absl::AsciiStrToLower(name));
}

void AddProperty(absl::string_view name, absl::string_view value, TiledProperties& properties) {
  constexpr std::size_t kMaxValue = 100;
  std::string lower = absl::AsciiStrToLower(name);
  if (absl::c_linear_search(kMeaningful, lower) && FindProperty(properties, lower) == nullptr) {
    properties.emplace_back(std::move(lower), value.substr(0, kMaxValue));
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
