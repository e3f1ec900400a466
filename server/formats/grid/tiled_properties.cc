#include "server/formats/grid/tiled_properties.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"

namespace waystar::core {
namespace {

constexpr std::array<absl::string_view, 13> kMeaningful = {
    "blocked", "cell_size",  "collides",    "cost",   "cost_addition", "cost_factor", "empty",
    "ignore",  "impassable", "object_rule", "symbol", "terrain",       "walkable"};
constexpr std::array<absl::string_view, 4> kBlocking = {"blocked", "collides", "walkable", "impassable"};

template <std::size_t N>
bool IsOneOf(absl::string_view name, const std::array<absl::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

absl::Status BadProperty(absl::string_view name, absl::string_view value, absl::string_view wanted) {
  return MakeError(
      ErrorReason::kBadTerrain, "",
      absl::StrCat("the property \"", name, "\" is \"", absl::CHexEscape(value), "\", ", wanted));
}

}  // namespace

bool IsMeaningfulProperty(absl::string_view name) {
  return IsOneOf(absl::AsciiStrToLower(name), kMeaningful);
}

void AddProperty(absl::string_view name, absl::string_view value, TiledProperties& properties) {
  constexpr std::size_t kMaxValue = 100;
  std::string lower = absl::AsciiStrToLower(name);
  if (IsOneOf(lower, kMeaningful) && FindProperty(properties, lower) == nullptr) {
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
  const bool says = std::any_of(properties.begin(), properties.end(),
                                [](const auto& property) { return IsOneOf(property.first, kBlocking); });
  for (const auto& [name, value] : others) {
    if (!says || !IsOneOf(name, kBlocking)) {
      AddProperty(name, value, properties);
    }
  }
}

}  // namespace waystar::core
