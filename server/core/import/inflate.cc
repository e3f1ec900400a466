#include "server/core/import/inflate.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "zlib.h"
#include "zstd.h"

namespace waystar::core {
namespace {

absl::Status BadData(absl::string_view message) {
  return InvalidArgument(ErrorReason::kBadFormat, "", absl::StrCat("bad compressed data: ", message));
}

absl::Status WrongSize(std::size_t wanted) {
  return BadData(absl::StrCat("it does not hold exactly the ", wanted, " bytes that its cells take"));
}

// How many bytes zlib is given or asked for at a time.
uInt Portion(std::size_t bytes) {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max() / 2));
}

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

// The output grows with what is really there: a size alone costs nothing.
constexpr std::size_t kFirstBytes = std::size_t{1} << 20;

// Twice the space, but no more than `size` and one byte by which too much is known.
void Grow(std::string& output, std::size_t size) {
  output.resize(std::min(size + 1, std::max(kFirstBytes, 2 * output.size())));
}

}  // namespace

absl::StatusOr<std::string> InflateZlib(absl::string_view bytes, std::size_t size) {
  ZlibStream owner;
  z_stream& stream = owner.get();
  // 15: the largest window; 32: zlib or gzip, by the header.
  if (inflateInit2(&stream, 15 + 32) != Z_OK) {
    return BadData("zlib cannot start");
  }
  std::string output;
  std::size_t written = 0;
  std::size_t read = 0;
  for (;;) {
    if (written == output.size()) {
      if (written > size) {
        return WrongSize(size);
      }
      Grow(output, size);
    }
    const uInt given = Portion(bytes.size() - read);
    const uInt room = Portion(output.size() - written);
    // zlib does not write to its input.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + read));
    stream.avail_in = given;
    stream.next_out = reinterpret_cast<Bytef*>(output.data() + written);
    stream.avail_out = room;
    const int result = inflate(&stream, Z_NO_FLUSH);
    read += given - stream.avail_in;
    written += room - stream.avail_out;
    if (result == Z_STREAM_END) {
      break;
    }
    if (result == Z_BUF_ERROR || (result == Z_OK && read == bytes.size() && stream.avail_out > 0)) {
      return BadData("it is cut off");
    }
    if (result != Z_OK) {
      return BadData(stream.msg == nullptr ? "no zlib or gzip" : stream.msg);
    }
  }
  if (written != size) {
    return WrongSize(size);
  }
  output.resize(size);
  return output;
}

absl::StatusOr<std::string> InflateZstd(absl::string_view bytes, std::size_t size) {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  constexpr int kMaxWindowLog = 23;
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  std::string output;
  ZSTD_inBuffer in{.src = bytes.data(), .size = bytes.size(), .pos = 0};
  ZSTD_outBuffer out{.dst = nullptr, .size = 0, .pos = 0};
  for (;;) {
    if (out.pos == out.size) {
      if (out.pos > size) {
        return WrongSize(size);
      }
      Grow(output, size);
      out.dst = output.data();
      out.size = output.size();
    }
    const std::size_t hint = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(hint) != 0) {
      return BadData(ZSTD_getErrorName(hint));
    }
    if (hint == 0) {
      break;
    }
    if (in.pos == in.size && out.pos < out.size) {
      return BadData("it is cut off");
    }
  }
  if (out.pos != size) {
    return WrongSize(size);
  }
  output.resize(size);
  return output;
}

}  // namespace waystar::core
