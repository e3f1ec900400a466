#include "server/service/handlers/maps/export_call.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/status_macros.h"
#include "server/core/codec/map_image.h"
#include "server/formats/text/map_format.h"
#include "server/service/convert/convert.h"

namespace waystar::rpc {
namespace {

constexpr std::size_t kChunkBytes = 64 * 1024;

}  // namespace

absl::StatusOr<std::string> WriteMapFile(const core::MapSnapshot& snapshot, core::MapFormat format,
                                         const StopCheck* stop) {
  if (format != core::MapFormat::kWaystar) {
    WAYSTAR_ASSIGN_OR_RETURN(const core::GridMap* const grid, core::GridOf(snapshot));
    return core::FormatMap(format, *grid, stop);
  }
  std::string image = core::EncodeImage(snapshot.map, stop);
  WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
  return image;
}

absl::Status ExportCall::Prepare(int /*worker*/) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::MapFormat format, ToWriteFormat(request().format()));
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store_.Pin(request().map()));
  const WhileWanted stop(*this);
  WAYSTAR_ASSIGN_OR_RETURN(file_, WriteMapFile(*snapshot, format, &stop));
  v1::ExportMapHeader& header = header_.emplace();
  FillMapInfo(store_, *snapshot, *header.mutable_info());
  header.set_format(FromFormat(format));
  header.set_size(static_cast<std::int64_t>(file_.size()));
  return absl::OkStatus();
}

bool ExportCall::FillNext(v1::ExportMapResponse& message) {
  if (header_.has_value()) {
    *message.mutable_header() = *std::exchange(header_, std::nullopt);
    return true;
  }
  const std::size_t count = std::min(kChunkBytes, file_.size() - sent_);
  message.set_chunk(file_.substr(sent_, count));
  sent_ += count;
  return count > 0;
}

}  // namespace waystar::rpc
