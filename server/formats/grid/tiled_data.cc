#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
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

// Receives the bytes in order, in pieces whose lengths are divisible by four except for the last.
using InflatedSink = absl::FunctionRef<absl::Status(absl::string_view)>;

absl::Status BadData(absl::string_view message) {
  return BadFormat(absl::StrCat("bad compressed data: ", message));
}

// Output buffer that passes full pieces to a sink.
class Pieces {
 public:
  Pieces(std::size_t size, InflatedSink sink) : size_(size), sink_(sink), buffer_(kBytes) {}

  char* room() { return buffer_.data() + used_; }
  std::size_t room_size() const { return buffer_.size() - used_; }

  // Called after `written` bytes were written to the room.
  absl::Status Take(std::size_t written) {
    used_ += written;
    return used_ == buffer_.size() ? Flush() : absl::OkStatus();
  }

  absl::Status Finish() {
    WAYSTAR_RETURN_IF_ERROR(Flush());
    return total_ == size_ ? absl::OkStatus() : WrongSize();
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{1} << 16;

  absl::Status WrongSize() const {
    return BadData(absl::StrCat("it does not hold exactly the ", size_, " bytes that its cells take"));
  }

  absl::Status Flush() {
    total_ += used_;
    if (total_ > size_) {
      return WrongSize();
    }
    const absl::string_view piece(buffer_.data(), used_);
    used_ = 0;
    return sink_(piece);
  }

  std::size_t size_;
  InflatedSink sink_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  // Bytes passed on.
  std::size_t total_ = 0;
};

class ZlibStream {
 public:
  ZlibStream() = default;
  ~ZlibStream() { inflateEnd(&stream_); }
  ZlibStream(const ZlibStream&) = delete;
  ZlibStream& operator=(const ZlibStream&) = delete;

  z_stream& get() { return stream_; }

 private:
  z_stream stream_{};
};

// InflateZlib decompresses zlib or gzip, InflateZstd Zstandard. Both stop at the sink's first error, and
// return INVALID_ARGUMENT / BAD_FORMAT without a field unless the output has exactly `size` bytes; decoding
// ends there. Memory is one window: 32 KiB, or for Zstandard at most 8 MiB.
absl::Status InflateZlib(absl::string_view bytes, std::size_t size, InflatedSink sink) {
  ZlibStream owner;
  z_stream& stream = owner.get();
  // 15: maximum window; 32: detect zlib or gzip by the header.
  if (inflateInit2(&stream, 15 + 32) != Z_OK) {
    return BadData("zlib cannot start");
  }
  Pieces pieces(size, sink);
  std::size_t read = 0;
  for (;;) {
    const auto given =
        static_cast<uInt>(std::min<std::size_t>(bytes.size() - read, std::numeric_limits<uInt>::max()));
    const auto room = static_cast<uInt>(pieces.room_size());
    // zlib does not write to its input.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + read));
    stream.avail_in = given;
    stream.next_out = reinterpret_cast<Bytef*>(pieces.room());
    stream.avail_out = room;
    const int result = inflate(&stream, Z_NO_FLUSH);
    read += given - stream.avail_in;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      return BadData(stream.msg == nullptr ? "no zlib or gzip" : stream.msg);
    }
    const bool is_starved = stream.avail_out > 0 && read == bytes.size();
    WAYSTAR_RETURN_IF_ERROR(pieces.Take(room - stream.avail_out));
    if (result == Z_STREAM_END) {
      return pieces.Finish();
    }
    if (result == Z_BUF_ERROR || is_starved) {
      return BadData("it is cut off");
    }
  }
}

absl::Status InflateZstd(absl::string_view bytes, std::size_t size, InflatedSink sink) {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  constexpr int kMaxWindowLog = 23;
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  Pieces pieces(size, sink);
  ZSTD_inBuffer in{.src = bytes.data(), .size = bytes.size(), .pos = 0};
  for (;;) {
    ZSTD_outBuffer out{.dst = pieces.room(), .size = pieces.room_size(), .pos = 0};
    const std::size_t hint = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(hint) != 0) {
      return BadData(ZSTD_getErrorName(hint));
    }
    const bool is_starved = out.pos < out.size && in.pos == in.size;
    WAYSTAR_RETURN_IF_ERROR(pieces.Take(out.pos));
    if (hint == 0) {
      return pieces.Finish();
    }
    if (is_starved) {
      return BadData("it is cut off");
    }
  }
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
