#include "server/core/import/tiled_data.h"

#include <cmath>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/import/inflate.h"

namespace waystar::core {
namespace {

using TileVisitor = absl::FunctionRef<absl::Status(std::size_t, std::uint32_t)>;

// The highest bits say how a tile is turned.
constexpr std::uint32_t kTileBits = 0x0FFF'FFFF;

absl::Status BadTiles(absl::string_view message) {
  return InvalidArgument(ErrorReason::kBadFormat, "", message);
}

absl::Status WrongCount(std::size_t count, std::size_t wanted) {
  return BadTiles(absl::StrCat("there are ", count, " tiles where ", wanted, " belong"));
}

absl::Status VisitNumbers(const std::vector<double>& numbers, std::size_t count, TileVisitor visit) {
  if (numbers.size() != count) {
    return WrongCount(numbers.size(), count);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!(numbers[i] >= 0.0 && numbers[i] < 0x1p32) || numbers[i] != std::floor(numbers[i])) {
      return BadTiles(absl::StrCat(numbers[i], " is the number of no tile"));
    }
    WAYSTAR_RETURN_IF_ERROR(visit(i, static_cast<std::uint32_t>(numbers[i]) & kTileBits));
  }
  return absl::OkStatus();
}

absl::Status VisitText(absl::string_view text, std::size_t count, TileVisitor visit) {
  std::size_t i = 0;
  for (const absl::string_view word : absl::StrSplit(text, ',')) {
    std::uint32_t number = 0;
    if (!absl::SimpleAtoi(word, &number)) {
      return BadTiles(absl::StrCat("\"", absl::CHexEscape(absl::StripAsciiWhitespace(word).substr(0, 60)),
                                   "\" is the number of no tile, after ", i, " of ", count));
    }
    if (i == count) {
      return BadTiles(absl::StrCat("there are more than the ", count, " tiles that belong here"));
    }
    WAYSTAR_RETURN_IF_ERROR(visit(i, number & kTileBits));
    ++i;
  }
  return i == count ? absl::OkStatus() : WrongCount(i, count);
}

absl::Status VisitBase64(const TiledTileData& data, std::size_t count, TileVisitor visit) {
  std::string bytes;
  if (!absl::Base64Unescape(absl::StripAsciiWhitespace(data.text), &bytes)) {
    return BadTiles("the data is no base64");
  }
  std::size_t next = 0;
  // Four bytes a tile, the lowest first.
  const auto visit_bytes = [&](absl::string_view piece) {
    const auto byte = [&](std::size_t at) { return std::uint32_t{static_cast<unsigned char>(piece[at])}; };
    for (std::size_t at = 0; at + 4 <= piece.size(); at += 4) {
      const std::uint32_t number = byte(at) | byte(at + 1) << 8 | byte(at + 2) << 16 | byte(at + 3) << 24;
      WAYSTAR_RETURN_IF_ERROR(visit(next++, number & kTileBits));
    }
    return absl::OkStatus();
  };
  const std::size_t size = count * 4;
  if (data.compression.empty()) {
    return bytes.size() == size
               ? visit_bytes(bytes)
               : BadTiles(absl::StrCat("there are ", bytes.size(), " bytes where the tiles take ", size));
  }
  if (data.compression == "zlib" || data.compression == "gzip") {
    return InflateZlib(bytes, size, visit_bytes);
  }
  if (data.compression == "zstd") {
    return InflateZstd(bytes, size, visit_bytes);
  }
  return BadTiles(absl::StrCat("\"", absl::CHexEscape(data.compression.substr(0, 60)),
                               "\" is none of the compressions zlib, gzip and zstd"));
}

}  // namespace

absl::Status ForEachTile(const TiledTileData& data, TileVisitor visit) {
  const std::size_t count =
      static_cast<std::size_t>(data.area.width) * static_cast<std::size_t>(data.area.height);
  if (data.encoding.empty()) {
    return VisitNumbers(data.numbers, count, visit);
  }
  if (data.encoding == "csv") {
    return VisitText(data.text, count, visit);
  }
  if (data.encoding == "base64") {
    return VisitBase64(data, count, visit);
  }
  return BadTiles(absl::StrCat("\"", absl::CHexEscape(data.encoding.substr(0, 60)),
                               "\" is none of the encodings csv and base64"));
}

}  // namespace waystar::core
