#include "server/render/scene/theme.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace waystar::core {
namespace {

using picture::Mix;
using picture::Rgb;

struct Hue {
  // Space-separated names, and the symbol.
  absl::string_view names;
  char symbol;
  std::uint32_t passable;
  std::uint32_t impassable;
};

constexpr std::array<Hue, 11> kHues = {{
    {"ground floor plain earth dirt", '.', 0xFAF9F5, 0x8A8F96},
    {"water river sea lake ocean ford", '~', 0xA9D3EE, 0x5A9BCB},
    {"tree trees forest wood woods jungle", 'T', 0xB4D49C, 0x66A06C},
    {"grass meadow field", 'G', 0xDDECC6, 0x8FB573},
    {"swamp mud marsh bog", 's', 0xC9C391, 0x8C8757},
    {"road path street bridge track", '=', 0xEBD7A6, 0xB79A5B},
    {"hill hills mountain mountains rock rocks rubble cliff", '^', 0xD5C2AE, 0x94806B},
    {"sand desert beach", ':', 0xF4E6B8, 0xC2AC6A},
    {"snow ice glacier", '*', 0xE4EEF7, 0xA7BDD3},
    {"lava fire", '%', 0xF2B08A, 0xC4572D},
    {"wall building house", '+', 0xC4C8CE, 0x596270},
}};

constexpr std::array<std::uint32_t, 8> kOthers = {0xF2D0A9, 0xBFD7EA, 0xD9C7E3, 0xC6E2D3,
                                                  0xF3C6C6, 0xE3E0A6, 0xCBD2DA, 0xE6C9B8};

bool HasName(const Hue& hue, absl::string_view name) {
  return !name.empty() && absl::StrContains(absl::StrCat(" ", hue.names, " "), absl::StrCat(" ", name, " "));
}

}  // namespace

picture::Color ColorOf(const Terrain& terrain, std::size_t index) {
  const std::string name = absl::AsciiStrToLower(terrain.name);
  auto hue = std::find_if(kHues.begin(), kHues.end(), [&](const Hue& known) { return HasName(known, name); });
  if (hue == kHues.end()) {
    hue = std::find_if(kHues.begin(), kHues.end(),
                       [&](const Hue& known) { return known.symbol == terrain.symbol; });
  }
  if (hue != kHues.end()) {
    return Rgb(terrain.impassable ? hue->impassable : hue->passable);
  }
  const picture::Color other = Rgb(kOthers[index % kOthers.size()]);
  return terrain.impassable ? Mix(other, theme::kObstacle, 0.45) : other;
}

picture::Color TintByCost(picture::Color ground, double ratio) {
  const bool is_dearer = ratio >= 1;
  const double times = is_dearer ? ratio : 1 / ratio;
  const double strength = 0.12 + 0.68 * (times - 1) / (times + 2);
  return Mix(ground, is_dearer ? theme::kDearer : theme::kCheaper, strength);
}

}  // namespace waystar::core
