// Pictures that a server draws, as pixels.
#pragma once

#include <ostream>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/render/canvas/canvas.h"
#include "server/render/file/picture_file.h"
#include "server/service/handlers/maps/render_map.h"
#include "tests/service/handler_test.h"
#include "waystar/v1/picture_service.pb.h"

namespace waystar {

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

// The color where a point of the world is drawn; on a grid, (x, y) is the centre of that cell.
inline picture::Color ColorAt(const v1::RenderMapResponse& response, double x, double y, double z = 0) {
  const picture::Canvas canvas = PixelsOf(response);
  const v1::PicturePlacement& placement = response.placement();
  const auto column = static_cast<int>(placement.zero().x() + x * placement.x_step().x() +
                                       y * placement.y_step().x() + z * placement.z_step().x());
  const auto row = static_cast<int>(placement.zero().y() + x * placement.x_step().y() +
                                    y * placement.y_step().y() + z * placement.z_step().y());
  EXPECT_TRUE(canvas.Contains(column, row)) << column << ", " << row;
  return canvas.Contains(column, row) ? canvas.At(column, row) : picture::Color{};
}

// Draws maps as the RPC does.
class PictureTest : public HandlerTest {
 protected:
  absl::StatusOr<v1::RenderMapResponse> TryToRender(const v1::RenderMapRequest& request) {
    return Answer<v1::RenderMapResponse>([&](v1::RenderMapResponse& response) {
      return rpc::AnswerRenderMap(store_, kMaxBytes, request, response, context_);
    });
  }

  v1::RenderMapResponse Render(const v1::RenderMapRequest& request) {
    auto response = TryToRender(request);
    EXPECT_TRUE(response.ok()) << response.status();
    return response.ok() ? *std::move(response) : v1::RenderMapResponse();
  }
};

}  // namespace waystar

namespace waystar::picture {

inline void PrintTo(Color color, std::ostream* out) {
  *out << absl::StrCat("#", absl::Hex(HexOf(color), absl::kZeroPad6));
}

}  // namespace waystar::picture
