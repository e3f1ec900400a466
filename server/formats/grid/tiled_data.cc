#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/formats/grid/tiled_map.h"
#include "zlib.h"
#include "zstd.h"

namespace waystar::core {
namespace {

// Receives the bytes in order, in pieces whose lengths are divisible by four.
using InflatedSink = absl::FunctionRef<absl::Status(absl::string_view)>;

// Writes up to `size` next bytes to `out` and returns their number, which is 0 only at the end.
using Inflater = absl::FunctionRef<absl::StatusOr<std::size_t>(char* out, std::size_t size)>;

absl::Status BadData(absl::string_view message) {
  return BadFormat(absl::StrCat("bad compressed data: ", message));
}

// Passes on the output of an inflater. Returns an error unless it has exactly `size` bytes; inflating ends
// there.
absl::Status PassOn(std::size_t size, Inflater inflate, InflatedSink sink) {
  std::vector<char> piece(std::size_t{1} << 16);
  // One byte more shows whether the output ends.
  for (std::size_t total = 0, used = 0; total <= size;) {
    const std::size_t room = std::min(piece.size() - used, size + 1 - total);
    WAYSTAR_ASSIGN_OR_RETURN(const std::size_t count, inflate(piece.data() + used, room));
    used += count;
    total += count;
    if (count == 0 && total == size) {
      return sink(absl::string_view(piece.data(), used));
    }
    if (count == 0) {
      break;
    }
    if (used == piece.size()) {
      WAYSTAR_RETURN_IF_ERROR(sink(absl::string_view(piece.data(), used)));
      used = 0;
    }
  }
  return BadData(absl::StrCat("it does not hold exactly the ", size, " bytes that its cells take"));
}

// InflateZlib decompresses zlib or gzip, InflateZstd Zstandard. Both return the errors of PassOn and of the
// sink. Memory is one window: 32 KiB, or for Zstandard at most 8 MiB.
absl::Status InflateZlib(absl::string_view bytes, std::size_t size, InflatedSink sink) {
  z_stream stream{};
  // 15: maximum window; 32: detect zlib or gzip by the header.
  if (inflateInit2(&stream, 15 + 32) != Z_OK) {
    return BadData("zlib cannot start");
  }
  const absl::Cleanup end = [&] { inflateEnd(&stream); };
  // zlib does not write to its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  const auto inflate_some = [&](char* out, std::size_t room) -> absl::StatusOr<std::size_t> {
    stream.next_out = reinterpret_cast<Bytef*>(out);
    stream.avail_out = static_cast<uInt>(room);
    const int result = inflate(&stream, Z_NO_FLUSH);
    const std::size_t count = room - stream.avail_out;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      return BadData(stream.msg == nullptr ? "no zlib or gzip" : stream.msg);
    }
    return count > 0 || result == Z_STREAM_END ? absl::StatusOr<std::size_t>(count)
                                               : BadData("it is cut off");
  };
  return PassOn(size, inflate_some, sink);
}

absl::Status InflateZstd(absl::string_view bytes, std::size_t size, InflatedSink sink) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
  constexpr int kMaxWindowLog = 23;
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  ZSTD_inBuffer in{.src = bytes.data(), .size = bytes.size(), .pos = 0};
  std::size_t hint = 1;
  const auto inflate_some = [&](char* out, std::size_t room) -> absl::StatusOr<std::size_t> {
    ZSTD_outBuffer piece{.dst = out, .size = room, .pos = 0};
    // A hint of 0 is the end of the frame.
    while (hint != 0 && piece.pos == 0) {
      const std::size_t before = in.pos;
      hint = ZSTD_decompressStream(context.get(), &piece, &in);
      if (ZSTD_isError(hint) != 0) {
        return BadData(ZSTD_getErrorName(hint));
      }
      if (hint != 0 && piece.pos == 0 && in.pos == before) {
        return BadData("it is cut off");
      }
    }
    return piece.pos;
  };
  return PassOn(size, inflate_some, sink);
}

using TileVisitor = absl::FunctionRef<absl::Status(std::size_t, std::uint32_t)>;

absl::Status WrongCount(std::size_t count, std::size_t wanted) {
  return BadFormat(absl::StrCat("there are ", count, " tiles where ", wanted, " belong"));
}

absl::Status VisitNumbers(const std::vector<double>& numbers, std::size_t count, TileVisitor visit) {
  if (numbers.size() != count) {
    return WrongCount(numbers.size(), count);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!(numbers[i] >= 0.0 && numbers[i] < 0x1p32) || numbers[i] != std::floor(numbers[i])) {
      return BadFormat(absl::StrCat(numbers[i], " is not the number of a tile"));
    }
    WAYSTAR_RETURN_IF_ERROR(visit(i, static_cast<std::uint32_t>(numbers[i]) & kTileBits));
  }
  return absl::OkStatus();
}

absl::Status VisitText(absl::string_view text, std::size_t count, TileVisitor visit) {
  std::size_t i = 0;
  text = absl::StripAsciiWhitespace(text);
  // Some editors end the last row with a comma too.
  absl::ConsumeSuffix(&text, ",");
  for (const absl::string_view word : absl::StrSplit(text, ',')) {
    std::uint32_t number = 0;
    if (!absl::SimpleAtoi(word, &number)) {
      return BadFormat(absl::StrCat(Quoted(absl::StripAsciiWhitespace(word)),
                                    " is not the number of a tile, after ", i, " of ", count));
    }
    if (i == count) {
      return BadFormat(absl::StrCat("there are more than the ", count, " tiles that belong here"));
    }
    WAYSTAR_RETURN_IF_ERROR(visit(i, number & kTileBits));
    ++i;
  }
  return i == count ? absl::OkStatus() : WrongCount(i, count);
}

absl::Status VisitBase64(const TiledTileData& data, std::size_t count, TileVisitor visit) {
  std::string bytes;
  if (!absl::Base64Unescape(absl::StripAsciiWhitespace(data.text), &bytes)) {
    return BadFormat("the data is not base64");
  }
  std::size_t next = 0;
  // Four bytes per tile, little endian.
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
               : BadFormat(absl::StrCat("there are ", bytes.size(), " bytes where the tiles take ", size));
  }
  if (data.compression == "zlib" || data.compression == "gzip") {
    return InflateZlib(bytes, size, visit_bytes);
  }
  if (data.compression == "zstd") {
    return InflateZstd(bytes, size, visit_bytes);
  }
  return BadFormat(
      absl::StrCat(Quoted(data.compression), " is none of the compressions zlib, gzip and zstd"));
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
  return BadFormat(absl::StrCat(Quoted(data.encoding), " is none of the encodings csv and base64"));
}

}  // namespace waystar::core
