// Pictures that a server draws, as pixels.
#pragma once

#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/render/canvas/canvas.h"
#include "server/render/file/png.h"
#include "waystar/v1/render.pb.h"

namespace waystar::testing {

inline v1::RenderMapRequest RenderRequest(const std::string& map) {
  v1::RenderMapRequest request;
  request.set_map(map);
  return request;
}

inline picture::Canvas PixelsOf(const v1::RenderMapResponse& response) {
  auto canvas = picture::DecodePng(response.image());
  EXPECT_TRUE(canvas.ok()) << canvas.status();
  return canvas.ok() ? *std::move(canvas) : picture::Canvas(1, 1, {});
}

// The color at a place among cells; (x, y) is the centre of that cell.
inline picture::Color ColorAt(const v1::RenderMapResponse& response, double x, double y) {
  const picture::Canvas canvas = PixelsOf(response);
  const v1::PicturePlacement& placement = response.placement();
  const auto column =
      static_cast<int>(placement.zero().x() + x * placement.x_step().x() + y * placement.y_step().x());
  const auto row =
      static_cast<int>(placement.zero().y() + x * placement.x_step().y() + y * placement.y_step().y());
  EXPECT_TRUE(canvas.Contains(column, row)) << column << ", " << row;
  return canvas.Contains(column, row) ? canvas.At(column, row) : picture::Color{};
}

}  // namespace waystar::testing

namespace waystar::picture {

inline void PrintTo(Color color, std::ostream* out) {
  *out << absl::StrCat("#", absl::Hex(HexOf(color), absl::kZeroPad6));
}

}  // namespace waystar::picture
