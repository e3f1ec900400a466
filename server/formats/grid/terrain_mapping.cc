#include "server/formats/grid/terrain_mapping.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/formats/text/text.h"

namespace waystar::core {
namespace {

using Words = absl::Span<const absl::string_view>;

absl::Status Malformed(absl::string_view message) {
  return MakeError(ErrorReason::kBadFormat, kTerrainsField, message);
}

// Parses "blocked", "NAME COST|impassable" or "NAME COST|impassable SYMBOL".
absl::StatusOr<CellRule> ParseRule(Words words) {
  if (words.size() == 1 && words[0] == "blocked") {
    return CellRule{.blocked = true};
  }
  CellRule rule;
  const bool has_symbol = words.size() == 3 && words[2].size() == 1;
  if ((words.size() != 2 && !has_symbol) || words[0] == "blocked" ||
      (words[1] != "impassable" && !absl::SimpleAtod(words[1], &rule.cost))) {
    return Malformed("expected \"blocked\", \"NAME COST\" or \"NAME impassable\", and if any a SYMBOL");
  }
  rule.name = std::string(words[0]);
  rule.impassable = words[1] == "impassable";
  rule.symbol = has_symbol ? words[2].front() : '\0';
  // Validates the terrain by adding it to an empty table.
  if (const auto id = TerrainTable().Add(rule); !id.ok()) {
    return Malformed(id.status().message());
  }
  return rule;
}

// Parses the words after "terrain": "NAME blocked", or the words of ParseRule.
absl::StatusOr<CellRule> ParseNamedRule(Words words) {
  return words.size() == 2 && words[1] == "blocked" ? CellRule{.blocked = true} : ParseRule(words);
}

std::optional<std::uint32_t> ParseColor(absl::string_view word) {
  const absl::string_view digits = word.substr(1);
  std::uint32_t color = 0;
  if ((digits.size() != 6 && digits.size() != 8) ||
      !std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return absl::ascii_isxdigit(c); }) ||
      !absl::SimpleHexAtoi(digits, &color)) {
    return std::nullopt;
  }
  return digits.size() == 8 ? color : color << 8 | 0xFF;
}

absl::Status ParseGrey(Words words, TerrainMapping& mapping) {
  GreyRamp ramp;
  const auto is_cost = [](double cost) { return cost >= kMinTerrainCost && cost <= kMaxTerrainCost; };
  if (mapping.grey || words.size() != 2 || !absl::SimpleAtod(words[0], &ramp.white) ||
      !absl::SimpleAtod(words[1], &ramp.black) || !is_cost(ramp.white) || !is_cost(ramp.black)) {
    return Malformed("expected \"grey WHITE BLACK\", once, two costs from 0.001 to 1000");
  }
  mapping.grey = ramp;
  return absl::OkStatus();
}

absl::Status ParseLine(Words words, TerrainMapping& mapping) {
  const absl::string_view key = words.front();
  const Words rest = words.subspan(1);
  bool is_first = true;
  if (key.front() == '#') {
    const std::optional<std::uint32_t> color = ParseColor(key);
    if (!color) {
      return Malformed("a colour is #rrggbb or #rrggbbaa");
    }
    WAYSTAR_ASSIGN_OR_RETURN(CellRule rule, ParseRule(rest));
    is_first = mapping.colors.try_emplace(*color, std::move(rule)).second;
  } else if (key == "value") {
    std::uint32_t value = 0;
    if (rest.empty() || !absl::SimpleAtoi(rest.front(), &value)) {
      return Malformed("expected \"value NUMBER\"");
    }
    WAYSTAR_ASSIGN_OR_RETURN(CellRule rule, ParseRule(rest.subspan(1)));
    is_first = mapping.values.try_emplace(value, std::move(rule)).second;
  } else if (key == "terrain") {
    WAYSTAR_ASSIGN_OR_RETURN(CellRule rule, ParseNamedRule(rest));
    is_first = mapping.names.try_emplace(std::string(rest.front()), std::move(rule)).second;
  } else if (key == "transparent" || key == "else") {
    std::optional<CellRule>& place = key == "else" ? mapping.otherwise : mapping.transparent;
    is_first = !place;
    WAYSTAR_ASSIGN_OR_RETURN(place, ParseRule(rest));
  } else if (key == "grey") {
    return ParseGrey(rest, mapping);
  } else {
    return Malformed(
        absl::StrCat(Quoted(key), " is none of a colour, value, terrain, transparent, grey and else"));
  }
  return is_first ? absl::OkStatus() : Malformed("a second line of this");
}

}  // namespace

absl::Status TerrainMapping::ReserveSymbols(TerrainTable& terrains) const {
  const auto reserve = [&](const CellRule& rule) {
    return rule.symbol == 0 ? absl::OkStatus() : terrains.Add(rule).status();
  };
  for (const auto& [color, rule] : colors) {
    WAYSTAR_RETURN_IF_ERROR(reserve(rule));
  }
  for (const auto& [value, rule] : values) {
    WAYSTAR_RETURN_IF_ERROR(reserve(rule));
  }
  for (const auto& [name, rule] : names) {
    WAYSTAR_RETURN_IF_ERROR(reserve(rule));
  }
  for (const std::optional<CellRule>& rule : {transparent, otherwise}) {
    WAYSTAR_RETURN_IF_ERROR(rule ? reserve(*rule) : absl::OkStatus());
  }
  return absl::OkStatus();
}

absl::StatusOr<TerrainMapping> ParseTerrainMapping(absl::string_view text) {
  TerrainMapping mapping;
  LineReader lines(text);
  while (const std::optional<absl::string_view> line = lines.Next()) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(*line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (words.empty() || words.front() == "#") {
      continue;
    }
    if (const absl::Status status = ParseLine(words, mapping); !status.ok()) {
      return Malformed(absl::StrCat("terrains, line ", lines.line_number(), ": ", status.message()));
    }
  }
  TerrainTable terrains;
  if (const absl::Status status = mapping.ReserveSymbols(terrains); !status.ok()) {
    return Malformed(absl::StrCat("terrains: ", status.message()));
  }
  return mapping;
}

namespace {

Terrain TerrainOf(const CellRule& rule) {
  Terrain terrain{.symbol = rule.symbol, .name = rule.name, .cost = rule.cost, .impassable = rule.impassable};
  if (terrain.name.empty()) {
    terrain.name = rule.impassable    ? "impassable"
                   : rule.cost == 1.0 ? "ground"
                                      : absl::StrCat("cost-", ShortestText(rule.cost));
  }
  return terrain;
}

// Compares everything but the symbols.
bool IsSame(const Terrain& a, const Terrain& b) {
  return a.name == b.name && a.cost == b.cost && a.impassable == b.impassable;
}

absl::Status BadTerrain(const Terrain& terrain, absl::string_view message) {
  return MakeError(ErrorReason::kBadTerrain, "",
                   absl::StrCat("terrain \"", absl::CHexEscape(terrain.name.substr(0, 60)), "\": ", message));
}

}  // namespace

absl::StatusOr<TerrainId> TerrainTable::Add(const CellRule& rule) {
  if (rule.blocked) {
    return GridMapEditor::kObstacle;
  }
  Terrain terrain = TerrainOf(rule);
  const auto known = std::find_if(terrains_.begin(), terrains_.end(), [&](const Terrain& other) {
    return IsSame(other, terrain) && (terrain.symbol == 0 || terrain.symbol == other.symbol);
  });
  if (known != terrains_.end()) {
    return static_cast<TerrainId>(known - terrains_.begin());
  }
  if (terrain.symbol == 0) {
    const std::optional<char> symbol = FreeSymbol(terrain.name);
    if (!symbol) {
      return BadTerrain(terrain,
                        absl::StrCat("a file has at most ", terrains_.size(), " different terrains"));
    }
    terrain.symbol = *symbol;
  } else if (!IsFree(terrain.symbol)) {
    return BadTerrain(terrain, absl::StrCat("'", absl::CHexEscape(std::string(1, terrain.symbol)),
                                            "' is another terrain's symbol, or can be none"));
  }
  GridSettings alone;
  alone.terrains = {terrain};
  if (const absl::Status status = CheckGridSettings(alone); !status.ok()) {
    return BadTerrain(terrain, status.message());
  }
  taken_.set(static_cast<unsigned char>(terrain.symbol));
  terrains_.push_back(std::move(terrain));
  return static_cast<TerrainId>(terrains_.size() - 1);
}

bool TerrainTable::IsFree(char symbol) const {
  return absl::ascii_isgraph(static_cast<unsigned char>(symbol)) && !IsObstacleSymbol(symbol) &&
         !taken_.test(static_cast<unsigned char>(symbol));
}

std::optional<char> TerrainTable::FreeSymbol(absl::string_view name) const {
  for (const char letter : name) {
    for (const char symbol : {absl::ascii_tolower(static_cast<unsigned char>(letter)),
                              absl::ascii_toupper(static_cast<unsigned char>(letter))}) {
      if (absl::ascii_isalnum(static_cast<unsigned char>(symbol)) && IsFree(symbol)) {
        return symbol;
      }
    }
  }
  for (char symbol = '~'; symbol > ' '; --symbol) {
    if (IsFree(symbol)) {
      return symbol;
    }
  }
  return std::nullopt;
}

}  // namespace waystar::core
