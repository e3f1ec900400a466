#include "server/render/canvas/palette.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace waystar::picture {
namespace {

struct Shades {
  std::uint32_t passable;
  std::uint32_t impassable;
};

struct Hue {
  // Space-separated names, and the symbol.
  absl::string_view names;
  char symbol;
  Shades light;
  Shades dark;
};

constexpr std::array<Hue, 11> kHues = {{
    {"ground floor plain earth dirt", '.', {0xFAF9F5, 0x8A8F96}, {0x21252C, 0x4E5868}},
    {"water river sea lake ocean ford", '~', {0xA9D3EE, 0x5A9BCB}, {0x173957, 0x296499}},
    {"tree trees forest wood woods jungle", 'T', {0xB4D49C, 0x66A06C}, {0x1A321F, 0x35663E}},
    {"grass meadow field", 'G', {0xDDECC6, 0x8FB573}, {0x354F25, 0x4F7838}},
    {"swamp mud marsh bog", 's', {0xC9C391, 0x8C8757}, {0x30351B, 0x5B6333}},
    {"road path street bridge track", '=', {0xEBD7A6, 0xB79A5B}, {0x544122, 0x816535}},
    {"hill hills mountain mountains rock rocks rubble cliff",
     '^',
     {0xD5C2AE, 0x94806B},
     {0x4E3D30, 0x7D624D}},
    {"sand desert beach", ':', {0xF4E6B8, 0xC2AC6A}, {0x5A4D20, 0x826F2E}},
    {"snow ice glacier", '*', {0xE4EEF7, 0xA7BDD3}, {0x3B5A6E, 0x527C99}},
    {"lava fire", '%', {0xF2B08A, 0xC4572D}, {0x672714, 0xAD4121}},
    {"wall building house", '+', {0xC4C8CE, 0x596270}, {0x4B525C, 0x6A7482}},
}};

using Others = std::array<std::uint32_t, 8>;
constexpr Others kLightOthers = {0xF2D0A9, 0xBFD7EA, 0xD9C7E3, 0xC6E2D3,
                                 0xF3C6C6, 0xE3E0A6, 0xCBD2DA, 0xE6C9B8};
constexpr Others kDarkOthers = {0x5A3C22, 0x223646, 0x5D3E73, 0x234233,
                                0x5B2929, 0x535225, 0x3E4852, 0x422B20};

bool HasName(const Hue& hue, absl::string_view name) {
  return !name.empty() && absl::StrContains(absl::StrCat(" ", hue.names, " "), absl::StrCat(" ", name, " "));
}

}  // namespace

Color SearchColor(double share) {
  constexpr std::array<std::uint32_t, 5> kRamp = {0xFFE96B, 0xFDC04D, 0xF68E3B, 0xE4552B, 0xB71C2A};
  const double at = std::clamp(share, 0.0, 1.0) * (kRamp.size() - 1);
  const std::size_t below = std::min(static_cast<std::size_t>(at), kRamp.size() - 2);
  return Mix(Rgb(kRamp[below]), Rgb(kRamp[below + 1]), at - static_cast<double>(below));
}

Color Palette::ColorOf(absl::string_view name, char symbol, bool is_impassable, std::size_t index) const {
  const std::string known_name = absl::AsciiStrToLower(name);
  auto hue = std::ranges::find_if(kHues, [&](const Hue& known) { return HasName(known, known_name); });
  if (hue == kHues.end()) {
    hue = std::ranges::find(kHues, symbol, &Hue::symbol);
  }
  if (hue != kHues.end()) {
    const Shades& shades = is_dark ? hue->dark : hue->light;
    return Rgb(is_impassable ? shades.impassable : shades.passable);
  }
  const Others& others = is_dark ? kDarkOthers : kLightOthers;
  const Color other = Rgb(others[index % others.size()]);
  return is_impassable ? Mix(other, obstacle, 0.45) : other;
}

Color Palette::TintByCost(Color ground, double ratio) const {
  const bool is_dearer = ratio >= 1;
  const double times = is_dearer ? ratio : 1 / ratio;
  const double strength = 0.12 + 0.68 * (times - 1) / (times + 2);
  return Mix(ground, is_dearer ? dearer : cheaper, strength);
}

}  // namespace waystar::picture
