#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/formats/text/rows.h"
#include "server/formats/text/text.h"

namespace waystar::core {
namespace {

constexpr char kOutOfBounds = '@';
// Limit on the bytes of a line inspected when the format is detected.
constexpr std::size_t kLongestHeaderLine = 200;

GridSettings MovingAiSettings() {
  GridSettings settings;
  settings.terrains = {{.symbol = '.', .name = "ground"},
                       {.symbol = 'G', .name = "grass"},
                       {.symbol = 'S', .name = "swamp"},
                       {.symbol = 'T', .name = "trees", .impassable = true},
                       {.symbol = 'W', .name = "water", .impassable = true}};
  return settings;
}

struct Header {
  std::int64_t width = 0;
  std::int64_t height = 0;
};

std::vector<absl::string_view> WordsOf(absl::string_view line) {
  return absl::StrSplit(absl::StripAsciiWhitespace(line), absl::ByAnyChar(" \t"), absl::SkipEmpty());
}

// Returns true for a line "type T". Rows contain no blanks, so it is not a row.
bool IsType(const std::vector<absl::string_view>& words) {
  return words.size() > 1 && absl::EqualsIgnoreCase(words[0], "type");
}

bool IsSide(const std::vector<absl::string_view>& words) {
  return words.size() == 2 &&
         (absl::EqualsIgnoreCase(words[0], "height") || absl::EqualsIgnoreCase(words[0], "width"));
}

// Reads "height N" or "width N".
absl::Status ParseSide(const std::vector<absl::string_view>& words, std::size_t line, int max_side,
                       Header& header) {
  const std::string key = absl::AsciiStrToLower(words[0]);
  std::int64_t& side = key == "height" ? header.height : header.width;
  if (side != 0) {
    return BadLine(line, absl::StrCat("a second ", key));
  }
  if (!absl::SimpleAtoi(words[1], &side)) {
    return BadLine(line, absl::StrCat(Quoted(words[1]), " is not a number of cells"));
  }
  if (side < 1 || side > max_side) {
    return MakeError(
        ErrorReason::kBadSize, "",
        absl::StrCat("line ", line, ": a map's ", key, " must be 1 to ", max_side, " cells, got ", side));
  }
  return absl::OkStatus();
}

// Parses the header. Leaves the reader before the first row, or before blank lines that precede it.
absl::StatusOr<Header> ParseHeader(LineReader& lines, const GridOverrides& overrides) {
  Header header;
  for (;;) {
    const LineReader before = lines;
    const std::optional<absl::string_view> line = lines.Next();
    if (!line.has_value()) {
      break;
    }
    WAYSTAR_RETURN_IF_ERROR(lines.CheckStopNow(overrides.stop));
    const std::vector<absl::string_view> words = WordsOf(*line);
    if (words.empty()) {
      continue;
    }
    if (words.size() == 1 && absl::EqualsIgnoreCase(words[0], "map")) {
      break;
    }
    if (IsType(words)) {
      if (absl::StartsWithIgnoreCase(words[1], "hex")) {
        return BadLine(lines.line_number(), "Moving AI files are of squares, not of hexagons");
      }
    } else if (IsSide(words)) {
      WAYSTAR_RETURN_IF_ERROR(ParseSide(words, lines.line_number(), overrides.max_side, header));
    } else if (words.size() > 1 || header.height == 0 || header.width == 0) {
      return BadLine(
          lines.line_number(),
          absl::StrCat(Quoted(*line), " is none of \"type octile\", \"height N\", \"width N\" and \"map\""));
    } else {
      lines = before;
      break;
    }
  }
  if (header.height == 0 || header.width == 0) {
    return BadLine(lines.line_number(), "the header lacks one of height and width");
  }
  return header;
}

}  // namespace

bool LooksLikeMovingAi(absl::string_view bytes) {
  LineReader lines(bytes);
  // Key of the first line, "height" or "width".
  std::string first;
  while (const std::optional<absl::string_view> line = lines.Next()) {
    const std::vector<absl::string_view> words = WordsOf(line->substr(0, kLongestHeaderLine));
    if (words.empty()) {
      continue;
    }
    if (!IsSide(words) || !first.empty()) {
      return IsType(words) || (IsSide(words) && !absl::EqualsIgnoreCase(words[0], first));
    }
    first = std::string(words[0]);
  }
  return false;
}

absl::StatusOr<GridMap> ParseMovingAi(absl::string_view bytes, const GridOverrides& overrides) {
  LineReader lines(bytes);
  WAYSTAR_ASSIGN_OR_RETURN(const Header header, ParseHeader(lines, overrides));
  WAYSTAR_ASSIGN_OR_RETURN(GridSettings settings, ApplyOverrides(MovingAiSettings(), overrides));
  RowSource source{.max_side = overrides.max_side, .stop = overrides.stop};
  std::vector<absl::string_view> rows;
  while (const std::optional<absl::string_view> line = lines.Next()) {
    WAYSTAR_RETURN_IF_ERROR(lines.CheckStopNow(overrides.stop));
    const absl::string_view row = WithoutTrailingBlanks(*line);
    const bool is_full = static_cast<std::int64_t>(rows.size()) == header.height;
    if (row.empty() && (is_full || rows.empty())) {
      continue;
    }
    if (is_full) {
      return BadLine(lines.line_number(),
                     absl::StrCat("more rows than the ", header.height, " the header promises"));
    }
    if (static_cast<std::int64_t>(row.size()) != header.width) {
      return BadLine(lines.line_number(), absl::StrCat("the row has ", row.size(), " cells, not the ",
                                                       header.width, " the header promises"));
    }
    if (rows.empty()) {
      source.first_line = lines.line_number();
    }
    rows.push_back(row);
  }
  if (static_cast<std::int64_t>(rows.size()) < header.height) {
    return BadLine(lines.line_number(), absl::StrCat("the file ends after ", rows.size(), " of the ",
                                                     header.height, " rows the header promises"));
  }
  return ParseRows(rows, std::move(settings), source);
}

absl::StatusOr<std::string> FormatMovingAi(const GridMap& map, const StopCheck* stop) {
  if (map.settings().connectivity == Connectivity::kSix) {
    return MakeError(ErrorReason::kNotExpressible, "format",
                     "Moving AI files are of squares; export as text");
  }
  std::string letters(1, kOutOfBounds);
  for (const Terrain& terrain : MovingAiSettings().terrains) {
    letters.push_back(terrain.symbol);
  }
  std::string text = absl::StrCat("type octile\nheight ", map.height(), "\nwidth ", map.width(), "\nmap\n");
  for (int y = 0; y < map.height(); ++y) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    const std::string row = FormatRow(map, y, kOutOfBounds);
    if (const std::size_t x = row.find_first_not_of(letters); x != std::string::npos) {
      return MakeError(ErrorReason::kNotExpressible, "format",
                       absl::StrCat("Moving AI files have no letter for the terrain '", row.substr(x, 1),
                                    "' at (", x, ", ", y, "); export as text"));
    }
    absl::StrAppend(&text, row, "\n");
  }
  return text;
}

}  // namespace waystar::core
