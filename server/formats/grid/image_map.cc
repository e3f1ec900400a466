#include "server/formats/grid/image_map.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/formats/grid/image.h"
#include "server/formats/grid/terrain_mapping.h"
#include "server/formats/text/rows.h"

namespace waystar::core {
namespace {

struct Channels {
  explicit Channels(std::uint32_t pixel)
      : red(pixel >> 24), green(pixel >> 16 & 0xFF), blue(pixel >> 8 & 0xFF), alpha(pixel & 0xFF) {}

  std::uint32_t red;
  std::uint32_t green;
  std::uint32_t blue;
  std::uint32_t alpha;
};

CellRule DefaultRule(std::uint32_t pixel) {
  const Channels channels(pixel);
  // Perceived brightness by the weights of ITU-R BT.601.
  const std::uint32_t brightness = (299 * channels.red + 587 * channels.green + 114 * channels.blue) / 1000;
  return {.blocked = channels.alpha < 128 || brightness < 128};
}

CellRule GreyRule(const GreyRamp& ramp, std::uint32_t level) {
  constexpr double kSteps = 63.0;
  const double darkness = (kSteps - std::round(level * kSteps / 255.0)) / kSteps;
  const double cost = ramp.white + (ramp.black - ramp.white) * darkness;
  return {.cost = std::round(cost * 1000.0) / 1000.0};
}

std::optional<CellRule> MappedRule(const TerrainMapping& mapping, std::uint32_t pixel,
                                   std::optional<std::uint32_t> index) {
  if (index) {
    if (const auto known = mapping.values.find(*index); known != mapping.values.end()) {
      return known->second;
    }
  }
  if (const auto known = mapping.colors.find(pixel); known != mapping.colors.end()) {
    return known->second;
  }
  const Channels channels(pixel);
  if (channels.alpha == 0) {
    return mapping.transparent.value_or(CellRule{.blocked = true});
  }
  if (mapping.grey && channels.red == channels.green && channels.red == channels.blue) {
    return GreyRule(*mapping.grey, channels.red);
  }
  return mapping.otherwise;
}

absl::Status PixelError(ErrorReason reason, const Image& image, std::size_t i, absl::string_view message) {
  const auto width = static_cast<std::size_t>(image.width);
  return MakeError(reason, "",
                   absl::StrCat("pixel (", i % width, ", ", i / width, ") of colour ",
                                absl::StrFormat("#%08x", image.pixels[i]), ": ", message));
}

absl::StatusOr<std::vector<TerrainId>> CellsOf(const Image& image, const TerrainMapping* mapping,
                                               TerrainTable& terrains, const StopCheck* stop) {
  // Cache by pixel and palette index; bounded, since a photograph may have a different colour in every pixel.
  constexpr std::size_t kMaxKnown = std::size_t{1} << 20;
  constexpr std::size_t kPixelsBetweenChecks = 1 << 14;
  absl::flat_hash_map<std::uint64_t, TerrainId> known;
  std::vector<TerrainId> cells(image.pixel_count());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i % kPixelsBetweenChecks == 0) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    }
    const std::uint32_t pixel = image.pixels[i];
    const auto index = image.indices.empty() ? std::nullopt : std::optional<std::uint32_t>(image.indices[i]);
    const std::uint64_t key = std::uint64_t{index.value_or(0)} << 32 | pixel;
    if (const auto found = known.find(key); found != known.end()) {
      cells[i] = found->second;
      continue;
    }
    const std::optional<CellRule> rule =
        mapping == nullptr ? DefaultRule(pixel) : MappedRule(*mapping, pixel, index);
    if (!rule) {
      return PixelError(ErrorReason::kBadFormat, image, i, "the terrains say nothing of it, nor `else`");
    }
    const absl::StatusOr<TerrainId> id = terrains.Add(*rule);
    if (!id.ok()) {
      return PixelError(ErrorReason::kBadTerrain, image, i, id.status().message());
    }
    cells[i] = *id;
    if (known.size() < kMaxKnown) {
      known.emplace(key, *id);
    }
  }
  return cells;
}

}  // namespace

absl::StatusOr<GridMap> ParseImageMap(absl::string_view bytes, const TerrainMapping* mapping,
                                      const GridOverrides& overrides) {
  TerrainTable terrains;
  if (mapping != nullptr) {
    WAYSTAR_RETURN_IF_ERROR(mapping->ReserveSymbols(terrains));
  }
  WAYSTAR_ASSIGN_OR_RETURN(Image image, DecodeImage(bytes, overrides.max_side, overrides.stop));
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<TerrainId> cells,
                           CellsOf(image, mapping, terrains, overrides.stop));
  GridSettings settings;
  settings.terrains = terrains.terrains();
  WAYSTAR_ASSIGN_OR_RETURN(settings, ApplyOverrides(std::move(settings), overrides));
  return BuildMap(image.width, image.height, std::move(settings), cells, overrides.stop);
}

}  // namespace waystar::core
