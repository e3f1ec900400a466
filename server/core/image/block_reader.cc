#include "server/core/image/block_reader.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/core/format/file_errors.h"
#include "server/core/image/block_writer.h"

namespace waystar::core {

BlockReader::BlockReader(absl::string_view image, std::uint64_t max_content_bytes)
    : image_(image), content_left_(max_content_bytes), next_(kImageMagic.size()) {
  if (!absl::StartsWith(image, kImageMagic)) {
    status_ = BadFormat("this is no map image: it does not begin as one");
  }
}

void BlockReader::Fail(absl::string_view message) {
  if (status_.ok()) {
    status_ =
        BadFormat(absl::StrCat("the map image is damaged: block at byte ", block_begin_, ": ", message));
  }
}

bool BlockReader::HasByte() {
  if (read_ == block_.size() && status_.ok()) {
    NextBlock();
  }
  return status_.ok();
}

void BlockReader::NextBlock() {
  block_begin_ = next_;
  const absl::string_view rest = image_.substr(next_);
  const std::size_t bytes = ZSTD_findFrameCompressedSize(rest.data(), rest.size());
  const auto content =
      ZSTD_isError(bytes) != 0 ? ZSTD_CONTENTSIZE_ERROR : ZSTD_getFrameContentSize(rest.data(), bytes);
  // The two error values are the greatest numbers.
  if (content > kImageBlockBytes || content == 0) {
    Fail(rest.empty() ? "it is missing" : "it is not a block");
    return;
  }
  if (content > content_left_) {
    Fail("the image holds more than it may");
    return;
  }
  content_left_ -= content;
  block_.resize(static_cast<std::size_t>(content));
  if (ZSTD_decompress(block_.data(), block_.size(), rest.data(), bytes) != content) {
    Fail("its checksum does not agree");
    return;
  }
  next_ += bytes;
  read_ = 0;
  const std::uint64_t number = blocks_++;
  if (Number(std::numeric_limits<std::uint64_t>::max()) != number || read_ == block_.size()) {
    Fail(absl::StrCat("it is not block number ", number));
  }
}

std::uint8_t BlockReader::Byte() { return HasByte() ? static_cast<std::uint8_t>(block_[read_++]) : 0; }

bool BlockReader::Bool() { return Number(1) == 1; }

std::uint64_t BlockReader::Number(std::uint64_t max) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint8_t byte = Byte();
    number |= std::uint64_t{byte & 0x7FU} << shift;
    // The tenth byte has room for one bit.
    if (shift == 63 && byte > 1) {
      break;
    }
    if ((byte & 0x80U) == 0) {
      if (number > max) {
        Fail(absl::StrCat("a number is ", number, " and must be at most ", max));
        return 0;
      }
      return ok() ? number : 0;
    }
  }
  Fail("a number has more than 64 bits");
  return 0;
}

std::int64_t BlockReader::Signed(std::int64_t min, std::int64_t max) {
  const std::uint64_t bits = Number(std::numeric_limits<std::uint64_t>::max());
  const auto number = static_cast<std::int64_t>(bits >> 1 ^ ((bits & 1) != 0 ? ~std::uint64_t{0} : 0));
  if (number < min || number > max) {
    Fail(absl::StrCat("a number is ", number, " and must be from ", min, " to ", max));
    return 0;
  }
  return number;
}

double BlockReader::Double() {
  std::uint64_t bits = 0;
  for (unsigned shift = 0; shift < 64; shift += 8) {
    bits |= std::uint64_t{Byte()} << shift;
  }
  return ok() ? std::bit_cast<double>(bits) : 0.0;
}

std::string BlockReader::Text(std::size_t max_bytes) {
  std::string text(static_cast<std::size_t>(Number(max_bytes)), '\0');
  Bytes(text.data(), text.size());
  return ok() ? text : std::string();
}

void BlockReader::Bytes(char* space, std::size_t count) {
  while (count > 0 && HasByte()) {
    const std::size_t part = std::min(count, block_.size() - read_);
    std::copy_n(block_.data() + read_, part, space);
    read_ += part;
    space += part;
    count -= part;
  }
}

absl::Status BlockReader::Finish() {
  if (ok() && (read_ != block_.size() || next_ != image_.size())) {
    Fail("more follows than a map image has");
  }
  return status_;
}

}  // namespace waystar::core
