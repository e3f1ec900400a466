#include "server/core/import/inflate.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "zlib.h"
#include "zstd.h"

namespace waystar::core {
namespace {

absl::Status BadData(absl::string_view message) {
  return InvalidArgument(ErrorReason::kBadFormat, "", absl::StrCat("bad compressed data: ", message));
}

// Collects what is written to it, and hands it on piece by piece.
class Pieces {
 public:
  Pieces(std::size_t size, InflatedSink sink) : size_(size), sink_(sink), buffer_(kBytes) {}

  char* room() { return buffer_.data() + used_; }
  std::size_t room_size() const { return buffer_.size() - used_; }

  // So many bytes were written to the room.
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
  // Handed on.
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

}  // namespace

absl::Status InflateZlib(absl::string_view bytes, std::size_t size, InflatedSink sink) {
  ZlibStream owner;
  z_stream& stream = owner.get();
  // 15: the largest window; 32: zlib or gzip, by the header.
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

}  // namespace waystar::core
