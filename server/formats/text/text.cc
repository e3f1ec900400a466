#include "server/formats/text/text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/core/elements/profile_table.h"

namespace waystar::core {
namespace {

constexpr absl::string_view kHeaderEnd = "map";

absl::Status ParseTerrain(absl::Span<const absl::string_view> words, std::size_t line,
                          GridOverrides& header) {
  TerrainOverride terrain;
  double cost = 0.0;
  if (words.size() != 4 || words[1].size() != 1 ||
      (words[3] != "impassable" && !absl::SimpleAtod(words[3], &cost))) {
    return BadLine(line, "expected \"terrain SYMBOL NAME COST\" or \"terrain SYMBOL NAME impassable\"");
  }
  terrain.symbol = words[1].front();
  terrain.name = std::string(words[2]);
  if (words[3] == "impassable") {
    terrain.impassable = true;
  } else {
    terrain.cost = cost;
  }
  header.terrains.push_back(std::move(terrain));
  return absl::OkStatus();
}

// Parses "origin X Y", "origin X Y Z" or "cell_size NUMBER".
absl::Status ParseFrameLine(absl::Span<const absl::string_view> words, std::size_t line,
                            GridOverrides& header) {
  std::vector<double> numbers(words.size() - 1);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!absl::SimpleAtod(words[i + 1], &numbers[i])) {
      return BadLine(line, absl::StrCat(Quoted(words[i + 1]), " is not a number"));
    }
  }
  if (words.front() == "cell_size") {
    if (numbers.size() != 1 || header.cell_size) {
      return BadLine(line, "expected \"cell_size NUMBER\", once");
    }
    header.cell_size = numbers[0];
    return absl::OkStatus();
  }
  if (numbers.size() < 2 || numbers.size() > 3 || header.origin) {
    return BadLine(line, "expected \"origin X Y\" or \"origin X Y Z\", once");
  }
  header.origin = WorldPoint{numbers[0], numbers[1], numbers.size() == 3 ? numbers[2] : 0.0};
  return absl::OkStatus();
}

// A header; each profile has the number of its line.
struct TextHeader {
  GridOverrides grid;
  std::vector<std::pair<std::size_t, NamedProfile>> profiles;
};

absl::Status ParseProfileLine(absl::Span<const absl::string_view> words, std::size_t line,
                              TextHeader& header) {
  absl::StatusOr<NamedProfile> profile = ParseProfile(words);
  if (!profile.ok()) {
    return BadLine(line, profile.status().message());
  }
  for (const auto& [other_line, other] : header.profiles) {
    if (other.name == profile->name) {
      return BadLine(line, "a second profile of this name");
    }
  }
  if (header.profiles.size() == kMaxProfiles) {
    return BadLine(line, absl::StrCat("a map has at most ", kMaxProfiles, " profiles"));
  }
  header.profiles.emplace_back(line, *std::move(profile));
  return absl::OkStatus();
}

absl::Status AddProfiles(TextHeader header, GridMap& map) {
  if (header.profiles.empty()) {
    return absl::OkStatus();
  }
  ProfileTable profiles;
  for (auto& [line, profile] : header.profiles) {
    if (const absl::Status status = PutInTable(std::move(profile), map.settings(), profiles); !status.ok()) {
      return BadLine(line, status.message());
    }
  }
  map.SetProfiles(std::move(profiles));
  return absl::OkStatus();
}

// Sets a value that a header has at most once.
template <typename T>
absl::Status SetOnce(absl::string_view key, std::size_t line, T value, std::optional<T>& out) {
  if (out) {
    return BadLine(line, absl::StrCat("a second ", key));
  }
  out = std::move(value);
  return absl::OkStatus();
}

absl::Status ParseHeaderLine(absl::string_view text, std::size_t line, TextHeader& whole) {
  GridOverrides& header = whole.grid;
  const std::vector<absl::string_view> words =
      absl::StrSplit(text, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  const absl::string_view key = words.front();
  if (key == "terrain") {
    return ParseTerrain(words, line, header);
  }
  if (key == "profile") {
    return ParseProfileLine(words, line, whole);
  }
  if (key == "hexagons" && words.size() == 2) {
    const std::optional<HexLayout> layout = HexLayoutOf(words[1]);
    if (!layout || header.hexagons) {
      return BadLine(line,
                     "expected \"hexagons LAYOUT\", once, and LAYOUT one of axial_pointy, axial_flat, "
                     "odd_rows, even_rows, odd_columns and even_columns");
    }
    header.hexagons = layout;
    return absl::OkStatus();
  }
  if (key == "connectivity" && words.size() == 2 && (words[1] == "4" || words[1] == "8")) {
    return SetOnce(key, line, words[1] == "4" ? Connectivity::kFour : Connectivity::kEight,
                   header.connectivity);
  }
  if (key == "world" && words.size() == 2) {
    return SetOnce(key, line, std::string(words[1]), header.world);
  }
  if (key == "origin" || key == "cell_size") {
    return ParseFrameLine(words, line, header);
  }
  double cost = 0.0;
  if (key == "diagonal_cost" && words.size() == 2 && absl::SimpleAtod(words[1], &cost)) {
    return SetOnce(key, line, cost, header.diagonal_cost);
  }
  return BadLine(
      line, absl::StrCat(
                Quoted(text),
                " is none of \"connectivity 4|8\", \"hexagons LAYOUT\", \"diagonal_cost NUMBER\", "
                "\"origin X Y\", \"cell_size NUMBER\", "
                "\"terrain SYMBOL NAME COST|impassable\", \"world NAME\", \"profile NAME ...\" and \"map\""));
}

bool EndsHeader(absl::string_view line) { return absl::StripAsciiWhitespace(line) == kHeaderEnd; }

// Returns true for a header line: "map", or several words. Rows contain no blanks, as no symbol is one.
bool LooksLikeHeader(absl::string_view line) {
  return EndsHeader(line) || absl::StripAsciiWhitespace(line).find_first_of(" \t") != absl::string_view::npos;
}

}  // namespace

absl::StatusOr<GridMap> ParseText(absl::string_view bytes, const GridOverrides& overrides) {
  LineReader lines(bytes);
  std::optional<absl::string_view> line = lines.Next();
  while (line && WithoutTrailingBlanks(*line).empty()) {
    WAYSTAR_RETURN_IF_ERROR(lines.CheckStopNow(overrides.stop));
    line = lines.Next();
  }
  GridSettings settings;
  TextHeader header;
  if (line && LooksLikeHeader(*line)) {
    for (; line && !EndsHeader(*line); line = lines.Next()) {
      WAYSTAR_RETURN_IF_ERROR(lines.CheckStopNow(overrides.stop));
      if (!absl::StripAsciiWhitespace(*line).empty()) {
        WAYSTAR_RETURN_IF_ERROR(
            ParseHeaderLine(absl::StripAsciiWhitespace(*line), lines.line_number(), header));
      }
    }
    if (!line) {
      return BadLine(lines.line_number(), "the header does not end with a line \"map\"");
    }
    absl::StatusOr<GridSettings> with_header = ApplyOverrides(std::move(settings), header.grid);
    if (!with_header.ok()) {
      return BadFormat(absl::StrCat("in the header: ", with_header.status().message()));
    }
    settings = *std::move(with_header);
    line = lines.Next();
  }
  WAYSTAR_ASSIGN_OR_RETURN(settings, ApplyOverrides(std::move(settings), overrides));

  const RowSource source{.first_line = std::max<std::size_t>(lines.line_number(), 1),
                         .max_side = overrides.max_side,
                         .stop = overrides.stop};
  std::vector<absl::string_view> rows;
  std::size_t empty_lines = 0;
  for (; line; line = lines.Next()) {
    WAYSTAR_RETURN_IF_ERROR(lines.CheckStopNow(overrides.stop));
    const absl::string_view row = WithoutTrailingBlanks(*line);
    if (row.empty()) {
      ++empty_lines;
      continue;
    }
    if (empty_lines > 0) {
      return MakeError(ErrorReason::kBadRow, "",
                       absl::StrCat("line ", lines.line_number(), ": a row after an empty line"));
    }
    rows.push_back(row);
    // One row too many suffices for the error; do not keep the rest of the file.
    if (static_cast<int>(rows.size()) > overrides.max_side) {
      break;
    }
  }
  WAYSTAR_ASSIGN_OR_RETURN(GridMap map, ParseRows(rows, std::move(settings), source));
  WAYSTAR_RETURN_IF_ERROR(AddProfiles(std::move(header), map));
  return map;
}

std::string FormatText(const GridMap& map, const StopCheck* stop) {
  const GridSettings& settings = map.settings();
  std::string text;
  const GridSettings defaults;
  if (settings != defaults || !map.profiles().empty()) {
    const std::optional<HexBoard>& hexagons = settings.frame.hexagons;
    if (hexagons) {
      absl::StrAppend(&text, "hexagons ", HexLayoutName(hexagons->layout), "\n");
    } else {
      absl::StrAppend(&text, "connectivity ", settings.connectivity == Connectivity::kFour ? 4 : 8, "\n");
    }
    if (settings.diagonal_cost != kSqrt2 && !hexagons) {
      absl::StrAppend(&text, "diagonal_cost ", ShortestText(settings.diagonal_cost), "\n");
    }
    if (!settings.world.empty()) {
      absl::StrAppend(&text, "world ", settings.world, "\n");
    }
    const WorldFrame& frame = settings.frame;
    if (frame.origin != WorldPoint{}) {
      absl::StrAppend(&text, "origin ", ShortestText(frame.origin.x), " ", ShortestText(frame.origin.y), " ",
                      ShortestText(frame.origin.z), "\n");
    }
    if (frame.cell_size != 1.0) {
      absl::StrAppend(&text, "cell_size ", ShortestText(frame.cell_size), "\n");
    }
    for (const Terrain& terrain : settings.terrains) {
      absl::StrAppendFormat(&text, "terrain %c %s ", terrain.symbol, terrain.name);
      if (terrain.impassable) {
        text += "impassable\n";
      } else {
        absl::StrAppend(&text, ShortestText(terrain.cost), "\n");
      }
    }
    for (const NamedProfile& profile : map.profiles()) {
      absl::StrAppend(&text, FormatProfile(profile), "\n");
    }
    absl::StrAppend(&text, kHeaderEnd, "\n");
  }
  text.reserve(text.size() +
               static_cast<std::size_t>(map.height()) * static_cast<std::size_t>(map.width() + 1));
  for (int y = 0; y < RowCount(map) && !IsStopped(stop); ++y) {
    absl::StrAppend(&text, FormatRow(map, y, kObstacleSymbol), "\n");
  }
  return text;
}

namespace {

// Words by CornerRule.
constexpr std::array<absl::string_view, kCornerRuleCount> kCornerRules = {"no_corner_cutting",
                                                                          "one_side_free", "always"};

// Parses a keyword and its value.
bool TakePair(absl::string_view key, absl::string_view value, MovementProfile& profile) {
  if (key == "footprint") {
    return absl::SimpleAtoi(value, &profile.footprint);
  }
  if (key == "corner_rule") {
    const auto* const rule = std::find(kCornerRules.begin(), kCornerRules.end(), value);
    profile.corner_rule = static_cast<CornerRule>(rule - kCornerRules.begin());
    return rule != kCornerRules.end();
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

absl::StatusOr<std::string> FormatMap(MapFormat format, const GridMap& map, const StopCheck* stop) {
  if (format == MapFormat::kText) {
    std::string text = FormatText(map, stop);
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    return text;
  }
  if (format == MapFormat::kMovingAi) {
    return FormatMovingAi(map, stop);
  }
  return MakeError(ErrorReason::kNotExpressible, "format",
                   "files of this format are read, not written; export as text");
}

}  // namespace waystar::core
