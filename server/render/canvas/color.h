// Colours of pictures.
#pragma once

#include <cstdint>

namespace waystar::picture {

// An sRGB colour with one byte per channel.
struct Color {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;

  friend bool operator==(const Color&, const Color&) = default;
};

// Returns the colour of a number such as 0xFF8000 (orange).
constexpr Color Rgb(std::uint32_t hex) {
  return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8),
          static_cast<std::uint8_t>(hex)};
}
constexpr std::uint32_t HexOf(Color color) {
  return std::uint32_t{color.r} << 16 | std::uint32_t{color.g} << 8 | color.b;
}

// Blends `over` onto `under` with a weight of `share` / 255.
constexpr Color Mix(Color under, Color over, int share) {
  const auto mix = [share](int below, int above) {
    return static_cast<std::uint8_t>((above * share + below * (255 - share) + 127) / 255);
  };
  return {mix(under.r, over.r), mix(under.g, over.g), mix(under.b, over.b)};
}

// As above, with a weight from 0 to 1.
constexpr Color Mix(Color under, Color over, double share) {
  return Mix(under, over, share <= 0 ? 0 : share >= 1 ? 255 : static_cast<int>(share * 255 + 0.5));
}

inline constexpr Color kStartColor = Rgb(0x1A9850);
inline constexpr Color kGoalColor = Rgb(0xD7301F);
inline constexpr Color kPathColor = Rgb(0x1F4FD8);
// Colour of cells that a search has generated but not expanded.
inline constexpr Color kOpenColor = Rgb(0x4A7FB5);

// Returns a colour from yellow (0) to red (1) for the progress of a search at a cell.
Color SearchColor(double share);

}  // namespace waystar::picture
