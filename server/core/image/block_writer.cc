#include "server/core/image/block_writer.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

namespace waystar::core {

BlockWriter::BlockWriter() : image_(kImageMagic) { BeginBlock(); }

void BlockWriter::BeginBlock() {
  block_.clear();
  PutNumber(blocks_++);
}

void BlockWriter::EndBlock() {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  // These cannot fail: the parameter is valid, and the space suffices.
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  const std::size_t before = image_.size();
  image_.resize(before + ZSTD_compressBound(block_.size()));
  const std::size_t written = ZSTD_compress2(context.get(), image_.data() + before, image_.size() - before,
                                             block_.data(), block_.size());
  image_.resize(before + written);
}

void BlockWriter::PutByte(std::uint8_t byte) {
  if (block_.size() == kImageBlockBytes) {
    EndBlock();
    BeginBlock();
  }
  block_.push_back(static_cast<char>(byte));
}

void BlockWriter::PutNumber(std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) {
    PutByte(static_cast<std::uint8_t>(number | 0x80));
  }
  PutByte(static_cast<std::uint8_t>(number));
}

void BlockWriter::PutSigned(std::int64_t number) {
  const auto bits = static_cast<std::uint64_t>(number);
  PutNumber(bits << 1 ^ (number < 0 ? ~std::uint64_t{0} : 0));
}

void BlockWriter::PutDouble(double value) {
  auto bits = std::bit_cast<std::uint64_t>(value);
  for (int i = 0; i < 8; ++i, bits >>= 8) {
    PutByte(static_cast<std::uint8_t>(bits));
  }
}

void BlockWriter::PutText(absl::string_view text) {
  PutNumber(text.size());
  PutBytes(text);
}

void BlockWriter::PutBytes(absl::string_view bytes) {
  while (!bytes.empty()) {
    if (block_.size() == kImageBlockBytes) {
      EndBlock();
      BeginBlock();
    }
    const std::size_t count = std::min(bytes.size(), kImageBlockBytes - block_.size());
    block_.append(bytes.data(), count);
    bytes.remove_prefix(count);
  }
}

std::string BlockWriter::Finish() && {
  EndBlock();
  return std::move(image_);
}

}  // namespace waystar::core
