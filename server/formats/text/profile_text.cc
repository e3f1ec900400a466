#include "server/formats/text/profile_text.h"

#include <array>
#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/file_errors.h"
#include "server/formats/text/number.h"

namespace waystar::core {
namespace {

// Words by CornerRule.
constexpr std::array<absl::string_view, kCornerRuleCount> kCornerRules = {"no_corner_cutting",
                                                                          "one_side_free", "always"};

bool ParseCornerRule(absl::string_view word, CornerRule& rule) {
  for (std::size_t i = 0; i < kCornerRules.size(); ++i) {
    if (word == kCornerRules[i]) {
      rule = static_cast<CornerRule>(i);
      return true;
    }
  }
  return false;
}

// Parses a keyword and its value.
bool TakePair(absl::string_view key, absl::string_view value, MovementProfile& profile) {
  if (key == "footprint") {
    return absl::SimpleAtoi(value, &profile.footprint);
  }
  if (key == "corner_rule") {
    return ParseCornerRule(value, profile.corner_rule);
  }
  if (key == "tag") {
    profile.required_tags.emplace_back(value);
    return true;
  }
  double cost = 0.0;
  if (key.size() != 1) {
    return false;
  }
  if (value == "forbidden") {
    profile.forbidden_terrains.push_back(key.front());
    return true;
  }
  if (!absl::SimpleAtod(value, &cost)) {
    return false;
  }
  profile.terrain_costs.push_back({key.front(), cost});
  return true;
}

}  // namespace

absl::StatusOr<NamedProfile> ParseProfile(absl::Span<const absl::string_view> words) {
  if (words.size() < 2) {
    return BadFormat("expected \"profile NAME ...\"");
  }
  NamedProfile named{.name = std::string(words[1])};
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "no_diagonals") {
      named.profile.no_diagonals = true;
    } else if (i + 1 < words.size() && TakePair(words[i], words[i + 1], named.profile)) {
      ++i;
    } else {
      return BadFormat(
          absl::StrCat(Quoted(words[i]),
                       " does not begin one of \"footprint N\", \"corner_rule "
                       "no_corner_cutting|one_side_free|always\", \"no_diagonals\", \"tag TAG\" and "
                       "\"SYMBOL COST|forbidden\""));
    }
  }
  return named;
}

std::string FormatProfile(const NamedProfile& named) {
  const MovementProfile& profile = named.profile;
  std::string line = absl::StrCat("profile ", named.name);
  if (profile.footprint != 1) {
    absl::StrAppend(&line, " footprint ", profile.footprint);
  }
  if (profile.corner_rule != CornerRule::kNoCornerCutting) {
    absl::StrAppend(&line, " corner_rule ", kCornerRules[static_cast<std::size_t>(profile.corner_rule)]);
  }
  if (profile.no_diagonals) {
    line += " no_diagonals";
  }
  for (const TerrainCost& terrain : profile.terrain_costs) {
    absl::StrAppendFormat(&line, " %c %s", terrain.symbol, ShortestText(terrain.cost));
  }
  for (const char symbol : profile.forbidden_terrains) {
    absl::StrAppendFormat(&line, " %c forbidden", symbol);
  }
  for (const std::string& tag : profile.required_tags) {
    absl::StrAppend(&line, " tag ", tag);
  }
  return line;
}

}  // namespace waystar::core
