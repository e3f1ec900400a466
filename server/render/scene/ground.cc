#include "server/render/scene/ground.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"

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
      // A character may show no cell.
      return paper_.count > 0 ? paper_.Mean() : Color();
    }
    Color color = ground_.count > 0 ? ground_.Mean() : walls_.Mean();
    if (walls_.count > 0 && ground_.count > 0) {
      const double share = static_cast<double>(walls_.count) / static_cast<double>(cells);
      color = picture::Mix(color, walls_.Mean(), std::sqrt(share));
    }
    if (paper_.count > 0) {
      const double share = static_cast<double>(paper_.count) / static_cast<double>(cells + paper_.count);
      color = picture::Mix(color, paper_.Mean(), share);
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

// Returns the hexagon at a point of the plane. Rounds the three cube coordinates, which add up to 0, and
// derives the one with the largest rounding error from the others.
Cell HexagonAt(picture::Point at) {
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

// Calls gather(column, row, counter, pixel), which adds the pixel's cells and returns the error of the
// counter.
template <typename Gather>
absl::StatusOr<SceneGround> DrawPixels(SceneGround ground, bool is_text, const StopCheck& stop,
                                       Gather gather) {
  CellCounter counter(stop);
  Pixel pixel(is_text);
  for (int row = 0; row < ground.image.height(); ++row) {
    for (int column = 0; column < ground.image.width(); ++column) {
      pixel.Clear();
      WAYSTAR_RETURN_IF_ERROR(gather(column, row, counter, pixel));
      ground.image.Set(column, row, pixel.color());
      if (is_text) {
        ground.symbols.push_back(pixel.symbol());
      }
    }
    WAYSTAR_RETURN_IF_ERROR(counter.Check());
  }
  return ground;
}

}  // namespace

absl::StatusOr<SceneGround> DrawGround(const GridMap& map, const CellLooks& looks, const Rectangle& region,
                                       const Layout& layout, bool is_text, const StopCheck& stop) {
  SceneGround ground = BlankGround(layout, looks.palette().paper);
  const int width = ground.image.width();
  const int height = ground.image.height();
  const double cell_pixels = layout.tiling.CellPixels();
  if (!map.settings().frame.hexagons.has_value()) {
    const auto squares = [&, width, height](int column, int row, CellCounter& counter,
                                            Pixel& pixel) -> absl::Status {
      const int top = FirstCell(row, height, region.height);
      const int bottom = std::max(top + 1, FirstCell(row + 1, height, region.height));
      const int left = FirstCell(column, width, region.width);
      const int right = std::max(left + 1, FirstCell(column + 1, width, region.width));
      for (int y = top; y < bottom; ++y) {
        for (int x = left; x < right; ++x) {
          pixel.Add(looks.At({region.x + x, region.y + y}));
        }
        WAYSTAR_RETURN_IF_ERROR(counter.Count(right - left));
      }
      return absl::OkStatus();
    };
    return DrawPixels(std::move(ground), is_text, stop, squares);
  }
  if (is_text) {
    // A character shows the hexagon centred on it, if hexagons are far enough apart.
    const bool leaves_gaps = cell_pixels >= 1.9;
    const auto character = [&](int column, int row, CellCounter& /*counter*/, Pixel& pixel) {
      const picture::Point at = layout.PlaneAtPixel(column, row);
      const Cell cell = HexagonAt(at);
      constexpr double kNear = 0.1;
      const bool is_centre = std::abs(at.x - cell.x) < kNear && std::abs(at.y - cell.y) < kNear;
      if ((is_centre || !leaves_gaps) && region.Contains(cell)) {
        pixel.Add(looks.At(cell));
      }
      return absl::OkStatus();
    };
    return DrawPixels(std::move(ground), is_text, stop, character);
  }
  // Samples points of each pixel: as many as the cells that it shows, at least nine.
  const int side = std::max(3, static_cast<int>(std::ceil(1 / cell_pixels)));
  const auto samples = [&, side](int column, int row, CellCounter& counter, Pixel& pixel) -> absl::Status {
    for (int i = 0; i < side; ++i) {
      for (int j = 0; j < side; ++j) {
        const picture::Point at = {layout.plot.x + column + (2 * j + 1) / (2.0 * side),
                                   layout.plot.y + row + (2 * i + 1) / (2.0 * side)};
        const Cell cell = HexagonAt(layout.tiling.PlaneAt(at));
        pixel.Add(region.Contains(cell) ? looks.At(cell)
                                        : CellLook{.color = looks.palette().paper, .exists = false});
      }
      WAYSTAR_RETURN_IF_ERROR(counter.Count(side));
    }
    return absl::OkStatus();
  };
  return DrawPixels(std::move(ground), is_text, stop, samples);
}

namespace {

picture::LegendEntry EntryOf(const Terrain& terrain, picture::Color color) {
  return {.color = color,
          .symbol = terrain.symbol,
          .text = terrain.impassable ? absl::StrCat(terrain.name, ", impassable")
                                     : absl::StrCat(terrain.name, ", cost ", terrain.cost)};
}

// Kinds of cells that occur in a part of a map.
struct Survey {
  std::array<bool, kMaxTerrains> terrains{};
  bool nameless = false;
  bool named = false;
  bool dearer = false;
  bool cheaper = false;
};

}  // namespace

CellLooks::CellLooks(const GridMap& map, const Rectangle& part, const picture::Palette& palette)
    : map_(map),
      palette_(palette),
      obstacle_{.color = palette.obstacle, .symbol = kObstacleSymbol, .is_wall = true},
      named_{.color = palette.named_obstacle, .symbol = '%', .is_wall = true} {
  const std::vector<Terrain>& terrains = map.settings().terrains;
  for (std::size_t i = 0; i < terrains.size(); ++i) {
    terrains_[i] = {.color = palette.ColorOf(terrains[i].name, terrains[i].symbol, terrains[i].impassable, i),
                    .symbol = terrains[i].symbol,
                    .is_wall = terrains[i].impassable};
  }
  const auto& hexagons = map.settings().frame.hexagons;
  if (hexagons.has_value() && HasOffsets(hexagons->layout)) {
    for (int y = 0; y < map.height(); ++y) {
      board_spans_.push_back(hexagons->InRow(y, part));
    }
  }
}

CellLook CellLooks::WithCost(Cell cell, TerrainId terrain) const {
  CellLook look = terrains_[terrain];
  const Cost usual = map_.step_costs().straight[terrain];
  const Cost own = map_.cell_costs()->At(cell).straight;
  if (own != 0 && own != usual && usual > 0 && !look.is_wall) {
    look.color = palette_.TintByCost(look.color, static_cast<double>(own) / static_cast<double>(usual));
    look.symbol = own > usual ? '!' : '+';
  }
  return look;
}

std::vector<picture::LegendEntry> CellLooks::LegendOf(const Rectangle& region, const StopCheck& stop) const {
  Survey found;
  for (int y = region.y; y < region.y + region.height && !IsStopped(&stop); ++y) {
    const TerrainId* terrains = map_.TerrainRow(y);
    for (int x = region.x; x < region.x + region.width; ++x) {
      if (!board_spans_.empty() && !IsOnBoard({x, y})) {
        continue;
      }
      const bool nameless = map_.HasNamelessObstacle({x, y});
      const bool named = !nameless && map_.IsCovered({x, y});
      found.nameless |= nameless;
      found.named |= named;
      if (nameless || named) {
        continue;
      }
      found.terrains[terrains[x]] = true;
      if (map_.cell_costs() != nullptr) {
        const char symbol = WithCost({x, y}, terrains[x]).symbol;
        found.dearer |= symbol == '!';
        found.cheaper |= symbol == '+';
      }
    }
  }
  std::vector<picture::LegendEntry> legend;
  const std::vector<Terrain>& terrains = map_.settings().terrains;
  for (std::size_t i = 0; i < terrains.size(); ++i) {
    if (found.terrains[i]) {
      legend.push_back(EntryOf(terrains[i], terrains_[i].color));
    }
  }
  const auto add = [&](bool is_there, const CellLook& look, const char* text) {
    if (is_there) {
      legend.push_back({.color = look.color, .symbol = look.symbol, .text = text});
    }
  };
  add(found.nameless, obstacle_, "obstacle");
  add(found.named, named_, "named obstacle");
  add(found.dearer, {.color = palette_.TintByCost(palette_.paper, 4), .symbol = '!'}, "costs more");
  add(found.cheaper, {.color = palette_.TintByCost(palette_.paper, 0.25), .symbol = '+'}, "costs less");
  return legend;
}

}  // namespace waystar::core
