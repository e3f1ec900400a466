#include "server/core/format/moving_ai.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/format/file_errors.h"
#include "server/core/format/line_reader.h"
#include "server/core/format/rows.h"

namespace waystar::core {
namespace {

constexpr char kOutOfBounds = '@';

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

absl::StatusOr<Header> ParseHeader(LineReader& lines, int max_side) {
  Header header;
  bool has_type = false;
  while (const std::optional<absl::string_view> line = lines.Next()) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(*line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    const absl::string_view key = words.empty() ? absl::string_view() : words[0];
    const absl::string_view value = words.size() == 2 ? words[1] : absl::string_view();
    if (key == "map" && words.size() == 1) {
      if (!has_type || header.width == 0 || header.height == 0) {
        return BadLine(lines.line_number(), "the header lacks one of type, height and width");
      }
      return header;
    }
    std::int64_t side = 0;
    if (key == "type" && value == "octile") {
      has_type = true;
    } else if ((key == "height" || key == "width") && absl::SimpleAtoi(value, &side)) {
      if (side < 1 || side > max_side) {
        return MakeError(ErrorReason::kBadSize, "",
                         absl::StrCat("line ", lines.line_number(), ": a map's ", key, " is from 1 to ",
                                      max_side, " cells, not ", side));
      }
      (key == "height" ? header.height : header.width) = side;
    } else {
      return BadLine(
          lines.line_number(),
          absl::StrCat(Quoted(*line), " is none of \"type octile\", \"height N\", \"width N\" and \"map\""));
    }
  }
  return BadLine(lines.line_number(), "the header does not end with a line \"map\"");
}

}  // namespace

absl::StatusOr<GridMap> ParseMovingAi(absl::string_view bytes, const GridOverrides& overrides) {
  LineReader lines(bytes);
  WAYSTAR_ASSIGN_OR_RETURN(const Header header, ParseHeader(lines, overrides.max_side));
  WAYSTAR_ASSIGN_OR_RETURN(GridSettings settings, ApplyOverrides(MovingAiSettings(), overrides));
  const RowSource source{
      .first_line = lines.line_number() + 1, .max_side = overrides.max_side, .stop = overrides.stop};
  std::vector<absl::string_view> rows;
  while (const std::optional<absl::string_view> line = lines.Next()) {
    WAYSTAR_RETURN_IF_ERROR(lines.CheckStopNow(overrides.stop));
    if (static_cast<std::int64_t>(rows.size()) == header.height) {
      if (!absl::StripAsciiWhitespace(*line).empty()) {
        return BadLine(lines.line_number(),
                       absl::StrCat("more rows than the ", header.height, " the header promises"));
      }
      continue;
    }
    if (static_cast<std::int64_t>(line->size()) != header.width) {
      return BadLine(lines.line_number(), absl::StrCat("the row has ", line->size(), " cells, not the ",
                                                       header.width, " the header promises"));
    }
    rows.push_back(*line);
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
