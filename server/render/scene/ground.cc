#include "server/render/scene/ground.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "server/base/status_macros.h"
#include "server/render/scene/theme.h"

namespace waystar::core {
namespace {

using picture::Color;

// Mean of colours.
struct ColorSum {
  std::int64_t r = 0;
  std::int64_t g = 0;
  std::int64_t b = 0;
  std::int64_t count = 0;

  void Add(Color color) {
    r += color.r;
    g += color.g;
    b += color.b;
    ++count;
  }
  Color Mean() const {
    const auto mean = [this](std::int64_t sum) {
      return static_cast<std::uint8_t>((sum + count / 2) / count);
    };
    return {mean(r), mean(g), mean(b)};
  }
};

// Cells of one pixel.
class Pixel {
 public:
  explicit Pixel(bool counts_symbols) : counts_symbols_(counts_symbols) {}

  void Clear() {
    walls_ = {};
    ground_ = {};
    paper_ = {};
    if (counts_symbols_) {
      counts_.fill(0);
    }
  }

  void Add(const CellLook& look) {
    if (!look.exists) {
      paper_.Add(look.color);
      return;
    }
    (look.is_wall ? walls_ : ground_).Add(look.color);
    if (!counts_symbols_) {
      return;
    }
    const auto symbol = static_cast<std::size_t>(look.symbol) % counts_.size();
    ++counts_[symbol];
    char& most = look.is_wall ? wall_symbol_ : ground_symbol_;
    if (counts_[symbol] >= counts_[static_cast<std::size_t>(most) % counts_.size()]) {
      most = look.symbol;
    }
  }

  Color color() const {
    const std::int64_t cells = walls_.count + ground_.count;
    if (cells == 0) {
      return theme::kPaper;
    }
    Color color = ground_.count > 0 ? ground_.Mean() : walls_.Mean();
    if (walls_.count > 0 && ground_.count > 0) {
      const double share = static_cast<double>(walls_.count) / static_cast<double>(cells);
      color = picture::Mix(color, walls_.Mean(), std::sqrt(share));
    }
    if (paper_.count > 0) {
      const double share = static_cast<double>(paper_.count) / static_cast<double>(cells + paper_.count);
      color = picture::Mix(color, theme::kPaper, share);
    }
    return color;
  }

  char symbol() const {
    if (walls_.count + ground_.count == 0) {
      return ' ';
    }
    return walls_.count * 5 > (walls_.count + ground_.count) * 2 ? wall_symbol_ : ground_symbol_;
  }

 private:
  // True if symbols are counted for text output.
  const bool counts_symbols_;
  ColorSum walls_;
  ColorSum ground_;
  ColorSum paper_;
  std::array<std::int32_t, 128> counts_{};
  char wall_symbol_ = ' ';
  char ground_symbol_ = ' ';
};

// Polls `stop` by the number of cells scanned.
class CellCounter {
 public:
  explicit CellCounter(const StopCheck& stop) : stop_(stop) {}

  absl::Status Count(int cells) {
    constexpr int kCellsBetweenChecks = 1 << 16;
    cells_ += cells;
    return cells_ < kCellsBetweenChecks ? absl::OkStatus() : Check();
  }
  absl::Status Check() {
    cells_ = 0;
    return stop_.Check();
  }

 private:
  const StopCheck& stop_;
  int cells_ = 0;
};

// Returns the first of `cells` shown at a pixel; the next pixel may show it too.
int FirstCell(int pixel, int pixels, int cells) {
  return static_cast<int>(std::int64_t{pixel} * cells / pixels);
}

class SquarePixels {
 public:
  SquarePixels(const CellLooks& looks, const Rectangle& region, int width, int height)
      : looks_(looks), region_(region), width_(width), height_(height) {}

  absl::Status Gather(int column, int row, CellCounter& counter, Pixel& pixel) const {
    const int top = FirstCell(row, height_, region_.height);
    const int bottom = std::max(top + 1, FirstCell(row + 1, height_, region_.height));
    const int left = FirstCell(column, width_, region_.width);
    const int right = std::max(left + 1, FirstCell(column + 1, width_, region_.width));
    for (int y = top; y < bottom; ++y) {
      for (int x = left; x < right; ++x) {
        pixel.Add(looks_.At({region_.x + x, region_.y + y}));
      }
      WAYSTAR_RETURN_IF_ERROR(counter.Count(right - left));
    }
    return absl::OkStatus();
  }

 private:
  const CellLooks& looks_;
  Rectangle region_;
  int width_;
  int height_;
};

// Samples points of each pixel: as many as the cells that it shows, at least nine.
class HexPixels {
 public:
  HexPixels(const CellLooks& looks, const Rectangle& region, const Layout& layout)
      : looks_(looks), region_(region), layout_(layout) {
    constexpr int kFewest = 3;
    side_ = std::max(kFewest, static_cast<int>(std::ceil(1 / layout.tiling.CellPixels())));
  }

  absl::Status Gather(int column, int row, CellCounter& counter, Pixel& pixel) const {
    for (int i = 0; i < side_; ++i) {
      for (int j = 0; j < side_; ++j) {
        const picture::Point at = {layout_.plot.x + column + (2 * j + 1) / (2.0 * side_),
                                   layout_.plot.y + row + (2 * i + 1) / (2.0 * side_)};
        const Cell cell = NearestTo(layout_.tiling.PlaneAt(at));
        pixel.Add(region_.Contains(cell) ? looks_.At(cell)
                                         : CellLook{.color = theme::kPaper, .exists = false});
      }
      WAYSTAR_RETURN_IF_ERROR(counter.Count(side_));
    }
    return absl::OkStatus();
  }

  // Returns the hexagon at a point of the plane. Rounds the three cube coordinates, which add up to 0, and
  // derives the one with the largest rounding error from the others.
  static Cell NearestTo(picture::Point at) {
    const double third = -at.x - at.y;
    double x = std::floor(at.x + 0.5);
    double y = std::floor(at.y + 0.5);
    const double z = std::floor(third + 0.5);
    const double off_x = std::abs(x - at.x);
    const double off_y = std::abs(y - at.y);
    const double off_z = std::abs(z - third);
    if (off_x > off_y && off_x > off_z) {
      x = -y - z;
    } else if (off_y > off_z) {
      y = -x - z;
    }
    return {static_cast<std::int32_t>(x), static_cast<std::int32_t>(y)};
  }

 private:
  const CellLooks& looks_;
  Rectangle region_;
  const Layout& layout_;
  int side_;
};

// A character shows the hexagon centred on it, if hexagons are far enough apart.
class HexCharacters {
 public:
  HexCharacters(const CellLooks& looks, const Rectangle& region, const Layout& layout)
      : looks_(looks), region_(region), layout_(layout), leaves_gaps_(layout.tiling.CellPixels() >= 1.9) {}

  absl::Status Gather(int column, int row, CellCounter& /*counter*/, Pixel& pixel) const {
    const picture::Point at =
        layout_.tiling.PlaneAt({layout_.plot.x + column + 0.5, layout_.plot.y + row + 0.5});
    const Cell cell = HexPixels::NearestTo(at);
    constexpr double kNear = 0.1;
    const bool is_centre = std::abs(at.x - cell.x) < kNear && std::abs(at.y - cell.y) < kNear;
    if ((is_centre || !leaves_gaps_) && region_.Contains(cell)) {
      pixel.Add(looks_.At(cell));
    }
    return absl::OkStatus();
  }

 private:
  const CellLooks& looks_;
  Rectangle region_;
  const Layout& layout_;
  bool leaves_gaps_;
};

template <typename Cells>
absl::Status DrawPixels(const Cells& cells, bool is_text, const StopCheck& stop, SceneGround& ground) {
  CellCounter counter(stop);
  Pixel pixel(is_text);
  for (int row = 0; row < ground.image.height(); ++row) {
    for (int column = 0; column < ground.image.width(); ++column) {
      pixel.Clear();
      WAYSTAR_RETURN_IF_ERROR(cells.Gather(column, row, counter, pixel));
      ground.image.Set(column, row, pixel.color());
      if (is_text) {
        ground.symbols.push_back(pixel.symbol());
      }
    }
    WAYSTAR_RETURN_IF_ERROR(counter.Check());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SceneGround> DrawGround(const GridMap& map, const CellLooks& looks, const Rectangle& region,
                                       const Layout& layout, bool is_text, const StopCheck& stop) {
  const int width = static_cast<int>(layout.plot.width);
  const int height = static_cast<int>(layout.plot.height);
  SceneGround ground{.x = static_cast<int>(layout.plot.x),
                     .y = static_cast<int>(layout.plot.y),
                     .image = picture::Canvas(width, height, theme::kPaper)};
  absl::Status status;
  if (!map.settings().frame.hexagons.has_value()) {
    status = DrawPixels(SquarePixels(looks, region, width, height), is_text, stop, ground);
  } else if (is_text) {
    status = DrawPixels(HexCharacters(looks, region, layout), is_text, stop, ground);
  } else {
    status = DrawPixels(HexPixels(looks, region, layout), is_text, stop, ground);
  }
  if (!status.ok()) {
    return status;
  }
  return ground;
}

}  // namespace waystar::core
