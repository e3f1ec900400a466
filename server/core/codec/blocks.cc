#include "server/core/codec/blocks.h"

#include <zstd.h>

#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/file_errors.h"

namespace waystar::core {

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
