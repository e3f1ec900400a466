#include "server/core/codec/block_writer.h"

#include <zstd.h>

#include <memory>
#include <utility>

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

}  // namespace waystar::core
