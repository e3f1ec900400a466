// The plain text format: an optional header, then one line per row of the map.
//
//   connectivity 4
//   diagonal_cost 1.4
//   origin -50 -50
//   cell_size 0.5
//   terrain ~ river 3
//   terrain ^ mountain impassable
//   profile tank footprint 2 ~ forbidden ^ 3
//   map
//   ..~~..
//   .#~~^.
//
// Header lines may be in any order. Each key occurs at most once, except terrain and profile (see
// ParseProfile). Without a header, the first line is the first row. '.' is ground of cost 1; '#', '@' and
// 'O' are obstacles; other symbols are defined by the header and by the caller's overrides, which take
// precedence. A byte order mark, empty lines before the header and after the last row, blanks around header
// lines and trailing blanks of rows are ignored.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/movement_profile.h"
#include "server/formats/text/rows.h"

namespace waystar::core {

// Parses a file. Returns the errors of ParseRows and ApplyOverrides, and INVALID_ARGUMENT / BAD_FORMAT naming
// the line for a bad header.
absl::StatusOr<GridMap> ParseText(absl::string_view bytes, const GridOverrides& overrides);

// Returns text that parses back to the same map, except that the terrain below obstacles is lost. The header
// is written only if the map differs from the defaults. Once `stop` fails, the remaining rows are omitted.
std::string FormatText(const GridMap& map, const StopCheck* stop = nullptr);

// Movement profiles are lines of a text file's header:
//
//   profile tank footprint 2 corner_rule one_side_free ~ forbidden ^ 3
//   profile crab no_diagonals tag ladder tag rope
//
// After the name follow, in any order: "footprint N", "corner_rule no_corner_cutting|one_side_free|always",
// "no_diagonals", "tag TAG" for each required tag, and for each terrain its symbol with its cost or
// "forbidden". A word of one character is a symbol.

// Parses the words of a line, including "profile". Returns INVALID_ARGUMENT / BAD_FORMAT for malformed words;
// does not check whether the map accepts the profile.
absl::StatusOr<NamedProfile> ParseProfile(absl::Span<const absl::string_view> words);

// Returns the line, without its end.
std::string FormatProfile(const NamedProfile& profile);

// Formats of map files. Numbers are those of waystar.v1.MapFormat in types.proto; service/convert/ casts
// between the two.
enum class MapFormat : std::uint8_t {
  kText = 1,
  kMovingAi = 2,
  kTiled = 3,
  kLdtk = 4,
  kImage = 5,
  kGeoJson = 6,
  // Lossless binary image of a map of any kind; see core/codec/.
  kWaystar = 7,
  kPolyanya = 8,
  kDetour = 9,
  kObj = 10,
  kUnity = 11,
  kGodot = 12,
  kGltf = 13,
};

// Writes a map as text or in the Moving AI format. Returns FAILED_PRECONDITION / NOT_EXPRESSIBLE with field
// "format" if the format cannot express the map, or the error of `stop`, which is polled before each row.
absl::StatusOr<std::string> FormatMap(MapFormat format, const GridMap& map, const StopCheck* stop = nullptr);

// Files (.map) of the Moving AI benchmark: Sturtevant, "Benchmarks for Grid-Based Pathfinding" (2012). '.'
// ground, 'G' grass and 'S' swamp are walkable at cost 1; 'T' trees and 'W' water are impassable terrain; '@'
// and 'O' (out of bounds) are obstacles. Water is "traversable, but not passable from terrain": agents of the
// benchmark start on land and never enter it.
//
// A file begins with the lines "type octile", "height H", "width W" and "map"; then follow H rows of W
// letters. The reader accepts common deviations: a byte order mark, header lines in any order and case,
// blanks around words, blank lines before the first and after the last row, trailing blanks, a header without
// "type" or without "map", and types other than octile, whose rows are read alike. It rejects hexagonal
// types, and rows that do not match H and W.

// Returns true if the bytes begin like such a file: with a line "type T", or with a height or width line
// followed by another header line.
bool LooksLikeMovingAi(absl::string_view bytes);

// Parses a file. Returns INVALID_ARGUMENT / BAD_FORMAT for a bad header or rows that do not match it, and the
// errors of ParseRows and ApplyOverrides. Messages name the line.
absl::StatusOr<GridMap> ParseMovingAi(absl::string_view bytes, const GridOverrides& overrides);

// Returns FAILED_PRECONDITION / NOT_EXPRESSIBLE if a cell has a terrain without a letter in the format, or
// the error of `stop`. Terrain costs, connectivity and diagonal cost are not written.
absl::StatusOr<std::string> FormatMovingAi(const GridMap& map, const StopCheck* stop = nullptr);

// Returns the shortest decimal text that parses back to the same number: "1.4", "0.1", "100000", "1e+30".
// REQUIRES: `number` is finite.
inline std::string ShortestText(double number) {
  // Range in which fixed notation is readable; it takes at most 24 characters there.
  const double size = std::abs(number);
  const bool is_common = size == 0.0 || (size >= 1e-5 && size < 1e16);
  std::array<char, 32> text{};
  const std::to_chars_result end =
      std::to_chars(text.data(), text.data() + text.size(), number,
                    is_common ? std::chars_format::fixed : std::chars_format::scientific);
  return std::string(text.data(), end.ptr);
}

// Returns 3 for the field "edits[3].shape" of an error and the list "edits", or nullopt for another field.
inline std::optional<std::size_t> IndexInField(absl::string_view field, absl::string_view list) {
  std::size_t index = 0;
  return absl::ConsumePrefix(&field, list) && absl::ConsumePrefix(&field, "[") &&
                 absl::SimpleAtoi(field.substr(0, field.find(']')), &index)
             ? std::optional(index)
             : std::nullopt;
}

// Returns the bytes without the UTF-8 byte order mark that some editors write.
inline absl::string_view SkipByteOrderMark(absl::string_view bytes) {
  return absl::StartsWith(bytes, "\xEF\xBB\xBF") ? bytes.substr(3) : bytes;
}

// Returns the first character that is not a blank, or 0 if all are.
inline char FirstOfText(absl::string_view bytes) {
  const absl::string_view text = SkipByteOrderMark(bytes);
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  return at == absl::string_view::npos ? '\0' : text[at];
}

// Returns the line without trailing blanks.
inline absl::string_view WithoutTrailingBlanks(absl::string_view line) {
  return line.substr(0, line.find_last_not_of(" \t\r") + 1);
}

// Reads lines that end with LF or CR LF; the last may have no end. Skips a byte order mark at the beginning.
//
// Thread safety: none.
class LineReader {
 public:
  // `text` must outlive the lines.
  explicit LineReader(absl::string_view text) : rest_(SkipByteOrderMark(text)) {}

  // Polls `stop` every 256 lines, and returns its error.
  absl::Status CheckStopNow(const StopCheck* stop) const { return CheckStopAt(stop, line_number_); }

  // Returns the next line without its end, or nullopt after the last.
  std::optional<absl::string_view> Next() {
    if (rest_.empty()) {
      return std::nullopt;
    }
    ++line_number_;
    const std::size_t end = rest_.find('\n');
    absl::string_view line = rest_.substr(0, end);
    rest_ = end == absl::string_view::npos ? absl::string_view() : rest_.substr(end + 1);
    return absl::StripSuffix(line, "\r");
  }

  // Returns the number of the last line returned by Next, counted from 1.
  std::size_t line_number() const { return line_number_; }

 private:
  absl::string_view rest_;
  std::size_t line_number_ = 0;
};

}  // namespace waystar::core
