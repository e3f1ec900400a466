#include "server/service/convert/convert_grid.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/formats/text/grid_overrides.h"
#include "server/formats/text/rows.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_shape.h"
#include "server/service/convert/message_fields.h"

namespace waystar::rpc {

absl::StatusOr<core::GridSettings> ToGridSettings(const v1::GridOptions& options) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::GridOverrides overrides, Below("grid", ToOverrides(options)));
  return Below("grid", core::ApplyOverrides({}, overrides));
}

absl::StatusOr<core::GridMap> GridFromRows(const google::protobuf::RepeatedPtrField<std::string>& rows,
                                           const v1::GridOptions& options, int max_side,
                                           const StopCheck* stop) {
  WAYSTAR_ASSIGN_OR_RETURN(core::GridSettings settings, ToGridSettings(options));
  const std::vector<absl::string_view> views(rows.begin(), rows.end());
  return core::ParseRows(views, std::move(settings), core::RowSource{.max_side = max_side, .stop = stop});
}

absl::StatusOr<core::GridMap> GridFromBits(const v1::BitGrid& bits, const v1::GridOptions& options,
                                           int max_side, const StopCheck* stop) {
  WAYSTAR_RETURN_IF_ERROR(
      WithFieldPrefix(core::CheckMapSize(bits.width(), bits.height(), max_side), "bits."));
  const auto width = static_cast<std::size_t>(bits.width());
  const auto height = static_cast<std::size_t>(bits.height());
  const std::size_t row_bytes = (width + 7) / 8;
  const std::string& blocked = bits.blocked();
  if (!blocked.empty() && blocked.size() != row_bytes * height) {
    return MakeError(ErrorReason::kBadSource, "bits.blocked",
                     absl::StrCat(bits.height(), " rows of ", row_bytes, " bytes are ", row_bytes * height,
                                  " bytes, got ", blocked.size()));
  }
  std::vector<std::string> rows(height, std::string(width, '.'));
  for (std::size_t y = 0; y < height && !blocked.empty(); ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      if ((static_cast<std::uint8_t>(blocked[y * row_bytes + x / 8]) >> (x % 8) & 1) != 0) {
        rows[y][x] = '#';
      }
    }
  }
  WAYSTAR_ASSIGN_OR_RETURN(core::GridSettings settings, ToGridSettings(options));
  const std::vector<absl::string_view> views(rows.begin(), rows.end());
  absl::StatusOr<core::GridMap> map =
      core::ParseRows(views, std::move(settings), core::RowSource{.max_side = max_side, .stop = stop});
  // The rows are not from the request.
  return map.ok() || ErrorFieldOf(map.status()) != "rows" ? std::move(map) : WithField(map.status(), "bits");
}

absl::StatusOr<core::GridMap> WithProfiles(absl::StatusOr<core::GridMap> map,
                                           const v1::GridOptions& options) {
  WAYSTAR_RETURN_IF_ERROR(map.status());
  WAYSTAR_RETURN_IF_ERROR(WithFieldPrefix(AddProfiles(options, *map), "grid."));
  return map;
}

}  // namespace waystar::rpc
