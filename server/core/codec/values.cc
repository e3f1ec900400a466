#include "server/core/codec/values.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/file_errors.h"

namespace waystar::core {

void ValueWriter::PutByte(std::uint8_t byte) {
  if (bytes_.size() == max_bytes_) {
    MakeRoom();
  }
  bytes_.push_back(static_cast<char>(byte));
}

void ValueWriter::PutNumber(std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) {
    PutByte(static_cast<std::uint8_t>(number | 0x80));
  }
  PutByte(static_cast<std::uint8_t>(number));
}

void ValueWriter::PutSigned(std::int64_t number) {
  const auto bits = static_cast<std::uint64_t>(number);
  PutNumber(bits << 1 ^ (number < 0 ? ~std::uint64_t{0} : 0));
}

void ValueWriter::PutFixed(std::uint64_t bits) {
  for (int i = 0; i < 8; ++i, bits >>= 8) {
    PutByte(static_cast<std::uint8_t>(bits));
  }
}

void ValueWriter::PutDouble(double value) { PutFixed(std::bit_cast<std::uint64_t>(value)); }

void ValueWriter::PutText(absl::string_view text) {
  PutNumber(text.size());
  PutBytes(text);
}

void ValueWriter::PutBytes(absl::string_view bytes) {
  while (!bytes.empty()) {
    if (bytes_.size() == max_bytes_) {
      MakeRoom();
    }
    const std::size_t count = std::min(bytes.size(), max_bytes_ - bytes_.size());
    bytes_.append(bytes.data(), count);
    bytes.remove_prefix(count);
  }
}

std::string ValueReader::Place() const { return absl::StrCat("value at byte ", read_); }

void ValueReader::Fail(absl::string_view message) {
  if (status_.ok()) {
    status_ = BadFormat(absl::StrCat(Place(), ": ", message));
  }
}

bool ValueReader::HasByte() {
  if (read_ == bytes_.size() && status_.ok()) {
    NextBytes();
  }
  return status_.ok();
}

std::uint8_t ValueReader::Byte() { return HasByte() ? static_cast<std::uint8_t>(bytes_[read_++]) : 0; }

std::uint64_t ValueReader::Number(std::uint64_t max) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint8_t byte = Byte();
    number |= std::uint64_t{byte & 0x7FU} << shift;
    // Only one bit is left for the tenth byte.
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

std::int64_t ValueReader::Signed(std::int64_t min, std::int64_t max) {
  const std::uint64_t bits = Number();
  const auto number = static_cast<std::int64_t>(bits >> 1 ^ ((bits & 1) != 0 ? ~std::uint64_t{0} : 0));
  if (number < min || number > max) {
    Fail(absl::StrCat("a number is ", number, " and must be from ", min, " to ", max));
    return 0;
  }
  return number;
}

std::uint64_t ValueReader::Fixed() {
  std::uint64_t bits = 0;
  for (unsigned shift = 0; shift < 64; shift += 8) {
    bits |= std::uint64_t{Byte()} << shift;
  }
  return ok() ? bits : 0;
}

double ValueReader::Double() { return std::bit_cast<double>(Fixed()); }

std::string ValueReader::Text(std::size_t max_bytes) {
  std::string text(static_cast<std::size_t>(Number(max_bytes)), '\0');
  Bytes(text.data(), text.size());
  return ok() ? text : std::string();
}

void ValueReader::Bytes(char* space, std::size_t count) {
  while (count > 0 && HasByte()) {
    const std::size_t part = std::min(count, bytes_.size() - read_);
    std::copy_n(bytes_.data() + read_, part, space);
    read_ += part;
    space += part;
    count -= part;
  }
}

absl::Status ValueReader::Finish() {
  if (ok() && !IsAtEnd()) {
    Fail("more follows than there may be");
  }
  return status_;
}

BlockWriter::BlockWriter() : ValueWriter(kImageBlockBytes), image_(kImageMagic) { BeginBlock(); }

void BlockWriter::BeginBlock() {
  bytes_.clear();
  PutNumber(blocks_++);
}

void BlockWriter::EndBlock() {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  // These calls cannot fail: the parameter is valid, and the buffer suffices.
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  const std::size_t before = image_.size();
  image_.resize(before + ZSTD_compressBound(bytes_.size()));
  const std::size_t written = ZSTD_compress2(context.get(), image_.data() + before, image_.size() - before,
                                             bytes_.data(), bytes_.size());
  image_.resize(before + written);
}

void BlockWriter::MakeRoom() {
  EndBlock();
  BeginBlock();
}

std::string BlockWriter::Finish() && {
  EndBlock();
  return std::move(image_);
}

BlockReader::BlockReader(absl::string_view image, std::uint64_t max_content_bytes)
    : ValueReader({}), image_(image), content_left_(max_content_bytes), next_(kImageMagic.size()) {
  if (!absl::StartsWith(image, kImageMagic)) {
    status_ = BadFormat("this is not a map image: it does not begin as one");
  }
}

std::string BlockReader::Place() const {
  return absl::StrCat("the map image is damaged: block at byte ", block_begin_);
}

void BlockReader::NextBytes() {
  block_begin_ = next_;
  const absl::string_view rest = image_.substr(next_);
  const std::size_t bytes = ZSTD_findFrameCompressedSize(rest.data(), rest.size());
  const auto content =
      ZSTD_isError(bytes) != 0 ? ZSTD_CONTENTSIZE_ERROR : ZSTD_getFrameContentSize(rest.data(), bytes);
  // The two error values of zstd are larger than any size.
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
  bytes_ = block_;
  read_ = 0;
  const std::uint64_t number = blocks_++;
  if (Number() != number || read_ == bytes_.size()) {
    Fail(absl::StrCat("it is not block number ", number));
  }
}

}  // namespace waystar::core
